//! The row that keys mean: how it moves, and what follows it.

use super::*;

/// A hundred lines, of which two are changed, and the screen of a review that has unfolded them.
fn unfolded() -> Person {
    let mut person = Person::new(80, 15);
    let before: String = (1..=100).map(|line| format!("{line}\n")).collect();
    let after = before
        .replace("\n10\n", "\nten\n")
        .replace("\n90\n", "\nninety\n");
    person.open("a.txt", Some(&before), &after);
    person.press("x");
    person
}

/// The numbers of the line at the cursor, before and after, from 1.
fn line(person: &Person) -> (Option<usize>, Option<usize>) {
    let view = person.app.view().unwrap();
    let (left, right) = view.rows().get(view.cursor).unwrap().lines();
    (left.map(|line| line + 1), right.map(|line| line + 1))
}

fn top(person: &Person) -> usize {
    person.app.view().unwrap().top.row
}

#[test]
fn the_cursor_moves_by_lines_and_the_page_only_at_its_edges() {
    let mut person = unfolded();
    assert_eq!(
        line(&person),
        (Some(10), None),
        "where the first hunk begins"
    );
    let first = top(&person);
    person.press("j");
    assert_eq!((line(&person), top(&person)), ((None, Some(10)), first));
    for _ in 0..31 {
        person.press("j");
        let view = &mut person.app.views[0];
        let (cursor, seen) = (view.cursor, view.top.row..view.top.row + 11);
        assert!(seen.contains(&cursor), "{cursor} {seen:?}");
    }
    assert_eq!(line(&person), (Some(41), Some(41)));
    assert_eq!(top(&person), 42 - 11, "it stands in the last row");
    person.press("k");
    assert_eq!(top(&person), 42 - 11, "the page stays");
    // What scrolls the page takes it along.
    person.key(KeyCode::PageDown);
    assert_eq!(person.app.view().unwrap().cursor, top(&person));
    person.press("gk");
    assert_eq!(line(&person), (Some(1), Some(1)));
    person.press("Gj");
    assert_eq!(line(&person), (Some(100), Some(100)));
    // Reading puts it where hunks begin.
    person.press("g");
    person.press("n");
    assert_eq!(line(&person), (Some(90), None));
    person.press("p");
    assert_eq!(line(&person), (Some(10), None));
}

#[test]
fn a_line_that_is_wrapped_is_read_on_before_the_cursor_leaves_it() {
    let mut person = Person::new(60, 15);
    let long = "word ".repeat(300);
    person.open("a.txt", None, &format!("a\n{long}\nb\n"));
    person.press("wg");
    let mut places = Vec::new();
    for key in ["j", "k"] {
        for _ in 0..60 {
            person.press(key);
            let view = person.app.view().unwrap();
            places.push((view.cursor, view.top.row, view.top.sub));
        }
        let steps = places.iter().filter(|(cursor, ..)| *cursor == 1);
        assert!(steps.count() > 10, "{key}: {places:?}");
        places.dedup();
        let is_jump = |pair: &&[(usize, usize, usize)]| pair[0].2.abs_diff(pair[1].2) > 1;
        let within = places.windows(2).filter(|pair| pair[0].1 == pair[1].1);
        assert_eq!(within.filter(is_jump).count(), 0, "{key}: {places:?}");
    }
    assert_eq!(places.last(), Some(&(0, 0, 0)));
}

#[test]
fn the_cursor_stays_at_its_line_when_rows_are_arranged_anew() {
    let mut person = unfolded();
    person.press("jj");
    for key in ["x", "x", "w"] {
        person.press(key);
        assert_eq!(line(&person), (Some(11), Some(11)), "{key}");
    }
    // A newer proposal has two lines more above it.
    let view = person.app.view().unwrap();
    let (id, agent) = (view.diff.id, Dialect::GeminiCli);
    let before: String = (1..=100).map(|line| format!("{line}\n")).collect();
    let after = format!("0\n0\n{}", before.replace("\n90\n", "\nninety\n"));
    person.propose(id, agent, "a.txt", Some(&before), &after);
    assert_eq!(line(&person), (Some(11), Some(13)));
    // On lines that are folded, it stays there.
    person.press(":50");
    person.key(KeyCode::Enter);
    assert_eq!(line(&person), (Some(48), Some(50)));
    person.press("xx");
    let view = person.app.view().unwrap();
    assert!(
        view.top.row <= view.cursor,
        "{} {}",
        view.top.row,
        view.cursor
    );
}

#[test]
fn a_note_is_on_the_line_at_the_cursor_or_on_the_hunk_that_begins_there() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\nb\nc\n"), "a\nB\nC\nD\nc\n");
    let note = |person: &mut Person, text: &str| {
        person.press("C");
        person.press(text);
        person.key(KeyCode::Enter);
    };
    note(&mut person, "hunk");
    // -b +B +C +D c
    person.press("jjj");
    note(&mut person, "line");
    person.press("jjj");
    note(&mut person, "same");
    let notes = person.app.view().unwrap().notes(false);
    let notes = notes.iter().map(|note| {
        let lines = note.lines.unwrap();
        (lines.first, lines.last, note.text.as_str())
    });
    let notes: Vec<_> = notes.collect();
    assert_eq!(notes, [(1, 3, "hunk"), (3, 3, "line"), (4, 4, "same")]);
    // Each is changed where it was written.
    person.press(":4");
    person.key(KeyCode::Enter);
    note(&mut person, "r");
    assert_eq!(person.app.view().unwrap().notes(false)[1].text, "liner");
}

#[test]
fn a_number_and_the_key_for_the_end_go_to_that_line() {
    let mut person = unfolded();
    person.press("47G");
    assert_eq!(line(&person), (Some(47), Some(47)));
    // The digits are numbers of pending diffs as well: the line is one of the diff that was there before.
    let other = person.open("b.txt", None, "x\n");
    assert_eq!(person.shown(), DiffId(1));
    person.press("20G");
    assert_eq!((person.shown(), line(&person).1), (DiffId(1), Some(20)));
    person.press("2");
    assert_eq!(person.shown(), other);
    person.wait(3_000);
    person.press("1");
    person.wait(3_000);
    person.press("G");
    assert_eq!(line(&person).1, Some(100));
}

#[test]
fn notes_stand_below_their_lines_and_are_gone_to() {
    let mut person = Person::new(80, 24);
    let lines: String = (1..=9).map(|line| format!("line {line}\n")).collect();
    person.open("a.txt", None, &lines);
    person.press("V");
    person.press("jjC");
    person.press("these three");
    person.key(KeyCode::Enter);
    person.key(KeyCode::Esc);
    person.open("b.txt", None, &lines);
    person.key(KeyCode::Tab);
    person.press("jC");
    person.press("this one");
    person.key(KeyCode::Enter);
    let rows = |person: &mut Person| {
        let screen = crate::screen::tests::see(person);
        let rows = screen.lines().skip(3).map(|row| row.trim_end().to_owned());
        rows.take(5).collect::<Vec<_>>()
    };
    assert_eq!(
        rows(&mut person)[..3],
        [
            "▌     1 + line 1",
            "❯     2 + line 2",
            "       note: this one"
        ]
    );
    // Below the last of several lines; and from there, to the one before is around all diffs.
    person.press("J");
    assert_eq!(line(&person), (None, None), "at the note itself");
    person.press("J");
    assert_eq!(
        rows(&mut person)[1..],
        [
            "▌     2 + line 2",
            "▌     3 + line 3",
            "❯      note on 1 to 3: these three",
            "▌     4 + line 4"
        ]
    );
    person.wait(10_000);
    let (said, _) = person.app.line().unwrap();
    assert_eq!(said, "your note on lines 1 to 3: these three");
    // It is changed there, and an empty one goes.
    person.press("C");
    for _ in 0.."these three".len() {
        person.key(KeyCode::Backspace);
    }
    person.key(KeyCode::Enter);
    assert_eq!(person.app.view().unwrap().notes(false), []);
    assert!(!rows(&mut person).concat().contains("note"));
    // All of it is read, and excluded, as without notes.
    person.press("JJg");
    person.wait(1_000);
    assert_eq!(person.app.view().unwrap().seen_hunks().unseen, 0);
    person.press("V");
    person.press("jjj ");
    let view = person.app.view().unwrap();
    assert_eq!(
        view.proposal.text(),
        lines.replace("line 1\nline 2\nline 3\n", "")
    );
}

#[test]
fn the_file_is_opened_at_the_line_that_it_has_there() {
    let mut person = Person::new(80, 24);
    let line = |person: &mut Person| match &person.press("E")[..] {
        [
            Effect::Edit {
                text: None, line, ..
            },
        ] => Some(*line),
        _ => None,
    };
    // a -b +B +C c: lines that are not there yet are at the one above them.
    person.open("a.txt", Some("a\nb\nc\n"), "a\nB\nC\nc\n");
    let lines = ["g", "j", "j", "j", "j"].map(|key| {
        person.press(key);
        line(&mut person)
    });
    assert_eq!(lines, [1, 2, 2, 2, 3].map(Some));
    // What is written has them.
    person.written = Some("1.1".to_owned());
    person.open("b.txt", Some("a\nb\nc\n"), "a\nB\nC\nc\n");
    person.key(KeyCode::Tab);
    person.press("jj");
    assert_eq!(line(&mut person), Some(3));
    person.written = None;
    person.open("new.txt", None, "a\n");
    person.key(KeyCode::Tab);
    assert_eq!(line(&mut person), None);
    let said = "the file is not there yet: e edits the proposal";
    assert_eq!(person.message(), said);
}
