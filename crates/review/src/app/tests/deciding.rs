//! A decision counts when the gate lets it through, and until then the view stays.

use pillion_view::decision::TAKEN_FOR_REJECTION;
use pillion_view::{Proposed, Stale};

use super::*;

#[test]
fn the_gates_question_is_shown_and_the_view_stays_until_it_lets_the_decision_through() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    let mut key = "a";
    for doubt in ["the file has changed", "it runs code; and more"] {
        person.ruling = Some(doubted(doubt));
        assert_eq!(outcomes(person.press(key)), []);
        let question = format!("{doubt}: y accepts anyway");
        assert_eq!(person.message(), question);
        // Too early for an answer: the question stays.
        person.wait(100);
        assert_eq!(outcomes(person.press("y")), []);
        assert_eq!(person.message(), question.clone() + " (read this first)");
        person.wait(700);
        key = "y";
    }
    assert_eq!(outcomes(person.press("y")), accepted(1, "b\n"));
    assert_eq!(person.message(), "accepted a.txt");
    assert!(person.app.views.is_empty());
}

/// What comes meanwhile is said once the question is answered, or is gone.
#[test]
fn a_notice_does_not_take_the_place_of_a_question() {
    for key in ["y", "j"] {
        let mut person = Person::new(80, 24);
        person.open("a.txt", Some("a\n"), "b\n");
        person.ruling = Some(doubted("this is doubted"));
        person.press("a");
        person.open_now("b.txt", Some("a\n"), "b\n");
        person.happens(Event::Kept("it is kept there".to_owned()));
        person.happens(Event::Notice("the agent wrote nothing".to_owned()));
        assert!(person.message().starts_with("this is doubted: y "));
        person.wait(1_000);
        person.press(key);
        assert_eq!(person.message(), "the agent wrote nothing", "{key}");
        assert_eq!(person.app.views.len(), if key == "y" { 1 } else { 2 });
    }
}

/// In a window that has become too small for the question, nothing answers it.
#[test]
fn a_question_that_is_cut_is_not_answered() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    person.ruling = Some(doubted(&"one doubt after the other; ".repeat(8)));
    assert_eq!(outcomes(person.press("a")), []);
    person.happens(Event::Resized(Size::new(40, 10)));
    person.wait(2_000);
    assert_eq!(outcomes(person.press("y")), []);
    assert!(
        person
            .message()
            .starts_with("there is no room for the question")
    );
}

/// Who taps `a` until something happens has not read the question.
#[test]
fn the_key_that_asks_answers_nothing_however_often_it_is_pressed() {
    let mut person = Person::new(80, 24);
    let old: String = (0..90).map(|line| format!("{line}\n")).collect();
    let new = old.replace("5\n", "five\n");
    person.open("a.txt", Some(&old), &new);
    let question = |person: &Person| person.message().ends_with(": y accepts anyway");
    for _ in 0..9 {
        assert_eq!(outcomes(person.press("a")), []);
        assert!(question(&person), "{}", person.message());
        person.wait(800);
    }
    // Something else lets the question go, and then it is put anew, to the gate as well.
    for key in ["j", "w", "C\u{1b}"] {
        match key.strip_suffix('\u{1b}') {
            None => assert!(person.press(key).is_empty()),
            Some(key) => {
                person.press(key);
                person.key(KeyCode::Esc);
            }
        }
        assert!(!question(&person), "{}", person.message());
        person.wait(800);
        assert_eq!(outcomes(person.press("y")), [], "it answers nothing");
        assert_eq!(outcomes(person.press("a")), []);
        assert!(question(&person), "{}", person.message());
    }
    person.wait(800);
    assert_eq!(outcomes(person.press("y")), accepted(1, &new));
}

#[test]
fn what_the_agent_did_is_said_after_the_decision_that_it_did_it_for() {
    for is_early in [true, false] {
        let mut person = Person::new(80, 24);
        person.open("a.txt", Some("a\n"), "b\n");
        let press = person.press_of(KeyCode::Char('a'));
        person.app.update(person.event(press), person.now);
        let key = person.app.views[0].key();
        let notice = || Event::Notice("the agent wrote it".to_owned());
        if is_early {
            person.app.update(notice(), person.now);
            assert_ne!(person.message(), "the agent wrote it");
        }
        let ruled = Event::Ruled(key, Ruling::Settled(None));
        person.app.update(ruled, person.now);
        if !is_early {
            assert_eq!(person.message(), "accepted a.txt");
            person.app.update(notice(), person.now);
        }
        assert_eq!(person.message(), "the agent wrote it");
    }
}

#[test]
fn while_the_gate_looks_nothing_else_is_decided() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.open("b.txt", Some("a\n"), "b\n");
    let press = person.press_of(KeyCode::Char('a'));
    let effects = person.app.update(person.event(press), person.now);
    assert_eq!(outcomes(effects), accepted(1, "b\n"));
    for key in ["a", "r", " ", "e", "z", "o"] {
        assert!(person.press(key).is_empty(), "{key}");
        assert_eq!(person.message(), "this is being decided");
    }
    // Another one can be looked at; the answer is not taken for one about that.
    person.key(KeyCode::Tab);
    let key = person.app.views[0].key();
    person.happens(Event::Ruled(key, doubted("it runs code")));
    assert_eq!(person.message(), "a.txt: it runs code");
    person.key(KeyCode::Tab);
    assert_eq!(person.shown(), id);
    person.wait(700);
    let press = person.press_of(KeyCode::Char('a'));
    person.app.update(person.event(press), person.now);
    let effects = person.happens(Event::Stop);
    assert_eq!(outcomes(effects), []);
}

#[test]
fn a_decision_about_a_proposal_that_was_replaced_meanwhile_is_over() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    let press = person.press_of(KeyCode::Char('a'));
    person.app.update(person.event(press), person.now);
    let key = person.app.views[0].key();
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
    person.happens(Event::Ruled(key, Ruling::stale(Stale::Replaced)));
    assert!(person.message().contains("newer proposal"));
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "c\n"));
}

#[test]
fn what_an_agent_takes_for_a_rejection_is_said_when_it_was_accepted() {
    for (original, proposed, edit) in [
        (Some("a\n"), "b\n", "a\n"),
        (Some("a\r\n"), "b\r\n", "a\n"),
        (None, "b\n", ""),
    ] {
        let mut person = Person::new(80, 24);
        let id = DiffId(1);
        person.propose(id, Dialect::ClaudeCode, "a.txt", original, proposed);
        person.happens(Event::Edited(id, Edit::Text(edit.into())));
        person.wait(1_000);
        // Of a new file the gate knows that, and says it before.
        if original.is_none() {
            person.ruling = Some(Ruling::Refused(Refusal {
                code: TAKEN_FOR_REJECTION.into(),
                message: "accept again to go ahead".to_owned(),
                repeat: true,
            }));
            person.press("a");
            person.wait(1_000);
        }
        let key = if original.is_none() { "y" } else { "a" };
        assert_eq!(outcomes(person.press(key)), accepted(1, edit));
        assert_eq!(
            person.message(),
            "a.txt: the agent treats this as a rejection"
        );
    }
}

/// The hooks of `pillion run` let it be accepted.
#[test]
fn an_empty_new_file_that_nobody_doubts_is_accepted() {
    let mut person = Person::new(80, 24);
    person.propose(DiffId(1), Dialect::ClaudeCode, "a.txt", None, "");
    person.wait(1_000);
    assert_eq!(outcomes(person.press("a")), accepted(1, ""));
    assert_eq!(person.message(), "accepted a.txt");
}
