//! Texts that the reviewer wrote before the review, the companion or the agent ended.

use std::sync::Arc;

use pillion_judge::Step;
use pillion_protocol::Note;
use pillion_protocol::verdict::Lines;

use super::*;

fn offered(person: &mut Person, text: &str) {
    let key = {
        let view = person.app.view().unwrap();
        let (id, revision) = (view.diff.id, view.diff.revision);
        ProposalKey { id, revision }
    };
    person.happens(Event::Drafted(key, text.to_owned()));
}

fn text(person: &Person) -> String {
    person.app.view().unwrap().proposal.text()
}

#[test]
fn it_is_offered_in_a_sentence_and_one_key_brings_it_back() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\nb\n"), "A\nb\n");
    person.wait(60_000);
    offered(&mut person, "A\nmine\n");
    assert!(
        person.message().contains("Z brings it back"),
        "{}",
        person.message()
    );
    assert_eq!(text(&person), "A\nb\n", "nothing happens by itself");
    person.wait(700);
    person.press("Z");
    assert_eq!(text(&person), "A\nmine\n");
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "A\nmine\n"));
}

#[test]
fn several_come_back_one_after_the_other_the_last_one_first() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\nb\n"), "A\nb\n");
    person.wait(60_000);
    offered(&mut person, "A\nolder\n");
    // The other window's has less of the proposal.
    offered(&mut person, "a\nb\n");
    offered(&mut person, "A\nolder\n");
    let said =
        "2 texts of yours for a.txt were kept · Z brings back the last one, then the one before";
    assert_eq!(person.message(), said);
    person.wait(700);
    for expected in ["a\nb\n", "A\nolder\n", "A\nolder\n"] {
        person.press("Z");
        assert_eq!(text(&person), expected);
        person.wait(700);
    }
}

#[test]
fn what_is_offered_is_not_accepted_unless_it_is_brought_back() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\nb\n"), "A\nb\n");
    person.wait(60_000);
    offered(&mut person, "A\nmine\n");
    assert_eq!(
        outcomes(person.press("a")),
        [],
        "it is compared, and has to be seen again"
    );
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "A\nb\n"));
}

#[test]
fn it_is_said_once_and_not_of_another_proposal() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "A\nb\n");
    offered(&mut person, "A\nmine\n");
    person.wait(60_000);
    person.press("n");
    offered(&mut person, "A\nmine\n");
    assert!(
        !person.message().contains("brings it back"),
        "{}",
        person.message()
    );
    let stale = ProposalKey { id, revision: 9 };
    person.happens(Event::Drafted(stale, "other".to_owned()));
    person.wait(700);
    person.press("ZZ");
    assert_eq!(text(&person), "A\nmine\n");
}

/// Notes on an earlier proposal are at their lines again, or at the last one, unless the person has written others since.
#[test]
fn notes_on_an_earlier_proposal_are_there_again() {
    let note = |line: u32, text: &str| {
        let (first, last) = (line, line);
        Note::at(Some(Lines { first, last }), text)
    };
    for (offered, expected) in [
        (note(1, "why?"), note(1, "why?")),
        (note(9, "why?"), note(1, "why?")),
        (Note::on_all("why?"), Note::on_all("why?")),
    ] {
        let mut person = Person::new(80, 24);
        let id = person.open("a.txt", Some("a\nb\n"), "A\nB\n");
        let key = ProposalKey { id, revision: 1 };
        let stale = ProposalKey { id, revision: 9 };
        person.happens(Event::Noted(stale, vec![note(0, "stale")]));
        person.happens(Event::Noted(key, vec![offered]));
        person.happens(Event::Noted(key, vec![note(0, "later")]));
        let mut notes = person.app.words_on(person.app.view().unwrap());
        notes.iter_mut().for_each(|it| it.on = None);
        assert_eq!(notes, [expected]);
    }
}

/// With the line beside which they were typed: where that is now, or named if it is another one.
#[test]
fn notes_come_back_to_the_lines_beside_which_they_were_typed() {
    let typed = |proposed: &str| {
        let mut person = Person::new(80, 24);
        person.open("a.txt", Some("1\n2\n3\n4\n5\n"), proposed);
        person.press("C");
        person.press("why?");
        person.key(KeyCode::Enter);
        person.app.words_on(person.app.view().unwrap())
    };
    let told = |notes: &[Note], proposed: &str| {
        let mut person = Person::new(80, 24);
        let id = person.open("a.txt", Some("1\n2\n3\n4\n5\n"), proposed);
        let key = ProposalKey { id, revision: 1 };
        person.happens(Event::Noted(key, notes.to_vec()));
        let kept = person.app.words_on(person.app.view().unwrap());
        assert_eq!(kept[0].words().0, "why?", "{kept:?}");
        let notes = person.app.view().unwrap().notes(true).remove(0);
        (notes.lines.unwrap().first, notes.text)
    };
    let changed = "1\n2\nNEW\n4\n5\n";
    let removed = "1\n2\n4\n5\n";
    let about = "(typed on `NEW`, which has changed since) why?";
    let gone = "(on `3`, which is removed) why?";
    for (first, then, expected) in [
        (changed, changed, (2, "why?")),
        (changed, "1\n2\nNEWER\n4\n5\n", (2, about)),
        (changed, "0\n0\n1\n2\nNEW\n4\n5\n", (4, "why?")),
        (removed, removed, (2, gone)),
        (removed, "1\n2\n3\nfour\n5\n", (2, "why?")),
    ] {
        let notes = typed(first);
        let (line, text) = told(&notes, then);
        assert_eq!((line, &*text), expected, "{first:?} {then:?}");
        // Once more, with what it says of itself by then.
        let mut person = Person::new(80, 24);
        let id = person.open("a.txt", Some("1\n2\n3\n4\n5\n"), then);
        person.happens(Event::Noted(ProposalKey { id, revision: 1 }, notes));
        let again = person.app.words_on(person.app.view().unwrap());
        assert_eq!(told(&again, then).1, expected.1);
    }
    // The line is back, with the person's own text.
    let notes = typed("1\n2\nMINE\n4\n5\n");
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("1\n2\n3\n4\n5\n"), changed);
    person.happens(Event::Noted(ProposalKey { id, revision: 1 }, notes));
    let said = |person: &Person| person.app.view().unwrap().notes(true).remove(0).text;
    assert_eq!(said(&person), about.replace("NEW", "MINE"));
    offered(&mut person, "1\n2\nMINE\n4\n5\n");
    person.wait(700);
    person.press("Z");
    assert_eq!(said(&person), "why?");
}

/// Such as of two windows.
#[test]
fn several_notes_on_one_line_come_back_together() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "A\nB\n");
    let lines = Some(Lines { first: 1, last: 1 });
    let notes = ["one", "two"].map(|text| Note::at(lines, text));
    let reasons = ["no", "never"].map(Note::on_all);
    let offered = notes.into_iter().chain(reasons).collect();
    person.happens(Event::Noted(ProposalKey { id, revision: 1 }, offered));
    let kept = person.app.words_on(person.app.view().unwrap());
    let texts: Vec<_> = kept.iter().map(|it| &*it.text).collect();
    assert_eq!(texts, ["one\ntwo", "no\nnever"]);
}

/// They come while the texts are compared that they are about.
#[test]
fn notes_wait_for_the_texts_on_whose_lines_they_are() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "A\nB\n");
    let key = ProposalKey { id, revision: 1 };
    let lines = Some(Lines { first: 1, last: 1 });
    let text = "why?".to_owned();
    let notes = vec![Note::at(lines, text)];
    let now = person.now;
    let longer = Step::Edit(Arc::new("A\nB\nC\n".to_owned()));
    person.app.compare(id, longer, now);
    let effects = person.app.update(Event::Noted(key, notes.clone()), now);
    assert_eq!(person.app.view().unwrap().notes(false), []);
    for effect in effects {
        if let Effect::Compare(job) = effect {
            person.app.update(Event::Compared(job.run()), now);
        }
    }
    assert_eq!(person.app.view().unwrap().notes(false), notes);
}

/// The agent closes its diff while words are typed: they are told like what was written, and said once more.
#[test]
fn words_that_are_typed_are_no_less_kept() {
    for (key, lines) in [("R", None), ("C", Some(Lines { first: 0, last: 1 }))] {
        let mut person = Person::new(80, 24);
        let id = person.open("a.txt", Some("a\nb\n"), "A\nB\n");
        person.press(key);
        person.press("why?");
        let text = "why?".to_owned();
        let mut words = person.app.words_on(person.app.view().unwrap());
        let on = words[0].on.take();
        assert_eq!(words, [Note::at(lines, text)], "{key}");
        assert_eq!(on.as_deref(), lines.map(|_| "A"), "{key}");
        let (reason, closed) = (CloseReason::ClosedByAgent, Reply::new(|_| ()));
        person.happens(Event::Closed { id, reason, closed });
        let said = person.message().to_owned();
        assert!(said.ends_with("was not told your notes: why?"), "{said}");
        // Not above another one of that file.
        person.open_now("a.txt", Some("a\nb\n"), "A\nB\n");
        assert!(person.app.message.as_ref().is_none_or(|it| it.text != said));
    }
}
