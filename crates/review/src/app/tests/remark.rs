//! `R` rejects with a reason, and with nothing that its person did not type and send; notes of `C` go with either decision.

use pillion_protocol::Note;
use pillion_view::Told;

use pillion_view::Proposed;

use super::changes::{change, turn};
use super::*;

fn rejections(effects: &[Effect]) -> Vec<Vec<Note>> {
    let decided = effects.iter().filter_map(|effect| match effect {
        Effect::Decide(decide) => Some(decide),
        _ => None,
    });
    decided
        .map(|decide| {
            assert!(decide.verdict.is_rejection());
            decide.verdict.notes.clone()
        })
        .collect()
}

fn person() -> Person {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    person
}

fn control(person: &mut Person, key: char) -> Vec<Effect> {
    control_within(person, key, false)
}

/// Within a burst of keys, as of a paste.
fn control_within(person: &mut Person, key: char, is_in_burst: bool) -> Vec<Effect> {
    let mut press = person.press_of(KeyCode::Char(key));
    press.key.modifiers = KeyModifiers::CONTROL;
    press.is_in_burst = is_in_burst;
    person.happens(person.event(press))
}

/// The text that the reviewer's editor is opened on, if it is words.
fn in_editor(effects: &[Effect]) -> Option<&str> {
    match effects {
        [
            Effect::Edit {
                proposal: None,
                text: Some(text),
                ..
            },
        ] => Some(text),
        _ => None,
    }
}

#[test]
fn long_words_are_written_in_an_editor_and_are_drafts_at_each_save() {
    let mut person = person();
    person.press("Cwhy");
    assert!(control_within(&mut person, 'e', true).is_empty());
    let refused = "why▏ (pasted text decides nothing here)";
    assert!(line(&person).ends_with(refused), "{}", line(&person));
    assert_eq!(in_editor(&control(&mut person, 'e')), Some("why"));
    let saved = |text: &str| Event::Worded(Edit::Text(text.to_owned()));
    let drafts = |person: &Person| {
        let notes = person.app.words_on(&person.app.views[0]).into_iter();
        notes.map(|note| note.text).collect::<Vec<_>>()
    };
    person.happens(saved("why\n\nnot\tthis?\n"));
    assert_eq!(drafts(&person), ["why\n\nnot\tthis?"]);
    person.happens(saved(&"x".repeat(20_000)));
    assert_eq!(drafts(&person), ["why\n\nnot\tthis?"], "too long");
    person.happens(Event::Worded(Edit::Unchanged));
    assert_eq!(drafts(&person), ["why"], "as it was");
    person.happens(Event::Worded(Edit::Failed("cannot start x".into())));
    assert!(line(&person).ends_with("why▏ (cannot start x)"));
    person.press("!");
    assert!(line(&person).ends_with("why!▏"), "{}", line(&person));
    // A diff that goes meanwhile takes nothing of it along.
    control(&mut person, 'e');
    person.close(person.shown()).unwrap();
    person.happens(saved("why not\n"));
    let effects = person.key(KeyCode::Esc);
    let kept = |it: &Effect| matches!(it, Effect::Keep { text, .. } if text == "why not");
    assert!(effects.iter().any(kept), "{effects:?}");
}

/// Of the list as well, but not of what has one line.
#[test]
fn what_is_searched_for_is_not_written_in_an_editor() {
    let mut person = person();
    person.press("/ab");
    person.key(KeyCode::Left);
    assert!(control(&mut person, 'e').is_empty());
    assert_eq!(line(&person), "search: ab▏");
    person.key(KeyCode::Esc);
    person.happens(Event::Listed(ChangesList {
        turns: vec![turn("7", vec![change("7.1", "unseen", None)])],
        ..ChangesList::default()
    }));
    person.press("SCa");
    assert_eq!(in_editor(&control(&mut person, 'e')), Some("a"));
    person.happens(Event::Worded(Edit::Text("all of it\n".into())));
    assert!(line(&person).ends_with(": all of it▏"), "{}", line(&person));
}

fn line(person: &Person) -> String {
    person.app.line().map_or_else(String::new, |(text, _)| text)
}

#[test]
fn what_is_typed_goes_along_and_keys_mean_nothing_else_meanwhile() {
    let mut person = person();
    person.press("R");
    assert_eq!(line(&person), "reason for rejecting a.txt: ▏");
    // Each of these would do something to the diff.
    assert!(person.press("a r q?zoe 1").is_empty());
    assert_eq!(line(&person), "reason for rejecting a.txt: a r q?zoe 1▏");
    let message = "Gemini CLI gets your note".to_owned();
    let clipboard = None;
    person.ruling = Some(Ruling::Settled(Some(Told { message, clipboard })));
    let effects = person.key(KeyCode::Enter);
    assert_eq!(rejections(&effects), [[Note::on_all("a r q?zoe 1")]]);
    assert_eq!(
        person.message(),
        "rejected a.txt: Gemini CLI gets your note"
    );
    assert!(person.app.views.is_empty() && person.app.enter_and_esc_do().is_none());
}

#[test]
fn a_line_can_be_corrected_and_left_and_gone_on_with() {
    let mut person = person();
    person.press("Rone two  thré");
    person.key(KeyCode::Backspace);
    assert_eq!(line(&person), "reason for rejecting a.txt: one two  thr▏");
    control(&mut person, 'w');
    assert_eq!(line(&person), "reason for rejecting a.txt: one two  ▏");
    control(&mut person, 'w');
    assert_eq!(line(&person), "reason for rejecting a.txt: one ▏");
    control(&mut person, 'c');
    assert_eq!(line(&person), "");
    person.press("R");
    assert_eq!(line(&person), "reason for rejecting a.txt: one ▏");
    person.key(KeyCode::Esc);
    // As ever, and without a reason.
    assert_eq!(rejections(&person.press("r")), [Vec::new()]);
}

#[test]
fn a_paste_keeps_its_lines_and_sends_nothing() {
    let mut person = person();
    person.press("R");
    let pasted =
        "no\r\n\trm\u{1b}[1;31m\u{9b}A\u{1b}]0;title\u{7}\u{1b}Pq\u{1b}\\\0 v[0]\u{1b}]x\r";
    let effects = person.happens(Event::Pasted(pasted.into()));
    assert!(effects.is_empty());
    // In a terminal that does not mark what is pasted.
    let mut enter = person.press_of(KeyCode::Enter);
    enter.is_in_burst = true;
    assert!(person.happens(person.event(enter)).is_empty());
    assert_eq!(
        line(&person),
        "reason for rejecting a.txt: no\n\trm v[0]x\n\n▏ (pasted text decides nothing here: Enter again rejects)"
    );
    for (key, pasted, shown) in [
        ("R", "one\r\n\ttwo\rthree\n", "one\n\ttwo\nthree\n▏"),
        ("/", "one\r\n\ttwo\rthree\n", "one  two three ▏"),
    ] {
        let mut person = self::person();
        person.press(key);
        person.happens(Event::Pasted(pasted.into()));
        assert!(line(&person).contains(shown), "{}", line(&person));
    }
    person.happens(Event::Pasted("x".repeat(20_000)));
    let effects = person.key(KeyCode::Enter);
    assert_eq!(rejections(&effects)[0][0].text.len(), 10_000);
}

#[test]
fn a_newer_proposal_is_not_rejected_for_the_reason_of_the_former() {
    let mut person = person();
    let id = person.shown();
    person.press("Rno");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
    person.wait(1_000);
    assert!(rejections(&person.key(KeyCode::Enter)).is_empty());
    assert_eq!(
        person.message(),
        "a newer proposal is there: look at it; R goes on with your reason"
    );
    person.press("R");
    assert_eq!(line(&person), "reason for rejecting a.txt: no▏");
    assert_eq!(
        rejections(&person.key(KeyCode::Enter)),
        [[Note::on_all("no")]]
    );
}

#[test]
fn a_reason_that_is_refused_or_whose_diff_goes_is_kept_as_long_as_the_diff() {
    let mut person = person();
    let id = person.open_now("b.txt", Some("a\n"), "b\n");
    person.press("Rno");
    person.ruling = Some(doubted("this is doubted"));
    person.key(KeyCode::Enter);
    person.press("R");
    assert_eq!(line(&person), "reason for rejecting a.txt: no▏");
    let first = person.shown();
    let _ = person.close(first);
    assert_eq!(person.shown(), id);
    // Whoever types goes on typing: nothing of it is a key of the next diff.
    person.wait(2_000);
    assert_eq!(outcomes(person.press(", drop it: a r za")), []);
    assert_eq!(
        line(&person),
        "the diff of a.txt is gone, your words are kept: no, drop it: a r za▏"
    );
    let effects = person.key(KeyCode::Enter);
    assert!(
        matches!(&effects[..], [Effect::Keep { text, .. }] if text == "no, drop it: a r za"),
        "{effects:?}"
    );
    assert!(person.app.enter_and_esc_do().is_none());
    assert_eq!(person.app.views.len(), 1);
}

#[test]
fn what_no_agent_takes_goes_to_the_clipboard() {
    let mut person = person();
    person.press("Rno");
    let (message, clipboard) = ("it is on the clipboard".to_owned(), Some("no".to_owned()));
    person.ruling = Some(Ruling::Settled(Some(Told { message, clipboard })));
    let effects = person.key(KeyCode::Enter);
    assert!(
        effects
            .iter()
            .any(|it| matches!(it, Effect::Copy(text) if text == "no"))
    );
}

const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// Line 1 is another one, three are added after line 4, and line 8 goes.
const NEW: &str = "one\n2\n3\n4\nx\ny\nz\n5\n6\n7\n9\n";

fn noted(effects: &[Effect]) -> (Option<String>, Vec<(u32, u32, String)>) {
    let decide = effects.iter().find_map(|effect| match effect {
        Effect::Decide(decide) => Some(&decide.verdict),
        _ => None,
    });
    let verdict = decide.expect("it is decided");
    let content = match &verdict.decision {
        Decision::Accept { content } => content.clone(),
        Decision::Reject => None,
    };
    let notes = verdict.notes.iter().map(|note| {
        let lines = note.lines.unwrap();
        (lines.first, lines.last, note.text.clone())
    });
    (content, notes.collect())
}

#[test]
fn notes_on_hunks_go_with_an_acceptance_at_the_lines_that_they_have_then() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(OLD), NEW);
    person.press("C");
    assert_eq!(line(&person), "note on line 1 of a.txt: ▏");
    person.press("why");
    assert!(person.key(KeyCode::Enter).is_empty());
    assert_eq!(
        person.message(),
        "the agent gets your note when you accept or reject"
    );
    person.press("nC");
    assert_eq!(line(&person), "note on lines 5 to 7 of a.txt: ▏");
    person.press("too much");
    // What is left is kept, as what is sent is.
    person.key(KeyCode::Esc);
    person.press("nCgone");
    person.key(KeyCode::Enter);
    person.wait(10_000);
    assert_eq!(
        line(&person),
        "your note on the line removed at line 11: gone"
    );
    person.press("pC");
    assert_eq!(line(&person), "note on lines 5 to 7 of a.txt: too much▏");
    person.key(KeyCode::Enter);
    // The added lines are taken out: what stands there is line 5 of the file.
    person.press(" ");
    let (content, notes) = noted(&person.press("a"));
    assert_eq!(content.unwrap(), "one\n2\n3\n4\n5\n6\n7\n9\n");
    let expected = [
        (0, 0, "why"),
        (4, 4, "too much"),
        (7, 7, "(on `8`, which is removed) gone"),
    ];
    let expected = expected.map(|(first, last, text)| (first, last, text.to_owned()));
    assert_eq!(notes, expected);
}

#[test]
fn notes_go_with_a_rejection_beside_its_reason_and_an_empty_one_is_none() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(OLD), NEW);
    person.press("Cwhy");
    person.key(KeyCode::Enter);
    person.press("nCno");
    person.key(KeyCode::Enter);
    person.press("C");
    person.key(KeyCode::Backspace);
    person.key(KeyCode::Backspace);
    person.key(KeyCode::Enter);
    assert_eq!(person.message(), "there is no note on this hunk");
    person.press("Rall of it");
    let rejected = rejections(&person.key(KeyCode::Enter)).remove(0);
    assert_eq!(rejected[0], Note::on_all("all of it"));
    assert_eq!((rejected.len(), &*rejected[1].text), (2, "why"));
    // By `r`, too.
    person.open("b.txt", Some(OLD), NEW);
    person.press("Cwhy");
    person.key(KeyCode::Enter);
    let (content, notes) = noted(&person.press("r"));
    assert_eq!((content, notes), (None, vec![(0, 0, "why".to_owned())]));
}

#[test]
fn a_note_stays_at_its_lines_in_a_newer_proposal_and_is_not_lost_without_a_word() {
    let mut person = Person::new(120, 24);
    person.open("a.txt", Some(OLD), NEW);
    let id = person.shown();
    person.press("nCno");
    person.key(KeyCode::Enter);
    let newer = NEW.replace("one\n", "one\nand\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(OLD), &newer);
    person.wait(10_000);
    assert_eq!(line(&person), "your note on lines 6 to 8: no");
    person.close(id).unwrap();
    assert!(
        person.message().ends_with("was not told your notes: no"),
        "{}",
        person.message()
    );
}

#[test]
fn a_newer_proposal_or_none_takes_no_note_away_that_is_being_typed() {
    let mut person = Person::new(120, 24);
    person.open("a.txt", Some(OLD), NEW);
    let id = person.shown();
    person.press("nCno");
    person.key(KeyCode::Enter);
    // It is changed while a newer proposal comes, whose lines are others.
    person.press("C!");
    let newer = NEW.replace("one\n", "one\nand\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(OLD), &newer);
    assert_eq!(line(&person), "note on lines 6 to 8 of a.txt: no!▏");
    person.key(KeyCode::Enter);
    person.wait(10_000);
    assert_eq!(line(&person), "your note on lines 6 to 8: no!");
    assert_eq!(person.app.views[0].hunk_notes.len(), 1);
    // It is said as far as it was typed when the agent closes the diff in the middle.
    person.press("C?");
    person.close(id).unwrap();
    assert!(
        person.message().ends_with("was not told your notes: no!?"),
        "{}",
        person.message()
    );
    assert!(person.key(KeyCode::Esc).is_empty(), "all of it was kept");
    assert_eq!(person.app.enter_and_esc_do(), None);
}

/// What was kept of the words while they were typed comes back with the newer proposal.
#[test]
fn what_was_kept_of_a_note_that_is_being_typed_is_no_other_note() {
    let mut person = Person::new(120, 24);
    person.open("a.txt", Some(OLD), NEW);
    let id = person.shown();
    person.press("nCab");
    let kept = person.app.words_on(&person.app.views[0]);
    let newer = NEW.replace("one\n", "one\nand\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(OLD), &newer);
    let key = Proposed::key(&person.app.views[0]);
    person.happens(Event::Noted(key, kept));
    person.press("out");
    person.key(KeyCode::Enter);
    person.wait(10_000);
    assert_eq!(line(&person), "your note on lines 6 to 8: about");
    assert_eq!(person.app.views[0].hunk_notes.len(), 1);
}

/// The line that it was typed on says what it is about.
#[test]
fn a_note_on_a_line_that_is_no_more_says_which_it_was() {
    let mut person = Person::new(120, 24);
    let before = "1\n2\n3\n4\n5\n";
    person.open("a.txt", Some(before), "1\n2\nthree\n4\n5\n");
    let id = person.shown();
    person.press("nCwhy");
    person.key(KeyCode::Enter);
    let says = |person: &Person| person.app.views[0].notes(true)[0].text.clone();
    assert_eq!(says(&person), "why");
    for (newer, expected) in [
        ("0\n1\n2\nthree\n4\n5\n", "why"),
        (
            "1\n2\n4\n5\n",
            "(typed on `three`, which has changed since) why",
        ),
        (
            "1\n2\nthree\n4\n5\n",
            "(typed on `three`, which has changed since) why",
        ),
    ] {
        person.propose(id, Dialect::GeminiCli, "a.txt", Some(before), newer);
        assert_eq!(says(&person), expected, "{newer:?}");
    }
}

#[test]
fn notes_outlive_a_refusal_and_are_sent_once() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(OLD), NEW);
    person.press("Cwhy");
    person.key(KeyCode::Enter);
    person.ruling = Some(doubted("this is doubted"));
    assert!(person.press("a").is_empty());
    assert!(person.message().starts_with("this is doubted: y "));
    assert_eq!(person.app.views[0].hunk_notes.len(), 1);
    // As the question is answered, once it has been read.
    person.wait(2_000);
    let (_, notes) = noted(&person.press("y"));
    assert_eq!(notes, [(0, 0, "why".to_owned())]);
    assert!(!person.message().contains("was not told"));
    // The next diff has none.
    person.open("b.txt", Some(OLD), NEW);
    assert_eq!(noted(&person.press("a")).1, []);
}

#[test]
fn an_enter_that_was_pasted_keeps_no_note_and_all_notes_have_one_limit() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(OLD), NEW);
    person.press("C");
    person.happens(Event::Pasted("no\r".into()));
    assert_eq!(
        line(&person),
        "note on line 1 of a.txt: no\n▏ (pasted text decides nothing here: Enter again keeps it)"
    );
    let mut enter = person.press_of(KeyCode::Enter);
    enter.is_in_burst = true;
    person.happens(person.event(enter));
    assert_eq!(
        line(&person),
        "note on line 1 of a.txt: no\n\n▏ (pasted text decides nothing here: Enter again keeps it)"
    );
    person.happens(Event::Pasted("x".repeat(9_000)));
    person.key(KeyCode::Enter);
    person.press("nC");
    person.happens(Event::Pasted("y".repeat(9_000)));
    person.key(KeyCode::Enter);
    // The first one can still be changed, as far as there is room.
    person.press("pC");
    person.key(KeyCode::Backspace);
    person.press("zz");
    person.key(KeyCode::Enter);
    let lengths = noted(&person.press("a")).1;
    let lengths: usize = lengths.iter().map(|(_, _, text)| text.len()).sum();
    assert_eq!(lengths, 10_000);
}

#[test]
fn what_is_written_is_taken_back_with_a_reason_and_left_without_one() {
    for (written, typed, asked, said) in [
        (
            None,
            "no",
            "reason for rejecting a.txt: ▏",
            "rejected a.txt: told",
        ),
        (
            Some("7.2"),
            "no",
            "reason for taking back a.txt: ▏",
            "a.txt: told",
        ),
        (
            Some("7.2"),
            " ",
            "reason for taking back a.txt: ▏",
            "rejected a.txt, which stays unseen",
        ),
    ] {
        let mut person = Person::new(80, 24);
        person.written = written.map(str::to_owned);
        person.open("a.txt", Some("a\n"), "b\n");
        person.press("R");
        assert_eq!(line(&person), asked);
        let does = person.app.enter_and_esc_do().unwrap().0;
        assert_eq!(does == "take back", written.is_some());
        for letter in typed.chars() {
            person.key(KeyCode::Char(letter));
        }
        let is_reason = !typed.trim().is_empty();
        person.ruling = is_reason.then(|| {
            let message = "told".to_owned();
            let clipboard = None;
            Ruling::Settled(Some(Told { message, clipboard }))
        });
        let effects = person.key(KeyCode::Enter);
        let notes: &[Note] = if is_reason {
            &[Note::on_all("no")]
        } else {
            &[]
        };
        assert_eq!(rejections(&effects), [notes]);
        assert_eq!(person.message(), said);
    }
}

/// As in a shell: what is typed lands at the cursor, by letters and by words.
#[test]
fn words_are_edited_where_the_cursor_is() {
    let control = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
    let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
    let by_word = |code| KeyEvent::new(code, KeyModifiers::CONTROL);
    for (keys, expected) in [
        (
            vec![plain(KeyCode::Left), plain(KeyCode::Backspace)],
            "one t▏e",
        ),
        (
            vec![plain(KeyCode::Home), plain(KeyCode::Delete)],
            "▏ne twe",
        ),
        (vec![by_word(KeyCode::Left), control('k')], "one ▏"),
        (vec![control('a'), by_word(KeyCode::Right)], "one ▏twe"),
        (vec![control('w')], "one ▏"),
        (vec![control('w'), control('a'), control('y')], "twe▏one "),
        (vec![control('b'), control('u')], "▏e"),
        (vec![plain(KeyCode::Home), plain(KeyCode::End)], "one twe▏"),
    ] {
        let mut person = Person::new(80, 24);
        person.open("a.txt", Some(OLD), NEW);
        person.press("Cone twe");
        for key in &keys {
            let press = Pressed {
                key: *key,
                ..person.press_of(KeyCode::Enter)
            };
            person.happens(person.event(press));
        }
        let (line, _) = person.app.line().unwrap();
        assert!(line.ends_with(&format!(": {expected}")), "{keys:?}: {line}");
    }
}

#[test]
fn a_note_has_several_lines_and_what_is_searched_for_has_one() {
    let mut person = Person::new(120, 24);
    person.open("a.txt", Some(OLD), NEW);
    let control = |person: &mut Person, code, modifiers| {
        let key = KeyEvent::new(code, modifiers);
        let pressed = Pressed {
            key,
            ..person.press_of(code)
        };
        person.happens(person.event(pressed))
    };
    person.press("Cone");
    control(&mut person, KeyCode::Enter, KeyModifiers::ALT);
    person.press("two");
    control(&mut person, KeyCode::Char('j'), KeyModifiers::CONTROL);
    person.press("three");
    assert_eq!(line(&person), "note on line 1 of a.txt: one\ntwo\nthree▏");
    person.key(KeyCode::Enter);
    let (_, notes) = noted(&person.press("r"));
    assert_eq!(notes[0].2, "one\ntwo\nthree");
    person.open("b.txt", Some(OLD), NEW);
    person.press("/one");
    control(&mut person, KeyCode::Char('j'), KeyModifiers::CONTROL);
    assert_eq!(line(&person), "search: one▏");
}

#[test]
fn a_note_on_lines_that_are_removed_names_the_line() {
    let two = "(on 2 removed lines, `b` to `c`)";
    let one = "(on `c`, which is removed)";
    for (keys, after, on) in [
        ("nC", "a\nd\n", two),
        ("njC", "a\nd\n", one),
        ("nVjC", "a\nd\n", two),
        // The line that is added in their place is another one.
        ("nuVjC", "a\nnew\nd\n", two),
    ] {
        let mut person = Person::new(120, 24);
        person.open("a.txt", Some("a\nb\nc\nd\n"), after);
        person.press(keys);
        person.press("why");
        person.key(KeyCode::Enter);
        assert!(person.app.selected().is_none(), "the next note is another");
        person.wait(10_000);
        let said = rejections(&person.press("r"));
        let said: Vec<_> = said.iter().flatten().map(|it| &*it.text).collect();
        assert_eq!(said, [format!("{on} why")], "{keys}");
    }
}

#[test]
fn notes_on_what_is_removed_and_on_what_is_added_there_are_two() {
    let mut person = Person::new(120, 24);
    person.open("a.txt", Some("a\nb\nc\nd\n"), "a\nnew\nd\n");
    person.press("uVjCgone");
    person.key(KeyCode::Enter);
    person.press("jCadded");
    person.key(KeyCode::Enter);
    // Each is changed where it stands.
    person.press("kkVjC");
    assert_eq!(
        line(&person),
        "note on 2 lines removed at line 2 of a.txt: gone▏"
    );
    person.key(KeyCode::Esc);
    let (_, notes) = noted(&person.press("a"));
    let expected = [
        (1, 1, "(on 2 removed lines, `b` to `c`) gone".to_owned()),
        (1, 1, "added".to_owned()),
    ];
    assert_eq!(notes, expected);
}
