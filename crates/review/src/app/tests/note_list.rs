//! Notes on a whole file, and all notes as a list.

use pillion_protocol::Note;
use pillion_protocol::verdict::Lines;

use super::*;
use crate::screen::tests::see;

const LINES: &str = "1\n2\n3\n4\n";

/// Types a note after a key.
fn note(person: &mut Person, key: &str, text: &str) {
    person.press(key);
    person.press(text);
    person.key(KeyCode::Enter);
}

fn sent(effects: &[Effect]) -> Vec<Note> {
    let notes = effects.iter().find_map(|effect| match effect {
        Effect::Decide(decide) => Some(decide.verdict.notes.clone()),
        _ => None,
    });
    notes.unwrap()
}

#[test]
fn a_note_on_the_whole_file_stays_there_whatever_becomes_of_its_lines() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some(LINES), "one\n2\n3\n4\n");
    note(&mut person, "F", "too long");
    note(&mut person, "C", "why one");
    let screen = see(&mut person);
    assert!(screen.contains("note on the file: too long"), "{screen}");
    assert!(screen.contains("note: why one"), "beside it: {screen}");
    let newer = "0\none\n2\n3\n4\n5\n";
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(LINES), newer);
    person.wait(700);
    // It is kept with its lines: a reason, which is typed and not sent, has none.
    let kept = person.app.words_on(person.app.view().unwrap());
    let lines = Some(Lines { first: 0, last: 5 });
    let text = "too long".to_owned();
    assert_eq!(kept[0], Note::at(lines, text));
    let sent = sent(&person.press("a"));
    assert_eq!(sent[0], Note::on_all("too long"));
    assert_eq!((sent.len(), &*sent[1].text), (2, "why one"));
    assert!(sent[1].lines.is_some());
    // It comes back as what it was, and is changed and taken away by the same key.
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some(LINES), newer);
    let key = ProposalKey { id, revision: 1 };
    person.happens(Event::Noted(key, kept));
    assert_eq!(person.app.view().unwrap().notes(true)[0].lines, None);
    person.press("F");
    assert_eq!(
        person.app.line().unwrap().0,
        "note on the file of a.txt: too long▏"
    );
    for _ in 0..8 {
        person.key(KeyCode::Backspace);
    }
    person.key(KeyCode::Enter);
    assert_eq!(person.app.view().unwrap().notes(true).len(), 1);
}

#[test]
fn all_notes_are_listed_gone_to_and_deleted() {
    let mut person = Person::new(80, 24);
    person.press("L");
    person.open("a.txt", Some(LINES), "one\n2\n3\n4\n");
    person.press("L");
    assert_eq!(person.message(), "there is no note: C makes one");
    note(&mut person, "C", "first");
    note(&mut person, "F", "of all");
    let second = person.open("b.txt", None, LINES);
    person.key(KeyCode::Tab);
    note(&mut person, "jC", "second");
    person.key(KeyCode::BackTab);
    person.press("L");
    let screen = see(&mut person);
    for row in [
        "3 notes · Enter goes there · d deletes it",
        "▶ 1 a.txt, line 1: first",
        "  1 a.txt, the file: of all",
        "  2 b.txt, line 2: second",
    ] {
        assert!(screen.contains(row), "{row}: {screen}");
    }
    // Nothing is decided there.
    assert_eq!(outcomes(person.press("arRA y")), []);
    person.press("jj");
    person.key(KeyCode::Enter);
    assert_eq!((person.app.overlay, person.shown()), (None, second));
    let view = person.app.view().unwrap();
    assert_eq!(view.rows().of_note(0), Some(view.cursor));
    // One goes, the next one is chosen; what it was is said, and the list goes with the last.
    person.press("LGd");
    assert!(person.app.view().unwrap().hunk_notes.is_empty());
    assert!(see(&mut person).contains("▶ 1 a.txt, the file: of all"));
    person.press("d");
    assert_eq!(person.app.overlay, Some(Overlay::Notes));
    person.press("d");
    assert_eq!(person.app.overlay, None);
    assert_eq!(
        person.message(),
        "deleted your note on line 1 · z brings it back: first"
    );
    // There, too, and in the list.
    person.wait(1_000);
    person.press("z");
    assert_eq!(person.app.view().unwrap().hunk_notes.len(), 1);
    note(&mut person, "F", "again");
    person.press("Ld");
    assert_eq!(person.app.view().unwrap().hunk_notes.len(), 1);
    person.press("z");
    assert_eq!(person.app.view().unwrap().hunk_notes.len(), 2);
}

#[test]
fn a_note_that_goes_meanwhile_leaves_its_place_to_no_other() {
    let mut person = Person::new(80, 24);
    let first = person.open("a.txt", Some(LINES), "one\n2\n3\n4\n");
    note(&mut person, "C", "first");
    person.open("b.txt", None, LINES);
    person.key(KeyCode::Tab);
    note(&mut person, "C", "second");
    person.press("L");
    person.close(first).unwrap();
    person.press("d");
    assert_eq!(person.app.view().unwrap().hunk_notes.len(), 1);
    assert!(!see(&mut person).contains('▶'));
}

#[test]
fn who_quits_is_told_that_notes_are_not_lost() {
    // In however many rows.
    let says = |person: &mut Person| {
        let screen = see(person);
        let words = screen.split(|it: char| it.is_whitespace() || it == '│');
        words
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(LINES), "one\n2\n3\n4\n");
    person.press("q");
    assert!(!says(&mut person).contains("not lost"));
    person.press("n");
    note(&mut person, "C", "first");
    person.press("q");
    assert!(says(&mut person).contains("Your note is not lost."));
    person.press("n");
    person.press("Rno");
    person.key(KeyCode::Esc);
    person.press("q");
    assert!(says(&mut person).contains("Your notes are not lost."));
}
