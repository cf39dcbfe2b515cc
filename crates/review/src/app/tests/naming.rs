//! The names of agents, and that it is clear which diff is meant.

use super::*;

fn two_agents() -> (Person, DiffId, DiffId) {
    let mut person = Person::new(80, 24);
    let first = person.open("a.txt", None, "a\n");
    person.number = 2;
    let second = person.open("b.txt", None, "b\n");
    (person, first, second)
}

fn status(agents: &[Dialect]) -> Event {
    Event::Status(Status {
        agents: agents.to_vec(),
        ..Status::default()
    })
}

#[test]
fn messages_tell_agents_of_one_name_apart_as_tabs_do() {
    let (mut person, _, second) = two_agents();
    let proposes = "Gemini CLI 2 proposes b.txt · Tab shows it";
    assert_eq!(person.message(), proposes);
    person.propose(second, Dialect::GeminiCli, "b.txt", None, "newer\n");
    let newer = "Gemini CLI 2 has a newer proposal for b.txt · in its tab";
    assert_eq!(person.message(), newer);
    let names = person
        .app
        .views
        .iter()
        .map(|view| person.app.agent_name(view));
    assert_eq!(names.collect::<Vec<_>>(), ["Gemini CLI 1", "Gemini CLI 2"]);
}

#[test]
fn what_is_said_about_another_diff_cannot_be_meant_for_the_one_that_is_shown() {
    let (mut person, first, second) = two_agents();
    person.close(second).unwrap();
    let said = "Gemini CLI 2 closed its diff of b.txt · current diff unaffected";
    assert_eq!(person.message(), said);
    person.number = 1;
    person.open("c.txt", None, "c\n");
    person.close(first).unwrap();
    let said = "Gemini CLI 1 closed its diff of a.txt · this is the next one";
    assert_eq!(person.message(), said);
    person.close(person.shown()).unwrap();
    assert_eq!(person.message(), "Gemini CLI 1 closed its diff of c.txt");
}

/// Its agent has closed nothing.
#[test]
fn of_a_written_change_that_goes_it_is_said_why() {
    for (reason, said) in [
        (
            CloseReason::ClosedByAgent,
            "1.1 a.txt was taken back or forgotten elsewhere, or is no longer in the file",
        ),
        (
            CloseReason::AgentGone,
            "whoever showed a.txt has ended; nothing is decided about it",
        ),
    ] {
        let mut person = Person::new(80, 24);
        person.written = Some("1.1".to_owned());
        let id = person.open("a.txt", Some("a\n"), "b\n");
        person.close_for(id, reason).unwrap();
        assert_eq!(person.message(), said);
        // Where nothing is shown, nothing can be undone, and that is said.
        person.press("z");
        let said = "no diff is open: S lists what is written, and z undoes there";
        assert_eq!(person.message(), said);
    }
}

#[test]
fn who_is_left_of_two_keeps_the_number_until_all_are_gone() {
    let both = [Dialect::GeminiCli, Dialect::GeminiCli];
    let mut person = Person::new(80, 24);
    person.happens(status(&both));
    person.open("a.txt", None, "a\n");
    let name = |person: &Person| person.app.agent_name(person.app.view().unwrap());
    assert_eq!(name(&person), "Gemini CLI 1");
    // The other one stays, and is not the one whose diff is shown.
    person.happens(status(&both[..1]));
    assert_eq!(name(&person), "Gemini CLI 1");
    person.press("a");
    person.happens(status(&[]));
    person.happens(status(&both[..1]));
    person.open("b.txt", None, "b\n");
    assert_eq!(name(&person), "Gemini CLI");
}
