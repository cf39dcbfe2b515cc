//! What came of what was accepted, whatever becomes of its agent: nothing that is not written is called accepted.

use std::fs;
use std::path::PathBuf;

use pillion_testkit::TestClaude;
use pillion_testkit::client::claude::Answer;
use serde_json::{Value, json};

use crate::diff::{number, pending};
use crate::hook::Hook;
use crate::log::came_of;
use crate::sandbox::{Sandbox, Serve};

/// The hub, and a companion in the process of its view.
const SERVES: [fn(&Sandbox) -> Serve; 2] =
    [|it| it.serve::<&str>([]), |it| it.serve_in_hub::<&str>([])];

fn path(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.home.workspace().join(name)
}

/// All that lists it says that it is not written, and why.
#[track_caller]
fn expect_not_written(sandbox: &Sandbox, name: &str, why: &str) {
    let (_, outcome, line) = came_of(sandbox, name);
    assert_eq!(outcome, "not written", "{line}");
    assert!(
        line.contains(" not written ") && line.ends_with(why),
        "{line}"
    );
    assert!(!line.contains("accepted"), "{line}");
    let id = line.split(' ').next().unwrap();
    let shown = sandbox.run(["show", id]).expect(0).stdout;
    assert!(
        shown.starts_with(&format!("# {id} not written, ")),
        "{shown}"
    );
    let log = sandbox.run(["log", "--json"]).expect(0).stdout;
    let log: Vec<Value> = serde_json::from_str(&log).unwrap();
    let entry = log.iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(entry["why"], why.rsplit(", ").next().unwrap(), "{entry}");
}

fn accept_first(sandbox: &Sandbox) {
    let id = number(&pending(sandbox, 1)[0]);
    sandbox.insist(["accept", &id]).expect(0);
}

/// Gemini CLI, and Claude Code, as when it is stopped (Esc) right after.
#[test]
fn what_an_agent_that_ends_has_not_written_is_not_called_accepted() {
    for serve in SERVES {
        let sandbox = Sandbox::new();
        let mut serve = serve(&sandbox);
        let mut gemini = serve.connect();
        gemini.propose(path(&sandbox, "gemini.txt"), "x\n");
        accept_first(&sandbox);
        gemini.outcome();
        gemini.disconnect();
        let claude = TestClaude::find(&sandbox.home);
        let proposing = claude.proposing(&path(&sandbox, "claude.txt"), "x\n", "tab");
        accept_first(&sandbox);
        assert!(matches!(proposing.end(), Ok(Answer::Saved(_))));
        claude.close_tab("tab").unwrap();
        drop(claude);
        serve.said("nothing was written: Gemini CLI did not write what you accepted for");
        serve.said("nothing was written: Claude Code did not write what you accepted for");
        for (file, agent) in [("gemini.txt", "Gemini CLI"), ("claude.txt", "Claude Code")] {
            let why = format!("  {file}, {agent} did not write it");
            expect_not_written(&sandbox, file, &why);
        }
    }
}

/// Claude Code's own answer decides, and no entry says otherwise.
#[test]
fn what_the_person_rejects_in_the_agents_own_window_is_not_called_accepted() {
    for serve in SERVES {
        let sandbox = Sandbox::new();
        let _serve = serve(&sandbox);
        let claude = TestClaude::find(&sandbox.home);
        let _proposing = claude.proposing(&path(&sandbox, "a.txt"), "x\n", "tab");
        let id = number(&pending(&sandbox, 1)[0]);
        claude.close_tab("tab").unwrap();
        pending(&sandbox, 0);
        sandbox.run(["accept", &id]).expect(1);
        let log = sandbox.run(["log"]).expect(0).stdout;
        assert!(!log.contains("accepted"), "{log}");
    }
}

/// A file of a set that is denied as a whole, because nobody has decided about the other.
#[test]
fn what_is_accepted_of_a_set_that_is_denied_is_not_called_accepted() {
    for serve in SERVES {
        let sandbox = Sandbox::new();
        let mut serve = serve(&sandbox);
        let patch =
            "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: b.txt\n+y\n*** End Patch\n";
        let call = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": sandbox.home.workspace(),
            "permission_mode": "bypassPermissions", "tool_name": "apply_patch", "tool_input": {"command": patch},
        });
        let hook = Hook::call(&sandbox, &["codex", "--limit", "3s"], &call);
        let listed = pending(&sandbox, 2);
        sandbox.insist(["accept", &number(&listed[0])]).expect(0);
        let decision = &hook.answer().output["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(decision, "deny");
        serve.said("nothing was written: Codex CLI writes nothing of the set of");
        expect_not_written(
            &sandbox,
            "a.txt",
            "  a.txt, Codex CLI writes nothing of its set",
        );
        assert!(
            fs::read_dir(sandbox.home.workspace())
                .unwrap()
                .next()
                .is_none()
        );
        let log = sandbox.run(["log"]).expect(0).stdout;
        assert!(!log.contains("b.txt"), "{log}");
    }
}

/// Of a set, its agent makes the rest.
#[test]
fn what_no_patch_can_express_is_not_called_accepted_and_the_rest_of_its_set_is_written() {
    for (serve, agent, tool, argument) in [
        (SERVES[0], "codex", "apply_patch", "command"),
        (SERVES[1], "codex", "apply_patch", "command"),
        (SERVES[1], "opencode", "apply_patch", "patchText"),
    ] {
        let sandbox = Sandbox::new();
        let mut serve = serve(&sandbox);
        let patch =
            "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: b.txt\n+y\n*** End Patch\n";
        let call = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": sandbox.home.workspace(),
            "permission_mode": "bypassPermissions", "tool_name": tool, "tool_input": {argument: patch},
        });
        let hook = Hook::call(&sandbox, &[agent], &call);
        let listed = pending(&sandbox, 2);
        let text = sandbox.home.file("../text", "mine");
        let text = text.to_str().unwrap();
        let accept = ["accept", &number(&listed[0]), "--content-file", text];
        let asked = "has no way to write this text, so it would write nothing to this file";
        sandbox.run(accept).expect_error(1, asked, "");
        sandbox.insist(accept).expect(0);
        sandbox.insist(["accept", &number(&listed[1])]).expect(0);
        let output = &hook.answer().output["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "allow", "{output}");
        let made = output["updatedInput"][argument].as_str().unwrap();
        assert!(made.contains("b.txt") && !made.contains("a.txt"), "{made}");
        fs::write(path(&sandbox, "b.txt"), "y\n").unwrap();
        serve.said("your text is kept in");
        assert_eq!(came_of(&sandbox, "a.txt").1, "not written", "{agent}");
        assert_eq!(came_of(&sandbox, "b.txt").1, "written", "{agent}");
    }
}

/// Each question waits for its own answer, in whatever order a script asks.
#[test]
fn of_two_deletions_each_is_accepted_when_it_is_accepted_again() {
    for serve in SERVES {
        let sandbox = Sandbox::new();
        let _serve = serve(&sandbox);
        sandbox.home.file("a.txt", "x\n");
        sandbox.home.file("b.txt", "y\n");
        let patch =
            "*** Begin Patch\n*** Delete File: a.txt\n*** Delete File: b.txt\n*** End Patch\n";
        let call = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": sandbox.home.workspace(),
            "permission_mode": "bypassPermissions", "tool_name": "apply_patch", "tool_input": {"command": patch},
        });
        let hook = Hook::call(&sandbox, &["codex"], &call);
        let mut left: Vec<_> = pending(&sandbox, 2).iter().map(number).collect();
        for id in &left {
            let asked = sandbox.run(["accept", id]);
            assert!(
                asked.stderr.contains("accepting this deletes"),
                "{}",
                asked.stderr
            );
        }
        while !left.is_empty() {
            left.retain(|id| {
                let ran = sandbox.run(["accept", id]);
                let is_accepted = ran.code == Some(0);
                let is_early = ran.stderr.contains("too soon after the question");
                assert!(is_accepted || is_early, "{}", ran.stderr);
                !is_accepted
            });
        }
        assert_eq!(
            hook.answer().output,
            Value::Null,
            "it is made as it was proposed"
        );
    }
}
