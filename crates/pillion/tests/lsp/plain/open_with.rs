//! Editors that cannot be asked to open a document.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pillion_testkit::SOON;
use serde_json::{Value, json};

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

/// The parameters of a client that shows documents.
fn showing() -> Value {
    json!({"capabilities": {"window": {"showDocument": {"support": true}}}})
}

/// A program that notes how often it was started, and with what.
struct Opener {
    program: PathBuf,
    told: PathBuf,
}

impl Opener {
    fn new(sandbox: &Sandbox) -> Opener {
        Opener::named("open it", sandbox)
    }

    fn named(name: &str, sandbox: &Sandbox) -> Opener {
        let folder = sandbox.home.root();
        let (program, told) = (folder.join(name), folder.join("told"));
        let script = format!(
            "#!/bin/sh\nprintf '%s:%s\\n' \"$#\" \"$*\" >>'{}'\n",
            told.display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Opener { program, told }
    }

    fn world(&self, sandbox: Sandbox, params: Value) -> World {
        let program = self.program.to_str().unwrap();
        World::in_sandbox(sandbox, &["--open-with", program], params)
    }

    /// The arguments that it was given, one line for each start.
    fn told(&self) -> String {
        fs::read_to_string(&self.told).unwrap_or_default()
    }

    fn wait_told(&self, expected: &str) {
        let start = Instant::now();
        while self.told() != expected {
            assert!(
                start.elapsed() < SOON,
                "expected {expected:?}: {:?}",
                self.told()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_program_opens_it_instead_and_reads_no_shell_syntax() {
    let sandbox = Sandbox::new();
    let opener = Opener::new(&sandbox);
    let mut world = opener.world(sandbox, showing());
    let target = world.target("$(touch x) `y`;.rs", "before\n");
    let proposal = world.propose(&target, "after\n");
    let refusal = json!({"jsonrpc": "2.0", "id": proposal.request["id"],
                         "error": {"code": -32601, "message": "no"}});
    world.editor.send(refusal);
    proposal.call.end().unwrap();
    opener.wait_told(&format!("1:{}\n", proposal.path.display()));
    world.did_open(&proposal.uri, "after\n");
    world.did_change(&proposal.uri, "edited\n");
    let answer = world.execute("pillion.accept", json!([]));
    assert!(answer.get("error").is_none());
    assert_eq!(world.agent.outcome(), accepted(&target, "edited\n"));
}

#[test]
fn kate_is_told_the_line_of_the_first_hunk() {
    let sandbox = Sandbox::new();
    let opener = Opener::named("kate", &sandbox);
    let mut world = opener.world(sandbox, showing());
    let target = world.target("a.rs", "one\ntwo\nthree\n");
    let proposal = world.propose(&target, "one\ntwo\n3\n");
    let refusal = json!({"jsonrpc": "2.0", "id": proposal.request["id"],
                         "error": {"code": -32601, "message": "no"}});
    world.editor.send(refusal);
    proposal.call.end().unwrap();
    opener.wait_told(&format!("3:-l 3 {}\n", proposal.path.display()));
}

/// As Kate 26.08 does, and any other that says nothing of it, or that it does not.
#[test]
fn an_editor_that_does_not_declare_it_is_not_asked_where_a_program_can_open_it() {
    for window in [
        json!({}),
        json!({"showDocument": {"support": false}}),
        json!({"showMessage": {}}),
    ] {
        let sandbox = Sandbox::new();
        let opener = Opener::new(&sandbox);
        let params = json!({"capabilities": {"window": window}});
        let mut world = opener.world(sandbox, params);
        let target = world.target("a.rs", "before\n");
        let call = world.agent.proposing(&target, "after\n");
        call.end().unwrap();
        let started = Instant::now();
        while opener.told().is_empty() {
            assert!(started.elapsed() < SOON, "the program was not started");
            std::thread::sleep(Duration::from_millis(5));
        }
        let told = opener.told();
        let path = told.trim_end().strip_prefix("1:").unwrap();
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(text, "after\n");
        let asked = "window/showDocument".to_owned();
        assert!(!world.editor.passed().contains(&asked));
    }
}

/// It would be shown twice, or its agent would hear of an error after all.
#[test]
fn an_editor_that_leaves_it_unanswered_is_helped_once_whatever_it_answers_later() {
    let late = [
        json!({"result": {"success": true}}),
        json!({"result": {"success": false}}),
        json!({"error": {"code": -32603, "message": "no"}}),
    ];
    for mut answer in late {
        let sandbox = Sandbox::new();
        let opener = Opener::new(&sandbox);
        let mut world = opener.world(sandbox, showing());
        let target = world.target("a.rs", "before\n");
        let proposal = world.propose(&target, "after\n");
        proposal.call.end().unwrap();
        let expected = format!("1:{}\n", proposal.path.display());
        opener.wait_told(&expected);
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = proposal.request["id"].clone();
        world.editor.send(answer);
        world.did_open(&proposal.uri, "after\n");
        let answer = world.execute("pillion.accept", json!([]));
        assert!(answer.get("error").is_none(), "{answer}");
        assert_eq!(world.agent.outcome(), accepted(&target, "after\n"));
        assert_eq!(opener.told(), expected);
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut world = World::with(&["--open-with", "/no/such/program"], showing());
    let target = world.target("a.rs", "before\n");
    let proposal = world.propose(&target, "after\n");
    world
        .editor
        .answer(&proposal.request, json!({"success": false}));
    let reason = proposal.call.end().unwrap_err();
    assert!(reason.contains("/no/such/program"), "{reason}");
}
