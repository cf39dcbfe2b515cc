//! `pillion review-mode`, with Claude Code's protocol and no hook yet.

use pillion_testkit::TestClaude;
use serde_json::Value;

use crate::sandbox::Sandbox;

#[test]
fn a_choice_needs_an_agent_that_does_as_one_chooses() {
    let sandbox = Sandbox::new();
    let nobody = sandbox.run(["review-mode", "always"]);
    nobody.expect_error(3, "no Pillion companion", "");
    let serve = sandbox.serve::<&str>([]);
    for words in [&["review-mode"][..], &["review-mode", "asked"]] {
        let refused = sandbox.run(words);
        refused.expect_error(1, "no agent that is here does this: Claude Code", "");
    }
    let _gemini = serve.connect();
    let refused = sandbox.run(["review-mode", "asked"]);
    refused.expect_error(1, "no agent that is here does this", "");
    let unknown = sandbox.run(["review-mode", "never"]).expect(2);
    assert!(
        unknown
            .stderr
            .contains("[possible values: always, asked, after, commands, no-commands, changes]"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn what_is_chosen_is_printed_and_listed() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let _claude = TestClaude::find(&sandbox.home);
    let _other = TestClaude::find(&sandbox.home);
    let listed = || {
        let all = sandbox.run(["list", "--json"]).expect(0).stdout;
        let all: Value = serde_json::from_str(&all).unwrap();
        all[0]["review"].clone()
    };
    // Both listen, soon.
    while sandbox
        .run(["review-mode", "--session", "2"])
        .stdout
        .is_empty()
    {}
    assert_eq!(listed(), Value::Null);
    for (words, said, label) in [
        (
            &["asked"][..],
            "Claude Code 2 asks as its permission mode",
            "review: asked",
        ),
        (
            &["always", "--session", "1"],
            "Claude Code 1 shows every change",
            "review: differs",
        ),
        (&[], "Claude Code 1 shows every change", "review: differs"),
        (
            &["after"],
            "Claude Code 2 changes files in the workspace without asking, from your next prompt on",
            "after the write",
        ),
        (
            &["always"],
            "Claude Code 2 shows every change",
            "review: always",
        ),
    ] {
        let command = [&["review-mode"], words].concat();
        let printed = sandbox.run(command).expect(0).stdout;
        assert!(printed.contains(said), "{words:?}: {printed}");
        assert_eq!(listed(), label);
    }
    let table = sandbox.run(["list"]).expect(0).stdout;
    assert!(table.contains("claude×2, review: always"), "{table}");
    let refused = sandbox.run(["review-mode", "asked", "--session", "3"]);
    refused.expect_error(1, "no such agent: the numbers are 1, 2", "");
}
