//! The fate of the reviewer's own edits.

use super::*;

#[test]
fn the_editor_opens_at_the_line_of_the_hunk_as_the_text_stands() {
    let mut person = Person::new(80, 24);
    let [before, after] = FOUR;
    person.open("a.txt", Some(before), &format!("plus\nplus\n{after}"));
    let line = |person: &mut Person| match &person.press("e")[..] {
        [Effect::Edit { line, .. }] => *line,
        other => panic!("{other:?}"),
    };
    assert_eq!(line(&mut person), 1);
    person.press("nn");
    assert_eq!(line(&mut person), 11);
    person.press("pp nn");
    assert_eq!(line(&mut person), 9, "what is out takes no lines");
}

#[test]
fn an_edit_is_accepted_and_can_be_taken_back() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.press("e");
    person.happens(Event::Edited(id, Edit::Text("mine".into())));
    // What was typed while the editor closed is not a judgement.
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(700);
    person.press("z");
    assert_eq!(person.app.view().unwrap().proposal.text(), "b\n");
    person.press("Z");
    assert_eq!(outcomes(person.press("a")), accepted(1, "mine"));
}

#[test]
fn edits_are_not_rejected_by_a_slip() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.happens(Event::Edited(id, Edit::Text("mine".into())));
    person.wait(700);
    assert_eq!(outcomes(person.press("r")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("rnr")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("y")), rejected(1));
}

/// The text that the effects keep, and why.
fn kept_of(effects: &[Effect]) -> Option<(&str, &str)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Keep { text, why, .. } => Some((text.as_str(), why.as_str())),
        _ => None,
    })
}

#[test]
fn an_edit_of_a_replaced_proposal_is_taken_along_to_the_newer_one() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\nc\n"), "A\nb\nc\n");
    assert!(matches!(
        person.press("e")[..],
        [Effect::Edit { proposal, .. }] if proposal.unwrap().revision == 1
    ));
    let newer = "new\nA\nb\nc\n";
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\nb\nc\n"), newer);
    person.wait(60_000);
    let late = |text: &str| Edit::Late {
        base: "A\nb\nc\n".into(),
        text: Some(text.into()),
    };
    let effects = person.happens(Event::Edited(id, late("A\nb\nmine\n")));
    assert_eq!(kept_of(&effects), None);
    assert!(
        person.message().contains("with your edits"),
        "{}",
        person.message()
    );
    assert_eq!(outcomes(person.press("a")), [], "it has only just come");
    person.wait(700);
    assert_eq!(
        outcomes(person.press("a")),
        accepted(1, "new\nA\nb\nmine\n")
    );
}

#[test]
fn an_edit_of_what_the_newer_proposal_changes_is_kept_and_that_is_said() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "first\n");
    person.press("e");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "second\n");
    let late = Edit::Late {
        base: "first\n".into(),
        text: Some("mine\n".into()),
    };
    let effects = person.happens(Event::Edited(id, late));
    let (text, why) = kept_of(&effects).unwrap();
    assert_eq!(text, "mine\n");
    assert!(why.contains("changes what you wrote"), "{why}");
    assert_eq!(person.app.view().unwrap().proposal.text(), "second\n");
    person.wait(700);
    person.press("z");
    assert_eq!(person.app.view().unwrap().proposal.text(), "mine\n");
}

#[test]
fn a_newer_proposal_takes_edits_along_that_it_does_not_change() {
    let before = "1\n2\n3\n4\n5\n6\n7\n";
    let first = "one\n2\n3\n4\n5\n6\n7\n";
    let mine = "one\n2\n3\nmine\n5\n6\n7\n";
    for (newer, expected, is_conflict) in [
        // Elsewhere; the same once more; also what I wrote.
        (
            "one\n2\n3\n4\n5\n6\nseven\n",
            "one\n2\n3\nmine\n5\n6\nseven\n",
            false,
        ),
        (first, mine, false),
        (mine, mine, false),
        // The line that I wrote, and another one.
        (
            "one\n2\n3\nother\n5\n6\n7\n8\n",
            "one\n2\n3\nother\n5\n6\n7\n8\n",
            true,
        ),
        ("one\n2\n", "one\n2\n", true),
    ] {
        let mut person = Person::new(80, 24);
        let id = person.open("a.txt", Some(before), first);
        person.happens(Event::Edited(id, Edit::Text(mine.into())));
        let effects = person.propose(id, Dialect::GeminiCli, "a.txt", Some(before), newer);
        let view = person.app.view().unwrap();
        assert_eq!(view.proposal.text(), expected);
        assert_eq!(
            kept_of(&effects).map(|kept| kept.0),
            is_conflict.then_some(mine)
        );
        let message = person.message();
        assert_eq!(
            message.contains("changes what you wrote"),
            is_conflict,
            "{message}"
        );
        person.wait(700);
        if is_conflict {
            person.press("z");
            assert_eq!(person.app.view().unwrap().proposal.text(), mine);
        } else {
            assert_eq!(outcomes(person.press("a")), accepted(1, expected));
        }
    }
}

#[test]
fn what_stands_in_place_of_an_edit_is_marked_and_asked_about() {
    let mut person = Person::new(80, 24);
    let [before, after] = FOUR;
    let id = person.open("a.txt", Some(before), after);
    let mine = after.replace("II\n-\n-\n-\nIII", "II\n-\n-\n-\nmine");
    person.happens(Event::Edited(id, Edit::Text(mine)));
    let newer = after.replace("III", "three");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(before), &newer);
    let note = person.app.note().unwrap();
    assert_eq!(note, "1 hunk replaces what you wrote");
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), []);
    assert_eq!(person.asked[0].by.seen().unwrap().against.written, 1);
    person.wait(700);
    assert_eq!(outcomes(person.press("y")), accepted(1, &newer));
}

#[test]
fn hunks_that_are_out_of_an_edited_text_stay_out_of_the_newer_one() {
    let mut person = Person::new(80, 24);
    let [before, after] = FOUR;
    let id = person.open("a.txt", Some(before), after);
    let mine = after.replace("IV", "mine");
    person.happens(Event::Edited(id, Edit::Text(mine)));
    person.wait(700);
    person.press(" ");
    let newer = after.replace("III", "three");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(before), &newer);
    let view = person.app.view().unwrap();
    assert_eq!(view.proposal.count().out, 1);
    let expected = "1\n-\n-\n-\nII\n-\n-\n-\nthree\n-\n-\n-\nmine\n";
    assert_eq!(view.proposal.text(), expected);
}

#[test]
fn whatever_ends_the_review_keeps_edits() {
    let edited = || {
        let mut person = Person::new(80, 24);
        let id = person.open("a.txt", Some("a\n"), "b\n");
        person.open("b.txt", Some("a\n"), "b\n");
        person.happens(Event::Edited(id, Edit::Text("mine\n".into())));
        person.wait(700);
        person
    };
    for is_undone in [false, true] {
        let mut person = edited();
        if is_undone {
            person.press("z");
        }
        let effects = person.happens(Event::Stop);
        assert_eq!(kept_of(&effects).unwrap().0, "mine\n");
        let mut person = edited();
        person.press("q");
        let effects = person.press("y");
        assert!(quits(&effects));
        let (text, why) = kept_of(&effects).unwrap();
        assert_eq!(text, "mine\n");
        assert_eq!(why, "the review ended with your edits of a.txt");
        let keeps = effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Keep { .. }));
        assert_eq!(keeps.count(), 1, "the other was not edited");
    }
}

#[test]
fn an_unchanged_edit_of_a_replaced_proposal_tells_of_the_newer_one() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "first\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "second\n");
    person.wait(60_000);
    let late = Edit::Late {
        base: "first\n".into(),
        text: None,
    };
    person.happens(Event::Edited(id, late));
    assert!(person.message().contains("has a newer proposal for a.txt"));
}

/// The text that is kept when the view closes for `reason`.
fn kept(person: &mut Person, id: DiffId, reason: CloseReason) -> Option<String> {
    let closed = Reply::new(|_| ());
    let effects = person.happens(Event::Closed { id, reason, closed });
    kept_of(&effects).map(|(text, _)| text.to_owned())
}

#[test]
fn an_edit_that_is_only_in_the_history_is_kept_when_the_agent_goes() {
    let edited = |person: &mut Person| {
        let id = person.open("a.txt", Some("a\n"), "b\n");
        person.happens(Event::Edited(id, Edit::Text("mine\n".into())));
        person.wait(700);
        id
    };
    let mine = Some("mine\n".to_owned());
    let mut person = Person::new(80, 24);
    for reason in [
        CloseReason::AgentGone,
        CloseReason::NotShown,
        CloseReason::Overruled,
    ] {
        let id = edited(&mut person);
        person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
        assert_eq!(kept(&mut person, id, reason), mine);
        let id = edited(&mut person);
        person.press("z");
        assert_eq!(kept(&mut person, id, reason), mine);
    }
    let id = edited(&mut person);
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
    person.wait(700);
    assert_eq!(outcomes(person.press("r")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("y")), rejected(id.0));
}

#[test]
fn an_edit_that_is_given_back_is_not_kept_as_well() {
    let mut person = Person::new(80, 24);
    for reason in [CloseReason::Settled, CloseReason::ClosedByAgent] {
        let id = person.open("a.txt", Some("a\n"), "b\n");
        person.happens(Event::Edited(id, Edit::Text("mine\n".into())));
        assert_eq!(kept(&mut person, id, reason), None);
    }
}
