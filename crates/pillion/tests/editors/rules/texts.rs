//! Texts come back byte for byte through the editor's buffers (C5.5, C5.6).

use pillion_testkit::client::Update;
use pillion_testkit::each_editor;

use crate::driver::{Habit, Kind};
use crate::person::Person;
use crate::shared_texts::{assert_same, texts};

/// Bytes. With five times that, an editor on a busy machine does not show the text within the companion's ten
/// seconds. The program itself is given so much, by Gemini CLI's own client.
const LONGEST: usize = 4_000_000;

#[each_editor]
fn texts_are_accepted_byte_for_byte(kind: Kind) {
    let mut person = Person::with(kind, Habit::TidyFiles);
    for (number, (name, text)) in texts(LONGEST).iter().enumerate() {
        person.path = person.home.workspace().join(format!("{number}.txt"));
        person.propose(text);
        person.accept_whatever_is_asked();
        let Update::DiffAccepted { content, .. } = person.gemini.outcome() else {
            panic!("{name}: not accepted\n{}", person.editor.describe())
        };
        assert_same(&content, text, name, "accepted");
        assert!(!person.path.exists(), "{name}: nothing is written (C5.9)");
        person.wait_gone();
    }
}

#[each_editor]
fn texts_are_in_the_answer_when_the_agent_closes(kind: Kind) {
    let mut person = Person::new(kind);
    for (number, (name, text)) in texts(LONGEST).iter().enumerate() {
        person.path = person.home.workspace().join(format!("{number}.txt"));
        person.gemini.propose(&person.path, text);
        assert_same(&person.withdraw(), text, name, "closed");
    }
}
