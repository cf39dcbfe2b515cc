//! The program: what it says of companions, and how.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pillion_testkit::conformance::{program, run};
use pillion_testkit::{Env, Pane, SOON, Size, Tmux};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use crate::sandbox::{self, Sandbox};

/// Starts it in a terminal, which stays when it has ended and printed its exit code.
fn in_terminal(tmux: &Tmux, sandbox: &Sandbox, env: &Env, size: Size, arguments: &str) -> Pane {
    let line = format!(
        "{} {arguments}; echo \"exit code $?\"; sleep 100",
        env!("CARGO_BIN_EXE_companion-conformance")
    );
    let folder = sandbox.home.workspace();
    tmux.spawn("person", size, env, &folder, &["sh", "-c", &line])
}

/// Starts it with a command that decides about the first view, and waits until that goes on.
fn with_command(sandbox: &Sandbox, command: &str) -> Child {
    let mark = sandbox.home.root().join("started");
    let line = format!("{command}; echo > '{}'; sleep 100", mark.display());
    let args = ["--only", "C5.6-sent", "--accept-with", &line];
    let mut child = sandbox.command(args);
    let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let started = Instant::now();
    while !mark.exists() {
        assert!(started.elapsed() < SOON);
        thread::sleep(Duration::from_millis(5));
    }
    child.unwrap()
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn what_cannot_be_done_is_skipped_with_what_to_do_about_it() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve();
    let before = serve.files();
    let table = sandbox
        .run(["--only", "C5.6,C4.2-change,C6.2"])
        .expect(0)
        .stdout;
    let port = serve.port().to_string();
    let table = table.replace(&port, "PORT");
    insta::assert_snapshot!(table);
    assert!(before.iter().all(|file| file.exists()));
    assert_eq!(sandbox.pillion(["diffs"]), "no diffs are pending\n");
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn a_command_that_fails_is_no_pass() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve();
    let args = ["--only", "C5.6-sent", "--accept-with", "exit 7"];
    let ran = sandbox
        .run(args)
        .expect_error(1, "1 MUST is broken", "--only");
    assert!(
        ran.stdout.contains("`exit 7` failed: exit status: 7"),
        "{}",
        ran.stdout
    );
    let args = [
        "--only",
        "C5.6-sent",
        "--timeout",
        "1",
        "--accept-with",
        "sleep 60",
    ];
    let ran = sandbox.run(args).expect(1);
    assert!(
        ran.stdout.contains("did not end within 1s"),
        "{}",
        ran.stdout
    );
    assert_eq!(sandbox.pillion(["diffs"]), "no diffs are pending\n");
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn a_person_at_the_terminal_is_asked() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve();
    let tmux = Tmux::start();
    let (env, size) = (sandbox.home.env(), Size::new(200, 30));
    let pane = in_terminal(&tmux, &sandbox, &env, size, "--only C5.6");
    let asked = pane.wait_for("You have 60 s.", SOON);
    assert!(asked.contains("Accept the diff of"), "{asked}");
    let listed = sandbox.pillion(["diffs", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let number = listed[0]["diff"].as_str().unwrap();
    sandbox.pillion(["accept", number]);
    let done = pane.wait_for("exit code 0", SOON);
    assert!(done.contains("3 passed, 0 failed, 0 skipped"), "{done}");
    let coloured = pane.screen_with_colours();
    assert!(coloured.contains("\u{1b}["), "{coloured}");
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn a_person_who_does_nothing_breaks_no_rule_and_is_asked_once() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve();
    let tmux = Tmux::start();
    let arguments = "--timeout 1 --only C5.6,C5.7,C1.4";
    let (env, size) = (sandbox.home.env(), Size::new(200, 60));
    let pane = in_terminal(&tmux, &sandbox, &env, size, arguments);
    let done = pane.wait_for("exit code 0", SOON);
    assert!(done.contains("nobody decided within 1s"), "{done}");
    assert_eq!(done.matches("You have 1 s.").count(), 1, "{done}");
    assert_eq!(sandbox.pillion(["diffs"]), "no diffs are pending\n");
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn no_view_is_left_open_by_who_is_interrupted() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let sandbox = Sandbox::new();
        let serve = sandbox.serve();
        let pid = sandbox.home.root().join("sleep.pid");
        let mut child = with_command(&sandbox, &format!("echo $$ > '{}'", pid.display()));
        sandbox::signal(&child, name);
        assert_eq!(sandbox::ended(&mut child), Some(code), "{name}");
        let diffs = sandbox.pillion(["diffs"]);
        assert_eq!(diffs, "no diffs are pending\n");
        let shell = fs::read_to_string(&pid).unwrap();
        let shell = shell.trim().parse().unwrap();
        assert!(!pillion_system::process::is_alive(shell), "{name}");
        drop(serve);
    }
}

/// A companion that hangs is no reason not to be able to leave, and not to say that all is closed.
#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn who_is_interrupted_again_does_not_wait_for_a_companion_that_hangs() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve();
    let mut child = with_command(&sandbox, ":");
    serve.signal("STOP");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        // Signals that are pending are one.
        sandbox::signal(&child, "INT");
        assert!(started.elapsed() < SOON, "it waits");
        thread::sleep(Duration::from_millis(50));
    };
    serve.signal("CONT");
    assert_eq!(status.code(), Some(130));
    let mut told = String::new();
    child.stderr.unwrap().read_to_string(&mut told).unwrap();
    assert!(told.contains("a view may still be open"), "{told}");
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn the_table_fits_the_terminal_and_has_no_colours_for_who_wants_none() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve();
    let shown = |env: &Env| {
        let (tmux, size) = (Tmux::start(), Size::new(80, 40));
        let pane = in_terminal(&tmux, &sandbox, env, size, "--only C3.3-post,C4.9");
        let screen = pane.wait_for("exit code 0", SOON);
        (screen, pane.screen_with_colours().contains("\u{1b}["))
    };
    let (screen, is_coloured) = shown(&sandbox.home.env());
    let below = format!(
        "POST within a session, but without a\n{:40}token, is refused",
        ""
    );
    assert!(screen.contains(&below), "{screen}");
    assert!(is_coloured);
    let (plain, is_coloured) = shown(&sandbox.home.env().with("NO_COLOR", "1"));
    assert_eq!(plain, screen);
    assert!(!is_coloured);
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn a_companion_is_named_by_port_process_file_or_folder() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve();
    let (port, pid) = (serve.port().to_string(), serve.child.id().to_string());
    let mut files = serve.files();
    // The contract knows nothing of Claude Code's.
    let others = [".claude", ".copilot"].map(|folder| sandbox.home.home().join(folder));
    files.retain(|path| !others.iter().any(|folder| path.starts_with(folder)));
    let file = files
        .iter()
        .find(|it| it.to_str().unwrap().ends_with(".lock"))
        .unwrap();
    let folder = sandbox.home.workspace();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    for named in [
        vec!["--port".to_owned(), port],
        vec!["--pid".to_owned(), pid],
        vec!["--workspace".to_owned(), path(&folder)],
        vec![path(file)],
    ] {
        let mut command = sandbox.command(["--only", "C2.2"]);
        let outcome = run(command.args(&named).current_dir("/"));
        outcome.expect_all_but(&[]);
        let companion = &outcome.report["companion"];
        assert_eq!(companion["port"], serve.port());
        assert_eq!(companion["displayName"], "Pillion");
        assert_eq!(companion["workspace"][0], path(&folder));
        assert_eq!(companion["files"].as_array().unwrap().len(), files.len());
        assert!(
            companion["pids"]
                .as_array()
                .unwrap()
                .contains(&serve.child.id().into())
        );
    }
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn a_dead_companion_is_a_finding_and_none_is_no_companion() {
    let sandbox = Sandbox::new();
    sandbox
        .run::<&str>([])
        .expect_error(3, "no companion", "start the editor with yours");
    sandbox
        .run(["--pid", "1"])
        .expect_error(3, "belongs to", "No companion is running");
    sandbox
        .run(["--port", "9"])
        .expect_error(3, "belongs to", "No companion is running");
    sandbox
        .run(["none.json"])
        .expect_error(1, "cannot read", "Name a discovery file");
    sandbox
        .run(["--only", "C8"])
        .expect_error(2, "no rule matches C8", "--list");
    let mut serve = sandbox.serve();
    serve.signal("KILL");
    serve.ended();
    let port = serve.port().to_string();
    let args = ["--port", &port, "--only", "C6.1,C1.1-ping"];
    let ran = sandbox
        .run(args)
        .expect_error(1, "1 MUST is broken", "--only");
    assert!(
        ran.stdout.contains("nothing answers on port"),
        "{}",
        ran.stdout
    );
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn a_broken_must_fails_and_a_broken_should_only_with_strict() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve();
    let file = &serve.files()[0];
    let folder = file.parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    let args = ["--only", "C3.1"];
    let ran = sandbox.run(args).expect(0);
    assert!(
        ran.stdout.contains("FAIL  SHOULD  C3.1-folder"),
        "{}",
        ran.stdout
    );
    sandbox
        .run([&args[..], &["--strict"]].concat())
        .expect_error(1, "does not conform: 1 SHOULD is broken", "--only");
    let real = file.with_extension("real");
    fs::rename(file, &real).unwrap();
    std::os::unix::fs::symlink(&real, file).unwrap();
    sandbox
        .run(["--only", "C2.1"])
        .expect_error(1, "does not conform: 1 MUST is broken", "--only");
}

/// Nobody who looks for companions follows links, but the suite says what is wrong.
#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn a_companion_whose_files_are_links_is_found_by_its_port() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve();
    for file in serve.files() {
        let real = file.with_extension("real");
        fs::rename(&file, &real).unwrap();
        std::os::unix::fs::symlink(&real, &file).unwrap();
    }
    let port = serve.port().to_string();
    let ran = sandbox.run(["--port", &port, "--only", "C2.1"]);
    let ran = ran.expect_error(1, "1 MUST is broken", "--only");
    assert!(
        ran.stdout.contains("it is a symbolic link"),
        "{}",
        ran.stdout
    );
}

/// An accepted file that the editor wrote, against the contract, is removed, also by a run that is
/// interrupted.
#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn no_accepted_file_is_left_behind() {
    let count = |sandbox: &Sandbox| fs::read_dir(sandbox.home.workspace()).unwrap().count();
    let pillion = program("pillion").display().to_string();
    let id = format!("\"$('{pillion}' diffs | awk 'END {{print $1}}')\"");
    let writes = "echo accepted > \"$PILLION_CONFORMANCE_FILE\"";
    let accept = format!("'{pillion}' accept {id} && {writes}");

    let sandbox = Sandbox::new();
    let _serve = sandbox.serve();
    let args = [
        "--only",
        "C1.4-accepted,C5.9-writes",
        "--accept-with",
        &accept,
    ];
    let mut command = sandbox.command::<&str>([]);
    let ran = sandbox::ran(command.args(args)).expect(1);
    assert!(
        ran.stdout.contains("FAIL  MUST    C5.9-writes"),
        "{}",
        ran.stdout
    );
    assert_eq!(count(&sandbox), 0);

    let mut child = with_command(&sandbox, writes);
    sandbox::signal(&child, "INT");
    assert_eq!(sandbox::ended(&mut child), Some(130));
    assert_eq!(count(&sandbox), 0);
}

#[test]
#[ignore = "in --all: takes seconds each: cargo xtask test --all"]
fn no_token_is_in_any_output_and_the_xml_is_well_formed() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve();
    let xml = sandbox.home.root().join("result.xml");
    let odd = "<\u{1}\"&'>]]>\u{ffff}";
    let mut content: Value = serde_json::from_slice(&fs::read(&serve.files()[0]).unwrap()).unwrap();
    content["ideInfo"]["displayName"] = odd.into();
    let name = format!("gemini-ide-server-1-{}.json", serve.port());
    let file = sandbox.home.file(&name, content.to_string());
    let mut command = sandbox.command(["--only", "C1,C2,C3", "--strict"]);
    command.arg(file);
    command.arg("--junit").arg(&xml);
    let outcome = run(&mut command);
    assert_eq!(outcome.report["companion"]["displayName"], odd);
    let written = fs::read_to_string(&xml).unwrap();
    for file in serve.files() {
        let token = pillion_testkit::discovery_file(&file).auth_token.unwrap();
        for text in [&outcome.report.to_string(), &written] {
            assert!(!text.contains(token.expose()), "{text}");
        }
    }
    let mut reader = Reader::from_str(&written);
    let (mut cases, mut depth) = (0, 0);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => {
                depth += 1;
                cases += usize::from(tag.name().as_ref() == "testcase");
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(
        (cases, depth),
        (outcome.report["rules"].as_array().unwrap().len(), 0)
    );
    let summary = &outcome.report["summary"];
    let counted = ["passed", "failed", "skipped"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), cases as u64);
}
