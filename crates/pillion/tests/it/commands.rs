//! `focus`, `diffs`, `accept`, `reject`: what they do, and how they fail.

use std::ffi::OsStr;

use pillion_protocol::Cursor;
use pillion_testkit::client::Update;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[test]
fn a_diff_is_listed_printed_and_accepted() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let mut agent = serve.connect();
    let text = "one\r\ntwo\u{9b}\u{202e}";
    agent.propose("/tmp/b'new\u{1b}[31m.txt", text);
    let table = sandbox.run(["diffs"]).expect(0).stdout;
    assert_eq!(
        table,
        "DIFF  AGENT     PATH\n 1.1  gemini    /tmp/b'new␛[31m.txt\n"
    );
    let listed = sandbox.run(["diffs", "--json"]).expect(0).stdout;
    let mut expected = json!({"diff": "1.1", "id": 1, "revision": 1, "agent": "gemini",
        "path": "/tmp/b'new\u{1b}[31m.txt", "leadsTo": null, "set": null});
    assert_eq!(
        serde_json::from_str::<Value>(&listed).unwrap(),
        json!([expected])
    );
    let one = sandbox.run(["diffs", "1", "--json"]).expect(0).stdout;
    assert!(one.contains("\\u009b\\u202e"), "{one}");
    expected["proposed"] = text.into();
    expected["text"] = text.into();
    assert_eq!(serde_json::from_str::<Value>(&one).unwrap(), expected);
    assert_eq!(sandbox.run(["diffs", "1"]).expect(0).stdout, text);
    let said = sandbox.insist(["accept", "1.1"]).expect(0).stdout;
    assert_eq!(said, "accepted 1.1: /tmp/b'new␛[31m.txt\n");
    let path = "/tmp/b'new\u{1b}[31m.txt".to_owned();
    let content = text.to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, content));
    assert_eq!(
        sandbox.run(["diffs"]).expect(0).stdout,
        "no diffs are pending\n"
    );
}

#[test]
fn a_diff_is_rejected_or_accepted_with_another_text() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let mut agent = serve.connect();
    let path = "/tmp/new.txt".to_owned();
    agent.propose(&path, "x");
    sandbox.run(["reject", "1.1"]).expect(0);
    let outcome = Update::DiffRejected { path: path.clone() };
    assert_eq!(agent.outcome(), outcome);
    agent.propose(&path, "x");
    let args = ["accept", "2.1", "--content-file", "-"];
    sandbox
        .insist_with_input(args, "\u{feff}y\r".as_bytes())
        .expect(0);
    let content = "\u{feff}y\r".to_owned();
    let outcome = Update::accepted(path.clone(), content);
    assert_eq!(agent.outcome(), outcome);
    agent.propose(&path, "x");
    let file = sandbox.home.file("other", "z");
    let file = file.to_str().unwrap();
    sandbox
        .insist(["accept", "3.1", "--content-file", file])
        .expect(0);
    let content = "z".to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, content));
}

#[test]
fn a_focused_file_reaches_the_agent() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let mut agent = serve.connect();
    let file = sandbox.home.file("a:7.rs", "text\n".repeat(9));
    let expected = file.to_str().unwrap();
    let mut focused = |args: &[&str], input: &str| {
        sandbox.run_with_input(args, input.as_bytes()).expect(0);
        let update = agent.next(|update| match update {
            Update::Context(context) => context.active_file().is_some(),
            _ => false,
        });
        let Update::Context(context) = update else {
            unreachable!()
        };
        let active = context.active_file().unwrap();
        assert_eq!(active.path, expected);
        (active.cursor, active.selected_text.clone())
    };
    let at = |line, character| Some(Cursor { line, character });
    assert_eq!(focused(&["focus", "a:7.rs"], ""), (None, None));
    assert_eq!(focused(&["focus", "a:7.rs:2"], ""), (at(2, 1), None));
    let roundabout = ["focus", "../project/./a:7.rs:9"];
    assert_eq!(focused(&roundabout, ""), (at(9, 1), None));
    assert_eq!(focused(&["focus", "a:7.rs:999999:9"], ""), (at(9, 5), None));
    let selection = ["focus", "a:7.rs:3:4", "--selection", "-x"];
    let expected = (at(3, 4), Some("-x".to_owned()));
    assert_eq!(focused(&selection, ""), expected);
    let selection = ["focus", "a:7.rs:3:5", "--selection", "-"];
    let expected = (at(3, 5), Some("é\n".to_owned()));
    assert_eq!(focused(&selection, "é\n"), expected);
}

#[test]
fn errors_say_what_and_what_to_do() {
    let sandbox = Sandbox::new();
    let workspace = sandbox.home.workspace();
    let no_companion = "no Pillion companion";
    sandbox
        .run(["diffs"])
        .expect_error(3, no_companion, "pillion serve");
    sandbox
        .run(["diffs", "--port", "9"])
        .expect_error(3, no_companion, "`pillion list`");
    sandbox.run(["diffs", "--workspace", "none"]).expect_error(
        1,
        "the folder ",
        "an existing folder",
    );
    for (port, arguments) in [
        ("nine", ["diffs", "--port"]),
        ("70000", ["focus", "--port"]),
    ] {
        let ran = sandbox.run(arguments.into_iter().chain([port])).expect(2);
        let said = "a port is a number from 1 to 65535";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }

    let _serve = sandbox.serve::<&str>([]);
    sandbox
        .run(["focus", "none.rs"])
        .expect_error(1, "no file none.rs", "save it first");
    sandbox.home.file("there.rs", "");
    for position in ["there.rs:0", "there.rs:3:0", "there.rs:0:4", "there.rs:-1"] {
        sandbox
            .run(["focus", position])
            .expect_error(1, "is not a position in there.rs", "from 1");
    }
    sandbox
        .run(["focus", "."])
        .expect_error(1, ". is a folder", "exist on disk");
    sandbox
        .run(["diffs", "7"])
        .expect_error(1, "no diff 7 is pending", "pillion diffs");
    sandbox
        .run(["accept", "7.1"])
        .expect_error(1, "no diff 7 is pending", "pillion diffs");
    let empty = ["accept", "7.1", "--content-file", "-"];
    let refused = sandbox.run_with_input(empty, b"").expect(1);
    assert!(!refused.stderr.contains("warning"), "{}", refused.stderr);
    sandbox.run(["reject", "seven"]).expect(2);
    sandbox.run(["accept"]).expect(2);
    sandbox.run(["no-such-command"]).expect(2);
    let latin = sandbox.home.file("latin", b"\xe9");
    let latin = latin.to_str().unwrap();
    let args = ["accept", "1.1", "--content-file", latin];
    sandbox.run(args).expect_error(1, "is not UTF-8", "convert");
    let args = ["accept", "1.1", "--content-file", "none"];
    let ran = sandbox.run(args).expect(1);
    assert!(ran.stderr.contains("cannot read none"), "{}", ran.stderr);

    let outside = sandbox.run_in("/".as_ref(), ["diffs"]).expect(3);
    let shown = workspace.to_str().unwrap();
    assert!(outside.stderr.contains(shown), "{}", outside.stderr);
    sandbox
        .run_in("/".as_ref(), ["diffs", "--workspace", shown])
        .expect(0);
}

#[test]
fn a_companion_is_chosen_by_folder_or_port() {
    let sandbox = Sandbox::new();
    let inner = sandbox.home.workspace().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let outer_serve = sandbox.serve::<&str>([]);
    let inner_serve = sandbox.serve([OsStr::new("--workspace"), inner.as_os_str()]);
    inner_serve.connect().propose("/tmp/inner", "x");
    let is_inner = |out: &str| out.contains("/tmp/inner");
    let below = inner.join("below");
    std::fs::create_dir(&below).unwrap();
    assert!(is_inner(
        &sandbox.run_in(&below, ["diffs"]).expect(0).stdout
    ));
    assert!(!is_inner(&sandbox.run(["diffs"]).expect(0).stdout));
    let port = inner_serve.port().to_string();
    assert!(is_inner(
        &sandbox.run(["diffs", "--port", &port]).expect(0).stdout
    ));
    drop(outer_serve);
}
