//! What becomes of the reviewer's own edits.

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
    assert_eq!(outcomes(person.press("nr")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("r")), rejected(1));
}

#[test]
fn an_edit_of_a_replaced_proposal_does_not_become_the_newer_one() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "first\n");
    assert!(matches!(
        person.press("e")[..],
        [Effect::Edit { proposal, .. }] if proposal.revision == 1
    ));
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "second\n");
    person.wait(60_000);
    let kept = "your text is kept in /tmp/x".to_owned();
    person.happens(Event::Edited(id, Edit::Outdated(Some(kept.clone()))));
    assert_eq!(outcomes(person.press("a")), []);
    person.happens(Event::Edited(id, Edit::Outdated(Some(kept.clone()))));
    person.wait(30_000);
    assert_eq!(person.message(), kept);
    assert_eq!(outcomes(person.press("a")), accepted(1, "second\n"));
}

#[test]
fn an_unchanged_edit_of_a_replaced_proposal_tells_of_the_newer_one() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "first\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "second\n");
    person.wait(60_000);
    person.happens(Event::Edited(id, Edit::Outdated(None)));
    assert!(person.message().contains("has a newer proposal for a.txt"));
}

/// What is kept when the view closes for `reason`.
fn kept(person: &mut Person, id: DiffId, reason: CloseReason) -> Option<String> {
    let closed = Reply::new(|_| ());
    let effects = person.happens(Event::Closed { id, reason, closed });
    effects.into_iter().find_map(|effect| match effect {
        Effect::Keep(_, text) => Some(text),
        _ => None,
    })
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
    assert_eq!(outcomes(person.press("r")), rejected(id.0));
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
