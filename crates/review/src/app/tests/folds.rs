//! Unchanged lines that are shown: some more, a gap, or all.

use pillion_judge::rows::Row;

use super::*;

/// A file of 200 lines, in which two change.
fn person() -> Person {
    let mut person = Person::new(80, 24);
    let before: String = (0..200).map(|line| format!("{line}\n")).collect();
    let after = before
        .replace("\n50\n", "\nfifty\n")
        .replace("\n150\n", "\nx\n");
    person.open("a.txt", Some(&before), &after);
    person
}

/// The number of lines that each fold hides.
fn folded(person: &Person) -> Vec<usize> {
    let rows = person.app.view().unwrap().rows();
    let lines = (0..rows.count()).filter_map(|row| match rows.get(row) {
        Some(Row::Fold { lines, .. }) => Some(lines),
        _ => None,
    });
    lines.collect()
}

#[test]
fn more_lines_come_beside_the_current_hunk() {
    let mut person = person();
    assert_eq!(folded(&person), [47, 93, 46]);
    person.press("c");
    assert_eq!(folded(&person), [27, 73, 46]);
    person.press("nc");
    assert_eq!(folded(&person), [27, 53, 26]);
    person.press("ppcc");
    assert_eq!(folded(&person), [13, 26]);
    person.press("ccc");
    assert_eq!(folded(&person), [26]);
    assert_eq!(person.message(), "nothing is folded beside this hunk");
    person.press("x");
    assert_eq!(folded(&person), [47, 93, 46], "all are folded again");
}

#[test]
fn a_gap_is_shown_as_a_whole_and_folded_again() {
    let mut person = person();
    person.key(KeyCode::Enter);
    assert_eq!(folded(&person), [46]);
    person.key(KeyCode::Enter);
    assert_eq!(folded(&person), [47, 93, 46]);
    person.press("x");
    assert!(folded(&person).is_empty());
    person.key(KeyCode::Enter);
    assert_eq!(folded(&person), [47, 93, 46]);
}

#[test]
fn gaps_stay_as_they_are_when_the_agent_proposes_anew() {
    let mut person = person();
    person.press("c");
    let before: String = (0..200).map(|line| format!("{line}\n")).collect();
    let after = before.replace("\n50\n", "\nFIFTY\n");
    person.propose(
        DiffId(1),
        Dialect::GeminiCli,
        "a.txt",
        Some(&before),
        &after,
    );
    assert_eq!(folded(&person), [27, 126]);
}

#[test]
fn a_line_that_is_searched_for_shows_its_gap_alone() {
    let mut person = person();
    person.press("/99");
    person.key(KeyCode::Enter);
    assert_eq!(folded(&person), [47, 46]);
}
