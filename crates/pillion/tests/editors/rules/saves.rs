//! A person's saves in an editor while an agent works are not shown as the agent's.

use std::fs;
use std::path::Path;

use pillion_testkit::{Home, each_editor};

use crate::driver::{Editor, Habit, Kind};
use crate::person::{ORIGINAL, Person, wait_for};
use crate::shared_agent_work::{
    OTHER, assert_recorded, command_begins, command_ends, is_recorded, turn_begins,
};

/// A person, and an agent whose command runs.
fn person(kind: Kind) -> Person {
    // What is written once the person's agent without hooks is connected may be its own.
    let home = Home::new();
    let (name, content) = OTHER;
    home.file(name, content);
    let path = home.file("a.txt", ORIGINAL);
    let cwd = home.workspace();
    let mut person = Person::in_folder(kind, Habit::None, home, cwd, path);
    turn_begins(&person.home);
    command_begins(&person.home);
    take_in(&mut person);
    person
}

/// Waits until all that the editor has told before is recorded: it tells everything in order.
fn take_in(person: &mut Person) {
    for line in [1, 2] {
        person.editor.go_to(line);
        person.active(|file| file.cursor.is_some_and(|cursor| cursor.line == line));
    }
    is_recorded(&person.home);
}

/// The person adds a line to the file and saves it.
fn save(person: &mut Person) {
    person.editor.append("mine");
    person.editor.save_by_code();
    wait_for("a saved file", || {
        let text = fs::read_to_string(&person.path).unwrap();
        text.ends_with("mine\n").then_some(())
    });
    take_in(person);
}

/// The agent's command changes the first line of the file.
fn write(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.replacen("one\n", "eins\n", 1);
    fs::write(path, &text).unwrap();
    text
}

fn is_the_agents_alone(person: &Person, path: &Path) {
    assert_recorded(&person.home, path, "+eins", "+mine");
}

#[each_editor]
fn what_the_person_saves_before_the_agent_writes_is_theirs(kind: Kind) {
    let mut person = person(kind);
    save(&mut person);
    write(&person.path);
    command_ends(&person.home);
    is_the_agents_alone(&person, &person.path);
}

/// An agent's shell can be such a program.
#[each_editor]
fn what_another_program_saves_in_the_editor_is_not_the_persons(kind: Kind) {
    is_not_the_persons(kind, |editor, path| {
        editor.save_by_other(path, "evil").then_some(())
    });
}

/// So can one that opens a terminal.
#[each_editor]
fn what_is_saved_in_a_window_of_another_program_is_not_the_persons(kind: Kind) {
    is_not_the_persons(kind, |editor, _| editor.save_in_agents_window("evil"));
}

/// What it saves by is there until the save is recorded.
fn is_not_the_persons<T>(kind: Kind, save: impl FnOnce(&dyn Editor, &Path) -> Option<T>) {
    let mut person = person(kind);
    let Some(_by) = save(&*person.editor, &person.path) else {
        return;
    };
    wait_for("a saved file", || {
        let text = fs::read_to_string(&person.path).unwrap();
        text.ends_with("evil\n").then_some(())
    });
    take_in(&mut person);
    command_ends(&person.home);
    assert_recorded(&person.home, &person.path, "+evil", "+mine");
}

/// Kakoune asks the person before it reads a file that another program has written.
#[each_editor]
fn what_the_person_saves_after_the_agent_wrote_is_theirs(kind: Kind) {
    if matches!(kind, Kind::Kakoune(_)) {
        return;
    }
    let mut person = person(kind);
    let text = write(&person.path);
    person.wait("what the agent wrote", |editor| editor.text() == text);
    take_in(&mut person);
    save(&mut person);
    command_ends(&person.home);
    is_the_agents_alone(&person, &person.path);
}

#[each_editor]
fn what_the_person_saves_in_another_file_is_theirs(kind: Kind) {
    let mut person = person(kind);
    let other = person.home.file("b.txt", ORIGINAL);
    save(&mut person);
    write(&other);
    command_ends(&person.home);
    assert_recorded(&person.home, &other, "+eins", "+mine");
    person.editor.assert_no_errors();
}
