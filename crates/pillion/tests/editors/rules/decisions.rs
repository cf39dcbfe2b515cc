//! The actions that accept and those that reject, and that no program does.

use pillion_testkit::each_editor;

use crate::driver::{Habit, Kind};
use crate::person::{ORIGINAL, PROPOSED, Person};

#[each_editor(smoke)]
fn what_is_accepted_is_the_text_as_edited(kind: Kind) {
    let mut person = Person::new(kind);
    person.propose(PROPOSED);
    person.editor.append("mine");
    person.editor.accept();
    person.is_accepted(&format!("{PROPOSED}mine\n"));
    assert_eq!(person.editor.text(), ORIGINAL);
    assert_eq!(
        std::fs::read_to_string(&person.path).unwrap(),
        ORIGINAL,
        "Pillion writes no file"
    );
    person.editor.assert_no_errors();
}

#[each_editor]
fn a_command_prints_what_it_would_accept(kind: Kind) {
    let mut person = Person::new(kind);
    person.propose(PROPOSED);
    assert_eq!(person.printed(), PROPOSED);
    person.editor.append("mine");
    let edited = format!("{PROPOSED}mine\n");
    assert_eq!(person.printed(), edited);
    assert!(person.editor.is_in_proposal(), "it was only asked");
    person.editor.accept();
    person.is_accepted(&edited);
    person.editor.assert_no_errors();
}

#[each_editor(smoke)]
fn rejecting_or_closing_a_proposal_rejects_it(kind: Kind) {
    let mut person = Person::new(kind);
    person.propose(PROPOSED);
    person.editor.reject();
    person.is_rejected();
    person.propose(PROPOSED);
    person.editor.close();
    person.is_rejected();
    assert_eq!(person.editor.text(), ORIGINAL);
    person.editor.assert_no_errors();
}

#[each_editor]
fn an_autosave_accepts_nothing(kind: Kind) {
    let mut person = Person::with(kind, Habit::Autosave);
    person.propose(PROPOSED);
    let autosaved = |person: &mut Person, before: u32, why: &str| {
        person.wait("an autosave", |editor| editor.autosaves() > before);
        person.is_pending(why);
    };
    let before = person.editor.autosaves();
    person.editor.append("mine");
    autosaved(&mut person, before, "an autosave after a change");
    let before = person.editor.autosaves();
    person.editor.go_to(1);
    autosaved(&mut person, before, "an autosave of somebody who is idle");
    person.editor.save_by_code();
    person.is_pending("code that saves everything");
    person.look();
    person.editor.accept();
    person.is_accepted(&format!("{PROPOSED}mine\n"));
}

/// The program says what came of it.
#[each_editor]
fn the_person_chooses_when_agents_ask(kind: Kind) {
    let person = Person::new(kind);
    let _claude = person.claude();
    for (word, said) in [
        ("asked", "as its permission mode"),
        ("always", "shows every change"),
    ] {
        person.editor.command("review", word);
        person.wait(said, |editor| editor.sees(said));
    }
    let chosen = person.pillion(&["review-mode"]);
    assert!(
        chosen.starts_with("Claude Code shows every change"),
        "{chosen}"
    );
}

/// The program says what becomes of them.
#[each_editor]
fn the_person_sends_their_notes(kind: Kind) {
    let person = Person::new(kind);
    person.editor.command("send-notes", "");
    let said = "no notes are waiting for an agent";
    person.wait(said, |editor| editor.sees(said));
    person.editor.assert_no_errors();
}
