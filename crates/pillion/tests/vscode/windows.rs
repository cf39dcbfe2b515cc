//! A window that ends and comes again.

use pillion_testkit::{kill_tree, programs_below};
use serde_json::json;

use crate::sandbox::Sandbox;
use crate::stand_in::{Window, answer, at_work, propose};

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn a_window_that_is_reloaded_has_its_proposal_again_with_what_was_made_of_it() {
    let sandbox = Sandbox::new();
    let mut window = Window::open(&sandbox);
    sandbox.home.file("a.txt", "one\n");
    let mut diff = propose(&sandbox, "a.txt", "two\n");
    window.wait_for("a.txt", "two");
    window.run("person.type('mine ')");
    window.reload();
    assert!(diff.try_wait().unwrap().is_none());

    let mut window = Window::prepare(&sandbox);
    window.run("state.answers.push('Take My Text')");
    window.run("start()");
    window.wait_for("a.txt", "mine two");
    window.insist_until("person.run('accept')", "group.tabs.length === 0");
    assert_eq!(answer(diff)["content"], "mine two\n");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn what_was_made_of_a_proposal_that_does_not_come_again_is_kept_and_said() {
    let sandbox = Sandbox::new();
    let mut window = Window::open(&sandbox);
    sandbox.home.file("a.txt", "one\n");
    let mut diff = propose(&sandbox, "a.txt", "two\n");
    window.wait_for("a.txt", "two");
    window.run("person.type('mine ')");
    window.run("leave()");
    let kept = window.run("memory.get('pillion.kept')");
    window.reload();
    diff.kill().unwrap();
    diff.wait().unwrap();

    let mut window = Window::prepare(&sandbox);
    window.run(&format!("memory.set('pillion.kept', {kept})"));
    window.run("start()");
    window.wait_until("state.said.some((it) => it.includes('What you had made of a.txt is kept'))");
    window.run("state.answers.push('a.txt') && person.run('openKept')");
    assert_eq!(window.run("state.shown"), "mine two\n");
    // Once: the next window does not say it again.
    let waits = window.run("memory.get('pillion.kept').map((it) => it.waits)");
    assert_eq!(waits, json!([false]));
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn what_stands_in_a_proposal_that_nobody_waits_for_any_more_is_kept_and_said() {
    let sandbox = Sandbox::new();
    let mut window = Window::open(&sandbox);
    sandbox.home.file("a.txt", "one\n");
    let mut diff = propose(&sandbox, "a.txt", "two\n");
    window.wait_for("a.txt", "two");
    window.run("person.type('mine ')");
    diff.kill().unwrap();
    diff.wait().unwrap();
    window.wait_for_sentence("What you had made of a.txt is kept");
    window.run("person.close()");
    window.run("state.answers.push('a.txt') && person.run('openKept')");
    assert_eq!(window.run("state.shown"), "mine two\n");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn a_window_that_is_busy_shows_no_proposal_that_nobody_waits_for() {
    let sandbox = Sandbox::new();
    let mut window = Window::open(&sandbox);
    sandbox.home.file("a.txt", "one\n");
    window.run("settings.slow = 6000");
    let mut diff = propose(&sandbox, "a.txt", "two\n");
    // It counts although VS Code has not answered yet.
    window.wait_until("bar().includes('1 to review')");
    assert!(window.run("group.tabs.length") == 0);
    diff.kill().unwrap();
    diff.wait().unwrap();
    window.wait_until("bar().includes('no agent')");
    window.wait_until("closed.length === 1 && group.tabs.length === 0");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn pillion_is_started_again_and_what_was_edited_is_kept() {
    let (sandbox, mut window, agent, path) = at_work("a.txt", "one\n");
    agent.propose(&path, "two\n");
    window.wait_for("a.txt", "two");
    window.run("person.type('mine ')");
    let server = window.server();
    kill_tree(server);
    window.wait_until("group.tabs.length === 0");
    let said = "Pillion has ended. What you had made of a.txt is kept";
    window.wait_until(&format!("state.said.some((it) => it.includes('{said}'))"));
    window.run("state.answers.push('a.txt') && person.run('openKept')");
    assert_eq!(window.run("state.shown"), "mine two\n");
    window.wait_until("!bar().includes('warning')");
    assert_ne!(window.server(), server);
    drop((sandbox, agent));
}

impl Window {
    fn server(&self) -> u32 {
        let [server] = programs_below(self.process(), "pillion")[..] else {
            panic!("there is one");
        };
        server
    }
}
