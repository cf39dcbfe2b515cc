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
fn who_is_asked_may_reject_at_once() {
    let mut person = proposed_twice(20);
    assert!(!is_accepted(&person.press("a")));
    person.wait(700);
    let effects = person.press("r");
    let rejects = |effect: &Effect| match effect {
        Effect::Decide(decide) => {
            let seen = decide.by.seen().unwrap().drawn_for;
            decide.verdict.is_rejection() && seen.is_some_and(|it| it >= LOOK)
        }
        _ => false,
    };
    assert!(effects.iter().any(rejects), "{}", person.message());
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
fn what_the_reviewers_editor_has_saved_is_to_be_seen_like_the_rest() {
    let mut person = Person::new(100, 11);
    let (before, after) = (text(&[]), text(&[(3, "A"), (390, "B")]));
    let id = person.open("long.txt", Some(&before), &after);
    let edited = text(&[(3, "A"), (200, "mine"), (390, "B")]);
    person.happens(Event::Edited(id, Edit::Text(edited)));
    let seen = person.app.view().unwrap().seen_hunks();
    assert_eq!((seen.seen, seen.of), (1, 3));
    person.wait(700);
    person.press("z");
    let seen = person.app.view().unwrap().seen_hunks();
    assert_eq!((seen.seen, seen.of), (1, 2));
}

/// Two hunks, the second of which is on another page.
fn two_pages() -> Person {
    let mut person = Person::new(80, 14);
    let after = text(&[(3, "A"), (390, "B")]);
    person.open("long.txt", Some(&text(&[])), &after);
    person
}

/// Goes to the next hunk, and lets nothing else happen.
fn go_on(person: &mut Person) {
    let pressed = person.press_of(KeyCode::Char('n'));
    person.happens(person.event(pressed));
}

#[test]
fn what_was_drawn_for_a_moment_was_not_seen() {
    for (ms, counts) in [(30, false), (299, false), (300, true)] {
        let mut person = two_pages();
        go_on(&mut person);
        person.now += Duration::from_millis(ms);
        assert_eq!(is_accepted(&person.press("a")), counts, "{ms}");
        if !counts {
            assert_eq!(unseen(&person), (1, 2));
        }
    }
}

#[test]
fn what_leaves_the_screen_begins_anew() {
    let cover: [fn(&mut Person); 4] = [
        |person| drop(person.key(KeyCode::Char('?'))),
        |person| drop(person.key(KeyCode::Home)),
        |person| drop(person.happens(Event::Resized(Size::new(80, 5)))),
        // An editor has the terminal.
        |person| person.app.out_of_sight(),
    ];
    for (at, cover) in cover.into_iter().enumerate() {
        let mut person = two_pages();
        go_on(&mut person);
        person.wait(200);
        cover(&mut person);
        person.wait(200);
        person.key(KeyCode::Esc);
        person.happens(Event::Resized(Size::new(80, 14)));
        person.key(KeyCode::End);
        person.wait(200);
        let seen = |person: &Person| person.app.view().unwrap().seen_hunks().seen;
        assert!(seen(&person) < 2, "{at}: 400 ms in two parts");
        person.wait(300);
        assert_eq!(seen(&person), 2, "{at}");
    }
}

#[test]
fn what_the_shell_had_the_terminal_for_does_not_count() {
    let mut person = two_pages();
    go_on(&mut person);
    person.now += Duration::from_millis(300);
    person.happens(Event::Resumed(Size::new(80, 14)));
    assert_eq!(person.app.view().unwrap().seen_hunks().seen, 1);
}

#[test]
fn what_the_prompt_covers_was_not_seen() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some(&text(&[])), &text(&[(9, "A")]));
    person.press("C");
    person.happens(Event::Pasted("word ".repeat(300)));
    let newer = text(&[(9, "A"), (15, "B")]);
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(&text(&[])), &newer);
    person.wait(2_500);
    person.key(KeyCode::Enter);
    person.wait(60);
    assert!(!is_accepted(&person.press("a")), "60 ms in sight");
    assert_eq!(unseen(&person), (1, 2));
}

#[test]
fn each_part_of_a_long_line_is_there_for_long_enough() {
    let mut person = Person::new(60, 15);
    person.open("a.txt", None, &format!("{}\n", "x".repeat(90)));
    let seen = |person: &Person| person.app.view().unwrap().seen_hunks().seen;
    person.app.views[0].x = 30;
    person.wait(0);
    person.wait(200);
    // What both places show goes on; what comes is new.
    person.app.views[0].x = 40;
    person.wait(0);
    person.wait(200);
    assert_eq!(seen(&person), 0);
    person.wait(100);
    assert_eq!(seen(&person), 1);
}

#[test]
fn what_the_terminal_has_not_shown_was_not_seen() {
    let mut person = two_pages();
    let pressed = person.press_of(KeyCode::Char('n'));
    person.happens_undrawn(person.event(pressed));
    let question = person.app.drawn(person.now);
    let question = question.expect("of what is new on it the terminal is asked");
    person.wait(5_000);
    assert!(!is_accepted(&person.press("a")), "it is on its way");
    person
        .app
        .update(Event::Answered(question, person.now), person.now);
    person.wait(299);
    let seen = |person: &Person| person.app.view().unwrap().seen_hunks().seen;
    assert_eq!(seen(&person), 1);
    let due = person.app.expires().unwrap();
    assert_eq!(
        due,
        person.now + Duration::from_millis(1),
        "it is drawn again then"
    );
    person.wait(1);
    assert_eq!(seen(&person), 2);
    assert!(
        person.app.expires().is_none_or(|due| due > person.now),
        "and not for ever"
    );
    assert!(person.app.drawn(person.now).is_none(), "nothing is new");
}
