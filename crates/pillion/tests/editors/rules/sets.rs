//! Files that belong together, proposed by a program.

use pillion_testkit::{TestProgram, each_editor, pending_diffs};

use crate::driver::Kind;
use crate::person::{Person, wait_for};

/// The proposal with this text is in focus, and this is on the screen beside its name.
#[track_caller]
fn is_in_front(person: &Person, text: &str, place: &str) {
    person.wait(place, |editor| {
        editor.is_in_proposal() && editor.text() == text && editor.sees(place)
    });
}

/// A program proposes the person's file and two others.
fn three(person: &Person) -> TestProgram {
    let name = person.path.file_name().unwrap().to_str().unwrap();
    let files = [
        (name, "first\n"),
        ("b.txt", "second\n"),
        ("c.txt", "third\n"),
    ];
    TestProgram::propose(&person.home, &files)
}

fn accepted(at: usize, text: &str) -> (usize, Option<String>) {
    (at, Some(text.to_owned()))
}

#[each_editor]
fn a_file_of_a_set_says_its_place_as_long_as_it_is_there(kind: Kind) {
    let person = Person::new(kind);
    let program = three(&person);
    is_in_front(&person, "first\n", "1 of 3");
    person.look();
    drop(program);
    // Who is in one of the others when it ends would have to leave that, too.
    wait_for("the end of all three", || {
        pending_diffs(&person.home).is_empty().then_some(())
    });
    person.leave_undecided();
    person.editor.assert_no_errors();
}

#[each_editor]
fn after_a_file_of_a_set_comes_the_next_one_of_it_and_not_of_another(kind: Kind) {
    let person = Person::new(kind);
    let mut program = three(&person);
    is_in_front(&person, "first\n", "1 of 3");
    let files = [("y.txt", "other\n"), ("z.txt", "last\n")];
    let mut other = TestProgram::propose(&person.home, &files);
    person.look();
    person.editor.accept();
    assert_eq!(program.accepted(), accepted(0, "first\n"));
    is_in_front(&person, "second\n", "2 of 3");
    person.look();
    person.editor.reject();
    assert_eq!(program.accepted(), (1, None));
    is_in_front(&person, "third\n", "3 of 3");
    person.look();
    person.editor.accept();
    assert_eq!(program.accepted(), accepted(2, "third\n"));
    for (at, text) in [(0, "other\n"), (1, "last\n")] {
        is_in_front(&person, text, &format!("{} of 2", at + 1));
        person.look();
        person.editor.reject();
        assert_eq!(other.accepted(), (at, None));
    }
    person.wait_gone();
    person.editor.assert_no_errors();
}

#[each_editor]
fn what_waits_comes_when_the_undecided_one_before_it_is_left(kind: Kind) {
    let person = Person::new(kind);
    let name = person.path.file_name().unwrap().to_str().unwrap();
    let program = TestProgram::propose(&person.home, &[(name, "first\n")]);
    is_in_front(&person, "first\n", name);
    person.look();
    let mut other = TestProgram::propose(&person.home, &[("b.txt", "other\n")]);
    drop(program);
    person.wait("what has become of it", |editor| {
        editor.sees("no longer waits for a.txt here")
    });
    person.editor.close();
    if matches!(kind, Kind::Neovim(_)) {
        // It is in another tab already.
        person.wait("the file", |editor| !editor.is_in_proposal());
        person.editor.show_proposal();
    }
    is_in_front(&person, "other\n", "b.txt");
    person.look();
    person.editor.accept();
    assert_eq!(other.accepted(), accepted(0, "other\n"));
    person.wait_gone();
    person.editor.assert_no_errors();
}
