//! What an agent has written already is shown like a proposal, and can be taken back there.

use std::fs;
use std::path::Path;

use pillion_testkit::{Home, each_editor};

use crate::driver::{Habit, Kind};
use crate::person::{ORIGINAL, PROPOSED, Person, wait_for};
use crate::shared_agent_work::{OTHER, command_begins, command_ends, turn_begins, turn_ends};

#[each_editor(smoke)]
fn a_rejection_with_a_reason_takes_back_what_is_written(kind: Kind) {
    let home = Home::new();
    let (name, content) = OTHER;
    home.file(name, content);
    // An editor that shows none of these asks nothing about them.
    home.file("b.txt", ORIGINAL);
    home.file("deleted.txt", "gone\n");
    let path = home.file("a.txt", ORIGINAL);
    let cwd = home.workspace();
    let person = Person::in_folder(kind, Habit::None, home, cwd, path);
    let write = |path: &Path, text: Option<&str>| match text {
        Some(text) => fs::write(path, text).unwrap(),
        None => fs::remove_file(path).unwrap(),
    };
    for (file, before, after, reason) in [
        ("b.txt", Some(ORIGINAL), Some(PROPOSED), "use the table"),
        ("new.txt", None, Some("new\n"), "there is one: a.txt"),
        ("deleted.txt", Some("gone\n"), None, "not yet"),
    ] {
        let path = person.home.workspace().join(file);
        turn_begins(&person.home);
        command_begins(&person.home);
        write(&path, after);
        command_ends(&person.home);
        turn_ends(&person.home);
        person.editor.command("review", "changes");
        person.wait("the change", |editor| editor.is_in_proposal());
        person.look();
        person.editor.reject_because(reason);
        wait_for("the text before", || {
            (fs::read_to_string(&path).ok().as_deref() == before).then_some(())
        });
        person.wait_gone();
        // It is told once the file is written.
        let heard = wait_for("a prompt with the reason", || {
            Some(turn_begins(&person.home)).filter(|heard| heard.contains(reason))
        });
        assert!(heard.contains(file), "{heard}");
        turn_ends(&person.home);
        let heard = turn_begins(&person.home);
        assert!(!heard.contains(reason), "twice: {heard}");
    }
    person.editor.assert_no_errors();
}
