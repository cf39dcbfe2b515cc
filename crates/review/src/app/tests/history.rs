//! A former decision can be read again, and nothing more.

use pillion_changes::history::Item;
use pillion_changes::log::Proposal;
use pillion_changes::{Entry, EntryState, FileState};

use super::*;
use crate::screen::tests::see;

fn past(number: u64, state: EntryState) -> Past {
    let path = PathBuf::from("/work/shop/a.txt");
    Past {
        item: Item::Entry(Box::new(Entry {
            number,
            state,
            at: 0,
            proposal: Proposal {
                agent: "gemini".to_owned(),
                path,
                roots: vec!["/work/shop".into()],
                set: None,
                written: None,
                before: FileState::Absent,
                proposed: FileState::Absent,
            },
            turn: None,
            notes: Vec::new(),
            edited: None,
            pending_in: None,
            awaited_in: None,
            outcome: None,
            is_elsewhere: false,
            is_closed: true,
        })),
        agent: "Gemini CLI".to_owned(),
        ago: "just now".to_owned(),
        lines: "+1 -1".to_owned(),
    }
}

fn listed(person: &mut Person, count: u64) {
    let effects = person.press("H");
    assert!(matches!(effects[..], [Effect::History]), "{effects:?}");
    let items = (1..=count).map(|number| past(number, EntryState::Rejected));
    person.happens(Event::History(Ok(items.collect())));
}

fn opened(lines: usize) -> Event {
    Event::Past(Opened {
        title: "d2 rejected".to_owned(),
        lines: (0..lines).map(|line| format!("+{line}")).collect(),
        from: 0,
    })
}

#[test]
fn an_entry_is_opened_and_left_again() {
    let mut person = Person::new(80, 24);
    listed(&mut person, 3);
    person.press("j");
    let effects = person.key(KeyCode::Enter);
    let [Effect::Past(past)] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(past.item.id(), "d2");
    person.happens(opened(100));
    person.press("jj");
    assert_eq!(person.app.history.opened.as_ref().unwrap().from, 2);
    person.press("G");
    assert_eq!(person.app.history.opened.as_ref().unwrap().from, 78);
    person.key(KeyCode::Esc);
    assert_eq!(
        (person.app.history.at, person.app.overlay),
        (1, Some(Overlay::History))
    );
    person.key(KeyCode::Esc);
    assert_eq!(person.app.overlay, None);
    person.happens(opened(1));
    assert_eq!(person.app.overlay, None, "what comes late is not shown");
}

#[test]
fn nothing_is_decided_while_it_is_shown() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    person.wait(60_000);
    listed(&mut person, 3);
    for keys in ["a", "r", " ", "e", "z", "o", "R", "m", "v", "s"] {
        assert!(person.press(keys).is_empty(), "{keys}");
    }
    person.happens(opened(3));
    for keys in ["a", "r", "o", "e"] {
        assert!(person.press(keys).is_empty(), "{keys}");
    }
    person.press("qq");
    assert_eq!(
        outcomes(person.press("a")),
        [],
        "the diff has to be seen again"
    );
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "b\n"));
}

#[test]
fn what_is_chosen_stays_on_the_screen() {
    let mut person = Person::new(80, 24);
    listed(&mut person, 100);
    let sees = |person: &Person| {
        let history = &person.app.history;
        let height = usize::from(person.app.size.height) - 2;
        (history.top..history.top + height).contains(&history.at)
    };
    for keys in ["G", "k", "g", "jjjj", "  ", "G"] {
        person.press(keys);
        assert!(sees(&person), "{keys}: {:?}", person.app.history.at);
    }
    assert_eq!(person.app.history.at, 99);
    person.happens(Event::Resized(Size::new(80, 12)));
    assert!(sees(&person));
    person.happens(Event::History(Err("the disk is full".to_owned())));
    assert!(person.message().contains("the disk is full"));
}

#[test]
fn of_a_long_path_the_end_is_listed_and_of_a_long_reason_the_beginning() {
    for width in [70, 80, 120, 200] {
        let mut person = Person::new(width, 12);
        let mut entry = past(1, EntryState::Rejected);
        if let Item::Entry(entry) = &mut entry.item {
            entry.proposal.path =
                "/work/shop/src/some/very/long/folder/\u{8aac}\u{660e}/end.rs".into();
            let why = "not like this, because the tests compare the numbers, all of them";
            entry.notes = vec![Note::on_all(why.to_owned())];
        }
        person.happens(Event::History(Ok(vec![entry])));
        let screen = see(&mut person);
        let row = screen.lines().find(|it| it.contains("rejected")).unwrap();
        assert!(row.contains("/end.rs  Gem"), "{width}: {screen}");
        assert!(row.ends_with('│'), "{width}: {screen}");
        let is_whole = row.contains("all of them");
        assert_eq!(row.contains('…'), !is_whole, "{width}: {screen}");
        assert_eq!(is_whole, width == 200, "{width}: {screen}");
    }
}
