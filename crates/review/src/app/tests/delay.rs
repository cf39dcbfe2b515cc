//! Keys that come too early, are held down or pasted decide nothing.

use super::*;

#[test]
fn a_key_meant_for_a_view_that_vanished_does_not_hit_the_next() {
    let mut person = Person::new(80, 24);
    let first = person.open("a.txt", None, "a\n");
    person.open("b.txt", None, "b\n");
    assert_eq!(person.close(first).as_deref(), Ok("a\n"));
    assert_eq!(outcomes(person.press("ar ")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("r")), rejected(2));
}

#[test]
fn two_accepts_in_a_row_do_not_hit_two_diffs() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", None, "a\n");
    person.open("b.txt", None, "b\n");
    assert_eq!(outcomes(person.press("aa")), accepted(1, "a\n"));
}

/// Holds a key down for three seconds, as a terminal that repeats it 30 times a second.
fn hold(person: &mut Person, key: &str) -> Vec<Effect> {
    let mut effects = person.press(key);
    person.wait(700);
    let code = KeyCode::Char(key.chars().next().unwrap());
    for _ in 0..75 {
        let is_held = true;
        let press = Pressed {
            is_held,
            ..person.press_of(code)
        };
        effects.extend(person.happens(person.event(press)));
        person.wait(33);
    }
    effects
}

#[test]
fn a_held_key_decides_about_one_diff() {
    for key in ["a", "r"] {
        let mut person = Person::new(80, 24);
        for name in 0..12 {
            person.open_now(&format!("{name}.txt"), None, "a\n");
        }
        person.wait(1_000);
        assert_eq!(outcomes(hold(&mut person, key)).len(), 1);
        assert!(person.message().starts_with("key repeat ignored"));
        person.wait(700);
        assert_eq!(outcomes(person.press(key)).len(), 1);
    }
}

#[test]
fn a_held_space_takes_one_hunk_out_and_leaves_it_there() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some(FOUR[0]), FOUR[1]);
    hold(&mut person, " ");
    assert_eq!(person.app.view().unwrap().proposal.count().out, 1);
    assert!(person.message().starts_with("key repeat ignored"));
}

#[test]
fn a_held_key_does_not_answer_the_question_that_it_raised() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    person.press(" ");
    person.ruling = Some(doubted("nothing is left"));
    assert_eq!(outcomes(hold(&mut person, "a")), []);
    let question = "nothing is left: y accepts anyway";
    assert_eq!(person.message(), question);
    person.wait(700);
    assert_eq!(outcomes(person.press("y")), accepted(1, "a\n"));
}

#[test]
fn a_paste_decides_nothing_and_does_not_leave() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    let mut effects = Vec::new();
    for code in "aaaarrrr oeezZqy".chars().map(KeyCode::Char) {
        let is_in_burst = true;
        let press = Pressed {
            is_in_burst,
            ..person.press_of(code)
        };
        effects.extend(person.happens(person.event(press)));
    }
    assert!(effects.is_empty(), "{effects:?}");
    assert_eq!(person.message(), PASTED);
    person.happens(Event::Pasted(String::new()));
    assert_eq!(person.message(), PASTED);
    assert_eq!(person.app.views.len(), 1);
}

#[test]
fn a_repeated_key_decides_nothing_and_does_not_leave() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    let mut press = person.press_of(KeyCode::Char('a'));
    press.is_held = true;
    assert_eq!(outcomes(person.happens(person.event(press))), []);
    person.key(KeyCode::Char('q'));
    let mut press = person.press_of(KeyCode::Char('y'));
    press.is_held = true;
    assert!(!quits(&person.happens(person.event(press))));
}

#[test]
fn a_diff_that_is_not_drawn_yet_is_not_judged_however_long_it_takes() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    let other = person.open("b.txt", Some("a\n"), "b\n");
    let press = |person: &mut Person, code| {
        let press = person.press_of(code);
        person.now += Duration::from_secs(2);
        person.happens_undrawn(person.event(press))
    };
    // Another view comes up, the former one closes, the text is compared anew.
    press(&mut person, KeyCode::Tab);
    assert_eq!(person.shown(), other);
    assert_eq!(outcomes(press(&mut person, KeyCode::Char('a'))), []);
    person.wait(700);
    let closed = Reply::new(|_| ());
    let reason = CloseReason::ClosedByAgent;
    person.happens_undrawn(Event::Closed {
        id: other,
        reason,
        closed,
    });
    assert_eq!(person.shown(), id);
    assert_eq!(outcomes(press(&mut person, KeyCode::Char('r'))), []);
    person.wait(700);
    person.happens_undrawn(Event::Reread(id, Ok(Some("c\n".into()))));
    assert_eq!(outcomes(press(&mut person, KeyCode::Char('a'))), []);
    person.wait(700);
    person.happens_undrawn(Event::Edited(id, Edit::Text("mine\n".into())));
    assert_eq!(outcomes(press(&mut person, KeyCode::Char('a'))), []);
    person.happens(Event::Tick);
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "mine\n"));
}

#[test]
fn a_diff_that_was_covered_or_gone_from_the_terminal_is_looked_at_again() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    for cover in ["?", "q"] {
        person.press(cover);
        person.wait(1_000);
        person.key(KeyCode::Esc);
        assert_eq!(outcomes(person.press("a")), []);
        person.wait(700);
    }
    person.happens(Event::Resumed(Size::new(80, 24)));
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(700);
    person.happens(Event::Resized(Size::new(30, 5)));
    person.wait(1_000);
    assert_eq!(outcomes(person.press("a")), [], "nothing is shown of it");
    person.happens(Event::Resized(Size::new(80, 24)));
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "b\n"));
}

#[test]
fn nothing_is_judged_while_texts_are_compared_and_closing_answers_with_the_newest() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "old\n");
    let diff = Diff {
        id,
        revision: 9,
        proposer: Dialect::GeminiCli.into(),
        number: 1,
        path: PathBuf::from("/work/shop/a.txt"),
        original: Default::default(),
        proposed: "newer\n".to_owned().into(),
        notes: Vec::new(),
        hunks: Vec::new(),
        set: None,
        deletes: false,
        original_is_other: false,
        written: None,
        is_unclear: false,
        is_of_subagent: false,
        runner: None,
        mode: None,
    };
    let opened = Event::Opened {
        diff,
        original: Some("a\n".into()),
        shown: Reply::new(|_| ()),
    };
    let mut effects = person.app.update(opened, person.now);
    let Some(Effect::Compare(job)) = effects.pop() else {
        panic!("{effects:?}");
    };
    person.app.drawn(person.now);
    for ms in [0, 500, 5_000] {
        person.wait(ms);
        person.happens(Event::Resized(Size::new(100, 30)));
        assert_eq!(outcomes(person.press("ar ")), []);
    }
    // The reviewer's editor ends meanwhile, and its text waits for its turn.
    person.happens(Event::Edited(id, Edit::Text("mine\n".into())));
    assert!(person.app.view().unwrap().is_comparing());
    let compared = person.app.update(Event::Compared(job.run()), person.now);
    assert!(matches!(
        &compared[..],
        [Effect::Shown(_), Effect::Compare(_)]
    ));
    assert_eq!(outcomes(person.press("a")), []);
    assert_eq!(person.close(id).as_deref(), Ok("mine\n"));
}

#[test]
fn a_newer_proposal_is_not_judged_unseen() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
    assert_eq!(person.app.views.len(), 1);
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "c\n"));
}

#[test]
fn a_decision_names_the_proposal_that_was_seen() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
    person.wait(700);
    let effects = person.press("a");
    assert!(matches!(&effects[..], [Effect::Decide(it)] if it.key.revision == 2));
}
