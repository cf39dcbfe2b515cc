//! `pillion serve`, from its first line to its last file, and what it refuses.

use std::fs;
use std::time::{Duration, Instant};

use pillion_testkit::client::Update;
use pillion_testkit::{SOON, pause, resident_memory};

use crate::sandbox::{Sandbox, ran};

/// A companion stops within a second where nothing else runs; nothing that it waits for takes so long.
const STOPS: Duration = Duration::from_secs(10);

#[test]
fn it_reports_when_it_is_ready_and_cleans_up_on_every_signal() {
    for signal in ["TERM", "INT", "HUP"] {
        let sandbox = Sandbox::new();
        let mut serve = sandbox.serve::<&str>([]);
        let files = serve.files();
        assert!(files.len() > 5 && files.iter().all(|file| file.exists()));
        assert_eq!(serve.ready["pid"], serve.child.id());
        let mut agent = serve.connect();
        agent.propose("/tmp/new", "x");
        let start = Instant::now();
        serve.signal(signal);
        assert!(
            matches!(agent.outcome(), Update::DiffRejected { .. }),
            "C5.7"
        );
        assert_eq!(serve.ended(), Some(0), "{signal}");
        assert!(start.elapsed() < STOPS, "{signal}");
        assert!(!files.iter().any(|file| file.exists()), "C6.2, {signal}");
    }
}

#[test]
fn the_next_companion_sweeps_what_a_killed_one_left() {
    let sandbox = Sandbox::new();
    let mut killed = sandbox.serve::<&str>([]);
    let left = killed.files();
    killed.signal("KILL");
    killed.ended();
    assert!(left.iter().all(|file| file.exists()));
    let next = sandbox.serve::<&str>([]);
    let stays = next.files();
    for file in left.iter().filter(|file| !stays.contains(file)) {
        assert!(!file.exists(), "{}", file.display());
    }
    sandbox.run(["diffs"]).expect(0);
}

#[test]
fn two_companions_on_one_workspace_live_and_leave_side_by_side() {
    let sandbox = Sandbox::new();
    let first = sandbox.serve::<&str>([]);
    let mut second = sandbox.serve::<&str>([]);
    second.connect().propose("/tmp/second", "x");
    second.signal("TERM");
    second.ended();
    assert!(first.files().iter().all(|file| file.exists()));
    first.connect().propose("/tmp/first", "x");
}

#[test]
fn folders_that_cannot_be_served_are_named() {
    let sandbox = Sandbox::new();
    let serve = |folder: &str| sandbox.run(["serve", "--workspace", folder]);
    serve("none").expect_error(1, "the workspace none does not exist", "an existing folder");
    sandbox.home.file("file", "");
    serve("file").expect_error(1, "file is not a folder", "takes a folder");
    let colon = sandbox.home.other_workspace("a:b");
    serve(colon.to_str().unwrap()).expect_error(1, "separates roots", "rename the folder");

    let gone = sandbox.home.other_workspace("gone");
    let script = "rmdir ../gone && exec \"$0\" serve";
    let ran = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_pillion")])
        .env_clear()
        .envs(sandbox.home.env().iter())
        .current_dir(&gone)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{text}");
    assert!(
        text.contains("the current folder no longer exists"),
        "{text}"
    );
}

#[test]
fn a_place_that_cannot_be_served_is_a_warning_and_the_others_are_served() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.home.other_workspace("elsewhere");
    let planted = sandbox.home.tmp().join("gemini");
    std::os::unix::fs::symlink(&elsewhere, &planted).unwrap();
    let mut serve = sandbox.serve::<&str>([]);
    assert_eq!(
        fs::read_dir(&elsewhere).unwrap().count(),
        0,
        "nothing is written through a link"
    );
    assert!(
        serve
            .files()
            .iter()
            .any(|file| file.ends_with(format!("{}.lock", serve.port())))
    );
    serve.signal("TERM");
    serve.ended();
    let mut text = String::new();
    let mut stderr = serve.child.stderr.take().unwrap();
    std::io::Read::read_to_string(&mut stderr, &mut text).unwrap();
    let warning = text.lines().find(|line| line.starts_with("warning: "));
    let named = warning.is_some_and(|line| line.contains(planted.to_str().unwrap()));
    assert!(named, "{text}");
}

#[test]
fn where_no_place_can_be_served_it_fails_and_names_them() {
    let sandbox = Sandbox::new();
    let nowhere = sandbox.home.file("nowhere", "");
    let mut command = sandbox.command(["serve"]);
    command.env("TMPDIR", &nowhere).env("HOME", &nowhere);
    let ran = ran(&mut command, b"").expect_error(1, "no agent can find", "TMPDIR");
    assert_eq!(ran.stdout, "");
    let warnings = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("warning: "));
    assert!(warnings.count() >= 2, "{}", ran.stderr);
}

#[test]
fn the_log_holds_what_happened_but_no_secret_and_no_content() {
    let sandbox = Sandbox::new();
    let log = sandbox.home.root().join("log");
    let mut serve = sandbox.serve(["--log", log.to_str().unwrap()]);
    let token = serve.token();
    let agent = serve.connect();
    agent.propose("/tmp/new", "the content of a file");
    sandbox.insist(["accept", "1.1"]).expect(0);
    serve.signal("TERM");
    serve.ended();
    let text = fs::read_to_string(&log).unwrap();
    assert!(
        text.contains("diff opened") && text.contains("ide/diffAccepted"),
        "{text}"
    );
    assert!(!text.contains(token.expose()), "{text}");
    assert!(!text.contains("the content"), "{text}");
}

#[test]
fn the_review_needs_a_terminal() {
    let sandbox = Sandbox::new();
    for args in [&[][..], &["review"], &["--demo"]] {
        sandbox
            .run(args)
            .expect_error(2, "terminal", "pillion serve");
    }
}

#[test]
fn what_a_command_accepted_for_an_agent_that_is_gone_is_kept() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.serve::<&str>([]);
    let agent = serve.connect();
    agent.propose("/tmp/new.txt", "x");
    drop(agent);
    let mine = sandbox.home.file("mine", "mine\r\n");
    let content = mine.to_str().unwrap();
    sandbox
        .insist(["accept", "1.1", "--content-file", content])
        .expect(0);
    serve.signal("TERM");
    assert_eq!(serve.ended(), Some(0));
    let mut said = String::new();
    let mut errors = serve.child.stderr.take().unwrap();
    std::io::Read::read_to_string(&mut errors, &mut said).unwrap();
    let line = said
        .lines()
        .find_map(|line| line.split_once("your text is kept in "));
    let (_, place) = line.unwrap_or_else(|| panic!("{said}"));
    let (place, _) = place.split_once(": ").unwrap();
    assert_eq!(fs::read_to_string(place).unwrap(), "mine\r\n");
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn the_memory_of_a_large_proposal_is_returned_to_the_system() {
    const TEXT: usize = 2 << 20;
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let resident = || resident_memory(serve.child.id());
    let agent = serve.connect();
    let before = resident();
    agent.propose("/tmp/new", &"text\n".repeat(TEXT / 5));
    assert!(resident() > before + TEXT, "it is held while it is pending");
    agent.close("/tmp/new").unwrap();
    let started = Instant::now();
    while resident() > before + TEXT / 2 {
        assert!(
            started.elapsed() < SOON,
            "{before} bytes became {}",
            resident()
        );
        pause(started);
    }
}
