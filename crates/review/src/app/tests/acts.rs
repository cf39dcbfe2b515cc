//! Commands on other keys: what decides, what asks and answers, and what is typed.

use pillion_judge::keys::Keys;
use pillion_view::changes::ChangesAct;

use super::changes::{acts as listed, with_list};
use super::*;

fn keys(text: &str) -> Keys {
    Keys::read(text).unwrap()
}

#[test]
fn a_question_is_asked_and_answered_by_the_keys_that_the_person_chose() {
    for (accept, answer) in [("ö", "ü"), ("y", "a"), ("?", "!")] {
        let mut person = Person::new(80, 24);
        // Each key is free in its place, whatever it was.
        let free = "keep = \"K\"\nhelp = \"F1\"\ncopy = \"F5\"\n";
        person.app.keys = keys(&format!("{free}accept = {accept:?}\nanswer = {answer:?}"));
        person.open("a.txt", Some("a\n"), "b\n");
        person.ruling = Some(doubted("it runs code"));
        assert_eq!(outcomes(person.press(accept)), []);
        let question = format!("it runs code: {answer} accepts anyway");
        assert_eq!(person.message(), question);
        // Who taps the key that asked has not read it.
        assert_eq!(outcomes(person.press(&accept.repeat(3))), []);
        assert_eq!(person.message(), question);
        person.wait(700);
        assert_eq!(outcomes(person.press(answer)), accepted(1, "b\n"));
    }
}

#[test]
fn a_key_that_decides_elsewhere_is_no_held_key_and_no_paste() {
    for (is_in_burst, is_held) in [(true, false), (false, true)] {
        let mut person = Person::new(80, 24);
        person.app.keys = keys("reject = \"ö\"\nexclude = \"Ö\"");
        person.open("a.txt", Some("a\n"), "b\n");
        for key in "öÖ".chars() {
            let pressed = Pressed {
                is_in_burst,
                is_held,
                ..person.press_of(KeyCode::Char(key))
            };
            assert_eq!(outcomes(person.happens(person.event(pressed))), []);
        }
        assert_eq!(person.app.view().unwrap().proposal.count().out, 0);
        assert_eq!(outcomes(person.press("r")), [], "it has no meaning now");
        assert_eq!(outcomes(person.press("ö")), rejected(1));
    }
}

#[test]
fn the_list_keeps_and_takes_back_by_the_keys_that_the_person_chose() {
    let mut person = with_list();
    person.app.keys = keys("keep = \"ö\"\ntake-back = \"ü\"\nopen = \"Right\"");
    let acts = |person: &mut Person, key| listed(person.press(key));
    assert_eq!(acts(&mut person, "a"), []);
    assert_eq!(acts(&mut person, "r"), []);
    assert!(matches!(acts(&mut person, "ö")[..], [ChangesAct::Keep(_)]));
    assert!(matches!(
        acts(&mut person, "ü")[..],
        [ChangesAct::TakeBack(_)]
    ));
    let opened = listed(person.key(KeyCode::Right));
    assert!(matches!(opened[..], [ChangesAct::Look(_)]));
}

#[test]
fn words_are_typed_with_the_keys_of_commands() {
    let mut person = Person::new(80, 24);
    person.app.keys = keys("accept = \"ö\"\nnote = \"#\"");
    person.open("a.txt", Some("a\n"), "b\n");
    assert_eq!(outcomes(person.press("#aörq?")), []);
    let (line, _) = person.app.line().unwrap();
    assert_eq!(line, "note on line 1 of a.txt: aörq?▏");
}

#[test]
fn selected_lines_are_taken_out_and_noted_by_themselves() {
    let mut person = Person::new(100, 24);
    person.app.be_plain();
    person.open("a.txt", Some("a\nb\nc\nd\n"), "a\nB\nC\nd\n");
    person.wait(700);
    // In one column: -b, -c, +B, +C.
    person.press("V");
    assert_eq!(person.app.selected(), Some(1..2));
    person.press("j");
    assert_eq!(person.app.selected(), Some(1..3));
    person.press(" ");
    assert_eq!(person.app.selected(), None);
    let proposal = &person.app.view().unwrap().proposal;
    assert_eq!(proposal.count().out, 1);
    assert_eq!(proposal.text(), "a\nb\nc\nB\nC\nd\n");
    person.press("z");
    assert_eq!(person.app.view().unwrap().proposal.text(), "a\nB\nC\nd\n");
    // Esc ends it, and so does what arranges the rows anew.
    person.press("VjG");
    assert_eq!(person.app.selected(), Some(2..6), "from the cursor on");
    person.key(KeyCode::Esc);
    assert_eq!(person.app.selected(), None);
    person.press("Vu");
    assert_eq!(person.app.selected(), None);
    // A note on lines is on those.
    person.press("ugjVjjj");
    person.press("C");
    person.press("why");
    person.key(KeyCode::Enter);
    let notes = person.app.view().unwrap().notes(true);
    let lines = notes[0].lines.unwrap();
    assert_eq!((lines.first, lines.last, &*notes[0].text), (1, 2, "why"));
}

#[test]
fn a_hunk_is_split_at_the_cursor_or_at_what_is_selected() {
    let mut person = Person::new(120, 24);
    person.open("a.txt", Some("a\n1\n2\n3\nd\n"), "a\nI\nII\nIII\nd\n");
    person.wait(700);
    let hunks = |person: &Person| {
        let hunks = person.app.view().unwrap().proposal.hunks().iter();
        hunks.map(|it| it.after.clone()).collect::<Vec<_>>()
    };
    person.press("s");
    let nothing = "nothing to split off: put the cursor below the first line of the hunk";
    assert_eq!(person.message(), nothing);
    person.press("js");
    assert_eq!(hunks(&person), [1..2, 2..4]);
    assert_eq!(person.app.view().unwrap().seen_hunks().unseen, 0);
    // The cursor stays, and what begins there goes out by itself.
    person.press(" ");
    assert_eq!(
        person.app.view().unwrap().proposal.text(),
        "a\nI\n2\n3\nd\n"
    );
    person.press("z");
    assert_eq!(person.message(), "undone: included again · Z redoes it");
    person.press("z");
    assert_eq!(
        person.message(),
        "splitting the hunk was undone · Z redoes it"
    );
    assert_eq!(hunks(&person).first(), Some(&(1..4)));
    // What is selected becomes a hunk, neither out nor in, and in the middle three are made.
    person.press("Vs");
    assert_eq!(hunks(&person), [1..2, 2..3, 3..4]);
    assert_eq!(person.app.view().unwrap().proposal.count().out, 0);
    assert_eq!(
        outcomes(person.press("a")),
        accepted(1, "a\nI\nII\nIII\nd\n")
    );
}

#[test]
fn a_hunk_is_split_at_the_cursor_in_one_column_too() {
    let mut person = Person::new(60, 24);
    person.open("a.txt", Some("a\n1\n2\nd\n"), "a\nI\nII\nd\n");
    person.wait(700);
    // -1, -2, +I, +II: what is removed goes with what is above.
    person.press("jjjs ");
    assert_eq!(person.app.view().unwrap().proposal.text(), "a\nI\nd\n");
    person.press("zzks ");
    assert_eq!(person.app.view().unwrap().proposal.text(), "a\nd\n");
}

#[test]
fn a_change_is_staged_from_the_list_and_nothing_of_a_proposal() {
    let mut person = with_list();
    person.press("j");
    let acts = listed(person.press("+"));
    let [ChangesAct::Stage(part)] = &acts[..] else {
        panic!("{acts:?}");
    };
    assert!(part.meant.id.is_some() && part.lines.is_none());
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    person.wait(700);
    assert_eq!(listed(person.press("+")), []);
    assert!(
        person.message().contains("nothing is written yet"),
        "{}",
        person.message()
    );
}

#[test]
fn undoing_says_what_comes_back_until_the_next_command() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(FOUR[0]), FOUR[1]);
    person.wait(700);
    person.press("  z");
    assert_eq!(person.message(), "undone: excluded again · Z redoes it");
    person.press("j");
    assert_eq!(person.app.line(), None);
    person.press("z");
    assert_eq!(person.message(), "undone: included again · Z redoes it");
    person.press("Z");
    assert_eq!(person.message(), "redone: excluded again");
    // What is done now is in place of what was undone.
    person.press("z");
    person.press("n ");
    person.press("zz");
    assert_eq!(person.message(), "nothing is to be undone");
    assert_eq!(person.app.view().unwrap().proposal.count().out, 0);
}

/// What was done last is undone first, whichever kind it is of.
#[test]
fn a_note_is_undone_in_its_turn() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(FOUR[0]), FOUR[1]);
    person.wait(700);
    let state = |person: &Person| {
        let view = person.app.view().unwrap();
        let notes = view.hunk_notes.iter().map(|it| it.text.clone());
        (view.proposal.count().out, notes.collect::<Vec<_>>())
    };
    let mut states = vec![state(&person)];
    for keys in [" ", "Cone", "Cmore", "n ", "p "] {
        person.press(keys);
        if keys.starts_with('C') {
            person.key(KeyCode::Enter);
        }
        states.push(state(&person));
    }
    assert_eq!(states[3], (1, vec!["onemore".to_owned()]));
    // A note that is left as it was is no act.
    person.press("C");
    person.key(KeyCode::Esc);
    for expected in states.iter().rev().skip(1) {
        person.press("z");
        assert_eq!(state(&person), *expected);
    }
    for expected in &states[1..] {
        person.press("Z");
        assert_eq!(state(&person), *expected);
    }
    person.press("zzz");
    let message = "undone: your note is as it was · Z redoes it";
    assert_eq!(person.message(), message);
}

/// Also where the next file is shown by then; what was done there since is undone first.
#[test]
fn a_decision_about_what_is_written_is_undone_in_its_turn() {
    let is_undo = |effects: &[Effect]| matches!(effects, [Effect::Act(ChangesAct::Undo(None), _)]);
    for is_last_file in [true, false] {
        let mut person = Person::new(80, 24);
        person.written = Some("1.1".to_owned());
        person.open("a.txt", Some("1\n"), "2\n");
        person.written = None;
        if !is_last_file {
            person.open("b.txt", Some("1\n"), "2\n");
        }
        person.press("a");
        assert_eq!(person.app.views.len(), usize::from(!is_last_file));
        person.wait(1_000);
        if !is_last_file {
            person.press("  ");
            assert!(!is_undo(&person.press("z")));
            assert!(!is_undo(&person.press("z")));
        }
        let effects = person.press("z");
        assert!(is_undo(&effects), "{effects:?}");
        assert!(!is_undo(&person.press("z")));
        assert!(person.message().contains(if is_last_file {
            "no diff is open"
        } else {
            "nothing is to be undone"
        }));
    }
    // What is not written is the agent's once it is accepted, and nothing older is undone for it.
    let mut person = Person::new(80, 24);
    for written in [Some("1.1"), None, None] {
        person.written = written.map(str::to_owned);
        person.open("a.txt", Some("1\n"), "2\n");
    }
    for _ in 0..2 {
        person.wait(1_000);
        person.press("a");
    }
    person.wait(1_000);
    assert!(!is_undo(&person.press("z")));
}
