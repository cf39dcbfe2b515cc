//! A review without a plugin, from the proposal to its outcome.

use std::fs;
use std::iter;
use std::thread;
use std::time::{Duration, Instant};

use pillion_testkit::{SOON, TestAgent, TestClaude};
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::agent::{accepted, rejected};
use crate::plain::world::{World, wait_gone};
use crate::sandbox::Sandbox;
use crate::shared_doubts::doubted;

#[test]
fn a_proposal_is_shown_with_its_hunks_and_accepted_with_a_code_action() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\nb\nc\nd\ne\n");
    let proposal = world.propose(&target, "a\nB\nc\nd\n");
    let params = &proposal.request["params"];
    assert_eq!(
        (&params["takeFocus"], &params["external"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(
        params["selection"]["start"],
        json!({"line": 1, "character": 0})
    );
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    proposal.call.end().unwrap();

    let hunk = |start: (u32, u32), end: (u32, u32), message: &str| {
        let place = |(line, character)| json!({"line": line, "character": character});
        json!({"range": {"start": place(start), "end": place(end)},
               "severity": 3, "source": "pillion", "message": message})
    };
    let hunks = [hunk((1, 0), (1, 1), "b"), hunk((4, 0), (4, 0), "e")];
    assert_eq!(world.diagnostics(&proposal.uri, |_| true), hunks);
    world.did_open(&proposal.uri, "a\nB\nc\nd\n");
    assert_eq!(
        world.diagnostics(&proposal.uri, |_| true),
        hunks,
        "again on didOpen"
    );

    let actions = world.code_actions(&proposal.uri, (0, 0), (0, 0));
    let titles: Vec<_> = actions
        .as_array()
        .unwrap()
        .iter()
        .map(|action| &action["title"])
        .collect();
    assert_eq!(
        titles,
        [
            "Accept a.rs as shown (Gemini CLI)",
            "Reject the change to a.rs (Gemini CLI)",
        ]
    );
    assert_eq!(actions[0]["arguments"], json!([1, 1]));
    let answer = world.execute("pillion.accept", json!([1, 1]));
    assert_eq!(answer["result"], Value::Null);
    assert_eq!(world.message(), "a.rs: accepted");
    assert_eq!(world.agent.outcome(), accepted(&target, "a\nB\nc\nd\n"));
    assert!(world.diagnostics(&proposal.uri, |_| true).is_empty());
    wait_gone(&proposal.path);
    assert_eq!(
        fs::read_to_string(&target).unwrap(),
        "a\nb\nc\nd\ne\n",
        "C5.9"
    );
    assert_eq!(world.code_actions(&proposal.uri, (0, 0), (0, 0)), json!([]));
}

/// It sends what is typed fast in any order.
#[test]
fn of_what_is_typed_in_helix_the_newest_counts() {
    let mut world = World::with(&[], json!({"clientInfo": {"name": "helix"}}));
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let typed = |version: u32, text: &str| {
        let document = json!({"uri": proposal.uri, "version": version});
        json!({"textDocument": document, "contentChanges": [{"text": text}]})
    };
    for (version, text) in [
        (2, "b\nmi\n"),
        (4, "b\nmine\n"),
        (1, "b\nm\n"),
        (3, "b\nmin\n"),
    ] {
        let params = typed(version, text);
        world.editor.notify("textDocument/didChange", params);
    }
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "b\nmine\n"));
}

/// The same holds for a save: nobody knows whether an edit led there or came after.
#[test]
fn while_a_save_and_the_edits_of_helix_contradict_each_other_nothing_is_accepted() {
    let mut world = World::with(&[], json!({"clientInfo": {"name": "helix"}}));
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let typed = |world: &mut World, version: u32, text: &str| {
        let document = json!({"uri": proposal.uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        world.editor.notify("textDocument/didChange", params);
    };
    // The save is reported before the last two edits.
    typed(&mut world, 1, "b\nm\n");
    world.did_save(&proposal.uri, "b\nmin\n");
    typed(&mut world, 2, "b\nmi\n");
    let refused = world.execute("pillion.accept", json!([1, 1]));
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("has not reported all edits"), "{refused}");
    typed(&mut world, 3, "b\nmin\n");
    // A save that is reported after newer edits.
    typed(&mut world, 4, "b\nmine\n");
    world.did_save(&proposal.uri, "b\nmi\n");
    let refused = world.execute("pillion.accept", json!([1, 1]));
    assert!(refused["error"].is_object(), "{refused}");
    world.did_save(&proposal.uri, "b\nmine\n");
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "b\nmine\n"));
}

/// Helix opens a language that nobody configured as a plain file.
#[test]
fn where_no_actions_can_be_had_a_shell_is_named() {
    let mut world = World::new();
    let attached = world.target("a.rs", "a\n");
    let attached = world.shown(&attached, "b\n");
    let target = world.target("b.none", "a\n");
    let (proposal, text) = world.shown_plainly(&target, "b\n");
    assert!(text.contains("b.none"), "{text}");
    assert!(text.contains("`pillion accept 2.1`"), "{text}");
    let shown = "window/showMessage".to_owned();
    assert!(!world.editor.passed().contains(&shown), "the other one has");
    fs::write(&proposal.path, "mine\n").unwrap();
    let looked = world.sandbox.run(["diffs", "2"]).expect(0);
    assert_eq!(looked.stdout, "mine\n", "{}", looked.stderr);
    world.sandbox.run(["accept", "2.1"]).expect(0);
    assert_eq!(world.agent.outcome(), accepted(&target, "mine\n"));
    world.choose(&attached, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&attached.target, "b\n"));
}

#[test]
fn the_hunks_follow_the_edits() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\nb\n");
    let proposal = world.shown(&target, "a\nB\n");
    world.diagnostics(&proposal.uri, |found| found.len() == 1);
    world.did_change(&proposal.uri, "new\na\nB\n");
    let found = world.diagnostics(&proposal.uri, |found| found.len() == 2);
    assert_eq!(found[1]["range"]["start"]["line"], 2);
    world.did_change(&proposal.uri, "a\nb\n");
    world.diagnostics(&proposal.uri, |found| found.is_empty());
}

#[test]
fn an_action_of_some_kind_is_not_ours() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let place = json!({"line": 0, "character": 0});
    let mut asked = |only: Value| {
        let params = json!({
            "textDocument": {"uri": proposal.uri},
            "range": {"start": place, "end": place},
            "context": {"diagnostics": [], "only": only},
        });
        let answer = world.editor.request("textDocument/codeAction", params);
        answer["result"].as_array().unwrap().len()
    };
    let before_a_save = json!(["source.organizeImports"]);
    assert_eq!(asked(before_a_save), 0, "it may be run unasked");
    for every in [json!(null), json!([]), json!(["", "quickfix"])] {
        assert_eq!(asked(every), 2);
    }
}

#[test]
fn a_command_without_arguments_means_what_the_person_looked_at_last() {
    let mut world = World::new();
    let answer = world.execute("pillion.accept", Value::Null);
    assert_eq!(answer["error"]["message"], "no change is pending");
    let targets = ["a.rs", "b.rs", "c.rs"].map(|name| world.target(name, "before\n"));
    let [a, b, _] = targets
        .clone()
        .map(|target| world.shown(&target, "after\n"));
    let start = Instant::now();
    while world.execute("pillion.reject", Value::Null)["error"].is_object() {
        assert!(start.elapsed() < SOON);
    }
    assert_eq!(
        world.agent.outcome(),
        rejected(&targets[2]),
        "the last one opened"
    );
    world.at("textDocument/hover", &a.uri, (0, 0));
    world.execute("pillion.accept", json!([]));
    assert_eq!(world.agent.outcome(), accepted(&targets[0], "after\n"));
    assert!(b.path.exists());
    world.execute("pillion.accept", Value::Null);
    assert_eq!(world.agent.outcome(), accepted(&targets[1], "after\n"));
}

/// `space a` and Enter, begun for something else as it comes, or held down.
#[test]
fn a_code_action_counts_once_the_proposal_can_have_been_looked_at() {
    for command in ["pillion.accept", "pillion.reject"] {
        let mut world = World::new();
        let target = world.target("a.rs", "before\n");
        let proposal = world.shown(&target, "after\n");
        let key = arguments_of(&mut world, &proposal.uri, command);
        let params = json!({"command": command, "arguments": key});
        let early = world.editor.request("workspace/executeCommand", params);
        assert_eq!(
            early["error"]["message"],
            "this has only just opened: look at it, then decide again"
        );
        assert!(proposal.path.exists());
        let answer = world.execute(command, key);
        assert!(answer.get("error").is_none(), "{answer}");
        let outcome = match command {
            "pillion.accept" => accepted(&target, "after\n"),
            _ => rejected(&target),
        };
        assert_eq!(world.agent.outcome(), outcome);
    }
}

/// The arguments of this command in the code actions of a proposal.
fn arguments_of(world: &mut World, uri: &str, command: &str) -> Value {
    let actions = world.code_actions(uri, (0, 0), (0, 0));
    let mut actions = actions.as_array().unwrap().iter();
    let action = actions.find(|it| it["command"] == command).unwrap();
    action["arguments"].clone()
}

#[test]
fn a_command_without_arguments_is_not_about_a_proposal_that_cannot_have_been_seen() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let other = world.target("b.rs", "before\n");
    let first = world.shown(&target, "first\n");
    let second = world.shown(&other, "second\n");
    let answer = world.execute("pillion.accept", Value::Null);
    assert_eq!(
        answer["error"]["message"],
        "Gemini CLI's change to b.rs has just arrived: look at it first"
    );
    world.at("textDocument/hover", &first.uri, (0, 0));
    let newer = world.shown(&target, "newer\n");
    let answer = world.execute("pillion.accept", json!([]));
    assert!(answer.get("error").is_some(), "of the one before it");
    world.at("textDocument/hover", &second.uri, (0, 0));
    world.execute("pillion.accept", Value::Null);
    assert_eq!(world.agent.outcome(), accepted(&other, "second\n"));
    world.at("textDocument/hover", &newer.uri, (0, 0));
    world.execute("pillion.accept", Value::Null);
    assert_eq!(world.agent.outcome(), accepted(&target, "newer\n"));
}

#[test]
fn arguments_that_fit_nothing_are_refused_and_decide_nothing() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    world.shown(&target, "after\n");
    for (arguments, code) in [
        (json!(["x"]), -32602),
        (json!([{}, 1]), -32602),
        (json!([1, null]), -32602),
        (json!([-1]), -32602),
        (json!([7]), -32803),
        (json!([1, 2]), -32803),
    ] {
        let answer = world.execute("pillion.accept", arguments);
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    world.execute("pillion.reject", json!([1]));
    assert_eq!(world.agent.outcome(), rejected(&target));
}

#[test]
fn closing_the_document_rejects_but_not_when_it_is_opened_again() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let proposal = world.shown(&target, "after\n");
    world.did_change(&proposal.uri, "edited\n");
    // As Helix does when the language is changed.
    world.did_close(&proposal.uri);
    world.did_open(&proposal.uri, "edited\n");
    let start = Instant::now();
    world.did_close(&proposal.uri);
    assert_eq!(world.agent.outcome(), rejected(&target));
    assert!(
        start.elapsed() >= Duration::from_millis(900),
        "it could have come back"
    );
    wait_gone(&proposal.path);
}

#[test]
fn a_document_that_came_back_keeps_the_edits() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let proposal = world.shown(&target, "one\r\ntwo\r\n");
    world.did_change(&proposal.uri, "one\r\nTWO\r\n");
    world.did_close(&proposal.uri);
    world.did_open(&proposal.uri, "one\r\nTWO\r\n");
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "one\r\nTWO\r\n"));
}

#[test]
fn a_newer_proposal_is_shown_and_the_answers_to_the_older_one_do_not_count() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let first = world.shown(&target, "first\n");
    world.did_change(&first.uri, "first, edited\n");
    let second = world.propose(&target, "second\n");
    world
        .editor
        .answer(&second.request, json!({"success": true}));
    assert_ne!(
        first.uri, second.uri,
        "the editor may still show the old text under the old name"
    );
    wait_gone(&first.path);
    let answer = world.execute("pillion.accept", json!([1, 1]));
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.contains("newer change to a.rs"), "{text}");
    world.did_close(&first.uri);
    world.did_open(&second.uri, "second\n");
    world.execute("pillion.accept", json!([1]));
    assert_eq!(world.agent.outcome(), accepted(&target, "second\n"));
}

#[test]
fn a_newer_proposal_does_not_wait_for_the_answer_about_the_older_one() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let first = world.propose(&target, "first\n");
    let second = world.propose(&target, "second\n");
    assert!(first.call.end().is_err());
    world
        .editor
        .answer(&first.request, json!({"success": false}));
    world
        .editor
        .answer(&second.request, json!({"success": true}));
    second.call.end().unwrap();
    world.execute("pillion.accept", json!([1, 2]));
    assert_eq!(world.agent.outcome(), accepted(&target, "second\n"));
}

#[test]
fn an_agent_that_closes_its_diff_gets_the_text_as_it_stands() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let proposal = world.shown(&target, "after\r\n");
    world.did_change(&proposal.uri, "edited\r\n");
    world.code_actions(&proposal.uri, (0, 0), (0, 0));
    let closing = world.agent.closing(&target);
    assert_eq!(closing.end().unwrap(), "edited\r\n", "C5.5");
    wait_gone(&proposal.path);
    world.diagnostics(&proposal.uri, |found| found.is_empty());
    assert!(
        world
            .execute("pillion.accept", json!([1, 1]))
            .get("error")
            .is_some()
    );
}

#[test]
fn commands_in_a_terminal_settle_it_too() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let proposal = world.shown(&target, "after\n");
    world.did_change(&proposal.uri, "edited\n");
    world.code_actions(&proposal.uri, (0, 0), (0, 0));
    let refused = world.sandbox.run(["accept", "1.1"]);
    assert_eq!(refused.stdout, "edited\n");
    refused.expect_error(1, "not what you were shown", "the same command again");
    world.sandbox.run(["accept", "1.1"]).expect(0);
    assert_eq!(world.agent.outcome(), accepted(&target, "edited\n"));
    wait_gone(&proposal.path);
}

#[test]
fn an_agent_that_is_gone_takes_its_diff_with_it_and_the_person_gets_a_message() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let proposal = world.shown(&target, "after\n");
    proposal.call.end().unwrap();
    let World {
        sandbox: _sandbox,
        mut editor,
        agent,
    } = world;
    agent.disconnect();
    let message = editor.params("window/showMessage");
    assert_eq!(message["type"], 3);
    let text = message["message"].as_str().unwrap();
    assert!(
        text.contains("Gemini CLI") && text.contains("a.rs"),
        "{text}"
    );
    wait_gone(&proposal.path);
}

#[test]
fn a_new_file_and_a_file_that_is_no_text_are_shown() {
    let mut world = World::new();
    let folder = world.sandbox.home.workspace();
    let new = folder.join("new.rs");
    let proposal = world.shown(new.to_str().unwrap(), "a\nb");
    let found = world.diagnostics(&proposal.uri, |found| found.len() == 1);
    assert_eq!(found[0]["message"], "A new file.");
    for (name, bytes, shown) in [
        ("latin.txt", &b"caf\xe9\n"[..], "caf\u{fffd}"),
        (
            "image.png",
            &b"\x89PNG\0\0\n"[..],
            "The file on disk is binary: the removed lines cannot be shown.",
        ),
    ] {
        let path = world.sandbox.home.file(name, bytes);
        let proposal = world.shown(path.to_str().unwrap(), "text\n");
        let found = world.diagnostics(&proposal.uri, |found| found.len() == 1);
        assert_eq!(found[0]["message"], shown);
        world.choose(&proposal, "Accept");
        let expected = accepted(path.to_str().unwrap(), "text\n");
        assert_eq!(world.agent.outcome(), expected);
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn an_editor_that_opens_it_but_never_answers_shows_it_all_the_same() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let proposal = world.propose(&target, "after\n");
    world.did_open(&proposal.uri, "after\n");
    proposal.call.end().unwrap();
    world.execute("pillion.reject", json!([]));
    assert_eq!(world.agent.outcome(), rejected(&target));
}

#[test]
fn an_editor_that_neither_answers_nor_opens_it_gets_the_error_of_the_agent() {
    let mut world = World::with_files(&[("a.rs", "before\n")]);
    let target = world.target("a.rs", "before\n");
    let proposal = world.propose(&target, "after\n");
    world.diagnostics(&proposal.uri, |found| found.len() == 1);
    let reason = proposal.call.end().unwrap_err();
    assert!(
        reason.contains("did not answer within 10 seconds"),
        "{reason}"
    );
    let message = world.editor.params("window/showMessage");
    assert_eq!(
        message,
        json!({"type": 1, "message": "the editor did not open the change to a.rs in time; Gemini CLI got an error"})
    );
    world.diagnostics(&proposal.uri, |found| found.is_empty());
    wait_gone(&proposal.path);
    // It comes too late.
    world
        .editor
        .answer(&proposal.request, json!({"success": false}));
    world.did_open(&proposal.uri, "after\n");
    let answer = world.execute("pillion.accept", json!([]));
    assert_eq!(answer["error"]["message"], "no change is pending");
    assert_eq!(world.editor.passed(), Vec::<String>::new());
}

/// An editor of which nobody knows what is on its screen.
#[test]
fn a_doubt_is_asked_about_once_and_then_the_person_is_obeyed() {
    let sandbox = Sandbox::new();
    let workspace = sandbox.home.workspace();
    let known = || doubted().into_iter().filter(|row| !row.is_long);
    for row in known() {
        row.write(&workspace);
    }
    let mut world = World::in_sandbox(sandbox, &[], json!({}));
    for (number, row) in (1..).zip(known()) {
        let target = row.path(&workspace);
        let target = target.to_str().unwrap();
        let proposal = world.shown(target, &row.proposed);
        thread::sleep(LOOK);
        if let Some(text) = row.meanwhile {
            fs::write(target, text).unwrap();
        }
        let answer = world.execute("pillion.accept", json!([number, 1]));
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(why.contains(row.question), "{why}");
        thread::sleep(LOOK);
        let answer = world.execute("pillion.accept", json!([number, 1]));
        assert!(answer.get("error").is_none(), "{answer}");
        assert_eq!(world.agent.outcome(), accepted(target, &row.proposed));
        world.did_close(&proposal.uri);
    }
}

#[test]
fn two_agents_propose_side_by_side() {
    let mut world = World::new();
    let qwen = world.sandbox.home.tmp().join("qwen/ide");
    let file = fs::read_dir(qwen).unwrap().next().unwrap().unwrap().path();
    let mut other = TestAgent::connect(&file);
    let target = world.target("a.rs", "before\n");
    let first = world.shown(&target, "by gemini\n");
    let call = other.proposing(&target, "by qwen\n");
    let request = world.editor.next("window/showDocument");
    world.editor.answer(&request, json!({"success": true}));
    call.end().unwrap();
    let uri = request["params"]["uri"].as_str().unwrap();
    let actions = world.code_actions(uri, (0, 0), (0, 0));
    assert_eq!(actions[0]["title"], "Accept a.rs as shown (Qwen Code)");
    world.execute("pillion.accept", actions[0]["arguments"].clone());
    assert_eq!(other.outcome(), accepted(&target, "by qwen\n"));
    let answer = world.execute("pillion.accept", json!([1, 1]));
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("Qwen Code's change"), "{why}");
    thread::sleep(LOOK);
    world.choose(&first, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "by gemini\n"));
}

#[test]
fn a_big_proposal_is_shown_and_followed_quickly() {
    let mut world = World::new();
    let lines = |start: usize| (start..start + 200_000).map(|line| format!("line {line}\n"));
    let before: String = lines(0).collect();
    let after: String = lines(3).map(|line| line.replace('7', "seven")).collect();
    let target = world.target("big.txt", &before);
    let start = Instant::now();
    let proposal = world.shown(&target, &after);
    let found = world.diagnostics(&proposal.uri, |_| true);
    assert!((1..=1000).contains(&found.len()), "{}", found.len());
    for _ in 0..50 {
        let insert = json!({"range": {"start": {"line": 9, "character": 0},
                                      "end": {"line": 9, "character": 0}}, "text": "x"});
        world.did_edit(&proposal.uri, json!([insert]));
    }
    world.at("textDocument/hover", &proposal.uri, (9, 0));
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[test]
fn a_command_chooses_when_agents_ask() {
    let mut world = World::new();
    let choose = |world: &mut World, arguments: Value| world.execute("pillion.review", arguments);
    let nobody = choose(&mut world, json!(["always"]));
    let said = nobody["error"]["message"].as_str().unwrap();
    assert!(said.contains("`pillion run claude`"), "{said}");
    let _claude = TestClaude::find(&world.sandbox.home);
    for (arguments, expected) in [
        (json!(["asked"]), "as its permission mode has it"),
        (json!([]), "as its permission mode has it"),
        (json!(["always"]), "shows every change here first"),
        (Value::Null, "shows every change here first"),
    ] {
        let chosen = choose(&mut world, arguments);
        let said = chosen["result"].as_str().unwrap_or_default();
        assert!(said.contains(expected), "{chosen}");
    }
    for arguments in [json!(["never"]), json!([1])] {
        let refused = choose(&mut world, arguments);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[test]
fn a_command_sends_notes_to_agents() {
    let mut world = World::new();
    let started = Instant::now();
    for arguments in [json!([]), Value::Null, json!(["what for?"])] {
        let said = |world: &mut World| {
            let sent = world.execute("pillion.sendNotes", arguments.clone());
            sent["error"]["message"].as_str().unwrap().to_owned()
        };
        // The stand-in agent connects meanwhile.
        while said(&mut world) != "no notes are waiting for an agent" {
            assert!(started.elapsed() < SOON);
        }
    }
}

/// No language-server client can be kept from quitting.
#[test]
fn who_quits_while_a_note_waits_is_told_so() {
    for reason in [Some("use the table"), None] {
        let mut world = World::new();
        let target = world.target("a.rs", "before\n");
        let other = world.target("b.rs", "before\n");
        world.shown(&target, "after\n");
        world.execute("pillion.reject", json!([1, 1, reason]));
        assert_eq!(world.agent.outcome(), rejected(&target));
        // It is known by the time that the next one is shown.
        world.shown(&other, "after\n");
        world.editor.request("shutdown", Value::Null);
        // All that it was told came before the answer.
        let mut told = iter::from_fn(|| world.editor.poll(Duration::ZERO));
        let is_told = told.any(|it| it.to_string().contains("1 note waits for its agent"));
        assert_eq!(is_told, reason.is_some());
    }
}
