//! Things that are easily overlooked are said: where code runs, what becomes unreadable, whitespace, a file that is gone.

use super::*;

fn note(name: &str, before: &[u8], after: &str) -> String {
    let mut person = Person::new(100, 30);
    let id = person.open(name, Some(""), "x\n");
    person.happens(Event::Reread(id, Ok(Some(before.to_vec()))));
    person.happens(Event::Edited(id, Edit::Text(after.to_owned())));
    person.app.note().unwrap_or_default()
}

#[test]
fn a_file_that_something_runs_or_obeys_is_named_as_such() {
    let mut person = Person::new(100, 30);
    person.runner = Some("git runs or obeys this file".to_owned());
    person.notes = vec!["Something else.".to_owned()];
    person.open("hk/pre-commit", Some("a\n"), "b\n");
    let note = person.app.note().unwrap();
    assert!(note.starts_with("git runs or obeys this file · "), "{note}");
}

#[test]
fn lines_that_become_unreadable_are_counted() {
    for (before, after, lines) in [
        (&b"caf\xe9\nok\n"[..], "caf\u{fffd}!\nok\n", 1),
        (b"caf\xc3\xa9\n\xc3\xbc\n", "caf\u{fffd}\n\u{fffd}\n", 2),
        (b"", "\u{fffd}\n", 1),
        (b"caf\xef\xbf\xbd\n", "Caf\u{fffd}\n", 0),
    ] {
        let note = note("a.txt", before, after);
        let expected = match lines {
            0 => String::new(),
            1 => "1 line gets \u{fffd}".to_owned(),
            lines => format!("{lines} lines get \u{fffd}"),
        };
        assert!(note.contains(&expected), "{note}");
        assert_eq!(note.contains("in place of"), lines > 0, "{note}");
    }
}

#[test]
fn hunks_of_whitespace_only_can_be_ignored() {
    let mut person = Person::new(100, 12);
    let before = format!("\ta\n{}b\n{}c\n", "-\n".repeat(60), "-\n".repeat(60));
    let after = before
        .replace("\ta", "    a")
        .replace("b\n", "B\n")
        .replace("c\n", "c \n");
    person.open("a.txt", Some(&before), &after);
    let hunk = |person: &Person| person.app.view().unwrap().hunk;
    let unseen = |person: &Person| person.app.view().unwrap().seen_hunks().unseen;
    assert_eq!(unseen(&person), 2);
    person.press("i");
    let text = "2 hunks change whitespace only: n skips them";
    assert_eq!(person.message(), text);
    assert_eq!(unseen(&person), 2, "they are accepted with the others");
    person.press("n");
    assert_eq!(hunk(&person), 1);
    person.press("n");
    assert_eq!(hunk(&person), 1, "the last one is ignored");
    person.press("in");
    assert_eq!(hunk(&person), 2);
    let mut person = Person::new(100, 30);
    person.open("a.txt", Some("a\n"), "b\n");
    person.press("i");
    assert_eq!(
        person.message(),
        "no hunk changes only whitespace that has no meaning"
    );
}

/// What is skipped is accepted all the same, so that it is asked about; and nobody skips a line that goes out of its `if`.
#[test]
fn skipped_hunks_are_asked_about_and_indentation_is_not_skipped_where_it_means_something() {
    let before = format!("a\n{}if b:\n    c\n    d\n", "-\n".repeat(60));
    let after = before.replace("a\n", "A\n").replace("    d\n", "d\n");
    for (name, are_skipped) in [("a.txt", true), ("a.py", false), ("a.yaml", false)] {
        let mut person = Person::new(100, 12);
        person.open(name, Some(&before), &after);
        person.press("in");
        let hunk = person.app.view().unwrap().hunk;
        assert_eq!(hunk, usize::from(!are_skipped), "{name}");
        person.press("ii");
        let said = "no hunk changes only whitespace that has no meaning · indentation has a meaning in this file: n stops at 1 hunk";
        assert_eq!(person.message() == said, !are_skipped, "{name}");
        let accepts = outcomes(person.press("a"));
        assert_eq!(accepts.is_empty(), are_skipped, "{name}");
    }
}

#[test]
fn a_deleted_file_is_not_made_anew_unasked() {
    let open = || {
        let mut person = Person::new(80, 24);
        let id = person.open("a.txt", Some("a\nb\n"), "a\nB\n");
        person.press("o");
        person.happens(Event::Reread(id, Ok(None)));
        (person, id)
    };
    let question = "a.txt was deleted: y makes this a new file, r rejects";
    let (mut person, _) = open();
    assert_eq!(person.message(), question);
    let view = person.app.view().unwrap();
    assert!(!view.proposal.is_new_file());
    let note = person.app.note().unwrap();
    assert!(note.contains("o makes it a new file"), "{note}");
    // Too early for an answer.
    assert!(person.press("y").is_empty());
    assert!(person.message().starts_with(question));
    // Asked, and answered.
    let (mut person, id) = open();
    person.wait(700);
    assert!(matches!(&person.press("y")[..], [Effect::Reread(..)]));
    person.happens(Event::Reread(id, Ok(None)));
    assert_eq!(person.message(), "this is a new file now: a creates it");
    assert!(person.app.view().unwrap().proposal.is_new_file());
    // It came back meanwhile.
    let (mut person, id) = open();
    person.wait(700);
    person.press("y");
    person.happens(Event::Reread(id, Ok(Some("c\nb\n".into()))));
    assert_eq!(person.message(), "merged with the file on disk");
    assert_eq!(person.app.view().unwrap().proposal.text(), "c\nB\n");
}

#[test]
fn a_key_that_does_nothing_says_so() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    for key in ["X", "B", "ü"] {
        assert!(person.press(key).is_empty());
        assert_eq!(person.message(), "this key does nothing · ? shows all keys");
        person.wait(10_000);
    }
}

#[test]
fn the_first_screen_stays_the_first_one_in_another_layout() {
    for (before, after) in [
        ("a\nb\nc\nd\n", "A\nB\nC\nD\n"),
        ("1\n2\n3\na\nb\n", "1\n2\n3\nA\n"),
        ("a\nb\n", "new\na\nB\n"),
    ] {
        let mut person = Person::new(120, 12);
        let rest = "-\n".repeat(50);
        person.open(
            "a.txt",
            Some(&format!("{before}{rest}")),
            &format!("{after}{rest}"),
        );
        for _ in 0..3 {
            person.press("u");
            assert_eq!(person.app.view().unwrap().top, Default::default());
        }
    }
}
