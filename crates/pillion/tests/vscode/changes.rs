//! What agents have written: the tree, the marks, and what the person does with them.

use std::fs;

use crate::sandbox::Sandbox;
use crate::shared_agent_work::{OTHER, command_begins, command_ends, turn_begins};
use crate::stand_in::Window;

/// A window, and a file in which an agent's shell command has changed two places.
fn written() -> (Sandbox, Window, std::path::PathBuf) {
    let sandbox = Sandbox::new();
    sandbox.home.file(OTHER.0, OTHER.1);
    let path = sandbox.home.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    pillion_testkit::make_repository(&sandbox.home.workspace());
    let mut window = Window::open(&sandbox);
    turn_begins(&sandbox.home);
    command_begins(&sandbox.home);
    fs::write(&path, "1\nTWO\n3\n4\n5\n6\n7\nEIGHT\n9\n").unwrap();
    command_ends(&sandbox.home);
    window.wait_until("bar().includes('1 unseen')");
    window.wait_until("state.tree.provider.turns.length === 1");
    (sandbox, window, path)
}

const CHANGE: &str = "state.tree.provider.getChildren(state.tree.provider.getChildren()[0])[0]";

const LENSES: &str =
    "state.lenses.provideCodeLenses(active.document).then((all) => void (globalThis.lenses = all))";

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn a_hunk_is_taken_back_at_its_lines_and_the_rest_is_kept_in_the_tree() {
    let (_sandbox, mut window, path) = written();
    window.run("person.open('a.txt')");
    window.wait_until("active.decorations.length === 2");
    window.run(LENSES);
    assert_eq!(
        window.run("lenses.map(({ command }) => command.title)[1]"),
        "Keep"
    );
    window.run("person.run('takeBack', ...lenses[2].command.arguments)");
    window.wait_until("state.told.length > 0");
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "1\n2\n3\n4\n5\n6\n7\nEIGHT\n9\n"
    );

    let item = window.run(&format!("state.tree.provider.getTreeItem({CHANGE})"));
    assert!(
        item["contextValue"].as_str().unwrap().contains("unseen"),
        "{item}"
    );
    window.insist_until(
        &format!("person.run('keep', {CHANGE})"),
        "state.told.at(-1).includes('edited')",
    );
    window.wait_until("!bar().includes('unseen')");
    window.run("person.run('undo')");
    window.wait_until("bar().includes('1 unseen')");
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn what_is_not_saved_is_changed_in_the_editor_and_nothing_is_saved() {
    let (_sandbox, mut window, path) = written();
    window.run("person.open('a.txt')");
    window.run("person.at(4)");
    window.run("person.type('mine ')");
    let before = fs::read_to_string(&path).unwrap();
    window.insist_until(
        &format!("person.run('takeBack', {CHANGE})"),
        "!person.text().includes('TWO')",
    );
    assert_eq!(window.text(), "1\n2\n3\n4\nmine 5\n6\n7\n8\n9\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

/// Lines are those of the text that the person sees, and what it has not, has no mark.
#[test]
#[ignore = "needs Node: cargo xtask test"]
fn what_is_not_saved_has_marks_where_it_has_the_agents_lines() {
    let (_sandbox, mut window, path) = written();
    window.run("person.open('a.txt')");
    window.wait_until("active.decorations.length === 2");
    window.run("person.at(0)");
    window.run("person.type('mine\\n')");
    let marked = "active.decorations.map(({ start }) => start.line).join()";
    window.wait_until(&format!("{marked} === '2,8'"));
    window.run(LENSES);
    let lines = "lenses.map(({ range }) => range.start.line).join()";
    assert_eq!(window.run(lines), "2,2,2,8,8,8");
    window.run("person.run('takeBack', ...lenses[5].command.arguments)");
    window.wait_until("person.text().includes('\\n8\\n')");
    assert_eq!(
        window.text(),
        "mine
1
TWO
3
4
5
6
7
8
9
"
    );

    // Other lines stand there now.
    window.run("active.document.change(new Range(2, 0, 3, 0), 'other\\n')");
    window.wait_until(&format!("{marked} === ''"));
    window.run(LENSES);
    assert_eq!(window.run("lenses.length"), 1);
    let title = window.run("lenses[0].command.title");
    let title = title.as_str().unwrap();
    assert!(
        title.ends_with("not all of it is in this text, which is not saved"),
        "{title}"
    );
    assert!(fs::read_to_string(path).unwrap().contains("EIGHT"));
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn what_was_taken_out_of_a_text_that_is_thrown_away_is_unseen_again() {
    let (_sandbox, mut window, _path) = written();
    window.run("person.open('a.txt')");
    window.run("person.at(4)");
    window.run("person.type('mine ')");
    window.insist_until(
        &format!("person.run('takeBack', {CHANGE})"),
        "!person.text().includes('TWO')",
    );
    window.wait_until("!bar().includes('unseen')");
    window.run("person.revert()");
    window.wait_until("bar().includes('1 unseen')");
    assert!(window.text().contains("TWO"));
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn a_written_change_is_looked_at_as_a_diff_and_kept_there() {
    let (_sandbox, mut window, path) = written();
    window.run(&format!("person.run('look', {CHANGE})"));
    window.wait_for("has written", "EIGHT");
    assert_eq!(
        window.run("visible[0].document.text"),
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    );
    window.insist_until("person.run('accept')", "group.tabs.length === 0");
    window.wait_until("!bar().includes('unseen')");
    assert!(fs::read_to_string(&path).unwrap().contains("EIGHT"));
}
