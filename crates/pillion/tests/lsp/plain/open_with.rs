//! Editors that cannot be asked to open a document.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use pillion_testkit::SOON;
use serde_json::json;

use crate::agent::accepted;
use crate::plain::world::{World, wait_gone};
use crate::sandbox::Sandbox;

#[test]
fn an_editor_that_cannot_show_it_reports_what_to_do() {
    for answer in [
        json!({"error": {"code": -32601, "message": "no"}}),
        json!({"error": {"code": -32603, "message": "no"}}),
        json!({"result": {"success": false}}),
    ] {
        let mut world = World::new();
        let target = world.target("a.rs", "before\n");
        let proposal = world.propose(&target, "after\n");
        let mut answer = answer;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = proposal.request["id"].clone();
        world.editor.send(answer);
        let reason = proposal.call.end().unwrap_err();
        assert!(
            reason.contains("a.rs") && reason.contains("--open-with"),
            "{reason}"
        );
        let message = world.editor.params("window/showMessage");
        assert_eq!(
            (&message["type"], &message["message"]),
            (&json!(1), &json!(reason))
        );
        wait_gone(&proposal.path);
        world.diagnostics(&proposal.uri, |found| found.is_empty());
        let answer = world.execute("pillion.accept", json!([]));
        assert_eq!(answer["error"]["message"], "no change is pending");
    }
}

/// Its agent would wait for ten seconds.
#[test]
fn an_editor_that_never_answers_is_not_asked() {
    // Not lsp-mode 9.0, which declares that it does.
    for client in ["vim-lsp", "emacs"] {
        let mut world = World::with(&[], json!({"clientInfo": {"name": client}}));
        let target = world.target("a.rs", "before\n");
        let call = world.agent.proposing(&target, "after\n");
        let reason = call.end().unwrap_err();
        assert!(reason.contains("--open-with"), "{reason}");
        let message = world.editor.params("window/showMessage");
        assert_eq!(message["message"], reason);
        let asked = "window/showDocument".to_owned();
        assert!(!world.editor.passed().contains(&asked));
    }
}

#[test]
fn a_program_opens_it_instead_and_reads_no_shell_syntax() {
    let sandbox = Sandbox::new();
    let told = sandbox.home.root().join("told");
    let program = sandbox.home.root().join("open it");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" >'{0}.new'\nmv '{0}.new' '{0}'\n",
        told.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let args = ["--open-with", program.to_str().unwrap()];
    let mut world = World::in_sandbox(sandbox, &args, json!({}));
    let target = world.target("$(touch x) `y`;.rs", "before\n");
    let proposal = world.propose(&target, "after\n");
    let refusal = json!({"jsonrpc": "2.0", "id": proposal.request["id"],
                         "error": {"code": -32601, "message": "no"}});
    world.editor.send(refusal);
    proposal.call.end().unwrap();
    let start = Instant::now();
    while !told.exists() {
        assert!(start.elapsed() < SOON, "the program was not started");
        std::thread::sleep(Duration::from_millis(5));
    }
    let expected = format!("1\n{}\n", proposal.path.display());
    assert_eq!(fs::read_to_string(told).unwrap(), expected);
    world.did_open(&proposal.uri, "after\n");
    world.did_change(&proposal.uri, "edited\n");
    let answer = world.execute("pillion.accept", json!([]));
    assert!(answer.get("error").is_none());
    assert_eq!(world.agent.outcome(), accepted(&target, "edited\n"));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut world = World::with(&["--open-with", "/no/such/program"], json!({}));
    let target = world.target("a.rs", "before\n");
    let proposal = world.propose(&target, "after\n");
    world
        .editor
        .answer(&proposal.request, json!({"success": false}));
    let reason = proposal.call.end().unwrap_err();
    assert!(reason.contains("/no/such/program"), "{reason}");
}
