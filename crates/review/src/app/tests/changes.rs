//! The list of what agents have written, and the keys that decide in it.

use pillion_protocol::Note;
use pillion_view::changes::{
    ActDone, ChangesAct, ChangesList, ListedChange, ListedTurn, Meant, Part,
};

use super::*;
use crate::screen::tests::see;

pub fn change(id: &str, state: &str, lines: Option<usize>) -> ListedChange {
    ListedChange {
        id: id.to_owned(),
        revision: format!("r{id}"),
        path: format!("/work/{id}").into(),
        shown: format!("src/{id}.rs"),
        label: format!("{id} {state}"),
        state: state.to_owned(),
        is_unseen: state == "unseen",
        mode: None,
        added: lines,
        removed: lines,
        hunks: Vec::new(),
    }
}

pub fn turn(id: &str, changes: Vec<ListedChange>) -> ListedTurn {
    ListedTurn {
        id: id.to_owned(),
        agent: "claude".to_owned(),
        heading: "Claude Code".to_owned(),
        prompt: String::new(),
        began: 0,
        ended: None,
        title: format!("turn {id} of Claude Code"),
        revision: format!("t{id}"),
        changes,
    }
}

pub fn list() -> ChangesList {
    let newer = vec![
        change("8.1", "kept", Some(1)),
        change("8.2", "unseen", Some(12)),
        change("8.3", "unseen", None),
    ];
    let older = vec![change("7.1", "unseen", Some(2))];
    ChangesList {
        turns: vec![turn("8", newer), turn("7", older)],
        left_out: 3,
        ..ChangesList::default()
    }
}

pub fn with_list() -> Person {
    let mut person = Person::new(100, 24);
    let asked = person.press("S");
    assert!(matches!(*asked, [Effect::Changes]), "{asked:?}");
    person.happens(Event::Listed(list()));
    person
}

pub fn acts(effects: Vec<Effect>) -> Vec<ChangesAct> {
    let act = |effect| match effect {
        Effect::Act(act, _) => Some(act),
        _ => None,
    };
    effects.into_iter().filter_map(act).collect()
}

fn meant(id: &str, revision: &str) -> Meant {
    Meant {
        id: Some(id.to_owned()),
        revision: Some(revision.to_owned()),
        ..Meant::default()
    }
}

#[test]
fn all_turns_are_listed_with_what_became_of_them() {
    let mut person = with_list();
    let screen = see(&mut person);
    for line in [
        "  turn 8 of Claude Code",
        "    8.1    kept            +1 -1  src/8.1.rs",
        "▌   8.2    unseen        +12 -12  src/8.2.rs",
        "    8.3    unseen                 src/8.3.rs",
        "  turn 7 of Claude Code",
        "  3 more changes: pillion changes --all",
    ] {
        assert!(screen.contains(line), "{line:?} in\n{screen}");
    }
    person.press("S");
    assert!(!see(&mut person).contains("turn 8"));
}

#[test]
fn each_key_is_about_the_line_with_the_cursor_as_it_was_listed() {
    let mut person = with_list();
    assert_eq!(
        acts(person.press("a")),
        [ChangesAct::Keep(meant("8.2", "r8.2"))]
    );
    person.press("n");
    let taken = |id: &str, revision: &str| {
        ChangesAct::TakeBack(Part {
            meant: meant(id, revision),
            ..Part::default()
        })
    };
    assert_eq!(acts(person.press("r")), [taken("8.3", "r8.3")], "not text");
    person.press("n");
    assert_eq!(
        acts(person.press("z")),
        [ChangesAct::Undo(None)],
        "what was done last"
    );
    person.press("k");
    assert_eq!(acts(person.press("r")), [taken("7", "t7")], "a turn");
    assert_eq!(acts(person.press("z")), [ChangesAct::Undo(None)], "a turn");
    // From the end it goes on at the start.
    person.press("Gn");
    assert_eq!(
        acts(person.press("a")),
        [ChangesAct::Keep(meant("8.2", "r8.2"))]
    );
    let opened = acts(person.key(KeyCode::Enter));
    assert_eq!(opened, [ChangesAct::Look(Some("8.2".to_owned()))]);
    assert!(
        person.app.changes().is_none(),
        "what is opened is to be seen"
    );
}

#[test]
fn what_is_no_text_is_not_opened_and_what_nobody_pressed_decides_nothing() {
    let mut person = with_list();
    person.press("n");
    assert_eq!(acts(person.key(KeyCode::Enter)), []);
    assert!(person.app.line().unwrap().0.contains("no text of it"));
    for (is_in_burst, is_held) in [(true, false), (false, true)] {
        for code in [
            KeyCode::Char('a'),
            KeyCode::Char('r'),
            KeyCode::Char('z'),
            KeyCode::Enter,
        ] {
            let press = Pressed {
                is_in_burst,
                is_held,
                ..person.press_of(code)
            };
            assert_eq!(acts(person.happens(person.event(press))), [], "{code:?}");
        }
    }
}

#[test]
fn nothing_is_decided_about_a_line_before_it_is_drawn() {
    let undrawn = |person: &mut Person, key: char| {
        let press = person.press_of(KeyCode::Char(key));
        person.happens_undrawn(person.event(press))
    };
    let opens = |person: &mut Person| {
        person.press("S");
        undrawn(person, 'S');
    };
    let moves = |person: &mut Person| {
        undrawn(person, 'n');
    };
    let is_rewritten = |person: &mut Person| {
        let mut list = list();
        list.turns[0].changes[1].revision = "later".to_owned();
        person.happens_undrawn(Event::Listed(list));
    };
    let shrinks = |person: &mut Person| {
        person.app.fit(Size::new(30, 5));
        person.happens(Event::Tick);
    };
    for (number, before) in [
        &opens as &dyn Fn(&mut Person),
        &moves,
        &is_rewritten,
        &shrinks,
    ]
    .into_iter()
    .enumerate()
    {
        for key in ['a', 'r', 'z'] {
            let mut person = with_list();
            before(&mut person);
            assert_eq!(acts(person.press(&key.to_string())), [], "{number} {key}");
            let said = "the cursor is here only now: look at this line, then press again";
            assert_eq!(person.message(), said);
            person.app.fit(Size::new(100, 24));
            person.happens(Event::Tick);
            assert_eq!(
                acts(person.press(&key.to_string())).len(),
                1,
                "{number} {key}"
            );
        }
    }
}

#[test]
fn the_help_and_the_question_whether_to_leave_lead_back_to_the_list() {
    let mut person = with_list();
    person.open("a.txt", None, "a\n");
    let help = KeyCode::Char('?');
    for keys in [
        [help, KeyCode::Esc],
        [help, help],
        [help, KeyCode::Char('q')],
        [KeyCode::F(1), help],
    ] {
        for key in keys {
            person.key(key);
        }
        assert_eq!(person.app.overlay, Some(Overlay::Changes), "{keys:?}");
    }
    for before in ["", "?"] {
        person.press(before);
        let mut quit = person.press_of(KeyCode::Char('c'));
        quit.key.modifiers = KeyModifiers::CONTROL;
        person.happens(person.event(quit));
        assert_eq!(person.app.overlay, Some(Overlay::Quit));
        person.press("n");
        assert_eq!(person.app.overlay, Some(Overlay::Changes), "{before}");
    }
    for key in [KeyCode::Esc, help, KeyCode::Esc] {
        person.key(key);
    }
    assert_eq!(person.app.overlay, None, "the list was left");
    // The history comes later than the help that was asked for after it.
    person.press("S?");
    person.app.show_history(Ok(Vec::new()), person.now);
    assert_eq!(person.app.overlay, Some(Overlay::History));
    for key in [KeyCode::Char('q'), help, KeyCode::Esc] {
        person.key(key);
    }
    assert_eq!(person.app.overlay, None, "the list was covered long ago");
}

#[test]
fn the_list_follows_and_the_cursor_stays() {
    let mut person = with_list();
    person.press("n");
    let done = ActDone {
        done: true,
        message: "8.2 src/8.2.rs: kept".to_owned(),
        ..ActDone::default()
    };
    let asked = person.happens(Event::Acted(done, Sent::default()));
    assert!(asked.iter().any(|it| matches!(it, Effect::Changes)));
    let changes = |changes| {
        Event::Status(Status {
            changes,
            ..Status::default()
        })
    };
    let asks = |effects: Vec<Effect>| effects.iter().any(|it| matches!(it, Effect::Changes));
    person.happens(Event::Listed(list()));
    assert!(asks(person.happens(changes(5))));
    assert!(!asks(person.happens(changes(5))), "nothing is new");
    assert!(
        !asks(person.happens(changes(6))),
        "one list after the other"
    );
    assert!(asks(person.happens(Event::Listed(list()))), "a newer one");
    let mut gone = list();
    gone.turns.remove(0);
    let mut same = list();
    same.turns[0].changes.remove(0);
    person.happens(Event::Listed(same));
    assert_eq!(
        acts(person.press("a")),
        [ChangesAct::Keep(meant("8.3", "r8.3"))]
    );
    person.happens(Event::Listed(gone));
    assert_eq!(
        acts(person.press("a")),
        [ChangesAct::Keep(meant("7.1", "r7.1"))]
    );
}

#[test]
fn a_proposal_is_announced_in_front_of_the_list() {
    let mut person = with_list();
    assert!(see(&mut person).contains("S close"));
    for name in ["a.txt", "b.txt"] {
        person.open_now(name, None, "1\n");
        let said = format!("Gemini CLI proposes {name} · S shows it");
        assert_eq!(person.message(), said);
        assert!(see(&mut person).contains("S diffs"));
        assert_eq!(person.shown(), DiffId(1));
    }
    person.press("?");
    person.open_now("d.txt", None, "1\n");
    assert_eq!(person.message(), "Gemini CLI proposes d.txt · S shows it");
    person.key(KeyCode::Esc);
    person.press("S");
    assert!(person.app.changes().is_none());
    let screen = see(&mut person);
    assert!(screen.contains("proposes a.txt"), "{screen}");
    person.open_now("c.txt", None, "1\n");
    assert_eq!(person.message(), "Gemini CLI proposes c.txt · f lists it");
}

fn line(person: &Person) -> String {
    person.app.line().map_or_else(String::new, |(text, _)| text)
}

fn with_notes(meant: Meant, notes: &[&str]) -> Meant {
    let notes = notes.iter().map(|text| Note::on_all(*text)).collect();
    Meant { notes, ..meant }
}

/// The outcome of the only act among these.
fn acted(effects: &[Effect], is_done: bool) -> Event {
    let words = effects.iter().find_map(|effect| match effect {
        Effect::Act(_, words) => Some(words.clone()),
        _ => None,
    });
    let done = ActDone {
        done: is_done,
        ..ActDone::default()
    };
    Event::Acted(done, words.expect("an act"))
}

#[test]
fn a_reason_is_typed_before_it_is_taken_back_and_keys_mean_nothing_else() {
    let mut person = with_list();
    assert_eq!(acts(person.press("R")), []);
    assert_eq!(line(&person), "reason for taking back 8.2: ▏");
    assert_eq!(acts(person.press("a r z S")), [], "each would do something");
    assert_eq!(line(&person), "reason for taking back 8.2: a r z S▏");
    let screen = see(&mut person);
    assert!(
        screen.contains("Enter take back  Esc back to the list"),
        "{screen}"
    );
    // What is left can be gone on with, and is of this line only.
    assert_eq!(acts(person.key(KeyCode::Esc)), []);
    person.press("jR");
    assert_eq!(line(&person), "reason for taking back 8.3: ▏");
    person.key(KeyCode::Esc);
    see(&mut person);
    person.press("kR");
    see(&mut person);
    let taken = |id: &str, revision: &str, notes: &[&str]| {
        ChangesAct::TakeBack(Part {
            meant: with_notes(meant(id, revision), notes),
            ..Part::default()
        })
    };
    let typed = ["a r z S"];
    // It was refused: the words are there still. Then it is done, and they are gone.
    for is_done in [false, true] {
        let effects = person.key(KeyCode::Enter);
        person.happens(acted(&effects, is_done));
        assert_eq!(acts(effects), [taken("8.2", "r8.2", &typed)]);
        assert!(person.app.changes().is_some(), "the list stays");
        person.press("R");
        see(&mut person);
    }
    assert_eq!(line(&person), "reason for taking back 8.2: ▏");
    // An empty one is none.
    see(&mut person);
    assert_eq!(
        acts(person.key(KeyCode::Enter)),
        [taken("8.2", "r8.2", &[])]
    );
}

#[test]
fn a_note_waits_for_the_decision_about_its_line() {
    let mut person = with_list();
    person.press("Cwhy 12?");
    assert_eq!(line(&person), "note on 8.2: why 12?▏");
    assert_eq!(acts(person.key(KeyCode::Enter)), []);
    assert!(line(&person).contains("when you keep this or take it back"));
    person.press("ggCall of it");
    assert_eq!(line(&person), "note on turn 8: all of it▏");
    person.key(KeyCode::Enter);
    person.press("jj");
    person.app.message = None;
    assert_eq!(line(&person), "your note on 8.2: why 12?");
    see(&mut person);
    let kept = with_notes(meant("8.2", "r8.2"), &["why 12?"]);
    let effects = person.press("a");
    person.happens(acted(&effects, true));
    assert_eq!(acts(effects), [ChangesAct::Keep(kept)]);
    see(&mut person);
    assert_eq!(
        acts(person.press("a")),
        [ChangesAct::Keep(meant("8.2", "r8.2"))],
        "it is said once"
    );
    // A turn's note goes with its reason.
    person.press("gg");
    see(&mut person);
    person.press("Rno");
    see(&mut person);
    let taken = ChangesAct::TakeBack(Part {
        meant: with_notes(meant("8", "t8"), &["no", "all of it"]),
        ..Part::default()
    });
    assert_eq!(acts(person.key(KeyCode::Enter)), [taken]);
}

/// Of the hub's list, in the next review; a later list brings back nothing that was told or deleted since.
#[test]
fn what_is_typed_on_rows_is_kept_and_comes_back_once() {
    let mut person = with_list();
    person.press("Cwhy 12?");
    let typed = person.app.row_notes();
    assert_eq!(typed["8.2"][0].text, "why 12?");
    person.key(KeyCode::Enter);
    assert_eq!(person.app.row_notes(), typed);
    person.press("Rno");
    person.key(KeyCode::Esc);
    let both = person.app.row_notes();
    let texts = |it: &Note| it.text.clone();
    assert_eq!(
        both["8.2"].iter().map(texts).collect::<Vec<_>>(),
        ["no", "why 12?"]
    );
    // The first one closes the list.
    person.press("qq");
    let screen = see(&mut person).replace(['│', '\n'], " ");
    let words: Vec<_> = screen.split_whitespace().collect();
    let said = "Your note in the list is not sent yet";
    assert!(words.join(" ").contains(said), "{screen}");

    let mut person = Person::new(110, 30);
    let kept = ChangesList {
        notes: both.clone().into_iter().collect(),
        ..list()
    };
    person.happens(Event::Listed(kept.clone()));
    assert_eq!(person.app.row_notes(), both);
    person.press("S");
    assert_eq!(line(&person), "your note on 8.2: why 12?");
    see(&mut person);
    let effects = person.press("a");
    person.happens(acted(&effects, true));
    person.press("R");
    assert_eq!(line(&person), "reason for taking back 8.2: no▏");
    person.app.remark = None;
    person.happens(Event::Listed(kept));
    assert_eq!(person.app.row_notes()["8.2"].len(), 1, "the note is told");
}

#[test]
fn a_turn_takes_the_notes_on_its_changes_with_it() {
    let mut person = with_list();
    // On 8.1, which was kept before, on 8.2 and 8.3, which were not, and on the turn.
    for (keys, text) in [
        ("gg", "all"),
        ("j", "once more"),
        ("j", "why 12?"),
        ("j", "no"),
    ] {
        person.press(keys);
        person.press("C");
        person.happens(Event::Pasted(text.to_owned()));
        person.key(KeyCode::Enter);
    }
    person.press("gg");
    see(&mut person);
    let notes = ["all", "src/8.2.rs: why 12?", "src/8.3.rs: no"];
    let effects = person.press("ay");
    let done = acted(&effects, true);
    let kept = ChangesAct::Keep(with_notes(meant("8", "t8"), &notes));
    assert_eq!(acts(effects), [kept]);
    person.happens(done);
    see(&mut person);
    let rest = ChangesAct::TakeBack(Part {
        meant: with_notes(meant("8", "t8"), &["src/8.1.rs: once more"]),
        ..Part::default()
    });
    assert_eq!(acts(person.press("ry")), [rest]);
}

#[test]
fn an_outcome_is_of_its_own_act_in_whatever_order_they_come() {
    for (first_is_done, second_is_done) in [(true, false), (false, true), (false, false)] {
        let mut person = with_list();
        let act = |person: &mut Person, key: &str, text: &str| {
            person.press("C");
            person.happens(Event::Pasted(text.to_owned()));
            person.key(KeyCode::Enter);
            see(person);
            person.press(key)
        };
        let first = act(&mut person, "a", "one");
        person.press("n");
        let second = act(&mut person, "a", "two");
        // The second is answered first.
        person.happens(acted(&second, second_is_done));
        person.happens(acted(&first, first_is_done));
        let mut left = |id: &str, key: &str| {
            person.press(key);
            see(&mut person);
            match &acts(person.press("a"))[..] {
                [ChangesAct::Keep(meant)] if meant.id.as_deref() == Some(id) => {
                    meant.notes.iter().map(|it| it.text.clone()).collect()
                }
                other => panic!("{other:?}"),
            }
        };
        let notes = |is_done: bool, text: &str| match is_done {
            true => Vec::new(),
            false => vec![text.to_owned()],
        };
        let second: Vec<String> = left("8.3", "");
        assert_eq!(second, notes(second_is_done, "two"));
        let first: Vec<String> = left("8.2", "k");
        assert_eq!(first, notes(first_is_done, "one"));
    }
    // Words that were typed since were not sent.
    let mut person = with_list();
    person.press("Cone");
    person.key(KeyCode::Enter);
    see(&mut person);
    let effects = person.press("a");
    person.press("C, two");
    person.key(KeyCode::Enter);
    person.happens(acted(&effects, true));
    see(&mut person);
    let again = ChangesAct::Keep(with_notes(meant("8.2", "r8.2"), &["one, two"]));
    assert_eq!(acts(person.press("a")), [again]);
}

/// `C` in the list, and then the decision in the diff that Enter opens.
#[test]
fn a_note_of_the_list_goes_with_the_decision_in_the_diff() {
    for key in ["a", "r"] {
        let mut person = with_list();
        person.press("Cwhy 12?");
        person.key(KeyCode::Enter);
        person.press("S");
        person.written = Some("8.2".to_owned());
        person.open("a.txt", Some("1\n"), "2\n");
        let effects = person.press(key);
        let decided = effects.iter().find_map(|effect| match effect {
            Effect::Decide(decide) => Some(&decide.verdict.notes),
            _ => None,
        });
        assert_eq!(decided, Some(&vec![Note::on_all("why 12?")]), "{key}");
        person.press("S");
        see(&mut person);
        assert_eq!(
            acts(person.press("a")),
            [ChangesAct::Keep(meant("8.2", "r8.2"))],
            "it is said once"
        );
    }
}

/// As in a diff: what is told first is shown as the reason.
#[test]
fn the_reason_goes_before_all_notes() {
    for (note_on, row, expected) in [
        ("", ("8.2", "r8.2"), &["why", "note"][..]),
        ("gg", ("8", "t8"), &["why", "note"]),
        ("j", ("8", "t8"), &["why", "src/8.3.rs: note"]),
    ] {
        let mut person = with_list();
        person.press(note_on);
        person.press("Cnote");
        person.key(KeyCode::Enter);
        person.press(if row.0 == "8" { "gg" } else { "" });
        see(&mut person);
        person.press("Rwhy");
        see(&mut person);
        let taken = ChangesAct::TakeBack(Part {
            meant: with_notes(meant(row.0, row.1), expected),
            ..Part::default()
        });
        assert_eq!(acts(person.key(KeyCode::Enter)), [taken]);
    }
}

#[test]
fn a_note_and_a_reason_have_room_together() {
    let mut person = with_list();
    person.press("R");
    person.happens(Event::Pasted("r".repeat(6_000)));
    person.key(KeyCode::Esc);
    person.press("C");
    person.happens(Event::Pasted("n".repeat(6_000)));
    person.key(KeyCode::Enter);
    person.press("R");
    see(&mut person);
    let [ChangesAct::TakeBack(taken)] = &acts(person.key(KeyCode::Enter))[..] else {
        panic!("it is taken back");
    };
    let bytes: Vec<_> = taken.meant.notes.iter().map(|it| it.text.len()).collect();
    assert_eq!(bytes, [6_000, 4_000]);
}

#[test]
fn nothing_is_taken_back_for_a_reason_that_was_typed_about_something_else() {
    for disturb in [
        // It was changed again, is gone, or the list was never drawn again.
        (|list: &mut ChangesList| list.turns[0].changes[1].revision = "new".to_owned())
            as fn(&mut ChangesList),
        |list| drop(list.turns[0].changes.remove(1)),
        |list| drop(list.turns.remove(0)),
    ] {
        let mut person = with_list();
        person.press("Rwhy");
        let mut other = list();
        disturb(&mut other);
        person.happens(Event::Listed(other));
        see(&mut person);
        assert_eq!(acts(person.key(KeyCode::Enter)), []);
        let said = line(&person);
        assert!(said.contains("R goes on with your reason"), "{said}");
    }
    // Nor by an Enter in what is pasted.
    let mut person = with_list();
    person.press("R");
    person.happens(Event::Pasted("one\ntwo".to_owned()));
    assert_eq!(line(&person), "reason for taking back 8.2: one\ntwo▏");
    let mut press = person.press_of(KeyCode::Enter);
    press.is_in_burst = true;
    assert_eq!(acts(person.happens(person.event(press))), []);
    assert!(line(&person).contains("Enter again takes it back"));
}

/// One key is not to keep, or to take back, files that nobody has looked at; nor is one that is pressed again and again.
#[test]
fn a_turn_of_several_files_is_decided_by_an_answer() {
    for (key, question, act) in [
        (
            'a',
            "turn 8: 2 or more files are unseen: y keeps them all",
            ChangesAct::Keep(meant("8", "t8")),
        ),
        (
            'r',
            "turn 8: y takes 2 or more files back",
            ChangesAct::TakeBack(Part {
                meant: meant("8", "t8"),
                ..Part::default()
            }),
        ),
    ] {
        let mut person = with_list();
        person.press("g");
        for _ in 0..3 {
            assert_eq!(acts(person.press(&key.to_string())), []);
            assert_eq!(person.message(), question);
        }
        // Another key is no answer, nor is one after it.
        assert_eq!(acts(person.press("jky")), []);
        assert_eq!(acts(person.press(&key.to_string())), []);
        // The turn has become another one: that is asked.
        let mut newer = list();
        newer.turns[0]
            .changes
            .push(change("8.4", "unseen", Some(1)));
        person.happens(Event::Listed(newer));
        assert_eq!(acts(person.press("y")), []);
        assert_ne!(person.message(), question);
        person.happens(Event::Listed(list()));
        assert_eq!(acts(person.press("y")), []);
        assert_eq!(person.message(), question);
        // So is a file of it that was written anew.
        let mut rewritten = list();
        rewritten.turns[0].revision = "later".to_owned();
        person.happens(Event::Listed(rewritten));
        assert_eq!(acts(person.press("y")), []);
        person.happens(Event::Listed(list()));
        assert_eq!(acts(person.press("y")), []);
        assert_eq!(acts(person.press("y")), [act]);
    }
}

/// `n a n a` without a pause keeps what nobody can have read.
#[test]
fn keys_that_follow_each_other_too_fast_decide_nothing() {
    let mut person = with_list();
    let mut kept = Vec::new();
    for key in "nananana".chars() {
        person.now += Duration::from_millis(50);
        let press = person.press_of(KeyCode::Char(key));
        kept.extend(acts(person.happens(person.event(press))));
    }
    assert_eq!(kept, []);
    assert!(person.message().starts_with("the cursor is here only now"));
}

#[test]
fn looking_at_a_line_needs_no_time_but_deciding_does() {
    let mut person = with_list();
    let at_once = |person: &mut Person, code| {
        let pressed = person.press_of(code);
        acts(person.happens(person.event(pressed)))
    };
    person.press("k");
    assert_eq!(at_once(&mut person, KeyCode::Char('a')), []);
    assert_eq!(
        person.message(),
        "the cursor is here only now: look at this line, then press again"
    );
    let looks = at_once(&mut person, KeyCode::Enter);
    assert!(matches!(looks[..], [ChangesAct::Look(_)]), "{looks:?}");
}

/// As beside it, in the diff.
#[test]
fn a_key_that_means_nothing_in_the_list_says_so() {
    let mut person = with_list();
    assert_eq!(acts(person.press("v")), []);
    assert_eq!(person.message(), "this key does nothing · ? shows all keys");
}
