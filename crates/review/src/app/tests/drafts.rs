//! Texts that the reviewer wrote before the review, the companion or the agent ended.

use super::*;

fn offered(person: &mut Person, text: &str) {
    let key = {
        let view = person.app.view().unwrap();
        let (id, revision) = (view.id, view.revision);
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
