//! Proposals in the editor, from `openDiff` to the outcome (C5).

use std::process::Stdio;

use pillion_protocol::Dialect;
use pillion_testkit::TestAgent;
use serde_json::{Value, json};

use crate::agent::{self, accepted, rejected};
use crate::client::{Editor, uri};
use crate::sandbox::Sandbox;
use crate::shared_doubts::doubted;

const STATUS: &str = "pillion/didChangeStatus";

fn pending(count: u64) -> impl Fn(&Value) -> bool {
    move |status| status["pendingDiffs"] == count
}

/// A plugin that has seen the first change only.
#[test]
fn a_doubt_is_asked_about_once_and_then_the_person_is_obeyed() {
    let sandbox = Sandbox::new();
    let workspace = sandbox.home.workspace();
    for row in doubted() {
        row.write(&workspace);
    }
    let mut editor = Editor::plugin(&sandbox);
    let mut agent = agent::connect(&mut editor);
    for row in doubted() {
        let path = row.path(&workspace);
        let path = path.to_str().unwrap();
        let call = agent.proposing(path, &row.proposed);
        let diff = editor.open_diff();
        call.end().unwrap();
        if let Some(text) = row.meanwhile {
            std::fs::write(path, text).unwrap();
        }
        let answer = editor.settle_seen(&diff, &[0], row.code);
        assert!(answer.contains(row.question), "{answer}");
        assert_eq!(agent.outcome(), accepted(path, &row.proposed));
    }
}

#[test]
fn a_proposal_is_shown_whole_and_accepted_as_edited() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "old\r\n");
    let path = file.to_str().unwrap();
    let mut editor = Editor::plugin(&sandbox);
    let mut agent = agent::connect(&mut editor);
    let proposed = "\u{feff}new\r\n\r\n  no end";
    let call = agent.proposing(path, proposed);
    let request = editor.next("pillion/openDiff");
    assert_eq!(request["id"], 1_000_000, "Vim mixes up equal ids");
    assert_eq!(
        request["params"],
        json!({
            "id": 1,
            "revision": 1,
            "uri": uri(&file),
            "path": path,
            "agent": {"name": "gemini", "displayName": Dialect::GeminiCli.display_name()},
            "does": "proposes",
            "original": "old\r\n",
            "originalIsLossy": false,
            "originalIsOther": false,
            "proposed": proposed,
            "notes": [],
            "hunks": [{"before": {"start": 0, "end": 1}, "after": {"start": 0, "end": 3}}],
        })
    );
    editor.answer(&request, Value::Null);
    assert_eq!(call.end(), Ok(()));
    editor.status(pending(1));
    editor.settle(&request["params"], "accept", Some("edited\r"));
    assert_eq!(agent.outcome(), accepted(path, "edited\r"));
    editor.status(pending(0));
    let again = agent.proposing(path, "again");
    let diff = editor.open_diff();
    again.end().unwrap();
    assert_eq!((&diff["id"], &diff["revision"]), (&json!(2), &json!(1)));
    editor.settle(&diff, "accept", None);
    assert_eq!(agent.outcome(), accepted(path, "again"), "as it came");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old\r\n", "C5.9");
}

#[test]
fn a_rejection_and_a_new_file() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.workspace().join("new/[id]%.tsx");
    let path = file.to_str().unwrap();
    let mut editor = Editor::plugin(&sandbox);
    let mut agent = agent::connect(&mut editor);
    let diff = agent::show(&agent, &mut editor, path, "");
    assert_eq!(
        (&diff["original"], &diff["originalIsLossy"]),
        (&Value::Null, &json!(false))
    );
    assert!(
        diff["uri"]
            .as_str()
            .unwrap()
            .ends_with("/new/%5Bid%5D%25.tsx"),
        "{diff}"
    );
    editor.settle(&diff, "reject", None);
    assert_eq!(agent.outcome(), rejected(path));
}

#[test]
fn a_file_that_is_not_utf8_is_shown_and_said_to_be_so() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("latin", b"caf\xe9\0\n");
    let mut editor = Editor::plugin(&sandbox);
    let agent = agent::connect(&mut editor);
    let call = agent.proposing(file.to_str().unwrap(), "café\n");
    let diff = editor.open_diff();
    call.end().unwrap();
    assert_eq!(
        (&diff["original"], &diff["originalIsLossy"]),
        (&json!("caf\u{fffd}\0\n"), &json!(true))
    );
}

#[test]
fn what_the_editor_cannot_show_is_reported_to_the_agent_with_the_reason() {
    let (sandbox, mut editor, agent, path) = agent::at_work();
    let path = path.as_str();
    let call = agent.proposing(path, "x");
    let request = editor.next("pillion/openDiff");
    editor.refuse(&request, "no room for a window");
    assert_eq!(call.end(), Err("no room for a window".to_owned()));
    let close = editor.next("pillion/closeDiff");
    assert_eq!(close["params"], json!({"id": 1, "reason": "notShown"}));
    editor.refuse(&close, "no such view");
    let diffs = sandbox.run(["diffs"]).expect(0).stdout;
    assert_eq!(diffs.trim(), "no diffs are pending");
    let next = agent.proposing(path, "y");
    editor.open_diff();
    next.end().unwrap();
}

#[test]
fn a_file_that_cannot_be_compared_with_does_not_reach_the_editor() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("huge", "");
    std::fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(600 << 20)
        .unwrap();
    let mut editor = Editor::plugin(&sandbox);
    let agent = agent::connect(&mut editor);
    let call = agent.proposing(file.to_str().unwrap(), "x");
    let error = call.end().unwrap_err();
    assert!(error.contains("huge\" is too big to review"), "{error}");
    let passed = editor.passed();
    assert!(
        !passed.iter().any(|method| method.ends_with("Diff")),
        "{passed:?}"
    );
}

#[test]
fn a_decision_about_an_older_proposal_does_not_count_for_the_newer_one() {
    let (_sandbox, mut editor, mut agent, path) = agent::at_work();
    let path = path.as_str();
    agent::show(&agent, &mut editor, path, "one");
    let call = agent.proposing(path, "two");
    let request = editor.next("pillion/openDiff");
    let second = &request["params"];
    assert_eq!((&second["id"], &second["revision"]), (&json!(1), &json!(2)));
    for (id, revision, code) in [
        (1, 1, "replaced"),
        (1, 3, "replaced"),
        (7, 1, "notPending"),
        (0, 0, "notPending"),
    ] {
        let diff = json!({"id": id, "revision": revision});
        let answer = editor.decide(&diff, "accept", None);
        assert_eq!(answer["result"]["code"], code, "{answer}");
    }
    editor.answer(&request, json!({}));
    call.end().unwrap();
    editor.settle(second, "accept", None);
    assert_eq!(agent.outcome(), accepted(path, "two"));
}

#[test]
fn a_decision_that_cannot_be_read_is_reported_and_settles_nothing() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "");
    let mut editor = Editor::plugin(&sandbox);
    let mut agent = agent::connect(&mut editor);
    let path = file.to_str().unwrap();
    let diff = agent::show(&agent, &mut editor, path, "one");
    let answer = editor.decide(&diff, "perhaps", None);
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("decision"), "{why}");
    let unseen = json!({"id": diff["id"], "revision": 1, "decision": "accept"});
    let answer = editor.request("pillion/decide", unseen);
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("seen"), "{why}");
    editor.settle(&diff, "reject", None);
    assert_eq!(agent.outcome(), rejected(path));
}

#[test]
fn the_agent_closes_its_diff_and_gets_the_text_in_the_view() {
    let (_sandbox, mut editor, agent, path) = agent::at_work();
    let path = path.as_str();
    let diff = agent::show(&agent, &mut editor, path, "one");
    let call = agent.closing(path);
    let close = editor.next("pillion/closeDiff");
    assert_eq!(
        close["params"],
        json!({"id": diff["id"], "reason": "closedByAgent"})
    );
    editor.answer(&close, json!({"content": "as it stood"}));
    assert_eq!(call.end(), Ok("as it stood".to_owned()), "C5.5");
    editor.status(pending(0));
    let answer = editor.decide(&diff, "accept", None);
    assert_eq!(answer["result"]["code"], "notPending", "{answer}");
    assert!(
        agent
            .closing(path)
            .end()
            .unwrap_err()
            .contains("no diff of"),
        "C5.10"
    );
}

#[test]
fn a_close_that_fails_is_reported_with_its_reason() {
    let (_sandbox, mut editor, agent, path) = agent::at_work();
    let path = path.as_str();
    for (answer, reason) in [
        (
            json!({"error": {"code": 1, "message": "it is gone"}}),
            "it is gone",
        ),
        (json!({"result": {}}), "missing field `content`"),
        (json!({"result": {"content": 5}}), "content: invalid type"),
    ] {
        agent::show(&agent, &mut editor, path, "one");
        let call = agent.closing(path);
        let mut message = answer.clone();
        message["jsonrpc"] = "2.0".into();
        message["id"] = editor.next("pillion/closeDiff")["id"].take();
        editor.send(message);
        let error = call.end().unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_decision_on_its_way_when_the_agent_closes_is_what_the_agent_gets() {
    let (_sandbox, mut editor, agent, path) = agent::at_work();
    let path = path.as_str();
    let diff = agent::show(&agent, &mut editor, path, "one");
    let call = agent.closing(path);
    let close = editor.next("pillion/closeDiff");
    editor.settle(&diff, "accept", Some("edited"));
    editor.refuse(&close, "no such view");
    assert_eq!(call.end(), Ok("edited".to_owned()));
}

#[test]
fn commands_settle_what_the_editor_shows() {
    let (sandbox, mut editor, mut agent, path) = agent::at_work();
    let path = path.as_str();
    for (command, reason, expected) in [
        ("accept", "settled", accepted(path, "one")),
        ("reject", "overruled", rejected(path)),
    ] {
        let diff = agent::show(&agent, &mut editor, path, "one");
        let ran = sandbox
            .command([command, &format!("{}.1", diff["id"])])
            .spawn()
            .unwrap();
        if command == "accept" {
            let asked = editor.next("pillion/diffText");
            editor.answer(&asked, json!({"content": "one"}));
        }
        let close = editor.next("pillion/closeDiff");
        assert_eq!(close["params"]["reason"], reason);
        editor.answer(&close, json!({"content": "as it stood"}));
        assert_eq!(agent.outcome(), expected);
        assert!(ran.wait_with_output().unwrap().status.success());
    }
}

#[test]
fn a_command_prints_what_stands_in_the_view_if_the_editor_tells_it() {
    let (sandbox, mut editor, agent, path) = agent::at_work();
    agent::show(&agent, &mut editor, &path, "one");
    let mut look = |arguments: &[&str], answer: &dyn Fn(&mut Editor, Value)| {
        let mut ran = sandbox.command(["diffs", "1"]);
        let ran = ran
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let ran = ran.spawn().unwrap();
        let asked = editor.next("pillion/diffText");
        assert_eq!(asked["params"], json!({"id": 1, "revision": 1}));
        answer(&mut editor, asked);
        let output = ran.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let tell = |content: &'static str| {
        move |editor: &mut Editor, asked: Value| editor.answer(&asked, json!({"content": content}))
    };
    let [text, note] = look(&[], &tell("mine"));
    assert!(
        text == "mine" && note.contains("--as-proposed"),
        "{text} {note}"
    );
    let [text, note] = look(&["--as-proposed"], &tell("mine"));
    assert!(
        text == "one" && note.contains("was edited"),
        "{text} {note}"
    );
    let [text, note] = look(&[], &tell("one"));
    assert_eq!((&*text, &*note), ("one", ""));
    let [text, note] = look(&[], &|editor: &mut Editor, asked| {
        editor.refuse(&asked, "unknown")
    });
    assert!(
        text == "one" && note.contains("did not tell"),
        "{text} {note}"
    );
    let [json, _] = look(&["--json"], &tell("mine"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["proposed"], &json["text"]),
        (&json!("one"), &json!("mine"))
    );
}

#[test]
fn a_command_that_the_editor_does_not_obey_leaves_the_diff_to_the_person() {
    let (sandbox, mut editor, mut agent, path) = agent::at_work();
    let path = path.as_str();
    let diff = agent::show(&agent, &mut editor, path, "one");
    let mut ran = sandbox.command(["accept", "1.1"]);
    let mut ran = ran.stderr(Stdio::null()).spawn().unwrap();
    let asked = editor.next("pillion/diffText");
    editor.refuse(&asked, "somebody is typing");
    assert_eq!(ran.wait().unwrap().code(), Some(1));
    editor.settle(&diff, "accept", None);
    assert_eq!(agent.outcome(), accepted(path, "one"));
}

#[test]
fn a_newer_proposal_outlives_the_command_that_settles_the_one_before() {
    let (sandbox, mut editor, mut agent, path) = agent::at_work();
    let path = path.as_str();
    agent::show(&agent, &mut editor, path, "one");
    let mut ran = sandbox.command(["accept", "1.1"]);
    let mut ran = ran.stderr(Stdio::null()).spawn().unwrap();
    let asked = editor.next("pillion/diffText");
    let call = agent.proposing(path, "two");
    let request = editor.next("pillion/openDiff");
    assert_eq!(request["params"]["revision"], 2);
    editor.answer(&asked, json!({"content": "one"}));
    editor.answer(&request, json!({}));
    assert_eq!(call.end(), Ok(()));
    assert_eq!(ran.wait().unwrap().code(), Some(1));
    editor.settle(&request["params"], "accept", None);
    assert_eq!(agent.outcome(), accepted(path, "two"));
}

#[test]
fn two_agents_have_a_diff_of_one_file_each() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "");
    let path = file.to_str().unwrap();
    let mut editor = Editor::plugin(&sandbox);
    let files = agent::files(&mut editor);
    let lock = files
        .iter()
        .find(|file| file.to_str().unwrap().ends_with(".lock"))
        .unwrap();
    let mut gemini = TestAgent::connect(&files[0]);
    let mut qwen = TestAgent::connect(lock);
    editor.status(|status| status["agents"].as_array().unwrap().len() == 2);
    let call = gemini.proposing(path, "gemini's");
    let first = editor.open_diff();
    call.end().unwrap();
    let call = qwen.proposing(path, "qwen's");
    let second = editor.open_diff();
    call.end().unwrap();
    assert_eq!(
        (&first["agent"]["name"], &second["agent"]["name"]),
        (&json!("gemini"), &json!("qwen"))
    );
    assert_ne!(first["id"], second["id"]);
    let status = editor.status(pending(2));
    assert_eq!(status["method"], STATUS);
    editor.settle(&second, "accept", None);
    editor.settle(&first, "reject", None);
    assert_eq!(qwen.outcome(), accepted(path, "qwen's"));
    assert_eq!(gemini.outcome(), rejected(path));
    editor.status(pending(0));
}

#[test]
fn the_views_of_an_agent_that_leaves_go_away() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "");
    let mut editor = Editor::plugin(&sandbox);
    let agent = agent::connect(&mut editor);
    let call = agent.proposing(file.to_str().unwrap(), "one");
    editor.open_diff();
    call.end().unwrap();
    agent.disconnect();
    let close = editor.next("pillion/closeDiff");
    assert_eq!(close["params"]["reason"], "agentGone");
    editor.answer(&close, json!({"content": "one"}));
    editor.status(|status| status["agents"] == json!([]) && status["pendingDiffs"] == 0);
}

/// The person accepts for an agent that is gone, and leaves. Returns what the editor is shown then, and what
/// is on standard error.
fn reported_at_the_end(content: Option<&str>) -> (Sandbox, String, String) {
    let (sandbox, mut editor, agent, path) = agent::at_work();
    let diff = agent::show(&agent, &mut editor, &path, "as proposed\n");
    drop(agent);
    editor.status(|status| status["agents"] == json!([]));
    editor.settle(&diff, "accept", content);
    editor.request("shutdown", Value::Null);
    let told = editor.params("window/showMessage");
    assert_eq!(told["type"], 2);
    editor.notify("exit", Value::Null);
    let (code, errors) = editor.ended();
    assert_eq!(code, Some(0));
    let told = told["message"].as_str().unwrap().to_owned();
    (sandbox, told, errors)
}

#[test]
fn an_edited_text_that_no_agent_took_is_kept_and_its_place_reported() {
    let (_sandbox, told, errors) = reported_at_the_end(Some("mine\r\n"));
    assert!(errors.contains(&told), "{errors}");
    let place = told.strip_prefix("your text is kept in ").unwrap();
    let (place, who) = place.split_once(": ").unwrap();
    assert_eq!(std::fs::read_to_string(place).unwrap(), "mine\r\n");
    assert!(who.starts_with("Gemini CLI never received"), "{who}");
}

#[test]
fn a_text_as_proposed_that_no_agent_took_was_not_written() {
    let (_sandbox, told, _) = reported_at_the_end(None);
    assert!(told.starts_with("nothing was written: "), "{told}");
}
