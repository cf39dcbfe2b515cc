//! The status line says what was decided last, and what came of it.

use std::fs;

use pillion_testkit::each_editor;

use crate::driver::Kind;
use crate::person::{PROPOSED, Person};

#[each_editor]
fn the_status_line_says_what_came_of_what_was_accepted(kind: Kind) {
    let mut person = Person::new(kind);
    let says = |person: &Person, what: &str| {
        person.wait(what, |editor| editor.has_in_status_line(what));
    };
    person.propose(PROPOSED);
    person.editor.reject();
    person.is_rejected();
    says(&person, "a.txt: rejected");
    person.propose(PROPOSED);
    person.wait("it waits", |editor| {
        !editor.has_in_status_line("a.txt: rejected")
    });
    person.editor.accept();
    person.is_accepted(PROPOSED);
    says(&person, "a.txt: accepted");
    says(&person, "a.txt: not written: Gemini CLI did not write it");
    person.propose(PROPOSED);
    person.editor.accept();
    person.is_accepted(PROPOSED);
    fs::write(&person.path, PROPOSED).unwrap();
    says(&person, "a.txt: written");
}
