//! Hooks: what makes Claude Code ask before each change, and what is said when it did not.

use pillion_protocol::{Note, Outcome, Verdict};
use pillion_view::{CloseReason, Decide, Diff, Proposed, Ruling, Status};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::client::Claude;
use crate::support::{SOON, TestCompanion};

const BEFORE_WRITE: &str = "pillionBeforeWrite";
const BEFORE_TURN: &str = "pillionBeforeTurn";
const QUESTION: &str = "pillionQuestion";
const AFTER_WRITE: &str = "pillionAfterWrite";

/// As the hooks of `pillion run` send it.
fn change(review: &str, agent: &str, path: &str) -> Value {
    let input = json!({"file_path": path, "content": "x"}).to_string();
    json!({"review": review, "mode": "auto", "agent": agent, "tool": "Write", "input": input})
}

async fn ask(claude: &mut Claude, tool: &str, arguments: Value) -> Value {
    let id = claude.call(tool, arguments).await;
    let [decision] = &claude.blocks(id).await[..] else {
        panic!("one block");
    };
    serde_json::from_str(decision).unwrap()
}

/// Claude Code is about to write this file.
async fn writes(claude: &mut Claude, path: &str) {
    let uri = format!("file://{path}");
    claude.call("getDiagnostics", json!({ "uri": uri })).await;
}

async fn status(test: &mut TestCompanion, wanted: impl Fn(&Status) -> bool) -> Status {
    let found = async {
        loop {
            let status = test.editor.status.recv().await.unwrap();
            if wanted(&status) {
                return status;
            }
        }
    };
    timeout(SOON, found).await.unwrap()
}

#[tokio::test]
async fn a_hook_is_answered_as_the_person_started_the_agent() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    for (tool, review, expected) in [
        (BEFORE_WRITE, "always", json!("ask")),
        (BEFORE_WRITE, "asked", Value::Null),
        (BEFORE_TURN, "always", Value::Null),
    ] {
        let answer = ask(&mut claude, tool, change(review, "", "/a")).await;
        let decision = &answer["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(*decision, expected, "{tool} {review}");
    }
    // Two at once, and what is no call of a hook.
    let both = [
        claude.call(BEFORE_WRITE, change("always", "", "/a")).await,
        claude
            .call(BEFORE_WRITE, change("always", "s1", "/b"))
            .await,
        claude
            .call(
                BEFORE_WRITE,
                json!({"review": "always", "input": 1, "mode": []}),
            )
            .await,
    ];
    for id in both {
        assert!(claude.blocks(id).await[0].contains("\"ask\""));
    }
    assert!(test.editor.is_idle());
}

#[tokio::test]
async fn a_model_that_calls_what_is_for_hooks_is_refused() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let mut answers = Vec::new();
    for tool in [
        BEFORE_WRITE,
        BEFORE_TURN,
        QUESTION,
        AFTER_WRITE,
        "noSuchTool",
    ] {
        let params = json!({
            "name": tool, "arguments": change("always", "", "/a"),
            "_meta": {"claudecode/toolUseId": "toolu_1", "progressToken": 1},
        });
        let id = claude.request("tools/call", params).await;
        let answer = claude.answer(id).await.to_string();
        answers.push(
            answer
                .replace(tool, "")
                .replace(&format!("\"id\":{id}"), ""),
        );
    }
    let [.., unknown] = &answers[..] else {
        panic!("five");
    };
    assert!(
        answers.iter().all(|answer| answer == unknown),
        "{answers:?}"
    );
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    claude.blocks(all).await;
    let said = status(&mut test, |status| !status.asking.is_empty()).await;
    assert!(
        said.asking[0].contains("`pillion run claude`"),
        "it counts as no hook: {said:?}"
    );
}

#[tokio::test]
async fn a_write_that_was_not_proposed_is_said() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    ask(&mut claude, BEFORE_WRITE, change("always", "", &path)).await;
    let open = claude.open(&path, "two\n", "tab").await;
    let diff = test.editor.show().await;
    test.decide(&diff, Outcome::accepted("two\n")).await;
    claude.blocks(open).await;
    writes(&mut claude, &path).await;
    // The answer of the next hook does not come.
    let other = test.file("b.txt", "one\n");
    ask(&mut claude, BEFORE_WRITE, change("always", "", &other)).await;
    writes(&mut claude, &other).await;
    let said = status(&mut test, |status| !status.unasked.is_empty()).await;
    assert_eq!(
        said.unasked,
        [format!(
            "Claude Code changed {other:?} without showing it here first"
        )]
    );
    assert_eq!(
        said.asking,
        ["Claude Code is in mode auto: every change is shown here first."]
    );
    drop(claude);
    status(&mut test, |status| {
        status.agents.is_empty() && status.unasked.is_empty()
    })
    .await;
}

#[tokio::test]
async fn the_next_turn_leaves_the_views_of_subagents_open() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let (own, subagents) = (test.file("own.txt", "one\n"), test.file("sub.txt", "one\n"));
    claude.open(&own, "own\n", "tab 1").await;
    test.editor.show().await;
    ask(
        &mut claude,
        BEFORE_WRITE,
        change("always", "agent 1", &subagents),
    )
    .await;
    let open = claude.open(&subagents, "sub\n", "tab 2").await;
    let kept = test.editor.show().await;
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    let (_, reason) = test.editor.close("own\n").await;
    assert_eq!(reason, CloseReason::ClosedByAgent);
    assert_eq!(claude.blocks(all).await, ["CLOSED_1_DIFF_TABS"]);
    test.decide(&kept, Outcome::accepted("sub\n")).await;
    assert_eq!(claude.blocks(open).await, ["FILE_SAVED", "sub\n"]);
}

/// What the person is told of a decision with this note.
async fn decide_because(test: &TestCompanion, diff: &Diff, verdict: Verdict, note: &str) -> String {
    let decide = Decide {
        verdict: Verdict {
            notes: vec![Note::on_all(note)],
            ..verdict
        },
        ..Decide::blind(diff.key(), Outcome::Rejected)
    };
    match test.rule(decide).await {
        Ruling::Settled(Some(told)) => told.message,
        other => panic!("{other:?}"),
    }
}

/// A view of a change of this file, with the question beside it: the calls of both.
async fn propose(
    test: &mut TestCompanion,
    claude: &mut Claude,
    path: &str,
    tab: &str,
) -> (u64, u64, Diff) {
    ask(claude, BEFORE_WRITE, change("always", "", path)).await;
    let question = claude.call(QUESTION, change("always", "", path)).await;
    let open = claude.open(path, "two\n", tab).await;
    (question, open, test.editor.show().await)
}

const WITH_NEXT_PROMPT: &str =
    "Claude Code gets your note with your next prompt, unless you select something before";

#[tokio::test]
async fn a_rejection_that_says_why_answers_the_question_and_not_the_proposal() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    // Once more for the same file: the former question is over.
    for tab in ["tab 1", "tab 2", "tab 3"] {
        let (question, open, diff) = propose(&mut test, &mut claude, &path, tab).await;
        let told = decide_because(&test, &diff, Verdict::reject(), "no capitals").await;
        assert_eq!(told, "Claude Code reads your note now and goes on");
        let answer: Value = serde_json::from_str(&claude.blocks(question).await[0]).unwrap();
        assert_eq!(
            answer,
            json!({"hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {
                    "behavior": "deny",
                    "message": format!("The user rejected your change to {path} and says: no capitals"),
                },
            }})
        );
        // The agent closes its tab, which was none any more, and of the proposal's call nothing came before that.
        let closed = claude.call("close_tab", json!({"tab_name": tab})).await;
        assert_ne!(open, closed);
        assert_eq!(claude.blocks(closed).await, ["TAB_CLOSED"]);
    }
    assert!(test.editor.is_idle());
}

#[tokio::test]
async fn whatever_else_is_decided_answers_the_proposal() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    // Without a reason.
    let (question, open, diff) = propose(&mut test, &mut claude, &path, "tab 1").await;
    test.decide(&diff, Outcome::Rejected).await;
    let answers = claude.both(question, open).await;
    assert_eq!(answers, [vec!["{}"], vec!["DIFF_REJECTED"]]);
    // Accepted, with a note and without one.
    let (question, open, diff) = propose(&mut test, &mut claude, &path, "tab 2").await;
    test.decide(&diff, Outcome::accepted("two\n")).await;
    let answers = claude.both(question, open).await;
    assert_eq!(answers, [vec!["{}"], vec!["FILE_SAVED", "two\n"]]);
    // The question did not come, or its hook has stopped waiting.
    for is_asked in [false, true] {
        let (open, diff) = if is_asked {
            let (question, open, diff) = propose(&mut test, &mut claude, &path, "tab 3").await;
            let params = json!({"requestId": question});
            let cancelled = json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params,
            });
            claude.send(cancelled).await;
            (open, diff)
        } else {
            let open = claude.open(&path, "two\n", "tab 3").await;
            (open, test.editor.show().await)
        };
        // With its answer, what was sent before has been read.
        ask(&mut claude, BEFORE_TURN, change("always", "", "")).await;
        let told = decide_because(&test, &diff, Verdict::reject(), "no").await;
        assert_eq!(told, WITH_NEXT_PROMPT);
        assert_eq!(claude.blocks(open).await, ["DIFF_REJECTED"]);
    }
    let nothing = ask(&mut claude, QUESTION, change("always", "agent 1", &path)).await;
    assert_eq!(nothing, json!({}), "a subagent proposes then");
    // Two for one file: nobody knows which of them is asked about.
    let (first, open, diff) = propose(&mut test, &mut claude, &path, "tab 4").await;
    let other = change("always", "", &path);
    let begins = claude.call(BEFORE_WRITE, other.clone()).await;
    let [over, begun] = claude.both(first, begins).await;
    assert_eq!(over, ["{}"], "another change of it begins");
    assert!(begun[0].contains("\"ask\""), "{begun:?}");
    let second = claude.call(QUESTION, other).await;
    let other = claude.open(&path, "two\n", "tab 5").await;
    test.editor.show().await;
    let told = decide_because(&test, &diff, Verdict::reject(), "no").await;
    assert_eq!(told, WITH_NEXT_PROMPT);
    let answers = claude.both(second, open).await;
    assert_eq!(answers, [vec!["{}"], vec!["DIFF_REJECTED"]]);
    drop(claude);
    assert_ne!(other, open);
    let (_, reason) = test.editor.close("").await;
    assert_eq!(reason, CloseReason::AgentGone);
}

#[tokio::test]
async fn notes_on_what_was_accepted_are_read_once_it_is_written() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let nothing = ask(&mut claude, AFTER_WRITE, change("always", "", &path)).await;
    assert_eq!(nothing, json!({}));
    let (question, open, diff) = propose(&mut test, &mut claude, &path, "tab").await;
    let accepted = Verdict::accept(None);
    let told = decide_because(&test, &diff, accepted, "and the tests?").await;
    assert_eq!(
        told,
        "Claude Code reads your note when it has written the file"
    );
    let answers = claude.both(question, open).await;
    assert_eq!(answers, [vec!["{}"], vec!["FILE_SAVED", "two\n"]]);
    let answer = ask(&mut claude, AFTER_WRITE, change("always", "", &path)).await;
    let said = format!("The user accepted your change to {path} and says: and the tests?");
    assert_eq!(
        answer,
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": said}})
    );
    // What was edited, too, and once.
    let (question, open, diff) = propose(&mut test, &mut claude, &path, "edited").await;
    test.decide(&diff, Outcome::accepted("zwei\n")).await;
    let answers = claude.both(question, open).await;
    assert_eq!(answers, [vec!["{}"], vec!["FILE_SAVED", "zwei\n"]]);
    let answer = ask(&mut claude, AFTER_WRITE, change("always", "", &path)).await;
    let said = answer["hookSpecificOutput"]["additionalContext"].as_str();
    assert!(said.unwrap().ends_with("\n-two\n+zwei\n"), "{answer}");
    let nothing = ask(&mut claude, AFTER_WRITE, change("always", "", &path)).await;
    assert_eq!(nothing, json!({}));
}

/// Each holds one of the answers that may be on their way: the connection goes on all the same.
#[tokio::test]
async fn many_questions_hold_up_nothing() {
    let test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let mut last = 0;
    for number in 0..200 {
        let path = format!("/{number}");
        last = claude.call(QUESTION, change("always", "", &path)).await;
    }
    // That one does not wait any more.
    while claude.next().await["id"] != last {}
    let nothing = ask(&mut claude, BEFORE_TURN, change("always", "", "")).await;
    assert_eq!(nothing, json!({}));
}
