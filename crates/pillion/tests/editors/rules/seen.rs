//! A decision names what the person has seen on a drawn screen.

use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_testkit::each_editor;

use crate::driver::Kind;
use crate::person::{PROPOSED, Person};

/// Longer than a view has to be looked at before it can be accepted.
const HELD: Duration = Duration::from_millis(2500);

#[each_editor]
fn nothing_is_accepted_as_it_opens(kind: Kind) {
    let mut person = Person::new(kind);
    person.begin(PROPOSED);
    person.editor.accept();
    person.is_pending("a key that was pressed as it opened");
    person.look();
    person.editor.accept();
    person.is_accepted(PROPOSED);
}

#[each_editor]
fn a_held_key_accepts_nothing(kind: Kind) {
    let mut person = Person::new(kind);
    person.begin(PROPOSED);
    let begun = Instant::now();
    while begun.elapsed() < HELD {
        // What a key repeated while the editor was busy comes at once.
        person.editor.accept_times(2);
        sleep(Duration::from_millis(20));
    }
    person.is_pending("a held key");
    person.accept_whatever_is_asked();
    person.is_accepted(PROPOSED);
}

#[each_editor]
fn a_newer_proposal_is_looked_at_before_it_is_accepted(kind: Kind) {
    let mut person = Person::new(kind);
    person.propose(PROPOSED);
    person.gemini.propose(&person.path, "newer\n");
    person.editor.accept();
    person.is_pending("a key that was meant for the one before");
    person.wait("the newer one", |editor| editor.text() == "newer\n");
    person.look();
    person.editor.accept();
    person.is_accepted("newer\n");
}

#[each_editor]
fn edits_of_a_proposal_outlive_a_newer_one(kind: Kind) {
    let mut person = Person::new(kind);
    person.propose(PROPOSED);
    person.editor.append("mine");
    person.gemini.propose(&person.path, "newer\n");
    person.wait("the newer one", |editor| editor.text() == "newer\n");
    // Kakoune takes no key for it sooner.
    person.look();
    person.editor.undo();
    let edited = format!("{PROPOSED}mine\n");
    person.wait("the edits", |editor| editor.text() == edited);
    person.look();
    person.editor.accept();
    person.is_accepted(&edited);
}

#[each_editor(smoke)]
fn a_proposal_that_comes_while_somebody_types_takes_no_key_and_is_shown_first(kind: Kind) {
    let mut person = Person::new(kind);
    person.editor.begin_typing("typed");
    person.gemini.propose(&person.path, PROPOSED);
    person.editor.type_on(" on");
    person.wait("the typed text", |editor| {
        editor.file_text(&person.path).ends_with("five\ntyped on\n")
    });
    person.editor.end_typing();
    person.is_pending("a person who types");
    person.editor.show_proposal();
    person.wait("the proposal", |editor| editor.is_in_proposal());
    person.editor.accept();
    person.is_pending("a key that was pressed as it was shown");
    person.look();
    person.editor.accept();
    person.is_accepted(PROPOSED);
}
