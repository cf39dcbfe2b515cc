//! Agents: pointed to files, given text; and what they hear of the window.

use pillion_protocol::Dialect;
use pillion_testkit::TestAgent;
use pillion_testkit::client::Update;

use crate::sandbox::Sandbox;
use crate::stand_in::{Window, at_work};

/// Starts an agent in a terminal of the stand-in, which is there once this is known.
fn start_one(window: &mut Window) {
    window.run("state.answers.push('Gemini CLI') && person.run('run')");
    window.wait_until("!!state.terminal");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn an_agent_is_pointed_to_the_lines_that_are_selected() {
    let (_sandbox, mut window, _agent, _path) = at_work("a.txt", "one\ntwo\nthree\n");
    window.run("person.open('a.txt')");
    window.run("person.run('mention')");
    window.wait_until("state.said.at(-1)?.includes('“Pillion: Start an Agent” starts one')");
    start_one(&mut window);
    window.run("person.run('mention')");
    // It is typed, and not sent.
    assert_eq!(
        window.run("state.sent"),
        serde_json::json!(["@a.txt ", false])
    );
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn text_is_typed_for_an_agent_as_it_would_be_pasted() {
    let (_sandbox, mut window, _agent, _path) = at_work("a.txt", "one\ntwo\u{1b}[A\nthree\n");
    window.run("person.open('a.txt')");
    start_one(&mut window);
    window.run("person.select(0, 2)");
    window.run("person.run('send')");
    let sent = window.run("state.sent");
    let expected = "\u{1b}[200~one\ntwo\u{fffd}[A\n\u{1b}[201~";
    assert_eq!(sent, serde_json::json!([expected, false]));
    window.run("person.at(0)");
    window.run("state.answers.push('and this') && person.run('send')");
    assert_eq!(window.run("state.sent[0]"), "and this");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn a_folder_that_nobody_trusts_is_told_as_such_and_proposals_come_there() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", "one\n");
    let path = path.to_str().unwrap().to_owned();
    let mut window = Window::prepare(&sandbox);
    window.run(
        "void (Object.assign(settings, { isTrusted: false }).values['security.workspace.trust.enabled'] = true)",
    );
    window.run("start()");
    window.wait_until("!bar().includes('warning')");
    window.run("person.open('a.txt')");
    let mut agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
    agent.context(|context| {
        let state = context.workspace_state.as_ref();
        state.and_then(|it| it.is_trusted) == Some(false)
    });
    agent.propose(&path, "two\n");
    window.wait_until("bar().includes('1 to review')");
    window.run("person.run('next')");
    window.wait_for("a.txt", "two");
    let outcome = window.insist("person.run('accept')", &mut agent);
    assert_eq!(outcome, Update::accepted(path, "two\n"));
}
