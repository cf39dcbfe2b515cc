//! A newer text leaves the reviewer at the lines that were on the screen.

use pillion_judge::rows::Row;

use super::*;

/// The first line on the screen.
fn first_line(person: &Person) -> String {
    let view = person.app.view().unwrap();
    let mut rows = (view.top.row..).map_while(|row| view.rows().get(row));
    let line = rows.find_map(|row| match row {
        Row::Fold { .. } | Row::Note(_) => None,
        Row::Same { right, .. } => Some(view.proposal.after().shown(right)),
        Row::Changed { left, right, .. } => match right {
            Some(right) => Some(view.proposal.after().shown(right)),
            None => Some(view.proposal.before().shown(left?)),
        },
    });
    line.unwrap().trim_end().to_owned()
}

/// The lines of the current hunk, and how far from the top of the screen it begins.
fn current_hunk(person: &Person) -> (String, usize) {
    let view = person.app.view().unwrap();
    let hunk = &view.proposal.hunks()[view.hunk];
    let lines = view.proposal.after().slice(hunk.after.clone());
    let row = view.rows().of_hunk(view.hunk).start;
    let text = String::from_utf8(lines.to_vec()).unwrap();
    (text, row - view.top.row)
}

fn numbered(range: std::ops::Range<u32>) -> String {
    range.map(|number| format!("line {number}\n")).collect()
}

/// Every tenth line changed.
fn changed(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(at, line)| match at % 10 {
        5 => format!("{line} changed\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn a_newer_proposal_of_a_long_new_file_stays_at_the_line() {
    let mut person = Person::new(80, 24);
    let text = numbered(0..500);
    let id = person.open("new.txt", None, &text);
    for _ in 0..12 {
        person.key(KeyCode::PageDown);
    }
    let line = first_line(&person);
    assert_ne!(line, "line 0");
    let newer = format!("// one\n// two\n// three\n{text}// end\n");
    person.propose(id, Dialect::GeminiCli, "new.txt", None, &newer);
    assert_eq!(first_line(&person), line);
    person.wait(700);
    person.press("z");
    assert_eq!(first_line(&person), line, "going back stays, too");
    person.press("Z");
    assert_eq!(first_line(&person), line);
}

#[test]
fn a_newer_proposal_stays_at_the_same_hunk_where_it_is_on_the_screen() {
    for (width, keys) in [
        (80, "nnnnnnnnnnjj"),
        (140, "nnnnnnnnnn"),
        (140, "nnnnnnkk"),
        (80, "cnnnnn"),
    ] {
        let mut person = Person::new(width, 24);
        let before = numbered(0..300);
        let id = person.open("a.txt", Some(&before), &changed(&before));
        person.press(keys);
        let hunk = current_hunk(&person);
        let newer = changed(&before).replace("line 2\n", "one\nmore\nhunk\n");
        person.propose(id, Dialect::GeminiCli, "a.txt", Some(&before), &newer);
        // The note above the diff takes a row of it.
        let is_there = |person: &Person| {
            let (lines, row) = current_hunk(person);
            assert_eq!(lines, hunk.0, "{width} {keys}");
            assert!(
                row == hunk.1 || row + 1 == hunk.1,
                "{width} {keys}: {row}, {hunk:?}"
            );
        };
        is_there(&person);
        // A file that got another text above is no different.
        let other = format!("above\n{before}");
        person.happens(Event::Reread(id, Ok(Some(other.into()))));
        is_there(&person);
    }
}

#[test]
fn a_newer_proposal_without_the_hunk_stays_at_the_nearest_line() {
    let mut person = Person::new(80, 24);
    let before = numbered(0..300);
    let text = changed(&before);
    let id = person.open("a.txt", Some(&before), &text);
    person.press("nnnnnnnnnn");
    assert_eq!(current_hunk(&person).0, "line 105 changed\n");
    let newer = text.replace("line 105 changed", "line 105");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(&before), &newer);
    let view = person.app.view().unwrap();
    let seen = view.top.row..view.top.row + 20;
    let lines: Vec<_> = seen.filter_map(|row| view.rows().get(row)).collect();
    assert!(
        lines.contains(&Row::Same {
            left: 98,
            right: 98
        }),
        "{lines:?}"
    );
    let viewport = person.app.viewport().unwrap();
    assert!(person.app.views[0].sees_hunk(&viewport));
}

#[test]
fn several_newer_proposals_behind_another_tab_stay_at_the_line() {
    let mut person = Person::new(80, 24);
    let text = numbered(0..500);
    let id = person.open("new.txt", None, &text);
    person.open("other.txt", None, "x\n");
    for _ in 0..10 {
        person.key(KeyCode::PageDown);
    }
    let line = first_line(&person);
    person.key(KeyCode::Tab);
    for newer in [format!("one\n{text}"), format!("one\ntwo\n{text}")] {
        person.propose(id, Dialect::GeminiCli, "new.txt", None, &newer);
    }
    person.key(KeyCode::Tab);
    assert_eq!(first_line(&person), line);
}

#[test]
fn a_wrapped_line_that_is_read_in_the_middle_stays_there() {
    let mut person = Person::new(80, 24);
    let long = "word ".repeat(2_000);
    let id = person.open("new.txt", None, &format!("first\n{long}\nlast\n"));
    person.press("w");
    for _ in 0..3 {
        person.key(KeyCode::PageDown);
    }
    let sub = person.app.view().unwrap().top.sub;
    assert!(sub > 10);
    let newer = format!("zero\nfirst\n{long}\nlast\n");
    person.propose(id, Dialect::GeminiCli, "new.txt", None, &newer);
    assert_eq!(person.app.view().unwrap().top.sub, sub);
    assert_eq!(person.app.view().unwrap().top.row, 2);
    // A line that is short now is seen from its start.
    person.propose(
        id,
        Dialect::GeminiCli,
        "new.txt",
        None,
        "first\nshort\nlast\n",
    );
    assert_eq!(person.app.view().unwrap().top, Default::default());
}

#[test]
fn a_newer_proposal_that_stays_is_decided_only_once_it_was_seen() {
    let mut person = Person::new(80, 24);
    let text = numbered(0..500);
    let id = person.open("new.txt", None, &text);
    for _ in 0..10 {
        person.key(KeyCode::PageDown);
    }
    let newer = format!("one\n{text}");
    person.propose(id, Dialect::GeminiCli, "new.txt", None, &newer);
    person.wait(100);
    assert_eq!(
        outcomes(person.press("a")),
        [],
        "the picture is the same, the text is not"
    );
    person.press(&"n".repeat(40));
    person.wait(1_000);
    assert_eq!(outcomes(person.press("a")), accepted(1, &newer));
}
