//! Files that belong together: after one comes the next of them.

use super::*;

/// Opens files of two sets and one of none, as they arrive in between each other. Their numbers are those in the list.
fn sets() -> Person {
    let mut person = Person::new(80, 24);
    for (id, place) in [(1, 1), (2, 1), (1, 2), (0, 0), (2, 2), (1, 3)] {
        person.set = (id > 0).then_some(SetPlace { id, place, of: 3 });
        person.open(&format!("{id}-{place}.txt"), Some("old\n"), "new\n");
    }
    person
}

impl Person {
    /// Goes to a diff, looks at it, and presses a key. Returns the number of the diff that is shown then.
    fn decide(&mut self, number: u64, key: &str) -> u64 {
        self.wait(2_000);
        self.press(&number.to_string());
        self.wait(1_000);
        self.press(key);
        self.shown().0
    }
}

#[test]
fn after_a_decision_comes_the_next_undecided_file_of_the_set() {
    for (decisions, shown) in [
        (&[(1, "a", 3), (3, "r", 6), (6, "a", 2)][..], 2),
        (&[(3, "a", 6), (6, "r", 1), (1, "a", 2)], 2),
        (&[(5, "r", 2), (2, "r", 4)], 4),
    ] {
        let mut person = sets();
        for (number, key, next) in decisions {
            assert_eq!(person.decide(*number, key), *next, "{decisions:?}");
        }
        assert_eq!(person.shown(), DiffId(shown));
    }
}

#[test]
fn files_that_arrive_beside_what_is_shown_do_not_move_it() {
    let mut person = sets();
    person.press("2");
    person.set = Some(SetPlace {
        id: 1,
        place: 4,
        of: 4,
    });
    person.open("late.txt", None, "late\n");
    assert_eq!(person.shown(), DiffId(2));
    let order: Vec<_> = person.app.views.iter().map(|view| view.diff.id.0).collect();
    assert_eq!(order, [1, 3, 6, 7, 2, 5, 4]);
}

#[test]
fn when_the_shown_file_of_a_set_is_withdrawn_the_next_one_comes() {
    for (number, next) in [(1, 3), (3, 6), (6, 1), (2, 5), (4, 5)] {
        let mut person = sets();
        person.press(&number.to_string());
        person.close(DiffId(number)).unwrap();
        assert_eq!(person.shown(), DiffId(next), "after {number}");
    }
}

#[test]
fn a_newer_revision_of_a_file_keeps_its_place() {
    let mut person = sets();
    person.press("1");
    person.set = Some(SetPlace {
        id: 1,
        place: 2,
        of: 3,
    });
    let agent = Dialect::GeminiCli;
    person.propose(DiffId(3), agent, "1-2.txt", Some("old\n"), "newer\n");
    let order: Vec<_> = person.app.views.iter().map(|view| view.diff.id.0).collect();
    assert_eq!(order, [1, 3, 6, 2, 5, 4]);
    assert_eq!(person.shown(), DiffId(1));
}
