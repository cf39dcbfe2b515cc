//! A proposal beside other texts than its file: read, and never a way to decide.

use super::*;
use crate::screen::tests::see;

fn page(title: &str) -> Opened {
    Opened {
        title: title.to_owned(),
        lines: vec!["-one".to_owned(), "+two".to_owned()],
        from: 0,
    }
}

/// What `d` asks to be compared.
fn wanted(effects: &[Effect]) -> &Bases {
    match effects {
        [Effect::Bases(bases)] => bases,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_it_is_compared_with_is_switched_and_nothing_is_decided_there() {
    let mut person = Person::new(100, 14);
    person.open("a.txt", Some("1\n"), "2\n");
    let key = wanted(&person.press("d")).key;
    person.happens(Event::Bases(key, vec![page("HEAD"), page("turn 7")]));
    let screen = see(&mut person);
    assert!(
        screen.contains(" HEAD · d the next · Esc goes back"),
        "{screen}"
    );
    assert!(screen.contains("-one"), "{screen}");
    person.wait(2_000);
    assert_eq!(outcomes(person.press("arA y")), []);
    for title in ["turn 7", "HEAD"] {
        person.press("d");
        assert!(see(&mut person).contains(title));
    }
    person.key(KeyCode::Esc);
    assert_eq!((person.app.overlay, person.app.views.len()), (None, 1));
    // Of nothing that is known, that is said; and what comes late opens over nothing else.
    person.happens(Event::Bases(key, Vec::new()));
    assert!(
        person
            .message()
            .starts_with("no other text of this file is known")
    );
    person.press("?");
    person.happens(Event::Bases(key, vec![page("HEAD")]));
    assert_eq!(person.app.overlay, Some(Overlay::Help(0)));
    person.press("?");
    let other = ProposalKey {
        id: DiffId(9),
        revision: 1,
    };
    person.happens(Event::Bases(other, vec![page("HEAD")]));
    assert_eq!(person.app.overlay, None);
}

#[test]
fn what_was_looked_at_last_is_the_proposal_before_the_one_that_is_there() {
    let mut person = Person::new(100, 14);
    let id = person.open("a.txt", Some("1\n"), "2\n");
    assert!(wanted(&person.press("d")).looked_at.is_none());
    let last = |person: &mut Person| {
        let effects = person.press("d");
        let looked_at = wanted(&effects).looked_at.as_ref();
        looked_at.map(|it| it.after().shown(0).trim_end().to_owned())
    };
    // One that nobody had the time to look at is none.
    for (proposed, wait, expected) in [
        ("3\n", 100, Some("2")),
        ("4\n", 900, Some("2")),
        ("5\n", 900, Some("4")),
    ] {
        person.wait(900 * u64::from(proposed == "3\n"));
        person.propose(id, Dialect::GeminiCli, "a.txt", Some("1\n"), proposed);
        person.wait(wait);
        assert_eq!(last(&mut person).as_deref(), expected, "{proposed}");
    }
}
