//! Hooks: what makes Claude Code ask before each change, and what is said when it did not.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pillion_protocol::{File, Note, Outcome, ReviewChoice, Verdict};
use pillion_view::ask::{GetReview, SetReview};
use pillion_view::{Chosen, CloseReason, Decide, Diff, Proposed, Reply, Ruling, Status, Tell};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::client::Claude;
pub(super) use crate::support::status;
use crate::support::{Other, SOON, TestCompanion};

pub(super) const BEFORE_WRITE: &str = "pillionBeforeWrite";
pub(super) const BEFORE_TURN: &str = "pillionBeforeTurn";
pub(super) const QUESTION: &str = "pillionQuestion";
pub(super) const AFTER_WRITE: &str = "pillionAfterWrite";
pub(super) const AFTER_TURN: &str = "pillionAfterTurn";

/// As the hooks of `pillion run` send it.
pub(super) fn change(review: &str, agent: &str, path: &str) -> Value {
    let input = json!({"file_path": path, "content": "x"}).to_string();
    json!({"review": review, "mode": "auto", "agent": agent, "tool": "Write", "input": input})
}

pub(super) async fn ask(claude: &mut Claude, tool: &str, arguments: Value) -> Value {
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

pub(super) async fn choose(test: &TestCompanion, choice: Option<ReviewChoice>) -> Chosen {
    let (sender, chosen) = oneshot::channel();
    let reply = Reply::new(move |chosen: Result<_, _>| drop(sender.send(chosen.unwrap())));
    match choice {
        Some(choice) => test.handle.ask(
            SetReview {
                choice,
                number: None,
            },
            reply,
        ),
        None => test.handle.ask(GetReview::default(), reply),
    }
    timeout(SOON, chosen).await.unwrap().unwrap()
}

#[tokio::test]
async fn what_the_person_chooses_counts_from_the_next_change_on() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    status(&mut test, |status| !status.agents.is_empty()).await;
    for (started, choice, expected) in [
        ("always", ReviewChoice::Asked, Value::Null),
        ("always", ReviewChoice::Always, json!("ask")),
        ("asked", ReviewChoice::Always, json!("ask")),
        ("asked", ReviewChoice::Asked, Value::Null),
    ] {
        let chosen = choose(&test, Some(choice)).await;
        assert!(chosen.done, "{chosen:?}");
        let answer = ask(&mut claude, BEFORE_WRITE, change(started, "", "/a")).await;
        let decision = &answer["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(*decision, expected, "{started} {choice:?}");
        let label = format!("review: {}", choice.name());
        // In auto mode, as the hook has said.
        let is_silent = choice == ReviewChoice::Asked;
        let is_told = |status: &Status| {
            let review = status.review.as_ref();
            review.is_some_and(|it| it.label == label && it.unasked.is_some() == is_silent)
        };
        status(&mut test, is_told).await;
    }
    // Another one begins as it was started.
    let mut other = Claude::connect(&test).await;
    status(&mut test, |status| status.agents.len() == 2).await;
    let answer = ask(&mut other, BEFORE_WRITE, change("always", "", "/a")).await;
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
    let looked = choose(&test, None).await;
    assert_eq!(
        looked.message,
        "Claude Code 1 is in mode auto: it changes files without asking. \
         Claude Code 2 is in mode auto: every change is shown here first."
    );
    drop(other);
    drop(claude);
    status(&mut test, |status| status.agents.is_empty()).await;
    let refused = choose(&test, Some(ReviewChoice::Always)).await;
    assert!(
        !refused.done
            && refused
                .message
                .starts_with("no agent that is here does this"),
        "{refused:?}"
    );
}

/// Returns the answer of the hook before a change.
async fn before_change(claude: &mut Claude, review: &str, path: &Path) -> Value {
    let path = path.to_str().unwrap();
    let answer = ask(claude, BEFORE_WRITE, change(review, "", path)).await;
    answer["hookSpecificOutput"]["permissionDecision"].clone()
}

#[tokio::test]
async fn nothing_is_asked_about_what_can_be_looked_at_after_the_write() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let root = folder.path().canonicalize().unwrap().join("work");
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("target")).unwrap();
    fs::write(root.join("there"), "old\n").unwrap();
    fs::write(outside.join("there"), "old\n").unwrap();
    fs::write(root.join("long"), vec![b'x'; (16 << 20) + 1]).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("out")).unwrap();
    std::os::unix::fs::symlink(outside.join("there"), root.join("link")).unwrap();
    std::os::unix::fs::symlink(root.join(".git/hooks"), root.join("linked")).unwrap();
    for setting in [&["init", "-q"][..], &["config", "core.hooksPath", "hk"]] {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(&root).args(setting);
        assert!(git.status().unwrap().success());
    }
    let mut test = TestCompanion::start_in_root(folder, root.clone());
    let mut claude = Claude::connect(&test).await;
    status(&mut test, |status| !status.agents.is_empty()).await;
    ask(&mut claude, BEFORE_TURN, change("after", "", "/x")).await;
    let allowed = json!("allow");
    for (path, expected) in [
        (root.join("there"), &allowed),
        (root.join("new/folder/file"), &allowed),
        // Elsewhere, or leading there.
        (outside.join("there"), &Value::Null),
        (root.join("../elsewhere"), &Value::Null),
        (root.join("out/there"), &Value::Null),
        (root.join("link"), &Value::Null),
        // What runs as code is shown first, and so is what could not be brought back.
        (root.join(".git/hooks/pre-commit"), &json!("ask")),
        (root.join(".envrc"), &json!("ask")),
        (root.join("mise.local.toml"), &json!("ask")),
        (root.join(".github/hooks/x.json"), &json!("ask")),
        (root.join("linked/pre-commit"), &json!("ask")),
        (root.join("hk/commit-msg"), &json!("ask")),
        (root.join("hk/notes"), &allowed),
        (outside.join(".envrc"), &json!("ask")),
        (root.join("long"), &json!("ask")),
        (root.join("target/made"), &json!("ask")),
    ] {
        let decision = before_change(&mut claude, "after", &path).await;
        assert_eq!(decision, *expected, "{}", path.display());
    }
    let command = json!({
        "review": "after", "mode": "auto", "agent": "", "tool": "Bash", "id": "1", "folder": root,
        "input": json!({"command": "true"}).to_string(),
    });
    assert_eq!(ask(&mut claude, BEFORE_WRITE, command).await, json!({}));
    // What it writes is what was chosen, and no news.
    writes(&mut claude, root.join("there").to_str().unwrap()).await;
    fs::write(root.join("there"), "new\n").unwrap();
    ask(&mut claude, AFTER_TURN, change("after", "", "/x")).await;
    let told = status(&mut test, |status| status.ended.is_some()).await;
    let review = told.review.unwrap();
    assert_eq!(review.label, "after the write: 1 file to look at");
    assert_eq!((review.unasked, told.unasked), (None, vec![]));
    let ended = told.ended.unwrap().text;
    assert_eq!(ended, "Claude Code has ended its turn: 1 file to look at");
    let chosen = choose(&test, Some(ReviewChoice::Always)).await;
    assert!(chosen.done, "{chosen:?}");
    let decision = before_change(&mut claude, "after", &root.join("there")).await;
    assert_eq!(decision, "ask");
    let chosen = choose(&test, Some(ReviewChoice::After)).await;
    assert!(
        chosen.message.contains("you look at them after the write"),
        "{chosen:?}"
    );
    let decision = before_change(&mut claude, "always", &root.join("there")).await;
    assert_eq!(decision, "allow");
}

#[tokio::test]
async fn everything_is_shown_first_where_nothing_is_recorded() {
    for is_off in [true, false] {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let root = folder.path().canonicalize().unwrap();
        let mut pairs = vec![("HOME", root.join("home"))];
        if is_off {
            pairs.push(("PILLION_CHANGES", "off".into()));
        } else {
            // No folder can be made there.
            fs::create_dir_all(root.join("home")).unwrap();
            fs::write(root.join("home/.local"), "").unwrap();
        }
        let mut test = TestCompanion::start_with(folder, root.clone(), &pairs);
        let mut claude = Claude::connect(&test).await;
        status(&mut test, |status| !status.agents.is_empty()).await;
        let path = root.join("file");
        let decision = before_change(&mut claude, "after", &path).await;
        assert_eq!(decision, "ask", "off: {is_off}");
        if is_off {
            let refused = choose(&test, Some(ReviewChoice::After)).await;
            assert!(
                !refused.done && refused.message.contains("is not recorded here"),
                "{refused:?}"
            );
            let said = choose(&test, None).await.message;
            assert!(
                said.contains("every change is shown here first")
                    && said.contains("is not recorded here"),
                "{said}"
            );
        } else {
            let told = status(&mut test, |status| !status.warnings.is_empty()).await;
            let warning = &told.warnings[0];
            assert!(
                warning.starts_with("what agents change is not kept: cannot create")
                    || warning.contains("is not a folder"),
                "{warning}"
            );
            // What keeps nothing goes well, and proves nothing.
            let file = path.to_str().unwrap();
            ask(&mut claude, AFTER_WRITE, change("after", "", file)).await;
            let decision = before_change(&mut claude, "after", &path).await;
            assert_eq!(decision, "ask");
            while let Ok(status) = test.editor.status.try_recv() {
                assert!(!status.warnings.is_empty(), "{status:?}");
            }
            fs::remove_file(root.join("home/.local")).unwrap();
            let decision = before_change(&mut claude, "after", &path).await;
            assert_eq!(decision, "allow");
            status(&mut test, |status| status.warnings.is_empty()).await;
        }
    }
}

/// The person's choice is not the connection's but the process's.
#[tokio::test]
async fn what_was_chosen_for_an_agent_counts_when_it_connects_again_and_for_no_other() {
    let mut test = TestCompanion::start();
    let (agent, other) = (Other::start(), Other::start());
    let asks = async |claude: &mut Claude| {
        let answer = ask(claude, BEFORE_WRITE, change("always", "", "/a")).await;
        answer["hookSpecificOutput"]["permissionDecision"] == "ask"
    };
    let connect = async |test: &mut TestCompanion, pid: u32| {
        let mut claude = Claude::connect(test).await;
        let params = json!({"pid": pid});
        let connected = json!({"jsonrpc": "2.0", "method": "ide_connected", "params": params});
        claude.send(connected).await;
        status(test, |status| !status.agents.is_empty()).await;
        claude
    };
    let mut claude = connect(&mut test, agent.0.id()).await;
    assert!(asks(&mut claude).await, "as it was started");
    choose(&test, Some(ReviewChoice::Asked)).await;
    for gently in [true, false] {
        assert!(!asks(&mut claude).await);
        if gently {
            claude.socket.close(None).await.unwrap();
        }
        drop(claude);
        status(&mut test, |status| status.agents.is_empty()).await;
        claude = connect(&mut test, agent.0.id()).await;
    }
    // People see it before any hook has said how it was started.
    status(&mut test, |status| {
        let review = status.review.as_ref();
        review.is_some_and(|review| review.label == "review: asked")
    })
    .await;
    assert!(!asks(&mut claude).await);
    let mut new = connect(&mut test, other.0.id()).await;
    assert!(asks(&mut new).await, "another process");
    let mut nameless = Claude::connect(&test).await;
    assert!(
        asks(&mut nameless).await,
        "one that does not say which it is"
    );
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

/// Whoever speaks over the agent's connection: arguments that no hook of ours sends are as good as none.
#[tokio::test]
async fn made_up_arguments_decide_nothing_and_reveal_nothing() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    claude.begin_turn().await;
    let path = test.file("a.txt", "secret\n");
    let (question, open, diff) = propose(&mut test, &mut claude, &path, "tab").await;
    let long = "x".repeat(1 << 20);
    for arguments in [
        json!({}),
        json!({"review": 7, "mode": [], "agent": {}, "tool": null, "input": 1, "id": true}),
        json!({"review": "never", "mode": long, "tool": long, "input": long, "folder": long}),
        json!({"tool": "NotebookEdit", "input": "{\"notebook_path\": 1}"}),
        json!({"tool": "Bash", "input": "{\"command\": \"cat /etc/passwd\"}", "agent": "x"}),
        json!({"tool": "Write", "input": "{\"content\": \"x\"}", "agent": "x"}),
        json!({"permissionDecision": "allow", "decision": {"behavior": "allow"}}),
    ] {
        for tool in [BEFORE_WRITE, QUESTION, AFTER_WRITE, BEFORE_TURN, AFTER_TURN] {
            let answer = ask(&mut claude, tool, arguments.clone()).await;
            assert_eq!(answer, json!({}), "{tool} {arguments}");
        }
    }
    assert!(test.editor.is_idle());
    test.decide(&diff, Outcome::Rejected).await;
    let answers = claude.both(question, open).await;
    assert_eq!(answers, [vec!["{}"], vec!["DIFF_REJECTED"]]);
}

/// It proposes nothing then: there would be nothing to see.
#[tokio::test]
async fn a_write_of_what_is_there_already_is_no_change() {
    for review in ["always", "after", "asked"] {
        let mut test = TestCompanion::start();
        let mut claude = Claude::connect(&test).await;
        let same = test.file("same.txt", "x");
        let decision = ask(&mut claude, BEFORE_WRITE, change(review, "", &same)).await;
        assert_eq!(decision, json!({}), "{review}: nobody is asked");
        writes(&mut claude, &same).await;
        let other = test.file("other.txt", "y");
        writes(&mut claude, &other).await;
        if review == "after" {
            continue;
        }
        let said = status(&mut test, |status| !status.unasked.is_empty()).await;
        let names = |path: &str| said.unasked[0].contains(path);
        assert!(
            names(&other) && !names(&same),
            "{review}: {:?}",
            said.unasked
        );
    }
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

/// Returns the text that the person is told of a decision with this note.
pub(super) async fn decide_because(
    test: &TestCompanion,
    diff: &Diff,
    verdict: Verdict,
    note: &str,
) -> String {
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
pub(super) async fn propose(
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

const WITH_NEXT_PROMPT: &str = "Claude Code gets your note with your next prompt";

/// Returns the context that a hook gives the model at this event.
pub(super) fn context_of(answer: &Value, event: &str) -> String {
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], event, "{answer}");
    output["additionalContext"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_rejection_that_says_why_answers_the_question_and_not_the_proposal() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    claude.begin_turn().await;
    let path = test.file("a.txt", "one\n");
    // Once more for the same file: the former question is over.
    for tab in ["tab 1", "tab 2", "tab 3"] {
        let (question, open, diff) = propose(&mut test, &mut claude, &path, tab).await;
        let told = decide_because(&test, &diff, Verdict::reject(), "no capitals").await;
        assert_eq!(told, "your note was sent to Claude Code with the answer");
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
        let is_said = |it: &Status| {
            it.decided
                .as_ref()
                .is_some_and(|it| it.text == "a.txt: rejected")
        };
        status(&mut test, is_said).await;
    }
    assert!(test.editor.is_idle());
}

#[tokio::test]
async fn whatever_else_is_decided_answers_the_proposal() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    claude.begin_turn().await;
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

/// Of two for one file nobody knows which of them is asked about.
async fn reject_in_doubt(test: &mut TestCompanion, claude: &mut Claude, path: &str, note: &str) {
    let open = claude.open(path, "two\n", note).await;
    let diff = test.editor.show().await;
    let told = decide_because(test, &diff, Verdict::reject(), note).await;
    assert_eq!(told, WITH_NEXT_PROMPT);
    assert_eq!(claude.blocks(open).await, ["DIFF_REJECTED"]);
}

/// Whichever hook is called first: with the prompt, or after a change. Each note once, all of it, and whatever is
/// selected meanwhile.
#[tokio::test]
async fn notes_that_answer_no_question_go_with_the_next_hook_that_is_called() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let begins = || change("always", "", "");
    ask(&mut claude, BEFORE_TURN, begins()).await;
    let long = "x".repeat(9_000);
    let prompt = (BEFORE_TURN, "UserPromptSubmit");
    let write = (AFTER_WRITE, "PostToolUse");
    let failure = (AFTER_WRITE, "PostToolUseFailure");
    for (notes, (hook, event)) in [
        (vec!["no"], prompt),
        (vec!["no", &long, "and no"], prompt),
        (vec!["no", "and no"], write),
        (vec!["no"], failure),
    ] {
        for note in &notes {
            reject_in_doubt(&mut test, &mut claude, &path, note).await;
        }
        let selected = File {
            selected_text: Some("what the person selects".to_owned()),
            ..File::focused(path.as_str(), 1)
        };
        test.handle.tell(Tell::context(vec![selected], None));
        // A turn that no prompt has begun, as far as hooks tell.
        let all = claude.call("closeAllDiffTabs", json!({})).await;
        assert_eq!(claude.blocks(all).await, ["CLOSED_0_DIFF_TABS"]);
        let mut called = begins();
        if (hook, event) == failure {
            called["failed"] = "yes".into();
        }
        let said = context_of(&ask(&mut claude, hook, called).await, event);
        let expected = notes
            .iter()
            .map(|note| format!("The user rejected your change to {path} and says: {note}"));
        assert_eq!(said, expected.collect::<Vec<_>>().join("\n"));
        for hook in [AFTER_WRITE, BEFORE_TURN] {
            assert_eq!(ask(&mut claude, hook, begins()).await, json!({}));
        }
    }
}

#[tokio::test]
async fn notes_on_what_was_accepted_are_read_once_it_is_written() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    claude.begin_turn().await;
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
    claude.begin_turn().await;
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

pub(super) const NOTEBOOK: &str =
    r#"{"cells": [{"id": "a1", "source": ["x = 1\n", "y = 2"]}, {"source": "two"}]}"#;

/// A change of a cell: what the hook says of the tool's input, and the call.
pub(super) async fn edit_cell(
    claude: &mut Claude,
    review: &str,
    agent: &str,
    input: &Value,
) -> u64 {
    let arguments = json!({
        "review": review, "mode": "bypassPermissions", "agent": agent, "tool": "NotebookEdit",
        "input": input.to_string(),
    });
    claude.call(BEFORE_WRITE, arguments).await
}

pub(super) fn new_source(path: &str, cell: &str) -> Value {
    json!({"notebook_path": path, "cell_id": cell, "new_source": "x = 2\ny = 2"})
}

fn hook_output(blocks: &[String]) -> Value {
    let [answer] = blocks else {
        panic!("one block: {blocks:?}");
    };
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PreToolUse");
    answer["hookSpecificOutput"].clone()
}

#[tokio::test]
async fn a_hook_waits_for_the_decision_about_a_cell() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("n.ipynb", NOTEBOOK);
    let input = new_source(&path, "a1");
    // As it is.
    let call = edit_cell(&mut claude, "always", "", &input).await;
    let diff = test.editor.show().await;
    assert_eq!(diff.original.text.as_deref(), Some(&b"x = 1\ny = 2"[..]));
    assert_eq!(diff.proposed.as_str(), "x = 2\ny = 2");
    assert!(diff.notes[0].contains("cell 1 of 2"), "{:?}", diff.notes);
    test.decide(&diff, Outcome::accepted("x = 2\ny = 2")).await;
    let allowed = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow"});
    assert_eq!(hook_output(&claude.blocks(call).await), allowed);
    // Edited: the whole input goes back, and what was edited is told.
    let call = edit_cell(&mut claude, "always", "", &input).await;
    let diff = test.editor.show().await;
    test.decide(&diff, Outcome::accepted("x = 3\ny = 2")).await;
    let output = hook_output(&claude.blocks(call).await);
    let updated = json!({"notebook_path": path, "cell_id": "a1", "new_source": "x = 3\ny = 2"});
    assert_eq!(output["updatedInput"], updated);
    let told = output["additionalContext"].as_str().unwrap();
    assert!(told.contains("-x = 2\n+x = 3\n"), "{told}");
    // Rejected, with a reason and without.
    for (reason, expected) in [
        (
            Some("no magic"),
            format!("The user rejected your change to {path} and says: no magic"),
        ),
        (None, "The user rejected this change.".to_owned()),
    ] {
        let call = edit_cell(&mut claude, "always", "", &input).await;
        let diff = test.editor.show().await;
        match reason {
            Some(reason) => {
                let told = decide_because(&test, &diff, Verdict::reject(), reason).await;
                assert_eq!(told, "your note was sent to Claude Code with the answer");
            }
            None => test.decide(&diff, Outcome::Rejected).await,
        }
        let output = hook_output(&claude.blocks(call).await);
        assert_eq!(output["permissionDecision"], "deny");
        assert_eq!(output["permissionDecisionReason"], expected);
    }
    // Nothing of it comes again.
    let nothing = ask(&mut claude, AFTER_WRITE, change("always", "", &path)).await;
    assert_eq!(nothing, json!({}));
    assert!(test.editor.is_idle());
}

#[tokio::test]
async fn cells_of_several_agents_wait_side_by_side() {
    let mut test = TestCompanion::start();
    let (mut claude, mut other) = (Claude::connect(&test).await, Claude::connect(&test).await);
    let path = test.file("n.ipynb", NOTEBOOK);
    let subagents_path = test.file("sub.ipynb", NOTEBOOK);
    let own = edit_cell(&mut claude, "always", "", &new_source(&path, "a1")).await;
    let first = test.editor.show().await;
    let subagents = edit_cell(
        &mut claude,
        "always",
        "s1",
        &new_source(&subagents_path, "cell-1"),
    )
    .await;
    let second = test.editor.show().await;
    let others = edit_cell(&mut other, "always", "", &new_source(&path, "a1")).await;
    let third = test.editor.show().await;
    assert_eq!(second.original.text.as_deref(), Some(&b"two"[..]));
    test.decide(&third, Outcome::Rejected).await;
    let output = hook_output(&other.blocks(others).await);
    assert_eq!(output["permissionDecision"], "deny");
    // A turn that begins leaves the subagent's, and answers the other.
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    let (_, reason) = test.editor.close("").await;
    assert_eq!(reason, CloseReason::ClosedByAgent);
    let [closed, over] = claude.both(all, own).await;
    assert_eq!(closed, ["CLOSED_1_DIFF_TABS"]);
    assert_eq!(hook_output(&over)["permissionDecision"], "deny");
    test.decide(&second, Outcome::accepted("x = 2\ny = 2"))
        .await;
    let output = hook_output(&claude.blocks(subagents).await);
    assert_eq!(output["permissionDecision"], "allow");
    drop(first);
}

#[tokio::test]
async fn a_hook_that_waits_no_more_leaves_no_view() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("n.ipynb", NOTEBOOK);
    let call = edit_cell(&mut claude, "always", "", &new_source(&path, "a1")).await;
    let diff = test.editor.show().await;
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call},
    });
    claude.send(cancelled).await;
    let (id, reason) = test.editor.close("").await;
    assert_eq!((id, reason), (diff.id, CloseReason::ClosedByAgent));
    // What cannot be shown is asked about in its terminal, and without review nothing is asked.
    for (review, input, expected) in [
        ("always", new_source(&path, "no-such-cell"), json!("ask")),
        ("always", new_source("relative.ipynb", "a1"), json!("ask")),
        ("always", json!({"notebook_path": path}), json!("ask")),
        ("asked", new_source(&path, "a1"), Value::Null),
    ] {
        let call = edit_cell(&mut claude, review, "", &input).await;
        let answer: Value = serde_json::from_str(&claude.blocks(call).await[0]).unwrap();
        let decision = &answer["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(*decision, expected, "{input}");
    }
    // The agent goes away.
    edit_cell(&mut claude, "always", "", &new_source(&path, "a1")).await;
    test.editor.show().await;
    drop(claude);
    let (_, reason) = test.editor.close("").await;
    assert_eq!(reason, CloseReason::AgentGone);
}

#[tokio::test]
async fn a_shell_command_is_shown_if_the_person_wants_that() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    status(&mut test, |status| !status.agents.is_empty()).await;
    let folder = test.path("");
    let input = json!({
        "command": "rm -r build", "description": "cleans", "dangerouslyDisableSandbox": true,
    });
    let run = |agent: &str| {
        json!({
            "review": "always", "mode": "bypassPermissions", "agent": agent, "tool": "Bash",
            "folder": folder, "input": input.to_string(),
        })
    };
    // Nobody has asked for that, also where each change is shown.
    assert_eq!(ask(&mut claude, BEFORE_WRITE, run("")).await, json!({}));
    let chosen = choose(&test, Some(ReviewChoice::Commands)).await;
    assert!(
        chosen.message.contains("shell commands are shown"),
        "{chosen:?}"
    );
    for (outcome, expected) in [
        (
            Outcome::accepted("rm -r build"),
            json!({"hookEventName": "PreToolUse", "permissionDecision": "allow"}),
        ),
        (
            Outcome::Rejected,
            json!({
                "hookEventName": "PreToolUse", "permissionDecision": "deny",
                "permissionDecisionReason": "The user rejected this change.",
            }),
        ),
    ] {
        let call = claude.call(BEFORE_WRITE, run("")).await;
        let diff = test.editor.show().await;
        assert_eq!(
            (diff.original.text.as_ref(), diff.proposed.as_str()),
            (None, "rm -r build")
        );
        assert!(diff.path.ends_with("shell-command.sh"), "{diff:?}");
        assert!(diff.notes[0].contains("a shell command"), "{diff:?}");
        assert!(
            diff.notes[1].contains("dangerouslyDisableSandbox: true"),
            "{diff:?}"
        );
        test.decide(&diff, outcome).await;
        assert_eq!(hook_output(&claude.blocks(call).await), expected);
    }
    // Edited, of a subagent that goes on when the next turn begins.
    let call = claude.call(BEFORE_WRITE, run("s1")).await;
    let diff = test.editor.show().await;
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    assert_eq!(claude.blocks(all).await, ["CLOSED_0_DIFF_TABS"]);
    test.decide(&diff, Outcome::accepted("ls build")).await;
    let output = hook_output(&claude.blocks(call).await);
    let updated = json!({
        "command": "ls build", "description": "cleans", "dangerouslyDisableSandbox": true,
    });
    assert_eq!(output["updatedInput"], updated);
    choose(&test, Some(ReviewChoice::NoCommands)).await;
    assert_eq!(ask(&mut claude, BEFORE_WRITE, run("")).await, json!({}));
    assert!(test.editor.is_idle());
}
