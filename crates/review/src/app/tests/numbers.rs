//! Keys with digits mean the numbers that tabs and commands show.

use super::*;

fn decided(person: &mut Person, id: DiffId) {
    person.close(id).unwrap();
}

#[test]
fn a_digit_shows_the_diff_of_that_number_wherever_it_stands() {
    let mut person = Person::new(80, 24);
    let ids: Vec<_> = (0..4)
        .map(|at| person.open(&format!("{at}.txt"), None, "a\n"))
        .collect();
    decided(&mut person, ids[0]);
    person.press("3");
    assert_eq!(person.shown(), DiffId(3));
    person.press("2");
    assert_eq!(person.shown(), DiffId(2));
    person.press("1");
    assert_eq!(person.shown(), DiffId(2));
    let message = person.message();
    assert!(message.starts_with("no diff 1 is pending"), "{message}");
}

#[test]
fn digits_that_follow_each_other_make_one_number() {
    let mut person = Person::new(80, 24);
    for at in 1..=12 {
        person.open(&format!("{at}.txt"), None, "a\n");
    }
    person.press("12");
    assert_eq!(person.shown(), DiffId(12));
    person.wait(3_000);
    person.press("2");
    assert_eq!(person.shown(), DiffId(2), "a number of its own");
    person.wait(3_000);
    person.press("1");
    assert_eq!(person.shown(), DiffId(1));
    person.press("0");
    assert_eq!(person.shown(), DiffId(10));
    person.wait(3_000);
    // There is no 13: it is 3.
    person.press("13");
    assert_eq!(person.shown(), DiffId(3));
}

#[test]
fn a_number_that_only_begins_so_waits_for_the_rest() {
    let mut person = Person::new(80, 24);
    for at in 1..=12 {
        person.open(&format!("{at}.txt"), None, "a\n");
    }
    decided(&mut person, DiffId(1));
    let shown = person.shown();
    person.press("1");
    assert_eq!(person.shown(), shown);
    person.press("1");
    assert_eq!(person.shown(), DiffId(11));
    person.wait(3_000);
    person.press("l0");
    assert_eq!(person.app.view().unwrap().x, 0, "0 goes to the very left");
    assert_eq!(person.shown(), DiffId(11));
}

#[test]
fn what_was_said_of_another_diff_goes_when_that_one_is_shown() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", None, "a\n");
    for show in ["2", "\t"] {
        let id = person.open_now("b.txt", None, "b\n");
        assert!(person.message().ends_with("Tab shows it"));
        match show {
            "2" => person.press("2"),
            _ => person.key(KeyCode::Tab),
        };
        assert_eq!(person.message(), "");
        decided(&mut person, id);
    }
}
