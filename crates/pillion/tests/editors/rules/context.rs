//! The context that agents get of what the person does.

use pillion_protocol::Dialect;
use pillion_testkit::each_editor;

use crate::driver::Kind;
use crate::person::{PROPOSED, Person, active};

#[each_editor(smoke)]
fn the_cursor_and_a_selection_are_shown(kind: Kind) {
    let mut person = Person::new(kind);
    person.editor.go_to(3);
    person.active(|file| {
        file.path.ends_with("a.txt")
            && file
                .cursor
                .is_some_and(|cursor| (cursor.line, cursor.character) == (3, 1))
    });
    person.editor.select(3, 4);
    person.active(|file| file.selected_text.as_deref() == Some("thre"));
}

#[each_editor]
fn a_selection_stays_while_a_terminal_has_the_focus(kind: Kind) {
    let mut person = Person::new(kind);
    person.editor.open_terminal();
    person.editor.leave_terminal();
    person.editor.select(2, 3);
    person.active(|file| file.selected_text.as_deref() == Some("two"));
    person.editor.enter_terminal();
    // What an agent is shown that comes now.
    let mut qwen = person.agent(Dialect::QwenCode);
    let file = active(&mut qwen, |_| true);
    assert_eq!(file.selected_text.as_deref(), Some("two"));
    person.editor.leave_terminal();
    person.editor.go_to(4);
    person.active(|file| file.selected_text.is_none());
}

#[each_editor]
fn a_selection_stays_while_a_proposal_is_shown(kind: Kind) {
    let mut person = Person::new(kind);
    person.editor.open_terminal();
    person.editor.leave_terminal();
    person.editor.select(2, 3);
    person.active(|file| file.selected_text.as_deref() == Some("two"));
    person.editor.enter_terminal();
    person.gemini.propose(&person.path, PROPOSED);
    person.wait("a view", |editor| editor.has_views());
    let mut qwen = person.agent(Dialect::QwenCode);
    let file = active(&mut qwen, |_| true);
    assert!(file.path.ends_with("a.txt"), "{file:?}");
    assert_eq!(file.selected_text.as_deref(), Some("two"));
}
