//! What a newer proposal brings is accepted at once only if it was on the screen.

use super::*;
use crate::app::marks;

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
    let accepts = |effect: &Effect| matches!(effect, Effect::Resolve(_, Outcome::Accepted { .. }));
    effects.iter().any(accepts)
}

#[test]
fn a_new_hunk_below_the_screen_is_asked_about() {
    let mut person = proposed_twice(20);
    assert!(!is_accepted(&person.press("a")));
    assert_eq!(person.app.message().unwrap().text, marks::UNSEEN);
    person.wait(700);
    assert!(is_accepted(&person.press("a")), "whoever insists is obeyed");
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
    let (id, before) = (person.app.view().unwrap().id, text(&[]));
    let third = text(&[(20, "A3"), (399, "E3")]);
    person.propose(id, Dialect::GeminiCli, "long.txt", Some(&before), &third);
    person.wait(700);
    assert!(!is_accepted(&person.press("a")));
}

#[test]
fn a_long_new_file_has_to_be_seen_to_its_end() {
    let mut person = Person::new(100, 20);
    let id = person.open("new.txt", None, &text(&[]));
    let newer = text(&[(399, "something else")]);
    person.propose(id, Dialect::GeminiCli, "new.txt", None, &newer);
    person.wait(700);
    assert!(!is_accepted(&person.press("a")));
    person.key(KeyCode::End);
    person.wait(700);
    assert!(is_accepted(&person.press("a")));
}
