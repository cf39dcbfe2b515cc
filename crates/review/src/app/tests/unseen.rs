//! The new parts of a newer proposal are accepted at once only if they were on the screen.

use super::*;

fn text(changed: &[(usize, &str)]) -> String {
    let line = |number| match changed.iter().find(|(at, _)| *at == number) {
        Some((_, line)) => format!("{line}\n"),
        None => format!("line {number}\n"),
    };
    (0..400).map(line).collect()
}

fn proposed_twice(height: u16) -> Person {
    let mut person = Person::new(100, height);
    let before = text(&[]);
    let first = [(20, "A"), (100, "B"), (200, "C"), (300, "D")];
    let id = person.open("long.txt", Some(&before), &text(&first));
    person.press("n");
    let second = [(20, "A2"), (100, "B"), (200, "C"), (300, "D2"), (399, "E2")];
    let gemini = Dialect::GeminiCli;
    person.propose(id, gemini, "long.txt", Some(&before), &text(&second));
    person.wait(700);
    person
}

fn is_accepted(effects: &[Effect]) -> bool {
    let accepts = |effect: &Effect| match effect {
        Effect::Decide(decide) => !decide.verdict.is_rejection(),
        _ => false,
    };
    effects.iter().any(accepts)
}

/// The hunks that were not on the screen, as the gate was told last, and the number of all.
fn unseen(person: &Person) -> (usize, usize) {
    let seen = person.asked.last().and_then(|asked| asked.by.seen());
    let unseen = seen.unwrap().unseen_hunks.unwrap();
    (unseen.hunks, unseen.of)
}

#[test]
fn a_new_hunk_below_the_screen_is_asked_about() {
    let mut person = proposed_twice(20);
    assert!(!is_accepted(&person.press("a")));
    assert_eq!(unseen(&person), (3, 5));
    person.wait(700);
    assert!(is_accepted(&person.press("y")), "whoever insists is obeyed");
}

#[test]
fn who_has_seen_all_that_is_new_is_not_asked() {
    let mut person = proposed_twice(20);
    person.press("pppnnnn");
    person.wait(700);
    assert!(is_accepted(&person.press("a")));

    let mut person = proposed_twice(70);
    assert!(is_accepted(&person.press("a")), "all of it fits");
}

#[test]
fn what_is_taken_out_need_not_be_seen_and_another_newer_proposal_must_be() {
    let mut person = proposed_twice(20);
    for _ in 0..5 {
        person.press("n ");
        person.wait(700);
    }
    let out = person.app.view().unwrap().proposal.count().out;
    assert!(out > 0, "{out}");
    let (id, before) = (person.app.view().unwrap().diff.id, text(&[]));
    let third = text(&[(20, "A3"), (399, "E3")]);
    person.propose(id, Dialect::GeminiCli, "long.txt", Some(&before), &third);
    person.wait(700);
    assert!(!is_accepted(&person.press("a")));
}

#[test]
fn a_long_new_file_has_to_be_seen_from_end_to_end() {
    let mut person = Person::new(100, 20);
    person.open("new.txt", None, &text(&[]));
    person.key(KeyCode::End);
    person.wait(700);
    assert!(!is_accepted(&person.press("a")), "the middle was not seen");
    assert_eq!(unseen(&person), (1, 1));
    let mut pages = 0;
    while person.app.view().unwrap().seen_hunks().unseen > 0 {
        person.press("n");
        pages += 1;
    }
    assert!((20..40).contains(&pages), "{pages}");
    person.wait(700);
    assert!(is_accepted(&person.press("a")));
}

#[test]
fn the_first_proposal_is_looked_at_hunk_by_hunk() {
    let changed: Vec<_> = (0..40).map(|at| (at * 10, "other")).collect();
    let mut person = Person::new(100, 24);
    person.open("many.txt", Some(&text(&[])), &text(&changed));
    let seen = |person: &Person| person.app.view().unwrap().seen_hunks();
    let first = seen(&person);
    assert!(
        first.seen > 0 && first.seen < 10 && first.of == 40,
        "{first:?}"
    );
    assert!(!is_accepted(&person.press("a")));
    person.wait(700);
    for _ in 0..40 {
        person.press("n");
    }
    assert_eq!(seen(&person).seen, 40);
    person.wait(700);
    assert!(is_accepted(&person.press("a")));
}

#[test]
fn each_change_in_a_long_line_is_gone_to() {
    let line = |one: &str, two: &str| {
        let part = "word, ".repeat(60);
        format!("{part}{one}{part}{two}{part}\n")
    };
    for wrap in [false, true] {
        let mut person = Person::new(90, 12);
        let (before, after) = (line("alpha", "beta"), line("gamma", "delta"));
        person.open("min.js", Some(&before), &after);
        if wrap {
            person.press("w");
        }
        let mut places = Vec::new();
        for _ in 0..6 {
            let view = person.app.view().unwrap();
            places.push((view.x, view.top));
            if view.seen_hunks().unseen == 0 {
                break;
            }
            person.press("n");
        }
        assert_eq!(
            person.app.view().unwrap().seen_hunks().unseen,
            0,
            "{places:?}"
        );
        assert!(places.len() > 1, "{places:?}");
    }
}

#[test]
fn the_next_diff_follows_the_last_hunk() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(FOUR[0]), FOUR[1]);
    let other = person.open("b.txt", Some("a\n"), "b\n");
    person.press("nnn");
    assert_ne!(person.shown(), other);
    person.press("n");
    assert_eq!(person.shown(), other);
    assert_eq!(
        outcomes(person.press("a")),
        [],
        "nobody has looked at it yet"
    );
    person.press("n");
    assert_eq!(person.message(), "all of it has been on the screen");
}

#[test]
fn what_the_reviewer_wrote_is_known_to_them_and_the_rest_is_not() {
    let mut person = Person::new(100, 11);
    let (before, after) = (text(&[]), text(&[(3, "A"), (390, "B")]));
    let id = person.open("long.txt", Some(&before), &after);
    let edited = text(&[(3, "A"), (200, "mine"), (390, "B")]);
    person.happens(Event::Edited(id, Edit::Text(edited)));
    let seen = person.app.view().unwrap().seen_hunks();
    assert_eq!((seen.seen, seen.of), (2, 3));
    person.wait(700);
    person.press("z");
    let seen = person.app.view().unwrap().seen_hunks();
    assert_eq!((seen.seen, seen.of), (1, 2));
}
