//! Commands about changes while the companion still compares what an agent has done, and if it ends in the middle of an act.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Instant;

use pillion_changes::Kept;
use pillion_system::process;
use pillion_testkit::{HungDisk, SOON, pause};

use serde_json::json;

use super::World;
use super::accepted::{Agent, serve};
use crate::sandbox::signal_to;
use crate::shared_agent_work::{turn_begins, turn_ends};

/// More than are compared while a command starts.
const FILES: usize = 2000;

/// A turn in which this is done has just ended, and nobody has waited for what is found then.
fn turn(world: &World, work: impl FnOnce()) {
    let home = &world.sandbox.home;
    turn_begins(home);
    work();
    turn_ends(home);
}

#[test]
fn what_a_turn_has_changed_is_listed_and_kept_as_soon_as_its_hook_has_returned() {
    let commands = [
        (["turns", ""], format!("{FILES} files, {FILES} unseen")),
        (
            ["changes", ""],
            "changes 1` lists all of the turn".to_owned(),
        ),
        (["changes", "1"], format!("f{:04}", FILES - 1)),
        (["keep", "1"], format!("{} more: kept", FILES - 100)),
        (["revert", "1"], format!("{} more: ", FILES - 100)),
    ];
    for (command, expected) in commands {
        let world = World::new();
        let _serve = match command[0] {
            "keep" => world.sandbox.serve_in_hub::<&str>([]),
            _ => world.sandbox.serve::<&str>([]),
        };
        turn(&world, || {
            for number in 0..FILES {
                let name = format!("f{number:04}");
                fs::write(world.root.join(name), "new\n").unwrap();
            }
        });
        let said = match command {
            [command, ""] => world.sandbox.run_as_person([command]),
            args => world.sandbox.run_as_person(args),
        };
        // Nobody knows who changed it, so that all of it is left out.
        let said = said.expect(i32::from(command[0] == "revert"));
        assert!(said.stdout.contains(&expected), "{}", said.report());
    }
}

/// Neither that there is nothing, nor that something was done.
#[test]
fn where_comparing_takes_too_long_commands_say_so() {
    let world = World::new();
    let inner = world.root.join("inner");
    fs::create_dir(&inner).unwrap();
    let _serve = world.sandbox.serve::<&str>([]);
    let mut hung = None;
    turn(&world, || hung = HungDisk::mount(&inner));
    if hung.is_none() {
        return;
    }
    let comparing = "what an agent changed last is still being compared";
    let keep = world.sandbox.run_as_person(["keep", "1"]);
    let hint = "Give the command again in a moment.";
    keep.expect_error(1, &format!("{comparing}: nothing was done"), hint);
    let listed = world.sandbox.run(["changes"]).expect(0);
    assert_eq!(listed.stdout, "", "{}", listed.report());
    assert!(listed.stderr.contains(comparing), "{}", listed.report());
}

/// The folder of numbers is none, so that no turn can be begun in the store.
#[test]
fn what_cannot_be_written_yet_is_listed_and_is_any_other_change_once_it_can() {
    for is_hub in [true, false] {
        let world = World::new();
        let _serve = serve(&world, is_hub);
        let agent = Agent::new(&world, "claude");
        let state = world.sandbox.home.home().join(".local/state/pillion");
        let (numbers, aside) = (state.join("numbers"), state.join("aside"));
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        agent.tells("Stop", &json!({}));
        fs::rename(&numbers, &aside).unwrap();
        fs::write(&numbers, "").unwrap();
        agent.tells("UserPromptSubmit", &json!({"prompt": "go on"}));
        fs::write(world.root.join("new"), "").unwrap();
        agent.shell("1", "two", "2");
        agent.tells("Stop", &json!({}));
        let listed = world.sandbox.run(["changes"]).expect(0);
        let lines: Vec<_> = listed.stdout.lines().collect();
        let [title, rows @ ..] = &*lines else {
            panic!("{}", listed.report());
        };
        assert!(title.starts_with("a turn of Claude Code, "), "{title}");
        assert!(title.contains("; not kept yet: "), "{title}");
        let rows: Vec<_> = rows
            .iter()
            .map(|it| it.split_whitespace().collect::<Vec<_>>())
            .collect();
        let unclear = "new (new), unclear who changed it";
        let row = |file: &str| format!("- not kept yet {file}");
        let rows: Vec<_> = rows.iter().map(|it| it.join(" ")).collect();
        assert_eq!(rows, [row(unclear), row("a.txt")], "{}", listed.report());
        let json = world.sandbox.run(["changes", "--json"]).expect(0).stdout;
        let json: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        assert_eq!(json[0]["state"], "not kept yet");
        assert_eq!(
            (&json[0]["isRevertible"], &json[0]["kind"]),
            (&json!(false), &json!(null))
        );
        let places = world
            .sandbox
            .run(["changes", "--locations"])
            .expect(0)
            .stdout;
        assert!(places.contains("a.txt:1: 0.2 not kept yet\n"), "{places}");
        fs::remove_file(&numbers).unwrap();
        fs::rename(&aside, &numbers).unwrap();
        let listed = world.sandbox.run(["changes"]).expect(0);
        assert!(
            !listed.stdout.contains("not kept yet"),
            "{}",
            listed.report()
        );
        let json = world.sandbox.run(["changes", "--json"]).expect(0).stdout;
        let json: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        assert_eq!(json.len(), 2, "{}", listed.report());
        let id = json[1]["id"].as_str().unwrap();
        world.sandbox.run_as_person(["revert", id]).expect(0);
        assert!(
            fs::read_to_string(world.root.join("a.txt"))
                .unwrap()
                .contains("two\n")
        );
    }
}

/// What counts is the limit of those who write, whatever the environment of the command says.
#[test]
fn the_limit_that_is_printed_is_that_of_the_companion() {
    let world = World::new();
    let printed = || {
        let said = world.sandbox.run(["changes", "--disk"]).expect(0).stdout;
        let line = said.lines().next().map(str::to_owned).unwrap_or_default();
        line.split(" of ")
            .last()
            .map(str::to_owned)
            .unwrap_or_default()
    };
    assert_eq!(printed(), "2.0 GiB");
    let _serve = world
        .sandbox
        .serve_with::<&str>("PILLION_CHANGES_LIMIT", "700K", []);
    assert_eq!(printed(), "700.0 KiB");
}

/// The warning of the status line is gone by then.
#[test]
fn that_a_call_did_not_wait_until_everything_was_compared_stays_in_the_list() {
    let world = World::new();
    let inner = world.root.join("inner");
    fs::create_dir(&inner).unwrap();
    let _serve = world.sandbox.serve::<&str>([]);
    let agent = Agent::new(&world, "claude");
    agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
    agent.tells("Stop", &json!({}));
    let Some(hung) = HungDisk::mount(&inner) else {
        return;
    };
    agent.tells("UserPromptSubmit", &json!({"prompt": "go on"}));
    // The companion waits as long as the hook does, and nothing outside of it tells when it gives up.
    std::thread::sleep(std::time::Duration::from_secs(3));
    drop(hung);
    agent.tells("Stop", &json!({}));
    let started = Instant::now();
    let mut listed = String::new();
    while !listed.contains("calls ran before everything had been compared") {
        assert!(started.elapsed() < SOON, "{listed}");
        listed = world.sandbox.run(["changes"]).stdout;
    }
}

#[test]
fn where_there_is_nothing_to_keep_that_is_said() {
    let world = World::new();
    world.turn(|root| fs::write(root.join("a"), "new\n").unwrap());
    world.sandbox.run(["revert", "1"]).expect(0);
    let said = world.sandbox.run(["keep", "1"]).expect(0);
    assert_eq!(said.stdout, "there is nothing to keep in turn 1\n");
}

/// It waits for its turn, which the test holds, at the moment of its end.
#[test]
fn if_the_companion_ends_in_the_middle_of_an_act_it_is_said_that_it_may_be_done() {
    for (is_hub, signal, command, hint) in [
        (true, "KILL", "revert", "Give the command again"),
        (false, "KILL", "undo", "`pillion changes --all`"),
        (false, "TERM", "keep", "Give the command again"),
    ] {
        let world = World::new();
        world.turn(|root| fs::write(root.join("a"), "new\n").unwrap());
        if command == "undo" {
            world.sandbox.run(["revert", "1"]).expect(0);
        }
        let _serve = match is_hub {
            true => world.sandbox.serve_in_hub::<&str>([]),
            false => world.sandbox.serve::<&str>([]),
        };
        let companion = world.sandbox.companion_pid();
        let held = Kept::hold(&world.store, 1).unwrap();
        let asked = world
            .sandbox
            .command([command, "1"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        await_lock(companion);
        signal_to(companion, signal);
        let said = asked.wait_with_output().unwrap();
        drop(held);
        let stderr = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(1), "{stderr}");
        let may_be = "all of it may be done, a part, or nothing";
        assert!(stderr.contains(may_be) && stderr.contains(hint), "{stderr}");
    }
}

/// Returns once this process has the lock of the first turn open, which another one holds.
fn await_lock(process: u32) {
    let started = Instant::now();
    let waits = || {
        let open = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        let mut open = open
            .flatten()
            .filter_map(|it| fs::read_link(it.path()).ok());
        open.any(|it| it.ends_with("held/1"))
    };
    while !waits() {
        assert!(started.elapsed() < SOON, "nobody waits for a lock");
        pause(started);
    }
}

/// Whatever ends a turn, the person's own work after it is in no list, unless something runs that could have done it.
#[test]
fn what_a_program_writes_that_a_turn_has_left_running_is_listed_as_unclear() {
    const EMPTY: &str = "there are no unseen changes here\n";
    for (is_hub, script) in [
        (
            true,
            "setsid -f sh -c 'until [ -e go ]; do sleep .01; done; echo EVIL >> a.txt; touch gone'",
        ),
        (
            false,
            "(until [ -e go ]; do sleep .01; done; echo EVIL >> a.txt; touch gone) >&- 2>&- &",
        ),
        (true, "true"),
    ] {
        let world = World::new();
        let _serve = serve(&world, is_hub);
        let agent = Agent::new(&world, "claude");
        let list = || world.sandbox.run(["changes"]).expect(0).stdout;
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "1"});
        agent.tells("PreToolUse", &call);
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .current_dir(&world.root)
            .stdin(Stdio::null());
        assert!(shell.status().unwrap().success());
        agent.tells("PostToolUse", &call);
        agent.tells("Stop", &json!({}));
        assert_eq!(list(), EMPTY, "{script}");
        fs::write(world.root.join("go"), "").unwrap();
        let started = Instant::now();
        while script != "true" && !world.root.join("gone").exists() {
            assert!(started.elapsed() < SOON, "{script}");
        }
        let listed = list();
        let is_listed = listed.contains("+1 -0  a.txt, unclear who changed it");
        assert_eq!(is_listed, script != "true", "{listed}");
        // Of a whole turn, that stays.
        agent.tells("UserPromptSubmit", &json!({"prompt": "go on"}));
        agent.tells("Stop", &json!({}));
        // Who lists waits until the end of the turn has been compared.
        list();
        fs::write(world.root.join("mine"), "").unwrap();
        assert!(!list().contains("mine"), "{script}");
        if is_listed {
            world.sandbox.run(["revert", "1"]);
            let text = || fs::read_to_string(world.root.join("a.txt")).unwrap();
            assert!(text().ends_with("EVIL\n"), "{script}");
            world.sandbox.run(["revert", "--all", "1"]);
            assert!(!text().ends_with("EVIL\n"), "{script}");
        }
    }
}

/// They change no file of the person's, and may run for hours: what the person saves meanwhile is nobody's turn.
#[test]
fn what_an_agent_and_git_run_for_themselves_keeps_no_turn_open() {
    const CACHE: &str = "git credential-cache --socket \"$PWD/c/s\"";
    // Such as a status line, a hook that nobody waits for, or a server.
    const OWN: &str = "until [ -e over ]; do sleep .01; done";
    for (is_hub, command, own) in [
        (true, "true", OWN),
        (false, "true", OWN),
        (true, &*format!("{CACHE} store </dev/null"), "true"),
    ] {
        let world = World::new();
        let private = world.root.join("c");
        fs::create_dir(&private).unwrap();
        fs::set_permissions(private, fs::Permissions::from_mode(0o700)).unwrap();
        let _serve = serve(&world, is_hub);
        let agent = Agent::new(&world, "claude");
        let shell = |script: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).current_dir(&world.root);
            shell.stdin(Stdio::null()).stdout(Stdio::null()).spawn()
        };
        let list = || world.sandbox.run(["changes"]).expect(0).stdout;
        agent.tells("UserPromptSubmit", &json!({"prompt": "go"}));
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "1"});
        agent.tells("PreToolUse", &call);
        agent.write("two", "EVIL");
        assert!(shell(command).unwrap().wait().unwrap().success());
        agent.tells("PostToolUse", &call);
        // Times at which processes start have steps.
        let told = process::now();
        while process::now() == told {}
        let mut own = shell(own).unwrap();
        agent.tells("Stop", &json!({}));
        let listed = list();
        fs::write(world.root.join("mine"), "").unwrap();
        let later = [list(), {
            agent.tells("UserPromptSubmit", &json!({"prompt": "go on"}));
            list()
        }];
        fs::write(world.root.join("over"), "").unwrap();
        own.wait().unwrap();
        shell(&format!("{CACHE} exit")).unwrap().wait().unwrap();
        assert!(listed.contains("a.txt"), "{command}: {listed}");
        assert!(!later.concat().contains("mine"), "{command}: {later:?}");
    }
}
