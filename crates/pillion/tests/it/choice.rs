//! Which companion a command talks to.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, ran};
use crate::vscode::{Person, VsCode};

/// Runs it as whoever has no runtime directory: below `su`, `docker exec` or cron.
fn run_without_runtime_dir(sandbox: &Sandbox, args: &[&str]) -> Ran {
    ran(sandbox.command(args).env_remove("XDG_RUNTIME_DIR"), b"")
}

#[test]
fn of_equals_one_that_answers_is_taken() {
    let sandbox = Sandbox::new();
    let (_answers, hangs) = (sandbox.serve::<&str>([]), sandbox.serve::<&str>([]));
    hangs.signal("STOP");
    // On a machine that is busy enough none of them answers in time.
    let mut tries = (0..3).map(|_| sandbox.run(["diffs"]).code);
    let is_answered = tries.any(|code| code == Some(0));
    hangs.signal("CONT");
    assert!(is_answered);
}

#[test]
fn who_does_not_see_the_state_of_companions_is_told_so_and_tells_equals_apart_all_the_same() {
    let sandbox = Sandbox::new();
    let (one, other) = (sandbox.serve::<&str>([]), sandbox.serve::<&str>([]));
    let file = sandbox.home.file("a.rs", "");
    let file = file.to_str().unwrap();
    for used in [&one, &other, &one] {
        let port = used.port().to_string();
        sandbox.run(["focus", file, "--port", &port]).expect(0);
        // Agents, and who asks as one, are told a moment later (C4.2).
        let started = Instant::now();
        loop {
            let out = run_without_runtime_dir(&sandbox, &["list", "--json"]).expect(0);
            let found: Vec<Value> = serde_json::from_str(&out.stdout).unwrap();
            let current = found.iter().find(|it| it["current"] == true).unwrap();
            assert_eq!(current["agents"], Value::Null, "its state is not seen");
            if current["port"] == used.port() {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "{found:?}");
        }
    }
    let ran = run_without_runtime_dir(&sandbox, &["diffs"]);
    ran.expect_error(3, "the state file of Pillion (port ", "XDG_RUNTIME_DIR");
    run_without_runtime_dir(&sandbox, &["context"]).expect(0);
}

#[test]
fn what_only_pillions_own_understand_is_not_said_to_be_for_nobody() {
    let sandbox = Sandbox::new();
    let vscode = VsCode::start(&sandbox.home, Person::Waits);
    let port = vscode.port().to_string();
    let error = format!("the companion of VS Code (port {port}) is not Pillion's");
    for args in [&["diffs"][..], &["diffs", "--port", &port]] {
        sandbox.run(args).expect_error(3, &error, "pillion serve");
    }
    let error = "no companion of Pillion's for /; none runs";
    let ran = sandbox.run_in("/".as_ref(), ["diffs"]);
    ran.expect_error(3, error, "pillion serve");
}
