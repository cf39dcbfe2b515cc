//! The questions of subagents, which are shown as their proposals.

use pillion_protocol::{Outcome, Verdict};
use pillion_view::{CloseReason, Status};
use serde_json::{Value, json};

use super::asking::{AFTER_WRITE, BEFORE_WRITE, QUESTION, ask, context_of, decide_because, status};
use super::client::Claude;
use crate::support::TestCompanion;

/// Returns what a hook says of a call of this tool by a subagent.
fn call(tool: &str, input: &Value) -> Value {
    json!({
        "review": "always", "mode": "auto", "agent": "a1", "tool": tool, "folder": "",
        "input": input.to_string(),
    })
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": true})
}

fn write(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}

/// A subagent is about to make a change, and asks: its call.
async fn asks(claude: &mut Claude, tool: &str, input: &Value) -> u64 {
    let before = ask(claude, BEFORE_WRITE, call(tool, input)).await;
    let decision = &before["hookSpecificOutput"]["permissionDecision"];
    assert_eq!(*decision, "ask");
    claude.call(QUESTION, call(tool, input)).await
}

/// The agent waits for this call no more.
async fn cancel(claude: &mut Claude, request: u64) {
    let params = json!({"requestId": request});
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    claude.send(cancelled).await;
}

fn decision(blocks: &[String]) -> Value {
    let answer: Value = serde_json::from_str(&blocks[0]).unwrap();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PermissionRequest");
    output["decision"].clone()
}

#[tokio::test]
async fn a_subagents_question_is_answered_with_the_decision() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let bom = "\u{feff}";
    for (name, before, tool, old, new, shown) in [
        (
            "lf",
            Some("one\ntwo\ntwo"),
            "Edit",
            "two",
            "zwei",
            "one\nzwei\nzwei",
        ),
        (
            "crlf",
            Some("one\r\ntwo\r\n"),
            "Edit",
            "one\ntwo",
            "1\n2",
            "1\r\n2\r\n",
        ),
        (
            "bom",
            Some("\u{feff}one\n"),
            "Edit",
            "one",
            "eins",
            "\u{feff}eins\n",
        ),
        ("whole", Some("one\n"), "Write", "", "two\n", "two\n"),
        ("new", None, "Write", "", "two", "two"),
    ] {
        let path = match before {
            Some(text) => test.file(name, text),
            None => test.path(name),
        };
        let input = match tool {
            "Edit" => edit(&path, old, new),
            _ => write(&path, new),
        };
        // As it is: the agent makes its own change.
        let asked = asks(&mut claude, tool, &input).await;
        let diff = test.editor.show().await;
        assert_eq!(diff.notes, ["A subagent proposes this."], "{name}");
        assert_eq!(diff.proposed.as_str(), shown, "{name}");
        let original = diff.original.text.as_deref();
        assert_eq!(original, before.map(str::as_bytes), "{name}");
        test.decide(&diff, Outcome::accepted(shown)).await;
        let answer = decision(&claude.blocks(asked).await);
        assert_eq!(answer, json!({"behavior": "allow"}), "{name}");
        // Edited: the whole text takes the place of the old one.
        let asked = asks(&mut claude, tool, &input).await;
        let diff = test.editor.show().await;
        let edited = format!("{shown}more");
        test.decide(&diff, Outcome::accepted(edited.as_str())).await;
        let answer = decision(&claude.blocks(asked).await);
        let plain = |text: &str| text.replace("\r\n", "\n").replace(bom, "");
        let expected = match tool {
            "Edit" => json!({
                "file_path": path, "old_string": plain(before.unwrap()),
                "new_string": plain(&edited), "replace_all": false,
            }),
            _ => write(&path, &edited),
        };
        let allowed = json!({"behavior": "allow", "updatedInput": expected});
        assert_eq!(answer, allowed, "{name}");
        let told = ask(&mut claude, AFTER_WRITE, call(tool, &input)).await;
        let told = context_of(&told, "PostToolUse");
        assert!(told.contains("more"), "{name}: {told}");
        // All of it taken out.
        if let Some(before) = before {
            let asked = asks(&mut claude, tool, &input).await;
            let diff = test.editor.show().await;
            test.decide(&diff, Outcome::accepted(before)).await;
            let answer = decision(&claude.blocks(asked).await);
            assert_eq!(answer["behavior"], "deny", "{name}");
            let told = answer["message"].as_str().unwrap();
            assert!(told.contains("nothing is left"), "{name}: {told}");
            ask(&mut claude, AFTER_WRITE, call(tool, &input)).await;
        }
        // Rejected.
        for (reason, expected) in [
            (
                Some("not so"),
                format!("The user rejected your change to {path} and says: not so"),
            ),
            (None, "The user rejected this change.".to_owned()),
        ] {
            let asked = asks(&mut claude, tool, &input).await;
            let diff = test.editor.show().await;
            match reason {
                Some(reason) => {
                    let told = decide_because(&test, &diff, Verdict::reject(), reason).await;
                    assert_eq!(told, "your note was sent to Claude Code with the answer");
                }
                None => test.decide(&diff, Outcome::Rejected).await,
            }
            let answer = decision(&claude.blocks(asked).await);
            let denied = json!({"behavior": "deny", "message": expected});
            assert_eq!(answer, denied, "{name}");
        }
        let nothing = ask(&mut claude, AFTER_WRITE, call(tool, &input)).await;
        assert_eq!(nothing, json!({}), "{name}");
    }
    assert!(test.editor.is_idle());
}

#[tokio::test]
async fn what_is_not_understood_is_left_to_the_agent_which_proposes_it() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let utf16 = test.path("utf16.txt");
    std::fs::write(&utf16, [0xff, 0xfe, b'o', 0]).unwrap();
    for (tool, input) in [
        ("Edit", edit(&path, "not there", "x")),
        ("Edit", edit(&path, "one", "one")),
        ("Edit", edit(&utf16, "o", "x")),
        ("Edit", json!({"file_path": path})),
        ("Write", write("relative", "x")),
        ("Write", write(&test.path(""), "x")),
        ("Task", write(&path, "x")),
    ] {
        let answer = ask(&mut claude, QUESTION, call(tool, &input)).await;
        assert_eq!(answer, json!({}), "{tool} {input}");
    }
    assert!(test.editor.is_idle());
}

/// Claude Code proposes nothing in an answer of its model that began before it was connected: its question is all that comes.
#[tokio::test]
async fn a_question_of_one_that_was_not_connected_in_time_is_shown_as_its_proposal() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let call = |id: &str, old: &str, new: &str| {
        json!({
            "review": "always", "mode": "auto", "agent": "", "tool": "Edit", "folder": "", "id": id,
            "input": edit(&path, old, new).to_string(),
        })
    };
    // It does not say which call it asks about.
    let question = |old: &str, new: &str| call("", old, new);
    ask(&mut claude, BEFORE_WRITE, call("1", "one", "two")).await;
    let asked = claude.call(QUESTION, question("one", "two")).await;
    let diff = test.editor.show().await;
    assert!(diff.notes.is_empty() && !diff.is_of_subagent, "{diff:?}");
    let told = decide_because(&test, &diff, Verdict::reject(), "not so").await;
    assert_eq!(told, "your note was sent to Claude Code with the answer");
    let answer = decision(&claude.blocks(asked).await);
    let said = format!("The user rejected your change to {path} and says: not so");
    assert_eq!(answer, json!({"behavior": "deny", "message": said}));
    let asked = claude.call(QUESTION, question("one", "two")).await;
    let diff = test.editor.show().await;
    test.decide(&diff, Outcome::accepted("two\n")).await;
    let answer = decision(&claude.blocks(asked).await);
    assert_eq!(answer, json!({"behavior": "allow"}));
    std::fs::write(&path, "two\n").unwrap();
    ask(&mut claude, AFTER_WRITE, call("2", "one", "two")).await;
    // Answered in its own window: one call runs, of the other it waits no more.
    for (id, old, new, came_of) in [
        ("3", "two", "three", "accepted"),
        ("4", "three", "four", "rejected"),
    ] {
        let asked = claude.call(QUESTION, question(old, new)).await;
        let diff = test.editor.show().await;
        let is_written = came_of == "accepted";
        if is_written {
            std::fs::write(&path, format!("{new}\n")).unwrap();
            ask(&mut claude, AFTER_WRITE, call(id, old, new)).await;
        } else {
            cancel(&mut claude, asked).await;
        }
        let (closed, reason) = test.editor.close(&diff.proposed).await;
        assert_eq!((closed, reason), (diff.id, CloseReason::ClosedByAgent));
        let written = if is_written { ", and written" } else { "" };
        let said = format!("a.txt: {came_of} in Claude Code's own window{written}");
        let is_said = |it: &Status| it.decided.as_ref().is_some_and(|it| it.text == said);
        status(&mut test, is_said).await;
    }
    // Its model's next answer brings a diff, and from then on the question is asked beside it.
    for id in ["5", "6"] {
        let asked = claude.call(QUESTION, question("three", "five")).await;
        if id == "5" {
            test.editor.show().await;
        }
        let open = claude.open(&path, "five\n", id).await;
        if id == "5" {
            test.editor.close("five\n").await;
        }
        let diff = test.editor.show().await;
        let told = decide_because(&test, &diff, Verdict::reject(), "no").await;
        let answered = match id {
            "5" => (open, "Claude Code gets your note with your next prompt"),
            _ => (asked, "your note was sent to Claude Code with the answer"),
        };
        assert_eq!(told, answered.1);
        claude.blocks(answered.0).await;
        claude.call("close_tab", json!({"tab_name": id})).await;
    }
    assert!(test.editor.is_idle());
}

/// Whatever the agent does meanwhile, one of the two is answered.
#[tokio::test]
async fn a_proposal_takes_the_place_of_the_question_about_the_same_file() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let asked = asks(&mut claude, "Edit", &edit(&path, "one", "two")).await;
    let first = test.editor.show().await;
    let open = claude.open(&path, "two\n", "tab").await;
    let (id, reason) = test.editor.close("").await;
    assert_eq!((id, reason), (first.id, CloseReason::ClosedByAgent));
    let second = test.editor.show().await;
    test.decide(&second, Outcome::accepted("two\n")).await;
    assert_eq!(claude.blocks(open).await, ["FILE_SAVED", "two\n"]);
    // Answered in the agent's own window, while another subagent's waits.
    let other = test.file("b.txt", "one\n");
    let cancelled = asks(&mut claude, "Edit", &edit(&path, "one", "two")).await;
    let first = test.editor.show().await;
    let kept = asks(&mut claude, "Write", &write(&other, "two\n")).await;
    let second = test.editor.show().await;
    cancel(&mut claude, cancelled).await;
    let (id, reason) = test.editor.close("two\n").await;
    assert_eq!((id, reason), (first.id, CloseReason::ClosedByAgent));
    // The next turn leaves it open.
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    assert_eq!(claude.blocks(all).await, ["CLOSED_0_DIFF_TABS"]);
    test.decide(&second, Outcome::accepted("two\n")).await;
    let answer = decision(&claude.blocks(kept).await);
    assert_eq!(answer, json!({"behavior": "allow"}));
    assert_ne!(asked, open);
    assert!(test.editor.is_idle());
}

/// Another agent of the session, or a command, may propose something else of the file meanwhile.
#[tokio::test]
async fn a_question_outlives_another_proposal_for_its_file() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    for (number, other) in ["three\n", "two", "", "two\n\n"].into_iter().enumerate() {
        let asked = asks(&mut claude, "Edit", &edit(&path, "one", "two")).await;
        let question = test.editor.show().await;
        let open = claude.open(&path, other, &format!("tab {number}")).await;
        let proposal = test.editor.show().await;
        assert_eq!(proposal.proposed.as_str(), other);
        test.decide(&proposal, Outcome::Rejected).await;
        assert_eq!(claude.blocks(open).await[0], "DIFF_REJECTED");
        test.decide(&question, Outcome::accepted("two\n")).await;
        let answer = decision(&claude.blocks(asked).await);
        assert_eq!(answer, json!({"behavior": "allow"}), "{other:?}");
    }
    assert!(test.editor.is_idle());
}

/// Not every path of a subagent is remembered: an agent may name any number of them.
#[tokio::test]
async fn a_question_outlives_the_next_turn_whatever_else_subagents_do() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    for number in 0..2000 {
        let path = test.path(&number.to_string());
        let input = write(&path, "x");
        ask(&mut claude, BEFORE_WRITE, call("Write", &input)).await;
    }
    let path = test.file("a.txt", "one\n");
    let asked = asks(&mut claude, "Edit", &edit(&path, "one", "two")).await;
    let question = test.editor.show().await;
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    assert_eq!(claude.blocks(all).await, ["CLOSED_0_DIFF_TABS"]);
    test.decide(&question, Outcome::accepted("two\n")).await;
    let answer = decision(&claude.blocks(asked).await);
    assert_eq!(answer, json!({"behavior": "allow"}));
    assert!(test.editor.is_idle());
}
