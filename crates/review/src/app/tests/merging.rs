//! The effects of newer proposals and newer files on the reviewer's decisions.

use pillion_text::fingerprint;

use super::*;

#[test]
fn a_file_that_changed_on_disk_can_be_merged_with() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "a\nB\n");
    person.happens(Event::Disk(id, Disk::Changed));
    assert!(matches!(&person.press("o")[..], [Effect::Reread(..)]));
    person.happens(Event::Reread(id, Ok(Some("c\nb\n".into()))));
    let note = "1 hunk would undo a newer change";
    assert_eq!(person.app.note().as_deref(), Some(note));
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "c\nB\n"));
}

#[test]
fn a_merge_can_be_taken_back_and_the_file_is_then_known_to_be_another() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "a\nB\n");
    person.happens(Event::Reread(id, Ok(Some("c\nb\n".into()))));
    person.wait(700);
    person.press("z");
    assert_eq!(person.app.view().unwrap().proposal.text(), "a\nB\n");
    let note = "compared with an older version of the file · o merges both";
    assert_eq!(person.app.note().as_deref(), Some(note));
    person.press("Z");
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "c\nB\n"));
}

#[test]
fn an_acceptance_names_the_text_that_was_compared_if_not_the_one_that_came() {
    let accept = |original, taken_up: Option<Option<&str>>, keys: &str| {
        let mut person = Person::new(80, 24);
        let id = person.open("a.txt", original, "a\nB\n");
        if let Some(text) = taken_up {
            person.happens(Event::Reread(id, Ok(text.map(Into::into))));
            person.wait(700);
        }
        person.press(keys);
        person.wait(700);
        match person.press("a").pop() {
            Some(Effect::Decide(decide)) => decide.base,
            other => panic!("{other:?}"),
        }
    };
    let (before, after) = ("a\nb\n", "c\nb\n");
    assert_eq!(accept(Some(before), None, ""), None);
    assert_eq!(accept(None, None, ""), None);
    assert_eq!(accept(Some(before), Some(Some(before)), ""), None);
    let merged = accept(Some(before), Some(Some(after)), "");
    assert_eq!(merged, Some(fingerprint::of(Some(after.as_bytes()))));
    assert_eq!(accept(Some(before), Some(Some(after)), "z"), None, "back");
    let appeared = accept(None, Some(Some(after)), "");
    assert_eq!(appeared, Some(fingerprint::of(Some(after.as_bytes()))));
}

#[test]
fn taking_in_what_undoes_a_newer_change_asks_once_more() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "a\nB\n");
    person.happens(Event::Reread(id, Ok(Some("a\nmine\n".into()))));
    person.wait(700);
    assert_eq!(person.app.view().unwrap().proposal.text(), "a\nmine\n");
    person.press(" ");
    assert_eq!(outcomes(person.press("a")), []);
    assert_eq!(person.asked[0].by.seen().unwrap().against.newer, 1);
    person.wait(700);
    assert_eq!(outcomes(person.press("y")), accepted(1, "a\nB\n"));
}

#[test]
fn hunks_that_were_taken_out_stay_out_in_a_newer_proposal() {
    let mut person = Person::new(80, 24);
    let [before, after] = FOUR;
    let id = person.open("a.txt", Some(before), after);
    person.press(" nn ");
    let newer = after.replace("IV\n", "IV\nplus\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(before), &newer);
    let count = person.app.view().unwrap().proposal.count();
    assert_eq!((count.hunks, count.out), (4, 2));
    let note = "1 hunk new since you looked";
    assert_eq!(person.app.note().as_deref(), Some(note));
    person.wait(700);
    let expected = "1\n-\n-\n-\nII\n-\n-\n-\n3\n-\n-\n-\nIV\nplus\n";
    assert_eq!(outcomes(person.press("a")), accepted(1, expected));
}

#[test]
fn what_changed_where_a_hunk_was_taken_out_is_asked_about() {
    let mut person = Person::new(80, 24);
    let [before, after] = FOUR;
    let id = person.open("a.txt", Some(before), after);
    person.press(" ");
    let newer = after.replace("I\n-", "One\n-");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(before), &newer);
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), []);
    assert_eq!(person.asked[0].by.seen().unwrap().against.taken_out, 1);
    person.wait(700);
    person.press("z");
    let former = person.app.view().unwrap().proposal.text();
    assert_eq!(former, after.replacen("I\n", "1\n", 1), "z goes back");
    person.press("Z");
    // A reviewer who took it out and put it back has seen it.
    person.press("  ");
    assert_eq!(outcomes(person.press("a")), accepted(1, &newer));
}
