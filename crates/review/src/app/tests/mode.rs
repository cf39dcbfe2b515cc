//! The keys by which the person chooses when agents ask, and sends their notes.

use pillion_protocol::{ReviewChoice, ReviewMode};
use pillion_view::{Chosen, Review};

use super::*;

fn at(mode: Option<ReviewMode>) -> Person {
    let mut person = Person::new(100, 24);
    let review = Review {
        mode,
        label: "review: x".to_owned(),
        unasked: None,
    };
    person.happens(Event::Status(Status {
        review: Some(review),
        ..Status::default()
    }));
    person
}

fn choices(effects: &[Effect]) -> Vec<Option<ReviewChoice>> {
    let choice = |effect: &Effect| match effect {
        Effect::Choose(Choice::Review(choice)) => Some(*choice),
        _ => None,
    };
    effects.iter().filter_map(choice).collect()
}

#[test]
fn more_is_shown_at_once_and_less_when_that_is_answered() {
    for (mode, first, second) in [
        (
            Some(ReviewMode::Asked),
            vec![Some(ReviewChoice::Always)],
            None,
        ),
        (None, vec![Some(ReviewChoice::Always)], None),
        (Some(ReviewMode::Always), vec![], Some(ReviewChoice::Asked)),
    ] {
        let mut person = at(mode);
        assert_eq!(choices(&person.press("m")), first, "{mode:?}");
        if let Some(second) = second {
            let (question, _) = person.app.line().unwrap();
            assert!(question.contains(": y has agents ask"), "{question}");
            assert_eq!(choices(&person.press("m")), []);
            assert_eq!(choices(&person.press("y")), [Some(second)]);
            // Any other key in between is no answer.
            assert_eq!(choices(&person.press("wmwymm")), []);
        }
    }
}

#[test]
fn nothing_is_asked_when_that_is_answered_as_well() {
    let mut person = at(Some(ReviewMode::Always));
    person.press("my");
    let told = |message: &str| {
        Event::Chosen(Chosen {
            done: true,
            message: message.to_owned(),
        })
    };
    person.happens(told("Claude Code asks."));
    let (question, _) = person.app.line().unwrap();
    assert!(question.starts_with("y: "), "{question}");
    assert_eq!(choices(&person.press("y")), [Some(ReviewChoice::After)]);
    person.happens(told("It writes."));
    assert_eq!(person.app.line().unwrap().0, "It writes.");
    // It was not chosen, and nothing else can be.
    let mut person = at(Some(ReviewMode::Always));
    person.press("my");
    person.happens(Event::Chosen(Chosen::refused("no agent does this")));
    assert_eq!(choices(&person.press("ym")), []);
    let mut person = at(Some(ReviewMode::After));
    assert_eq!(choices(&person.press("m")), [Some(ReviewChoice::Always)]);
    let mut person = at(Some(ReviewMode::Always));
    assert_eq!(
        choices(&person.press("mywmy")),
        [Some(ReviewChoice::Asked), Some(ReviewChoice::Asked)]
    );
}

#[test]
fn what_nobody_pressed_chooses_nothing() {
    for (is_in_burst, is_held) in [(true, false), (false, true)] {
        let mut person = at(Some(ReviewMode::Asked));
        let press = Pressed {
            is_in_burst,
            is_held,
            ..person.press_of(KeyCode::Char('m'))
        };
        assert_eq!(choices(&person.happens(person.event(press))), []);
    }
    // Beside a diff as well as without one; where no agent is known to ask as one chooses, that is asked.
    let mut person = Person::new(100, 24);
    assert_eq!(choices(&person.press("m")), [None]);
    person.open("a.txt", Some("1\n"), "2\n");
    assert_eq!(choices(&person.press("m")), [None]);
    person.happens(Event::Chosen(Chosen::refused("no agent does this")));
    assert_eq!(person.app.line().unwrap().0, "no agent does this");
}

#[test]
fn notes_are_sent_by_a_key_that_was_pressed() {
    let sends = |effects: &[Effect]| {
        let sends = |effect: &&Effect| matches!(effect, Effect::Choose(Choice::SendNotes));
        effects.iter().filter(sends).count()
    };
    // Beside a diff as well as without one, and at once.
    let mut person = Person::new(100, 24);
    assert_eq!(sends(&person.press("@")), 1);
    person.open("a.txt", Some("1\n"), "2\n");
    assert_eq!(sends(&person.press("@")), 1);
    for (is_in_burst, is_held) in [(true, false), (false, true)] {
        let press = Pressed {
            is_in_burst,
            is_held,
            ..person.press_of(KeyCode::Char('@'))
        };
        assert_eq!(sends(&person.happens(person.event(press))), 0);
    }
    let told = Chosen {
        done: true,
        message: "your notes were sent to Claude Code".to_owned(),
    };
    person.happens(Event::Chosen(told));
    let (said, _) = person.app.line().unwrap();
    assert_eq!(said, "your notes were sent to Claude Code");
}
