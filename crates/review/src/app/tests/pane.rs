//! The list of changes beside the diff: when it is there, and that it changes nothing about what was seen and decided.

use pillion_view::changes::{ChangesAct, ChangesList};

use super::changes::{change, list, turn};
use super::*;

const OLD: &str = "one\ntwo\nthree\n";
const NEW: &str = "one\n2\nthree\n";

/// A review in a terminal of this width that has heard of the list.
fn beside(width: u16) -> Person {
    let mut person = Person::new(width, 24);
    person.happens(Event::Status(Status::default()));
    person.happens(Event::Listed(list()));
    person
}

/// `pillion look` shows this change.
fn look(person: &mut Person, change: &str) -> DiffId {
    person.written = Some(change.to_owned());
    let id = person.open(&format!("src/{change}.rs"), Some(OLD), NEW);
    person.written = None;
    id
}

fn asks(effects: &[Effect]) -> bool {
    effects.iter().any(|it| matches!(it, Effect::Changes))
}

#[test]
fn the_list_is_beside_the_diff_where_both_sides_of_it_have_room() {
    for (width, pane) in [
        (80, None),
        (120, None),
        (135, None),
        (136, Some(36)),
        (160, Some(40)),
        (200, Some(50)),
        (300, Some(56)),
    ] {
        let person = beside(width);
        assert_eq!(person.app.pane_width(), pane, "{width}");
        let body = person.app.geometry().body;
        assert_eq!(body.width, width - pane.unwrap_or_default());
        assert_eq!(body.right(), width);
    }
}

#[test]
fn the_list_is_read_only_where_it_is_to_be_seen() {
    for (width, is_read) in [(80, false), (120, false), (200, true)] {
        let mut person = Person::new(width, 24);
        let effects = person.happens(Event::Status(Status::default()));
        assert_eq!(asks(&effects), is_read, "{width}");
        if !is_read {
            let wider = person.happens(Event::Resized(Size::new(200, 24)));
            assert!(asks(&wider), "{width}");
        }
    }
}

#[test]
fn without_turns_there_is_no_list() {
    let problem = ChangesList {
        problem: Some("the disk does not answer".to_owned()),
        ..list()
    };
    for nothing in [ChangesList::default(), problem] {
        let mut person = beside(200);
        look(&mut person, "8.2");
        person.happens(Event::Listed(nothing));
        assert_eq!(person.app.pane_width(), None);
        assert_eq!(person.app.geometry().body.width, 200);
    }
}

#[test]
fn a_key_hides_the_list_and_shows_it_again() {
    let mut person = beside(200);
    look(&mut person, "8.2");
    person.press("t");
    assert_eq!(person.app.pane_width(), None);
    person.happens(Event::Listed(list()));
    person.happens(Event::Resized(Size::new(220, 30)));
    assert_eq!(person.app.pane_width(), None, "it stays hidden");
    person.press("t");
    assert_eq!(person.app.pane_width(), Some(55));
    // Who asks for it gets it beside a unified diff.
    let mut person = beside(120);
    look(&mut person, "8.2");
    let is_unified = |person: &Person| {
        let view = person.app.view().unwrap();
        person.app.layout_of(view) == Layout::Unified
    };
    assert!(!is_unified(&person));
    person.press("t");
    assert_eq!(person.app.pane_width(), Some(36));
    assert!(is_unified(&person));
    person.press("u");
    assert_eq!(
        person.message(),
        "side by side needs 100 columns: t hides the list beside it"
    );
    person.press("t");
    assert!(!is_unified(&person));
    // Where even that is not possible, it is said what is.
    let mut person = beside(100);
    person.press("t");
    assert_eq!(person.app.pane_width(), None);
    assert!(
        person.message().contains("needs 116 columns"),
        "{}",
        person.message()
    );
}

#[test]
fn keys_mean_the_diff_until_the_person_goes_to_the_list() {
    let mut person = beside(200);
    let id = look(&mut person, "8.2");
    assert_eq!(outcomes(person.press("r")), rejected(id.0));
    let id = look(&mut person, "8.2");
    person.press("S");
    assert!(person.app.changes().is_some());
    assert!(
        person.app.subject().is_none(),
        "nothing is decided about the diff here"
    );
    let kept = person.press("a");
    assert_eq!(outcomes(person.press("")), []);
    assert!(
        matches!(&kept[..], [Effect::Act(ChangesAct::Keep(meant), _)] if meant.id.as_deref() == Some("8.2")),
        "the cursor begins at what is on the screen: {kept:?}"
    );
    person.key(KeyCode::Esc);
    person.wait(1_000);
    assert_eq!(outcomes(person.press("r")), rejected(id.0));
}

#[test]
fn a_list_that_comes_or_goes_lets_nothing_count_as_seen_that_was_not_drawn() {
    // In the narrower diff, the last changed lines are below the edge or cut off.
    let long = format!("{}end\n", "word ".repeat(30));
    let old = "short\n".repeat(3);
    let new = format!("short\n{long}short\n");
    for wrap in [false, true] {
        let mut person = Person::new(200, 12);
        person.happens(Event::Status(Status::default()));
        person.happens(Event::Listed(list()));
        person.open("a.txt", Some("x\n"), "y\n");
        if wrap {
            person.press("w");
        }
        person.open_now("b.txt", Some(&old), &new);
        person.key(KeyCode::Tab);
        person.wait(1_000);
        let seen = |person: &Person| person.app.view().unwrap().seen_hunks().seen;
        assert_eq!(seen(&person), usize::from(wrap), "wrapped: {wrap}");
        let revision = person.app.view().unwrap().diff.revision;
        // Wide enough once the list is gone and the diff unified.
        for key in ["t", "u"] {
            person.press(key);
            person.wait(300);
        }
        assert_eq!(seen(&person), 1);
        // What was seen stays seen, also where it is not to be seen any more.
        person.press("t");
        assert_eq!(seen(&person), 1);
        assert_eq!(person.app.view().unwrap().diff.revision, revision);
    }
}

#[test]
fn a_decision_is_about_what_was_drawn_when_the_list_comes_meanwhile() {
    for keys in ["a", "r"] {
        let mut person = Person::new(200, 24);
        person.happens(Event::Status(Status::default()));
        let id = person.open("a.txt", Some(OLD), NEW);
        let hunk = person.app.view().unwrap().hunk;
        person.happens(Event::Listed(list()));
        assert!(person.app.pane_width().is_some());
        assert_eq!(person.app.view().unwrap().hunk, hunk);
        assert!(person.app.changes().is_none(), "it takes no keys");
        let decided = outcomes(person.press(keys));
        match keys {
            "a" => assert_eq!(decided, accepted(id.0, NEW)),
            _ => assert_eq!(decided, rejected(id.0)),
        }
    }
}

#[test]
fn what_is_opened_in_the_list_is_shown_also_beside_pending_diffs() {
    let mut person = beside(200);
    let pending = person.open("a.txt", Some(OLD), NEW);
    let opened = |person: &mut Person| {
        let effects = person.key(KeyCode::Enter);
        let look = |effect: &Effect| match effect {
            Effect::Act(ChangesAct::Look(id), _) => id.clone(),
            _ => None,
        };
        effects.iter().find_map(look)
    };
    person.press("S");
    assert_eq!(opened(&mut person).as_deref(), Some("8.2"));
    let first = look(&mut person, "8.2");
    assert_eq!(person.shown(), first);
    // It is there already.
    person.key(KeyCode::Tab);
    assert_eq!(person.shown(), pending);
    person.press("Sg");
    person.press("jj");
    assert_eq!(opened(&mut person), None);
    assert_eq!(person.shown(), first);
    // A turn: the first of its files.
    person.press("SGk");
    assert_eq!(opened(&mut person).as_deref(), Some("7"));
    let of_turn = look(&mut person, "7.1");
    assert_eq!(person.shown(), of_turn);
    look(&mut person, "7.2");
    assert_eq!(person.shown(), of_turn, "only the first");
    // Who does something else meanwhile is not taken away from it.
    let mut person = beside(200);
    let pending = person.open("a.txt", Some(OLD), NEW);
    person.press("S");
    assert_eq!(opened(&mut person).as_deref(), Some("8.2"));
    person.press("j");
    look(&mut person, "8.2");
    assert_eq!(person.shown(), pending);
}

#[test]
fn a_turn_whose_changes_are_not_all_there_is_opened() {
    let mut person = beside(200);
    let two = vec![
        change("9.1", "unseen", Some(1)),
        change("9.2", "unseen", Some(1)),
        change("9.3", "kept", Some(1)),
        change("9.4", "unseen", None),
    ];
    let turns = vec![turn("9", two)];
    person.happens(Event::Listed(ChangesList {
        turns,
        ..ChangesList::default()
    }));
    let first = look(&mut person, "9.1");
    let looks = |person: &mut Person| {
        person.press("Sg");
        let effects = person.key(KeyCode::Enter);
        effects.iter().any(|it| matches!(it, Effect::Act(..)))
    };
    assert!(looks(&mut person));
    look(&mut person, "9.2");
    assert!(!looks(&mut person), "all that is unseen is there");
    assert_eq!(person.shown(), first);
}

#[test]
fn where_several_diffs_are_pending_their_list_takes_the_place_of_tabs() {
    for (width, pane) in [(115, None), (116, Some(36)), (200, Some(50))] {
        let mut person = Person::new(width, 24);
        person.open("a.txt", Some(OLD), NEW);
        assert_eq!(person.app.pane_width(), None, "one needs no list");
        let second = person.open("b.txt", Some(OLD), NEW);
        assert_eq!(person.app.pane_width(), pane, "{width}");
        assert_eq!(person.app.geometry().tabs.is_some(), pane.is_none());
        // It is hidden, and shown again, as that of the turns.
        person.press("t");
        assert_eq!(person.app.pane_width(), None);
        assert!(person.app.geometry().tabs.is_some());
        person.close(second).unwrap();
        assert_eq!(person.app.pane_width(), None);
    }
    // Lines have nothing beside each other.
    let mut person = Person::new(200, 24);
    person.app.be_plain();
    person.open("a.txt", Some(OLD), NEW);
    person.open("b.txt", Some(OLD), NEW);
    assert_eq!(person.app.pane_width(), None);
}
