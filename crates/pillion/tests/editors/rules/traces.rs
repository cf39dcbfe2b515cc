//! Nothing of the person's is disturbed.

use std::time::Instant;

use pillion_testkit::{SOON, each_editor};
use serde_json::Value;

use crate::driver::Kind;
use crate::person::{ORIGINAL, PROPOSED, Person};

#[each_editor]
fn everything_is_as_before_when_a_view_is_gone(kind: Kind) {
    let mut person = Person::new(kind);
    person.editor.append("x");
    person.editor.undo();
    person.wait("the text of before", |editor| editor.text() == ORIGINAL);
    person.editor.go_to(3);
    let before = person.editor.traces();
    person.propose(PROPOSED);
    person.editor.reject();
    person.is_rejected();
    are_as_before(&person, &before, "rejecting");
    person.begin(PROPOSED);
    assert_eq!(person.withdraw(), PROPOSED);
    are_as_before(&person, &before, "closing by the agent");
    // Last: that it is not written is said later, in a message that may be long.
    person.propose(PROPOSED);
    person.editor.accept();
    person.is_accepted(PROPOSED);
    are_as_before(&person, &before, "accepting");
    person.editor.assert_no_errors();
}

#[each_editor]
fn a_person_in_a_terminal_stays_in_it(kind: Kind) {
    let mut person = Person::new(kind);
    person.editor.open_terminal();
    person.gemini.propose(&person.path, PROPOSED);
    person.wait("a view", |editor| editor.has_views());
    assert!(
        !person.editor.is_in_proposal(),
        "{}",
        person.editor.describe()
    );
    person.is_pending("a person in a terminal");
    assert_eq!(person.withdraw(), PROPOSED);
    person.has_heard_all();
}

/// Each thing by its number: all of them would fill the screen. What guards the person's keys when a view is gone stands for a
/// second more.
#[track_caller]
fn are_as_before(person: &Person, before: &Value, after_what: &str) {
    let until = Instant::now() + SOON;
    let mut after = person.editor.traces();
    while after != *before && Instant::now() < until {
        after = person.editor.traces();
    }
    let (before, after) = (before.as_array().unwrap(), after.as_array().unwrap());
    assert_eq!(before.len(), after.len());
    for (number, (before, after)) in before.iter().zip(after).enumerate() {
        let described = person.editor.describe();
        assert_eq!(
            before, after,
            "number {number} after {after_what}\n{described}"
        );
    }
}
