//! All that was seen is accepted at once: not what was not, and nothing without an answer.

use super::*;

/// Three short diffs, of which the last was not on the screen yet.
fn three() -> Person {
    let mut person = Person::new(80, 24);
    for name in ["a.txt", "b.txt", "c.txt"] {
        person.open(name, Some("a\n"), "b\n");
    }
    person.key(KeyCode::Tab);
    person.wait(1_000);
    person
}

/// All decisions until nothing comes any more.
fn rest(person: &mut Person) -> Vec<Effect> {
    let mut effects = Vec::new();
    while let Some(until) = person
        .app
        .expires()
        .filter(|_| person.app.accepts_next().is_some())
    {
        person.now = until.max(person.now);
        effects.extend(person.happens(Event::Tick));
    }
    effects
}

#[test]
fn what_was_seen_as_a_whole_is_accepted_after_a_question_that_says_how_many() {
    let mut person = three();
    assert_eq!(outcomes(person.press("AAA")), []);
    assert_eq!(
        person.message(),
        "2 diffs have been on the screen as a whole: y accepts them"
    );
    person.wait(700);
    let mut effects = person.press("y");
    assert_eq!(person.app.views.len(), 2, "one after the other");
    effects.extend(rest(&mut person));
    let decided = outcomes(effects);
    assert_eq!(decided.len(), 2, "{decided:?}");
    assert_eq!(person.message(), "accepted 2 diffs");
    assert_eq!(
        person.shown(),
        DiffId(3),
        "what was not seen is still there"
    );
}

#[test]
fn an_answer_before_the_question_was_read_says_so_and_the_next_one_counts() {
    let mut person = three();
    person.press("A");
    let effects = person.press("y");
    let decided = outcomes(effects.into_iter().chain(rest(&mut person)).collect());
    assert_eq!(decided, []);
    let question = "2 diffs have been on the screen as a whole: y accepts them (read this first)";
    assert_eq!(person.message(), question);
    person.wait(700);
    let mut effects = person.press("y");
    effects.extend(rest(&mut person));
    assert_eq!(outcomes(effects).len(), 2);
    assert_eq!(person.message(), "accepted 2 diffs");
}

#[test]
fn the_answer_to_a_question_that_is_gone_does_nothing_else() {
    type Drops = fn(&mut Person);
    let newer: Drops = |it| {
        let id = it.shown();
        it.propose(id, Dialect::GeminiCli, "b.txt", Some("a\n"), "other\n");
    };
    let next: Drops = |it| drop(it.key(KeyCode::Tab));
    let help: Drops = |it| drop(it.press("?q"));
    for drops in [newer, next, help] {
        let mut person = three();
        person.press("A");
        drops(&mut person);
        person.wait(700);
        let copied = |effects: &[Effect]| effects.iter().any(|it| matches!(it, Effect::Copy(_)));
        assert!(!copied(&person.press("y")), "{}", person.message());
        let gone = "nothing is asked any more, and nothing was decided: y again copies";
        assert_eq!(person.message(), gone);
        assert!(copied(&person.press("y")));
    }
    // What is said of another diff waits: the question is there, and is asked again of the one that is left.
    let mut person = three();
    person.press("A");
    let question = person.message().to_owned();
    let shown = person.shown();
    let mut others = { person.app.views.iter() }.map(|view| view.diff.id);
    let other = others.find(|id| *id != shown).unwrap();
    person.propose(other, Dialect::GeminiCli, "a.txt", Some("a\n"), "other\n");
    assert_eq!(person.message(), question);
    person.wait(700);
    let effects = person.press("y");
    assert!(!effects.iter().any(|it| matches!(it, Effect::Copy(_))));
    // Whoever has said no, or has got what they wanted, means to copy.
    let mut person = three();
    person.press("A");
    person.key(KeyCode::Esc);
    assert!(matches!(person.press("y")[..], [Effect::Copy(_)]));
    let mut person = three();
    person.press("A");
    person.wait(700);
    person.press("y");
    rest(&mut person);
    assert!(matches!(person.press("y")[..], [Effect::Copy(_)]));
}

#[test]
fn an_answer_that_comes_too_early_or_in_a_paste_accepts_none() {
    let mut person = three();
    person.press("A");
    let effects = person.press("y");
    let decided = outcomes(effects.into_iter().chain(rest(&mut person)).collect());
    assert_eq!(decided, [], "the question was not read");
    assert_eq!(person.app.views.len(), 3);
    let mut person = three();
    person.press("A");
    person.wait(700);
    let pasted = Pressed {
        is_in_burst: true,
        ..person.press_of(KeyCode::Char('y'))
    };
    let effects = person.happens(person.event(pasted));
    assert_eq!(
        outcomes(effects.into_iter().chain(rest(&mut person)).collect()),
        []
    );
}

#[test]
fn what_is_other_by_then_and_what_the_gate_asks_about_is_left() {
    // A newer proposal comes between the question and the answer: the question is gone.
    let mut person = three();
    person.press("A");
    person.wait(700);
    person.propose(
        DiffId(1),
        Dialect::GeminiCli,
        "a.txt",
        Some("a\n"),
        "other\n",
    );
    let effects = person.press("y");
    let decided = outcomes(effects.into_iter().chain(rest(&mut person)).collect());
    assert_eq!(decided, []);
    person.press("A");
    assert_eq!(
        person.message(),
        "1 diff has been on the screen as a whole: y accepts it"
    );
    // The gate asks about the first: the second is accepted all the same.
    let mut person = three();
    person.press("A");
    person.wait(700);
    person.ruling = Some(doubted("git runs it"));
    let mut effects = person.press("y");
    effects.extend(rest(&mut person));
    assert_eq!(outcomes(effects).len(), 1);
    assert_eq!(
        person.message(),
        "accepted 1 diff; left: a.txt: git runs it"
    );
    // Who does something else meanwhile ends it.
    let mut person = three();
    person.press("A");
    person.wait(700);
    person.press("y");
    person.press("r");
    assert_eq!(person.app.accepts_next(), None);
}

#[test]
fn what_was_only_passed_by_does_not_count() {
    let mut person = Person::new(80, 24);
    for name in ["a.txt", "b.txt"] {
        person.open(name, Some("a\n"), "b\n");
    }
    person.key(KeyCode::Tab);
    person.wait(300);
    person.key(KeyCode::Tab);
    person.wait(1_000);
    assert!(
        person
            .app
            .views
            .iter()
            .all(|view| view.seen_hunks().unseen == 0)
    );
    person.press("A");
    assert_eq!(
        person.message(),
        "1 diff has been on the screen as a whole: y accepts it"
    );
}

#[test]
fn nothing_that_was_seen_in_part_or_changed_on_disk_counts() {
    let mut person = Person::new(80, 12);
    let long: String = (0..50).map(|line| format!("{line}\n")).collect();
    person.open("long.txt", None, &long);
    person.press("A");
    let none = "no pending diff has been on the screen as a whole";
    assert_eq!(person.message(), none);
    let mut person = three();
    for id in [1, 2] {
        person.happens(Event::Disk(DiffId(id), Disk::Changed));
    }
    person.press("A");
    assert_eq!(person.message(), none);
}
