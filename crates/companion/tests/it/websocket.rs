//! Claude Code's protocol over real sockets: what is answered, and when.

mod asking;
mod client;
mod frames;
mod guards;
mod keeping;
mod sending;
mod subagents;
mod turns;

use std::fs;

use futures_util::SinkExt;
use pillion_protocol::claude::AUTHORIZATION_HEADER;
use pillion_protocol::verdict::Lines;
use pillion_protocol::{Dialect, File, Outcome, Position, Range};
use pillion_testkit::client::Update;
use pillion_view::ask::Mention;
use pillion_view::{CloseReason, EditorEvent, Leaving, LostOutcome, LostText, Status, Tell};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use self::asking::{BEFORE_WRITE, ask, status};
use self::client::{Claude, close_code, dial, token};
use crate::support::{SOON, TestCompanion};

#[tokio::test]
async fn the_handshake_is_what_the_agent_wants() {
    let test = TestCompanion::start();
    let mut claude = Claude::dial(&test).await;
    let early = claude.request("tools/list", json!({})).await;
    assert_eq!(claude.answer(early).await["error"]["code"], -32600);
    let answer = claude.initialize("claude-code", "2.1.332").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    let list = claude.request("tools/list", json!({})).await;
    let list = claude.answer(list).await;
    let names: Vec<_> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(
        names,
        [
            "openDiff",
            "close_tab",
            "closeAllDiffTabs",
            "getDiagnostics"
        ]
    );
    let ping = claude.request("ping", json!({})).await;
    assert_eq!(claude.answer(ping).await["result"], json!({}));
    let unknown = claude.request("resources/list", json!({})).await;
    assert_eq!(claude.answer(unknown).await["error"]["code"], -32601);
    let unknown = claude.call("openFile", json!({})).await;
    assert_eq!(claude.answer(unknown).await["error"]["code"], -32602);
    for garbage in ["{", "[]", "null", "\"x\"", "{\"id\":1}"] {
        claude
            .socket
            .send(Message::Text(garbage.into()))
            .await
            .unwrap();
        let answer = claude.next().await;
        assert!(
            answer["id"].is_null() && answer["error"]["code"].is_i64(),
            "{garbage}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_proposal_is_answered_when_the_person_has_decided() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let (open, other) = (
        claude.open(&path, "two\n", "tab 1").await,
        claude.open(&path, "three\n", "tab 2").await,
    );
    // Their files are looked at side by side: either comes first.
    let mut shown = [test.editor.show().await, test.editor.show().await];
    shown.sort_by_key(|diff| diff.id);
    let [first, second] = shown;
    assert_eq!(
        (first.proposed.as_str(), second.proposed.as_str()),
        ("two\n", "three\n")
    );
    assert_eq!(first.proposer, Dialect::ClaudeCode.into());
    assert_eq!(first.original.text.as_deref(), Some(&b"one\n"[..]));
    let ping = claude.request("ping", json!({})).await;
    claude.answer(ping).await;
    let edited = Outcome::accepted("two\r\nedited");
    test.decide(&first, edited).await;
    assert_eq!(claude.blocks(open).await, ["FILE_SAVED", "two\r\nedited"]);
    test.decide(&second, Outcome::Rejected).await;
    assert_eq!(claude.blocks(other).await, ["DIFF_REJECTED"]);
    // The agent closes what is settled, twice.
    for tab in ["tab 1", "tab 1", "tab 2", "never"] {
        let close = claude.call("close_tab", json!({"tab_name": tab})).await;
        assert_eq!(claude.blocks(close).await, ["TAB_CLOSED"]);
    }
    assert!(test.editor.is_idle());
}

#[tokio::test]
async fn the_agent_closes_its_own_views_and_no_others() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let mut other = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    for tab in ["1", "2", "3"] {
        claude.open(&path, tab, tab).await;
        test.editor.show().await;
    }
    let kept = other.open(&path, "kept", "1").await;
    let kept_diff = test.editor.show().await;
    let close = claude.call("close_tab", json!({"tab_name": "2"})).await;
    let (_, reason) = test.editor.close("2").await;
    assert_eq!(reason, CloseReason::ClosedByAgent);
    assert_eq!(claude.blocks(close).await, ["TAB_CLOSED"]);
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    for text in ["1", "3"] {
        test.editor.close(text).await;
    }
    assert_eq!(claude.blocks(all).await, ["CLOSED_2_DIFF_TABS"]);
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    assert_eq!(claude.blocks(all).await, ["CLOSED_0_DIFF_TABS"]);
    let accepted = Outcome::accepted("kept");
    test.decide(&kept_diff, accepted).await;
    assert_eq!(other.blocks(kept).await, ["FILE_SAVED", "kept"]);
}

#[tokio::test]
async fn agents_of_both_protocols_propose_for_one_file() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let (gemini, mut updates) = test.connect(Dialect::GeminiCli).await;
    let path = test.file("a.txt", "one\r\n");
    let open = claude.open(&path, "claude\n", "tab").await;
    let first = test.editor.show().await;
    let (opened, second) = tokio::join!(gemini.open_diff(&path, "gemini\n"), test.editor.show());
    opened.unwrap();
    // As their agents write it over a file that has CRLF.
    assert_eq!(
        (first.proposed.as_str(), second.proposed.as_str()),
        ("claude\r\n", "gemini\r\n")
    );
    assert_ne!(first.id, second.id);
    test.decide(&second, Outcome::accepted("gemini\n")).await;
    loop {
        match timeout(SOON, updates.next()).await.unwrap().unwrap() {
            Update::Context(_) => {}
            update => break assert_eq!(update, Update::accepted(path, "gemini\n")),
        }
    }
    test.decide(&first, Outcome::Rejected).await;
    assert_eq!(claude.blocks(open).await, ["DIFF_REJECTED"]);
}

#[tokio::test]
async fn edits_that_the_agent_does_not_take_are_kept() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    claude.open(&path, "two\n", "tab").await;
    test.editor.show().await;
    claude.call("close_tab", json!({"tab_name": "tab"})).await;
    test.editor.close("my own\n").await;
    let EditorEvent::Lost(lost) = test.editor.next().await else {
        panic!("nothing is kept");
    };
    let text = lost.to_string();
    assert!(text.contains("does not use your edits of"), "{text}");
    let kept = text.strip_prefix("your text is kept in ").unwrap();
    let kept = kept.split_once(": Claude Code").unwrap().0;
    assert_eq!(fs::read_to_string(kept).unwrap(), "my own\n");
}

#[tokio::test]
async fn a_connection_that_ends_takes_its_views_along() {
    let mut test = TestCompanion::start();
    let path = test.file("a.txt", "one\n");
    for gently in [true, false] {
        let mut claude = Claude::connect(&test).await;
        claude.open(&path, "two\n", "tab").await;
        let diff = test.editor.show().await;
        if gently {
            claude.socket.close(None).await.unwrap();
        }
        drop(claude);
        let (id, reason) = test.editor.close("two\n").await;
        assert_eq!((id, reason), (diff.id, CloseReason::AgentGone));
    }
}

#[tokio::test]
async fn a_file_is_compared_as_the_agent_reads_it_and_written_as_it_is() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\r\ntwo\r\n");
    let open = claude.open(&path, "one\n2\n", "1").await;
    let diff = test.editor.show().await;
    assert_eq!(&*diff.proposed, "one\r\n2\r\n");
    let as_shown = Outcome::accepted("one\r\n2\r\n");
    test.decide(&diff, as_shown).await;
    // As the agent wrote it: it restores the line endings, and nobody changed anything.
    assert_eq!(claude.blocks(open).await, ["FILE_SAVED", "one\n2\n"]);
    let open = claude.open(&path, "one\n2\n", "2").await;
    let diff = test.editor.show().await;
    let edited = Outcome::accepted("one\r\nTWO\r\n");
    test.decide(&diff, edited).await;
    assert_eq!(claude.blocks(open).await, ["FILE_SAVED", "one\r\nTWO\r\n"]);
    let path = test.file("mixed.txt", "one\r\ntwo\n");
    claude.open(&path, "one\n2\n", "3").await;
    let diff = test.editor.show().await;
    assert_eq!(diff.original.text.as_deref(), Some(&b"one\ntwo\n"[..]));
    assert!(diff.notes[0].contains("line endings"), "{:?}", diff.notes);
}

/// Both proposals look the same. What is answered to a `Write` is written, and an `Edit` restores the line endings.
#[tokio::test]
async fn a_file_with_crlf_is_written_as_shown_where_a_hook_has_named_the_tool() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    for (name, tool, is_accepted) in [
        ("a.txt", "Edit", true),
        ("b.txt", "Write", true),
        ("c.txt", "Write", false),
        ("c.txt", "Edit", true),
    ] {
        let path = test.file(name, "one\r\ntwo\r\n");
        let input = json!({"file_path": path}).to_string();
        let id = format!("{tool} {name}");
        let call =
            json!({"review": "always", "mode": "auto", "id": id, "tool": tool, "input": input});
        ask(&mut claude, BEFORE_WRITE, call).await;
        let open = claude.open(&path, "one\n2\n", &id).await;
        let diff = test.editor.show().await;
        assert_eq!(
            (&**diff.proposed, &diff.notes[..]),
            ("one\r\n2\r\n", &[][..]),
            "{id}"
        );
        if !is_accepted {
            test.decide(&diff, Outcome::Rejected).await;
            assert_eq!(claude.blocks(open).await, ["DIFF_REJECTED"]);
            continue;
        }
        test.decide(&diff, Outcome::accepted("one\r\n2\r\n")).await;
        let answer = if tool == "Edit" {
            "one\n2\n"
        } else {
            "one\r\n2\r\n"
        };
        assert_eq!(claude.blocks(open).await, ["FILE_SAVED", answer], "{id}");
    }
}

/// Which way, only the file tells.
#[tokio::test]
async fn what_comes_of_an_answer_in_the_agents_own_window_is_said() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    for (name, is_written, expected) in [("a.txt", true, "accepted"), ("b.txt", false, "rejected")]
    {
        let path = test.file(name, "one\n");
        claude.open(&path, "2\n", name).await;
        test.editor.show().await;
        claude.call("close_tab", json!({"tab_name": name})).await;
        test.editor.close("2\n").await;
        let said = |what: &str| format!("{name}: {what}");
        let is_said = |status: &Status, text: &str| {
            let decided = status.decided.as_ref();
            decided.is_some_and(|it| it.text == text)
        };
        let place = "in Claude Code's own window";
        let answered = said(&format!("answered {place}"));
        status(&mut test, |it| is_said(it, &answered)).await;
        if is_written {
            fs::write(&path, "2\n").unwrap();
        }
        let written = if is_written { ", and written" } else { "" };
        let came_of = said(&format!("{expected} {place}{written}"));
        status(&mut test, |it| is_said(it, &came_of)).await;
    }
}

#[tokio::test]
async fn a_release_that_drops_the_last_line_feed_gets_one_more() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::dial(&test).await;
    claude.initialize("claude-code", "2.1.328").await;
    for (name, original, accepted, answered) in [
        ("new", None, "x\n", "x\n\n"),
        ("new with CRLF", None, "x\r\n", "x\r\n\n"),
        ("new", None, "x", "x"),
        ("open ended", Some("x"), "y\n", "y\n\n"),
        ("ended", Some("x\n"), "y\n", "y\n"),
    ] {
        let path = match original {
            Some(text) => test.file(name, text),
            None => test.path(name),
        };
        let open = claude.open(&path, "proposed\n", name).await;
        let diff = test.editor.show().await;
        let accepted = Outcome::accepted(accepted);
        test.decide(&diff, accepted).await;
        assert_eq!(
            claude.blocks(open).await,
            ["FILE_SAVED", answered],
            "{name}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_shown_is_an_error_that_says_why() {
    let test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let folder = test.path("");
    for (path, why) in [
        ("a.txt", "not absolute"),
        (folder.as_str(), "is a folder"),
        ("", "empty"),
    ] {
        let open = claude.open(path, "x", "t").await;
        let answer = claude.answer(open).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(why), "{text}");
    }
    let differ = json!({"old_file_path": "/a", "new_file_path": "/b", "new_file_contents": "", "tab_name": "t"});
    for arguments in [json!({}), differ, json!({"tab_name": "t"})] {
        let open = claude.call("openDiff", arguments).await;
        assert_eq!(claude.answer(open).await["result"]["isError"], true);
    }
}

#[tokio::test]
async fn a_tab_name_that_comes_again_replaces_its_proposal() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let former = claude.open(&path, "two\n", "tab").await;
    let first = test.editor.show().await;
    let latter = claude.open(&path, "three\n", "tab").await;
    let second = test.editor.show().await;
    assert_eq!((second.id, second.revision), (first.id, 2));
    assert_eq!(claude.blocks(former).await, ["DIFF_REJECTED"]);
    test.decide(&second, Outcome::accepted("three\n")).await;
    assert_eq!(claude.blocks(latter).await, ["FILE_SAVED", "three\n"]);
}

/// Also where the person has decided about the former, and its agent has not read that yet.
#[tokio::test]
async fn a_tab_name_that_comes_again_leaves_no_decided_call_unanswered() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    // More than the system takes for a client that does not read: what is decided later waits.
    let large = "x".repeat(15 << 20);
    let texts = [&large, &large, "my own", "my own, too", "three\n"];
    let tabs = ["large 1", "large 2", "tab", "tab", "tab"];
    let (mut calls, mut lost) = (Vec::new(), Vec::new());
    for (text, tab) in texts.into_iter().zip(tabs) {
        let proposed = if text == "three\n" { text } else { "two\n" };
        calls.push(claude.open(&path, proposed, tab).await);
        let diff = loop {
            match test.editor.next().await {
                EditorEvent::Open(diff, shown) => {
                    shown.done(());
                    break diff;
                }
                EditorEvent::Lost(text) => lost.push(text),
                other => panic!("{other:?}"),
            }
        };
        let decision = Outcome::accepted(text);
        test.decide(&diff, decision).await;
    }
    let saved = |text| vec!["FILE_SAVED", text];
    let rejected = || vec!["DIFF_REJECTED"];
    let answers = [
        saved(&large),
        saved(&large),
        rejected(),
        rejected(),
        saved("three\n"),
    ];
    for (call, answer) in calls.into_iter().zip(answers) {
        let is_equal = claude.blocks(call).await == answer;
        assert!(is_equal, "call {call}");
    }
    while lost.len() < 2 {
        match test.editor.next().await {
            EditorEvent::Lost(text) => lost.push(text),
            other => panic!("{other:?}"),
        }
    }
    let is_kept = |it: &LostOutcome| matches!(it.text, LostText::Kept(_));
    assert!(lost.iter().all(is_kept), "{lost:?}");
}

fn selected(test: &TestCompanion) -> File {
    let at = |line, character| Position { line, character };
    File {
        selected_text: Some("ne\ntw".into()),
        selection: Some(Range {
            start: at(0, 1),
            end: at(1, 2),
        }),
        ..File::focused(test.file("a b.txt", "one\ntwo\n"), 1)
    }
}

#[tokio::test]
async fn the_selection_comes_with_the_session_and_with_each_prompt() {
    let test = TestCompanion::start();
    let file = selected(&test);
    test.handle.tell(Tell::context(vec![file.clone()], None));
    let mut claude = Claude::connect(&test).await;
    let told = loop {
        let told = claude.notification("selection_changed").await;
        if told.get("filePath").is_some() {
            break told;
        }
    };
    let range = json!({"start": {"line": 0, "character": 1}, "end": {"line": 1, "character": 2}, "isEmpty": false});
    let expected = json!({"text": "ne\ntw", "filePath": file.path, "selection": range});
    assert_eq!(told, expected);
    // A turn begins: the prompt has used it up.
    claude.call("closeAllDiffTabs", json!({})).await;
    assert_eq!(claude.notification("selection_changed").await, expected);
    test.handle.tell(Tell::context(vec![], None));
    let told = claude.notification("selection_changed").await;
    assert!(
        told.get("filePath").is_none() && told["text"] == "",
        "{told}"
    );
    // Nothing to repeat.
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    let ping = claude.request("ping", json!({})).await;
    claude.blocks(all).await;
    assert_eq!(claude.next().await["id"], ping);
}

#[tokio::test]
async fn opencode_counts_lines_from_one_and_needs_no_subprotocol() {
    let test = TestCompanion::start();
    let token = token(&test);
    let (socket, _) = dial(&test, &[(AUTHORIZATION_HEADER, &token)])
        .await
        .unwrap();
    let mut opencode = Claude { socket, last_id: 0 };
    opencode.initialize("opencode", "0.0.0").await;
    test.handle.tell(Tell::context(vec![selected(&test)], None));
    loop {
        let told = opencode.notification("selection_changed").await;
        if told.get("filePath").is_some() {
            assert_eq!(
                told["selection"]["start"],
                json!({"line": 1, "character": 1})
            );
            break;
        }
    }
    let status = async {
        let mut test = test;
        loop {
            let status = test.editor.status.recv().await.unwrap();
            if status.agents == [Dialect::OpenCode] {
                break;
            }
        }
    };
    timeout(SOON, status).await.unwrap();
}

#[tokio::test]
async fn problems_are_those_that_were_asked_for() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let ask = claude
        .call("getDiagnostics", json!({"uri": "file:///a"}))
        .await;
    let EditorEvent::Diagnostics(Some(uri), found) = test.editor.next().await else {
        panic!("the editor is not asked");
    };
    let file = |uri: &str| json!({"uri": uri, "diagnostics": [{"message": "m", "severity": "Error", "range": Range::default(), "source": "tsc", "code": 2304}]});
    let known: Vec<_> = [&uri, "file:///b"].map(file).into();
    found.done(serde_json::from_value(json!(known)).unwrap());
    let blocks = claude.blocks(ask).await;
    let answered: Value = serde_json::from_str(&blocks[0]).unwrap();
    assert_eq!(answered, json!([file("file:///a")]));
    // An editor that does not answer keeps nobody from going on.
    let ask = claude.call("getDiagnostics", json!({})).await;
    let held = test.editor.next().await;
    assert_eq!(claude.blocks(ask).await, ["[]"]);
    drop(held);
}

#[tokio::test]
async fn a_mention_goes_to_the_agent_that_was_heard_of_last() {
    let test = TestCompanion::start();
    let (mut one, mut other) = (Claude::connect(&test).await, Claude::connect(&test).await);
    for (agent, lines) in [(1, Some(Lines { first: 1, last: 2 })), (2, None)] {
        let claude = if agent == 1 { &mut one } else { &mut other };
        let ping = claude.request("ping", json!({})).await;
        claude.answer(ping).await;
        let (told, answered) = crossbeam_channel::unbounded();
        let told = pillion_view::Reply::new(move |agent| told.send(agent).unwrap());
        test.handle.ask(
            Mention {
                path: "/w/a.txt".into(),
                lines,
            },
            told,
        );
        let mentioned = claude.notification("at_mentioned").await;
        assert_eq!(mentioned["filePath"], "/w/a.txt");
        assert_eq!(mentioned.get("lineStart"), lines.map(|_| json!(1)).as_ref());
        assert_eq!(answered.recv().unwrap(), Ok(Some(Dialect::ClaudeCode)));
    }
}

#[tokio::test]
async fn a_companion_that_stops_rejects_and_says_goodbye() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let open = claude.open(&path, "two\n", "t").await;
    test.editor.show().await;
    test.handle.tell(Tell::Leave(Leaving::Closed));
    assert_eq!(claude.blocks(open).await, ["DIFF_REJECTED"]);
    assert_eq!(close_code(&mut claude).await, Some(1001));
    let mut rest = Vec::new();
    let ended = claude.socket.get_mut().read_to_end(&mut rest);
    let _ = timeout(SOON, ended).await.unwrap();
}
