//! The remains when an agent or the editor goes, and how the person's buffers show what agents write.

use std::fs;
use std::time::Duration;

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::client::claude::Answer;
use pillion_testkit::{
    TestAgent, discovery_files, each_editor, kill_hub, lock_files, pending_diffs,
};

use crate::driver::Kind;
use crate::person::{ORIGINAL, PROPOSED, Person, wait_for};

/// By then a question is on the screen, and has been there for so long that its answer counts.
const QUESTION: Duration = Duration::from_secs(3);

#[each_editor]
fn a_view_that_the_agent_closes_gives_the_text_as_edited(kind: Kind) {
    let mut person = Person::new(kind);
    person.propose(PROPOSED);
    person.editor.append("mine");
    assert_eq!(person.withdraw(), format!("{PROPOSED}mine\n"));
    assert_eq!(person.editor.text(), ORIGINAL);
    person.has_heard_all();
    person.editor.assert_no_errors();
}

#[each_editor]
fn edits_outlive_their_agent(kind: Kind) {
    let (person, qwen) = with_proposal(kind);
    person.editor.append("mine");
    let edited = format!("{PROPOSED}mine\n");
    qwen.disconnect();
    person.leave_undecided();
    person.wait("the edits", |editor| editor.has_kept(&edited));
    assert_eq!(person.editor.file_text(&person.path), ORIGINAL);
}

/// What they type next is meant for the proposal, and not for what is below it.
#[each_editor]
fn a_view_whose_agent_is_gone_stays_while_the_person_is_in_it(kind: Kind) {
    let (person, qwen) = with_proposal(kind);
    qwen.disconnect();
    person.wait("what has become of it", |editor| {
        editor.sees("no longer waits for a.txt here")
    });
    person.editor.type_on("MORE");
    person.editor.wait_read();
    assert!(person.editor.is_in_proposal());
    assert_eq!(person.editor.text(), PROPOSED);
    person.editor.close();
    person.wait_gone();
    assert_eq!(person.editor.text(), ORIGINAL);
}

/// Nobody else's keys are meant for it. Kakoune runs no terminal, and does not tell in which pane the person is.
#[each_editor]
fn a_view_whose_agent_is_gone_goes_when_the_person_does(kind: Kind) {
    if matches!(kind, Kind::Kakoune(_)) {
        return;
    }
    let (person, qwen) = with_proposal(kind);
    person.editor.open_terminal();
    qwen.disconnect();
    person.wait("no view", |editor| !editor.has_views());
}

/// A person in the proposal of an agent that is about to go.
fn with_proposal(kind: Kind) -> (Person, TestAgent) {
    let person = Person::new(kind);
    let qwen = person.agent(Dialect::QwenCode);
    qwen.propose(&person.path, PROPOSED);
    person.wait("a proposal", |editor| editor.is_in_proposal());
    person.look();
    (person, qwen)
}

#[each_editor]
fn an_agent_hears_of_the_end_of_an_editor_that_is_killed(kind: Kind) {
    let mut person = Person::new(kind);
    person.begin(PROPOSED);
    person.editor.kill();
    let path = person.path.display().to_string();
    assert_eq!(person.gemini.outcome(), Update::DiffRejected { path });
    wait_for("no discovery files", || {
        let left = discovery_files(&person.home, Dialect::GeminiCli).len()
            + lock_files(&person.home).len();
        (left == 0).then_some(())
    });
}

/// The numbers of its proposals begin at 1 again.
#[each_editor]
fn proposals_are_decided_after_another_hub_has_taken_over(kind: Kind) {
    let mut person = Person::new(kind);
    person.propose(PROPOSED);
    let found = || {
        discovery_files(&person.home, Dialect::GeminiCli)
            .into_iter()
            .next()
    };
    let read = || fs::read(found()?).ok();
    let before = read();
    kill_hub(&person.home);
    person.leave_undecided();
    wait_for("another hub", || {
        read().filter(|now| Some(now) != before.as_ref())
    });
    person.gemini = person.agent(Dialect::GeminiCli);
    for text in ["1\n", "2\n"] {
        person.propose(text);
        person.accept_whatever_is_asked();
        person.is_accepted(text);
    }
    person.editor.assert_no_errors();
}

#[each_editor(smoke)]
fn nothing_is_left_of_an_editor_that_quits(kind: Kind) {
    let person = Person::new(kind);
    assert!(!discovery_files(&person.home, Dialect::GeminiCli).is_empty());
    person.editor.quit();
    wait_for("no discovery files", || {
        let left = discovery_files(&person.home, Dialect::GeminiCli).len()
            + lock_files(&person.home).len();
        (left == 0).then_some(())
    });
}

#[each_editor]
fn two_agents_with_a_diff_on_one_file_get_an_outcome_each(kind: Kind) {
    let mut person = Person::new(kind);
    let claude = person.claude();
    person.propose(PROPOSED);
    let call = claude.proposing(&person.path, "other\n", "a.txt");
    wait_for("both proposals", || {
        (pending_diffs(&person.home).len() == 2).then_some(())
    });
    assert_eq!(call.check_pending(&person.home, &person.path), Ok(()));
    person.editor.accept();
    let outcome = person.gemini.outcome();
    assert_eq!(
        outcome,
        Update::accepted(person.path.display().to_string(), PROPOSED)
    );
    person.wait("the view of Gemini CLI gone", |editor| {
        !editor.is_in_proposal() || editor.text() == "other\n"
    });
    person.editor.show_proposal();
    person.wait("the other one", |editor| {
        editor.is_in_proposal() && editor.text() == "other\n"
    });
    person.look();
    person.editor.append("mine");
    person.editor.accept();
    // It does not contain what was accepted before, and is not written yet: an editor that asks the gate is asked.
    if !call.is_answered_within(QUESTION) {
        person.editor.accept();
    }
    assert_eq!(
        call.end().unwrap(),
        Answer::Saved("other\nmine\n".to_owned())
    );
    person.wait_gone();
    person.has_heard_all();
}

#[each_editor(smoke)]
fn the_persons_buffer_shows_what_the_agent_wrote(kind: Kind) {
    let mut person = Person::new(kind);
    person.propose(PROPOSED);
    person.editor.accept();
    person.is_accepted(PROPOSED);
    fs::write(&person.path, PROPOSED).unwrap();
    person.wait("what the agent wrote", |editor| editor.text() == PROPOSED);
    person.editor.assert_no_errors();
}

#[each_editor]
fn unsaved_edits_are_left_alone_when_an_agent_writes(kind: Kind) {
    let mut person = Person::new(kind);
    person.editor.append("unsaved");
    let unsaved = format!("{ORIGINAL}unsaved\n");
    person.propose(PROPOSED);
    person.editor.accept();
    person.is_accepted(PROPOSED);
    fs::write(&person.path, PROPOSED).unwrap();
    person.editor.keep_unsaved();
    // With the next proposal it was looked at, twice.
    for _ in 0..2 {
        person.propose("newer\n");
        person.editor.reject();
        person.is_rejected();
        assert_eq!(person.editor.file_text(&person.path), unsaved);
    }
    assert_eq!(fs::read_to_string(&person.path).unwrap(), PROPOSED);
}
