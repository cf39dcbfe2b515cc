//! Hooks: what makes Claude Code ask before each change, and what is said when it did not.

use pillion_companion::{CloseReason, Status};
use pillion_protocol::Outcome;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::client::Claude;
use crate::support::{SOON, TestCompanion};

const BEFORE_WRITE: &str = "pillionBeforeWrite";
const BEFORE_TURN: &str = "pillionBeforeTurn";

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
    for tool in [BEFORE_WRITE, BEFORE_TURN, "noSuchTool"] {
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
        panic!("three");
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
