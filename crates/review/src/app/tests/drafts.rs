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
    let note = |line: u32, text: &str| Note {
        lines: Some(Lines {
            first: line,
            last: line,
        }),
        text: text.to_owned(),
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
        let notes = person.app.words_on(person.app.view().unwrap());
        assert_eq!(notes, [expected]);
    }
}

/// They come while the texts are compared that they are about.
#[test]
fn notes_wait_for_the_texts_on_whose_lines_they_are() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "A\nB\n");
    let key = ProposalKey { id, revision: 1 };
    let lines = Some(Lines { first: 1, last: 1 });
    let text = "why?".to_owned();
    let notes = vec![Note { lines, text }];
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
        let words = person.app.words_on(person.app.view().unwrap());
        assert_eq!(words, [Note { lines, text }], "{key}");
        let (reason, closed) = (CloseReason::ClosedByAgent, Reply::new(|_| ()));
        person.happens(Event::Closed { id, reason, closed });
        let said = person.message().to_owned();
        assert!(said.ends_with("was not told your notes: why?"), "{said}");
        // Not above another one of that file.
        person.open_now("a.txt", Some("a\nb\n"), "A\nB\n");
        assert!(person.app.message.as_ref().is_none_or(|it| it.text != said));
    }
}
