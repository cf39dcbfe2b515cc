//! When agents ask, and what the person chose.

use std::time::Instant;

use pillion_protocol::Dialect;
use pillion_protocol::claude::hooks::Call;

use super::super::mode::Mode;
use super::*;

impl Agents {
    /// The mode of the agent of this session, which is connected.
    fn of(&mut self, session: &SessionId) -> &mut Mode {
        &mut self.connected(session, Dialect::ClaudeCode).mode
    }
}

/// The agent of the session `s`, and none of another.
fn one_agent() -> Agents {
    let mut agents = Agents::with(Vec::new(), true);
    agents.of(&"s".into());
    agents
}

fn identify(agents: &mut Agents, session: &SessionId, process: AgentProcess) -> bool {
    agents.of(session);
    agents.identified(session, process)
}

fn listening(session: &str, number: u64) -> Listening {
    Listening {
        session: session.into(),
        agent: Dialect::ClaudeCode,
        number,
    }
}

fn call(review: ReviewMode, mode: &str, path: Option<&str>) -> Call {
    Call {
        review,
        mode: mode.into(),
        subagent: None,
        path: path.map(str::to_owned),
        held: None,
        is_command: false,
        id: String::new(),
        is_guarded: false,
        has_failed: false,
        tool: String::new(),
        input: serde_json::Value::Null,
        folder: String::new(),
        prompt: String::new(),
    }
}

fn said(asking: &Agents) -> (Vec<String>, Vec<String>) {
    let agents = [listening("s", 1)];
    (asking.notes(&agents), asking.unasked(&agents))
}

#[test]
fn the_mode_and_what_it_means_are_said() {
    let session = SessionId::from("s");
    let mut asking = one_agent();
    assert_eq!(said(&asking), (vec![], vec![]));
    for (review, mode, expected) in [
        (
            ReviewMode::Always,
            "auto",
            "every change is shown here first",
        ),
        (ReviewMode::Asked, "auto", "it changes files without asking"),
        (
            ReviewMode::Asked,
            "acceptEdits",
            "it changes files without asking",
        ),
        (
            ReviewMode::Asked,
            "plan",
            "it asks before it changes a file",
        ),
    ] {
        let call = call(review, mode, None);
        assert!(asking.of(&session).hooked(&call, true), "{mode}");
        assert!(!asking.of(&session).hooked(&call, true), "nothing new");
        assert!(!asking.of(&session).turn_begins());
        let expected = format!("Claude Code is in mode {mode}: {expected}.");
        assert_eq!(said(&asking), (vec![expected], vec![]));
    }
}

#[test]
fn what_the_person_chooses_counts_in_place_of_what_it_was_started_with() {
    let session = SessionId::from("s");
    let agents = [listening("s", 1)];
    let mut asking = one_agent();
    for (started, choice, mode, label, unasked) in [
        (
            ReviewMode::Always,
            ReviewChoice::Asked,
            "auto",
            "review: asked",
            true,
        ),
        (
            ReviewMode::Asked,
            ReviewChoice::Always,
            "auto",
            "review: always",
            false,
        ),
        (
            ReviewMode::Always,
            ReviewChoice::Asked,
            "default",
            "review: asked",
            false,
        ),
    ] {
        asking.of(&session).hooked(&call(started, mode, None), true);
        let said = asking.choose(&agents, Some(choice), None).unwrap();
        assert_eq!(asking.notes(&agents), std::slice::from_ref(&said));
        // The next call of a hook says again what it was started with.
        assert!(!asking.of(&session).hooked(&call(started, mode, None), true));
        let review = asking.review(&agents).unwrap();
        assert_eq!((&*review.label, review.unasked.is_some()), (label, unasked));
        assert_eq!(asking.choose(&agents, None, None), Ok(said), "asked only");
    }
    asking.remove(&session, Instant::now());
    assert_eq!(asking.of(&session).review(), None);
}

#[test]
fn shell_commands_are_shown_where_the_person_wants_it() {
    let session = SessionId::from("s");
    let agents = [listening("s", 1)];
    let mut asking = one_agent();
    let mut choose = |choice| {
        let said = asking.choose(&agents, Some(choice), None).unwrap();
        let label = asking.review(&agents).map(|review| review.label);
        (said, label, asking.of(&session).shows_commands())
    };
    let (said, label, shows) = choose(ReviewChoice::Commands);
    assert!(
        said.ends_with("Its shell commands are shown here before they run."),
        "{said}"
    );
    assert_eq!((label, shows), (None, true));
    let (_, label, _) = choose(ReviewChoice::Asked);
    assert_eq!(label.as_deref(), Some("review: asked, commands"));
    let (said, label, shows) = choose(ReviewChoice::NoCommands);
    assert!(!said.contains("commands"), "{said}");
    assert_eq!((label.as_deref(), shows), (Some("review: asked"), false));
}

#[test]
fn what_is_chosen_for_a_process_counts_when_it_connects_again() {
    let agents = [listening("s", 1)];
    let process = |pid, started_at| AgentProcess { pid, started_at };
    let started = |asking: &mut Agents, session: &str, process| {
        let session = SessionId::from(session);
        let is_known = identify(asking, &session, process);
        asking
            .of(&session)
            .hooked(&call(ReviewMode::Always, "auto", None), true);
        let shows = asking.of(&session).shows_commands();
        (is_known, asking.of(&session).review().unwrap(), shows)
    };
    let asked = (true, ReviewMode::Asked, true);
    let as_started = (false, ReviewMode::Always, false);
    let mut asking = one_agent();
    assert_eq!(started(&mut asking, "s", process(7, 1)), as_started);
    for choice in [ReviewChoice::Asked, ReviewChoice::Commands] {
        asking.choose(&agents, Some(choice), None).unwrap();
    }
    asking.choose(&agents, None, None).unwrap();
    asking.remove(&"s".into(), Instant::now());
    // Another process, also one with the same number, begins as it was started.
    assert_eq!(started(&mut asking, "a", process(8, 1)), as_started);
    assert_eq!(started(&mut asking, "b", process(7, 2)), as_started);
    assert_eq!(started(&mut asking, "c", process(7, 1)), asked);
    let mut next = Agents::with(asking.choices().to_vec(), true);
    assert_eq!(started(&mut next, "d", process(8, 1)), as_started);
    assert_eq!(started(&mut next, "s", process(7, 1)), asked);
    // The last choice counts.
    for choice in [ReviewChoice::Always, ReviewChoice::NoCommands] {
        next.choose(&agents, Some(choice), None).unwrap();
    }
    let chosen = (true, ReviewMode::Always, false);
    assert_eq!(started(&mut next, "e", process(7, 1)), chosen);
    assert_eq!(next.choices().len(), 1);
}

#[test]
fn no_more_choices_are_kept_than_there_may_be_agents() {
    let mut asking = one_agent();
    let pids = 0..2 * MAX_CHOICES as u32;
    for pid in pids.clone() {
        let process = AgentProcess { pid, started_at: 1 };
        identify(&mut asking, &"s".into(), process);
        let always = Some(ReviewChoice::Always);
        asking.choose(&[listening("s", 1)], always, None).unwrap();
    }
    let kept = asking.choices().iter().map(|choice| choice.process.pid);
    assert_eq!(
        kept.collect::<Vec<_>>(),
        pids.skip(MAX_CHOICES).collect::<Vec<_>>()
    );
}

#[test]
fn a_choice_before_the_first_prompt_waits_for_it() {
    let session = SessionId::from("s");
    let agents = [listening("s", 1)];
    let mut asking = one_agent();
    let always = Some(ReviewChoice::Always);
    let said = asking.choose(&agents, always, None).unwrap();
    assert!(said.ends_with("from your next prompt on."), "{said}");
    assert_eq!(asking.of(&session).review(), Some(ReviewMode::Always));
    asking
        .of(&session)
        .hooked(&call(ReviewMode::Asked, "auto", None), true);
    assert_eq!(asking.of(&session).review(), Some(ReviewMode::Always));
    // A turn that begins without a hook: nothing can make it ask.
    let mut asking = one_agent();
    asking.choose(&agents, always, None).unwrap();
    asking.of(&session).turn_begins();
    assert_eq!(
        (asking.of(&session).review(), asking.review(&agents)),
        (None, None)
    );
    let refused = asking.choose(&agents, always, None).unwrap_err();
    assert!(refused.contains("`pillion run claude`"), "{refused}");
    assert!(
        asking
            .choose(&[], always, None)
            .unwrap_err()
            .starts_with("no agent that is here does this")
    );
}

#[test]
fn of_several_agents_one_can_be_meant() {
    let agents = [listening("a", 1), listening("b", 2)];
    let mut asking = one_agent();
    for session in ["a", "b"] {
        let call = call(ReviewMode::Always, "auto", None);
        asking.of(&session.into()).hooked(&call, true);
    }
    let said = asking.choose(&agents, Some(ReviewChoice::Asked), Some(2));
    let expected = "Claude Code 2 is in mode auto: it changes files without asking.";
    assert_eq!(said, Ok(expected.to_owned()));
    let review = asking.review(&agents).unwrap();
    assert_eq!((review.mode, &*review.label), (None, "review: differs"));
    assert_eq!(
        review.unasked.unwrap(),
        "Claude Code 2 changes files without asking."
    );
    let refused = asking.choose(&agents, Some(ReviewChoice::Asked), Some(3));
    assert_eq!(refused.unwrap_err(), "no such agent: the numbers are 1, 2");
    asking
        .choose(&agents, Some(ReviewChoice::Asked), None)
        .unwrap();
    let unasked = asking.review(&agents).unwrap().unasked.unwrap();
    assert_eq!(
        unasked,
        "Claude Code 1 and Claude Code 2 change files without asking."
    );
}

#[test]
fn a_turn_without_a_hook_says_how_to_have_one() {
    let mut asking = one_agent();
    assert!(asking.of(&"s".into()).turn_begins());
    let (notes, _) = said(&asking);
    assert!(notes[0].contains("`pillion run claude`"), "{notes:?}");
    assert!(!asking.of(&"s".into()).turn_begins());
    asking.remove(&"s".into(), Instant::now());
    assert_eq!(said(&asking), (vec![], vec![]));
}

#[test]
fn where_a_hook_is_a_command_what_was_accepted_there_was_shown() {
    let session = SessionId::from("s");
    let mut asking = one_agent();
    asking.of(&session).turn_begins();
    let none = std::iter::empty::<&str>;
    assert!(asking.commanded(&session, none()));
    assert!(!asking.commanded(&session, none()), "nothing new");
    let note = "Claude Code runs `pillion hook`: every change is shown here first.";
    assert_eq!(said(&asking), (vec![note.to_owned()], vec![]));
    asking.command_accepted("/a");
    asking.commanded(&session, ["/a", "/b"].into_iter());
    assert!(!asking.of(&session).writes("/a"), "it was shown");
    for path in ["/a", "/b"] {
        assert!(asking.of(&session).writes(path), "{path} was not");
        let expected = format!("Claude Code changed {path:?} without showing it here first");
        assert_eq!(said(&asking).1, [expected]);
    }
    assert!(
        !asking.of(&session).is_hooked(),
        "it does not call the companion"
    );
}

#[test]
fn what_was_not_asked_about_is_said_once() {
    let session = SessionId::from("s");
    let mut asking = one_agent();
    asking.of(&session).proposed("/a");
    assert!(!asking.of(&session).writes("/a"), "it was asked about");
    asking.of(&session).proposed("/c");
    asking.of(&session).settle("/c");
    assert!(
        asking.of(&session).writes("/c"),
        "written although rejected"
    );
    assert!(!asking.of(&session).writes("/d"), "said before");
    let (_, unasked) = said(&asking);
    let expected = "Claude Code changes files without showing them here first, such as \"/c\"; ";
    assert!(unasked[0].starts_with(expected), "{unasked:?}");
}

#[test]
fn what_an_agent_was_not_let_write_is_said_until_its_next_turn() {
    let session = SessionId::from("s");
    let mut asking = one_agent();
    let file = Some("/w/.envrc");
    asking
        .of(&session)
        .hooked(&call(ReviewMode::Always, "bypassPermissions", file), true);
    asking.of(&session).refuses("/w/.envrc");
    let expected = "Claude Code was not let change \"/w/.envrc\": ";
    assert!(said(&asking).1[0].starts_with(expected));
    assert!(asking.of(&session).turn_begins());
    assert_eq!(said(&asking).1, [""; 0]);
}

#[test]
fn where_each_change_is_to_be_shown_each_that_was_not_is_said() {
    let session = SessionId::from("s");
    let mut asking = one_agent();
    for path in ["/a", "/b", "/a"] {
        // The hook answered "ask", and no proposal came.
        asking
            .of(&session)
            .hooked(&call(ReviewMode::Always, "auto", Some(path)), true);
        assert!(asking.of(&session).writes(path), "{path}");
        assert!(!asking.of(&session).writes(path), "{path} is said");
        let expected = format!("Claude Code changed {path:?} without showing it here first");
        assert_eq!(said(&asking).1, [expected]);
    }
}

#[cfg(unix)]
#[test]
fn a_choice_of_another_companion_counts_unless_there_is_one() {
    let process = |pid| AgentProcess { pid, started_at: 1 };
    let choice = |pid, mode| ProcessChoice {
        process: process(pid),
        mode: Some(mode),
        shows_commands: true,
    };
    let (always, asked) = (ReviewMode::Always, ReviewMode::Asked);
    let mut asking = Agents::with(vec![choice(1, always)], true);
    asking.adopt(vec![choice(1, asked), choice(2, asked)]);
    for (pid, mode) in [(1, Some(always)), (2, Some(asked)), (3, None)] {
        let session = SessionId::from(pid.to_string());
        assert_eq!(
            identify(&mut asking, &session, process(pid)),
            mode.is_some()
        );
        assert_eq!(asking.of(&session).review(), mode, "{pid}");
        assert_eq!(asking.of(&session).shows_commands(), mode.is_some());
    }
    let others = 0..2 * u32::try_from(MAX_CHOICES).unwrap();
    asking.adopt(others.map(|pid| choice(10 + pid, always)).collect());
    assert_eq!(asking.choices().len(), MAX_CHOICES);
    assert!(asking.choices().contains(&choice(1, always)));
}

#[test]
fn two_proposals_for_one_file_are_two() {
    let session = SessionId::from("s");
    let mut asking = one_agent();
    for _ in 0..2 {
        asking.of(&session).proposed("/a");
    }
    assert!(!asking.of(&session).writes("/a"));
    assert!(!asking.of(&session).writes("/a"));
    assert!(asking.of(&session).writes("/a"));
}

#[test]
fn what_was_asked_in_the_last_turn_does_not_count() {
    let session = SessionId::from("s");
    let mut asking = one_agent();
    let subagents = Call {
        subagent: Some("a1".to_owned()),
        ..call(ReviewMode::Always, "auto", Some("/b"))
    };
    asking.of(&session).hooked(&subagents, true);
    for path in ["/a", "/b"] {
        asking.of(&session).proposed(path);
    }
    asking.of(&session).turn_begins();
    assert!(asking.of(&session).is_of_subagent("/b"));
    assert!(!asking.of(&session).is_of_subagent("/a"));
    assert!(!asking.of(&session).writes("/b"), "a subagent goes on");
    assert!(!asking.of(&session).is_of_subagent("/b"));
    assert!(asking.of(&session).writes("/a"));
}
