//! Proposals: shown, edited, decided, closed, without taking the place of what a person types in.

use pillion_testkit::client::Update;

use crate::sandbox::Sandbox;
use crate::stand_in::{Window, answer, at_work, propose, propose_set};

/// So many lines.
fn lines(count: usize) -> String {
    (1..=count).map(|it| format!("line {it}\n")).collect()
}

fn rejected(path: &str) -> Update {
    Update::DiffRejected {
        path: path.to_owned(),
    }
}

fn accepted(path: &str, content: &str) -> Update {
    Update::accepted(path.to_owned(), content)
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn what_is_accepted_is_what_stands_there_once_all_of_it_was_on_the_screen() {
    let (sandbox, mut window, mut agent, path) = at_work("a.txt", &lines(60));
    let proposed = lines(60)
        .replace("line 3\n", "line three\n")
        .replace("line 55\n", "fifty-five\n");
    agent.propose(&path, &proposed);
    window.wait_for("a.txt", "line three");
    window.run("person.run('accept')");
    window.wait_for_sentence("this has only just opened");
    agent.check_pending(&sandbox.home).unwrap();

    // The second change is below the window, until the person goes there.
    window.insist_until(
        "person.run('accept')",
        "sentence().includes('1 of 2 changes')",
    );
    window.run("person.run('nextUnseen')");
    window.run("person.at(0)");
    window.run("person.type('mine\\n')");
    let expected = format!("mine\n{proposed}");
    assert_eq!(
        window.insist("person.run('accept')", &mut agent),
        accepted(&path, &expected)
    );
    window.wait_until("group.tabs.length === 0 && sentence() === undefined");
    // Keys that were meant for it do nothing in what is there instead.
    assert_eq!(window.run("state.context['pillion.hasJustClosed']"), true);
    window.wait_until("state.context['pillion.hasJustClosed'] === false");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn long_lines_count_once_the_cursor_was_at_their_end() {
    let (_sandbox, mut window, mut agent, path) = at_work("a.txt", "short\n");
    agent.propose(&path, &format!("{}x\n", " ".repeat(300)));
    window.wait_for("a.txt", "x");
    window.insist_until(
        "person.run('accept')",
        "sentence().includes('on the screen')",
    );
    window.run("person.at(0, 301)");
    let proposed = format!("{}x\n", " ".repeat(300));
    let outcome = window.insist("person.run('accept')", &mut agent);
    assert_eq!(outcome, accepted(&path, &proposed));
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn closing_rejects_and_what_was_edited_is_kept() {
    let (sandbox, mut window, mut agent, path) = at_work("a.txt", "one\n");
    agent.propose(&path, "one\ntwo\n");
    window.wait_for("a.txt", "two");
    window.run("person.move()");
    agent.check_pending(&sandbox.home).unwrap();
    window.run("person.type('mine ')");
    window.run("person.close()");
    assert_eq!(agent.outcome(), rejected(&path));
    window.wait_until(
        "state.said.some((it) => it.includes('is rejected. What you had made of a.txt is kept'))",
    );
    window.run("state.answers.push('a.txt') && person.run('openKept')");
    assert_eq!(window.run("state.shown"), "mine one\ntwo\n");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn what_vs_code_throws_away_before_it_closes_a_tab_is_kept_and_said() {
    let (_sandbox, mut window, mut agent, path) = at_work("a.txt", "one\n");
    agent.propose(&path, "two\n");
    window.wait_for("a.txt", "two");
    window.run("person.type('mine ')");
    // Its question before a tab is closed whose text is not saved yet: "Don't Save".
    window.run("active.document.change(active.document.all, 'two\\n')");
    window.run("person.close()");
    assert_eq!(agent.outcome(), rejected(&path));
    window.wait_until("state.said.some((it) => it.includes('What you had made of a.txt is kept'))");
    window.run("state.answers.push('a.txt') && person.run('openKept')");
    assert_eq!(window.run("state.shown"), "mine two\n");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn bytes_that_an_editor_does_not_show_stay_also_in_what_is_edited() {
    let original = "\u{feff}one\r\ntwo\nthree\r\nfour";
    let (_sandbox, mut window, mut agent, path) = at_work("a.txt", original);
    let proposed = original.replace("two", "TWO");
    agent.propose(&path, &proposed);
    window.wait_for("a.txt", "TWO");
    assert_eq!(window.text(), "one\r\nTWO\r\nthree\r\nfour");
    let outcome = window.insist("person.run('accept')", &mut agent);
    assert_eq!(outcome, accepted(&path, &proposed));

    let second = original.replace("two", "2");
    agent.propose(&path, &second);
    window.wait_for("a.txt", "2");
    window.run("person.at(3, 4)");
    window.run("person.type('!')");
    let outcome = window.insist("person.run('accept')", &mut agent);
    // As its agent writes it over a file that has CRLF.
    let written = second.replace("2\n", "2\r\n") + "!";
    assert_eq!(outcome, accepted(&path, &written));
}

/// VS Code would ask about them in a dialog, which takes the keys of whoever types, and remove them.
#[test]
#[ignore = "needs Node: cargo xtask test"]
fn line_ends_that_vs_code_would_remove_stay_as_the_agent_wrote_them() {
    let original = "a\u{2028}b\none\n";
    let (_sandbox, mut window, mut agent, path) = at_work("a.txt", original);
    let proposed = "a\u{2028}b\nt\u{2029}wo\u{2028}\r\n";
    agent.propose(&path, proposed);
    window.wait_for("a.txt", "wo");
    window.wait_for_sentence("“␤” stands for U+2028");
    window.wait_for_sentence("“␞” stands for U+2029");
    assert_eq!(window.run("visible[0].document.text"), "a␤b\none\n");
    window.run("person.type('mine ')");
    window.run("person.at(1)");
    window.run("person.run('toggleHunk')");
    window.run("person.undo()");
    let expected = format!("mine {proposed}");
    let outcome = window.insist("person.run('accept')", &mut agent);
    assert_eq!(outcome, accepted(&path, &expected));

    // What was made of it, and what stands in the place of one that has a sign itself.
    let second = "␤\u{2028}\n";
    agent.propose(&path, second);
    window.wait_for("a.txt", "␤␞");
    window.run("person.type('mine ')");
    window.run("person.close()");
    assert_eq!(agent.outcome(), rejected(&path));
    window.wait_until("state.said.some((it) => it.includes('is rejected'))");
    window.run("state.answers.push('a.txt') && person.run('openKept')");
    assert_eq!(window.run("state.shown"), format!("mine {second}"));
    assert_eq!(window.run("state.asked"), 0);
}

/// Undo takes them out again.
#[test]
#[ignore = "needs Node: cargo xtask test"]
fn unsaved_changes_of_the_file_are_said_and_merged_into_the_proposal() {
    let (_sandbox, mut window, mut agent, path) = at_work("a.txt", "one\ntwo\nthree\n");
    window.run("person.open('a.txt')");
    agent.propose(&path, "one\ntwo\nTHREE\n");
    window.wait_until("groups[1]?.activeTab?.label?.includes('a.txt')");
    let hint = "Your unsaved changes of a.txt are not in it";
    window.wait_until(&format!(
        "sentence()?.includes('accepts') && !above().join().includes('{hint}')"
    ));
    window.run("person.type('mine ')");
    window.wait_for_sentence(hint);
    window.run("person.run('next')");
    window.wait_for("a.txt", "THREE");
    window.run("person.run('merge')");
    window.wait_for("a.txt", "mine one");
    window.wait_for_sentence("Your unsaved changes are in the proposal");
    assert_eq!(
        window.run(&format!("above().join().includes('{hint}')")),
        false
    );
    let outcome = window.insist("person.run('accept')", &mut agent);
    assert_eq!(outcome, accepted(&path, "mine one\ntwo\nTHREE\n"));
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn of_a_set_the_next_one_comes_and_all_are_closed_at_once() {
    let sandbox = Sandbox::new();
    let mut window = Window::open(&sandbox);
    let names = ["a.txt", "b.txt", "c.txt"];
    for name in names {
        sandbox.home.file(name, "one\n");
    }
    let files = names.map(|name| (name, "two\n"));
    let diff = propose_set(&sandbox, &files);
    window.wait_until("group.tabs.length === 3");
    window.wait_for("a.txt · 1 of 3", "two");
    window.insist_until("person.run('accept')", "group.tabs.length === 2");
    window.wait_for("b.txt · 2 of 3", "two");
    window.run("person.closeAll()");
    let told = answer(diff);
    let outcomes = told.as_array().unwrap().iter();
    let outcomes: Vec<_> = outcomes.map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["accepted", "rejected", "rejected"]);
    // Nothing comes again of what is over.
    window.wait_until("bar().includes('rejected')");
    assert_eq!(window.run("opened.length"), 4);
    assert_eq!(window.run("group.tabs.length"), 0);
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn a_change_is_taken_out_and_put_back_in() {
    let (_sandbox, mut window, mut agent, path) = at_work("a.txt", "one\ntwo\nthree\n");
    agent.propose(&path, "ONE\ntwo\nTHREE\nfour\n");
    window.wait_for("a.txt", "THREE");
    window.run("person.at(2)");
    window.run("person.run('toggleHunk')");
    assert_eq!(window.text(), "ONE\ntwo\nthree\n");
    window.run("person.run('toggleHunk')");
    assert_eq!(window.text(), "ONE\ntwo\nTHREE\nfour\n");
    window.run("person.run('toggleHunk')");
    window.run("person.undo()");
    assert_eq!(window.text(), "ONE\ntwo\nTHREE\nfour\n");
    window.run("person.at(0)");
    window.run("person.run('toggleHunk')");
    let outcome = window.insist("person.run('accept')", &mut agent);
    assert_eq!(outcome, accepted(&path, "one\ntwo\nTHREE\nfour\n"));
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn a_newer_proposal_takes_its_place_and_the_older_text_is_not_accepted_for_it() {
    let (sandbox, mut window, mut agent, path) = at_work("a.txt", "one\n");
    agent.propose(&path, "two\n");
    window.wait_for("a.txt", "two");
    // VS Code takes its time to read the newer one.
    window.run("settings.delay = 1500");
    agent.propose(&path, "three\n");
    window.wait_for_sentence("newer proposal");
    assert_eq!(window.text(), "two\n");
    window.run("person.run('accept')");
    agent.check_pending(&sandbox.home).unwrap();
    window.wait_for("a.txt", "three");
    assert_eq!(window.run("group.tabs.length"), 1);
    let outcome = window.insist("person.run('accept')", &mut agent);
    assert_eq!(outcome, accepted(&path, "three\n"));
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn nothing_opens_where_somebody_is() {
    let (_sandbox, mut window, mut agent, path) = at_work("a.txt", "one\n");
    let other = path.replace("a.txt", "b.txt");
    window.run("person.open('a.txt')");
    agent.propose(&path, "two\n");
    let beside = "groups[1]?.activeTab?.label";
    window.wait_until(&format!("{beside}?.includes('a.txt')"));
    assert_eq!(window.run("active.document.uri.scheme"), "file");

    // Nor in the place of a proposal that is looked at.
    agent.propose(&other, "new\n");
    window.wait_until("group.tabs.length === 3");
    assert!(window.run(beside).as_str().unwrap().contains("a.txt"));
    assert_eq!(window.run("opened.every((it) => it.preserveFocus)"), true);
    window.run("person.run('next')");
    window.wait_for("a.txt", "two");
    let outcome = window.insist("person.run('accept')", &mut agent);
    assert_eq!(outcome, accepted(&path, "two\n"));
    window.run("person.run('next')");
    window.wait_for("b.txt", "new");
    window.run("person.close()");
    assert_eq!(agent.outcome(), rejected(&other));
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn who_is_in_a_proposal_that_nobody_waits_for_stays_there_until_they_leave() {
    let (_sandbox, mut window, agent, path) = at_work("a.txt", "one\n");
    agent.propose(&path, "two\n");
    window.wait_for("a.txt", "two");
    agent.disconnect();
    window.wait_for_sentence("no longer waits");
    assert_eq!(window.run("state.context['pillion.over'].length"), 1);
    assert_eq!(
        window.run("providers.pillion.stat(group.activeTab.input.modified).permissions"),
        1
    );
    window.run("person.run('accept')");
    window.wait_until("group.tabs.length === 0");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn notes_and_a_reason_reach_who_proposed() {
    let sandbox = Sandbox::new();
    let mut window = Window::open(&sandbox);
    let path = sandbox.home.file("a.txt", "one\ntwo\n");
    let diff = propose(&sandbox, "a.txt", "one\nTWO\n");
    window.wait_for("a.txt", "TWO");
    window.run("person.note(1, 'why?')");
    window.run("person.note(0, 'not this')");
    window.run("person.run('deleteNote', state.threads.at(-1).comments[0])");
    window.insist_until(
        "(state.answers = ['use the helper']) && person.run('rejectWith')",
        "group.tabs.length === 0",
    );
    let told = answer(diff);
    let expected = serde_json::json!([
        {"text": "use the helper"},
        {"lines": {"first": 1, "last": 1}, "text": "why?"},
    ]);
    assert_eq!(told["notes"], expected, "{told}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "one\ntwo\n");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn nothing_that_an_agent_names_is_an_icon_a_link_or_a_command() {
    let name = "$(bug) [x](command:workbench.action.quit).txt";
    let (_sandbox, mut window, mut agent, path) = at_work(name, "one\n");
    agent.propose(&path, "two\n");
    window.wait_for("$(bug)", "two");
    assert!(
        !window
            .run("group.activeTab.label")
            .as_str()
            .unwrap()
            .contains("](")
    );
    window.run("person.type('mine')");
    window.run("person.close()");
    assert_eq!(agent.outcome(), rejected(&path));
    window.wait_until("state.said.some((it) => it.includes('$(bug)'))");
    assert_eq!(
        window.run("state.said.some((it) => it.includes(']('))"),
        false
    );
    window.wait_until("bar().includes('rejected')");
    assert_eq!(window.run("bar().includes('$(bug)')"), false);
}
