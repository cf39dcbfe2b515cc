//! The diff rules, one by one.

mod checking;
mod gone;
mod limits;
mod notes;
mod proposers;
mod sets;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_protocol::held::HeldCall;
use pillion_protocol::{Dialect, Outcome, Proposer};
use pillion_view::{DiffId, Original, ProposalKey};
use serde_json::json;

use super::entries::{MAX_OPEN, MAX_OPEN_BYTES};
use super::{Action, Diffs, EDITOR_TIMEOUT, HOOK_TIMEOUT, Proposal};
use crate::ids::RequestId;
use crate::numbers::Numbers;
use crate::outbox::{Delivery, Tab};
use crate::stand_in::StandIn;
use crate::target::Target;

type Machine = Diffs<&'static str>;

impl Default for Machine {
    fn default() -> Self {
        Self::new(Numbers::from_one(), None)
    }
}

fn proposal(session: &str, path: &str, text: &str) -> Proposal {
    Proposal::new(session.into(), Dialect::GeminiCli.into(), path, text)
}

fn key(id: u64, revision: u32) -> ProposalKey {
    let id = DiffId(id);
    ProposalKey { id, revision }
}

fn accepted(content: &str) -> Outcome {
    Outcome::accepted(content)
}

/// Actions as short lines, so that a test reads as a protocol.
fn lines(actions: Vec<Action<&'static str>>) -> Vec<String> {
    actions
        .into_iter()
        .map(|action| match action {
            Action::Check(key) => format!("check {} #{}", key.id, key.revision),
            Action::Show(diff) => {
                format!("show {} #{} {:?}", diff.id, diff.revision, diff.proposed)
            }
            Action::Close { key, reason } => format!("close {} {reason:?}", key.id),
            Action::Answer { caller, answer } => match answer {
                Ok(answer) => format!("{caller}: {answer:?}"),
                Err(reason) => format!("{caller}: error: {reason}"),
            },
            Action::Notify {
                session, delivery, ..
            } => {
                let Delivery {
                    file_path, outcome, ..
                } = delivery;
                format!("notify {session} {file_path} {outcome:?}").replace(", base: None", "")
            }
            Action::Lose(lost) => {
                let edited = if lost.is_kept { " edited" } else { "" };
                format!("lose {} {:?}{edited}", lost.file_path, lost.content)
            }
        })
        .collect()
}

/// Opens a diff whose target is checked at once.
fn open(
    diffs: &mut Machine,
    proposal: Proposal,
    caller: &'static str,
    now: Instant,
) -> Vec<Action<&'static str>> {
    let path = PathBuf::from(&proposal.file_path);
    let mut actions = diffs.open(proposal, caller, now);
    let Some(Action::Check(key)) = actions.pop() else {
        panic!("the target is not checked: {actions:?}");
    };
    actions.extend(diffs.checked(key, Ok(target(path)), now));
    actions
}

fn target(path: impl Into<PathBuf>) -> Target {
    Target::new(path.into(), Original::default())
}

/// A machine with diff 1 of session `s` on `/a`, shown.
fn pending() -> Machine {
    let mut diffs = Machine::default();
    open(
        &mut diffs,
        proposal("s", "/a", "new"),
        "open",
        Instant::now(),
    );
    assert_eq!(lines(diffs.shown(key(1, 1), Ok(()))), ["open: Opened"]);
    diffs
}

#[test]
fn open_diff_is_answered_when_the_view_is_open_and_not_before() {
    let mut diffs = Machine::default();
    let actions = open(
        &mut diffs,
        proposal("s", "/a", "new"),
        "open",
        Instant::now(),
    );
    assert_eq!(lines(actions), [r#"show 1 #1 "new""#]);
    assert_eq!(diffs.pending().count(), 0);
    assert_eq!(lines(diffs.shown(key(1, 1), Ok(()))), ["open: Opened"]);
    assert_eq!(diffs.pending().count(), 1);
}

#[test]
fn an_outcome_goes_to_the_owner_once() {
    let mut diffs = pending();
    assert_eq!(
        lines(diffs.resolved(key(1, 1), accepted("edited"))),
        [r#"notify s /a Accepted { content: "edited" }"#]
    );
    assert!(diffs.resolved(key(1, 1), Outcome::Rejected).is_empty());
    assert_eq!(diffs.pending().count(), 0);
}

#[test]
fn a_reviewer_who_is_faster_than_the_answer_is_heard() {
    let mut diffs = Machine::default();
    open(
        &mut diffs,
        proposal("s", "/a", "new"),
        "open",
        Instant::now(),
    );
    assert_eq!(
        lines(diffs.resolved(key(1, 1), Outcome::Rejected)),
        ["open: Opened", "notify s /a Rejected"]
    );
    assert!(diffs.shown(key(1, 1), Ok(())).is_empty());
}

#[test]
fn two_agents_with_one_path_each_get_their_own() {
    let (mut diffs, now) = (Machine::default(), Instant::now());
    open(&mut diffs, proposal("g", "/a", "from g"), "g", now);
    open(&mut diffs, proposal("q", "/a", "from q"), "q", now);
    diffs.shown(key(1, 1), Ok(()));
    diffs.shown(key(2, 1), Ok(()));
    assert_eq!(
        lines(diffs.resolved(key(2, 1), Outcome::Rejected)),
        ["notify q /a Rejected"]
    );
    let close = diffs.close(&"g".into(), "/a", None, "close", now);
    assert_eq!(lines(close), ["close 1 ClosedByAgent"]);
}

#[test]
fn a_second_proposal_of_a_session_takes_the_place_of_the_first() {
    let (mut diffs, now) = (pending(), Instant::now());
    let again = open(&mut diffs, proposal("s", "/a", "newer"), "again", now);
    assert_eq!(lines(again), [r#"show 1 #2 "newer""#]);
    assert!(diffs.shown(key(1, 1), Ok(())).is_empty(), "stale answer");
    assert_eq!(lines(diffs.shown(key(1, 2), Ok(()))), ["again: Opened"]);
    assert_eq!(diffs.pending().count(), 1);
    assert_eq!(*diffs.newest(DiffId(1)).unwrap().proposed, "newer");
}

#[test]
fn a_proposal_replaced_before_it_was_shown_is_answered() {
    let (mut diffs, now) = (Machine::default(), Instant::now());
    open(&mut diffs, proposal("s", "/a", "old"), "first", now);
    assert_eq!(
        lines(open(&mut diffs, proposal("s", "/a", "new"), "second", now)),
        [
            "first: error: a newer proposal for this file replaced it",
            r#"show 1 #2 "new""#
        ]
    );
}

#[test]
fn an_editor_that_cannot_show_it_fails_the_call() {
    let mut diffs = Machine::default();
    open(
        &mut diffs,
        proposal("s", "/a", "new"),
        "open",
        Instant::now(),
    );
    assert_eq!(
        lines(diffs.shown(key(1, 1), Err("no window".into()))),
        ["close 1 NotShown", "open: error: no window"]
    );
}

#[test]
fn an_editor_that_does_not_answer_fails_the_call_after_ten_seconds() {
    let (mut diffs, now) = (Machine::default(), Instant::now());
    open(&mut diffs, proposal("s", "/a", "new"), "open", now);
    assert_eq!(diffs.due(), Some(now + EDITOR_TIMEOUT));
    assert!(
        diffs
            .expire(now + EDITOR_TIMEOUT - Duration::from_millis(1))
            .is_empty()
    );
    assert_eq!(
        lines(diffs.expire(now + EDITOR_TIMEOUT)),
        [
            "close 1 NotShown",
            "open: error: the editor did not answer within 10 seconds"
        ]
    );
    assert!(diffs.shown(key(1, 1), Ok(())).is_empty(), "too late");
}

#[test]
fn close_diff_answers_with_the_text_in_the_view_and_sends_no_outcome() {
    let (mut diffs, now) = (pending(), Instant::now());
    let close = diffs.close(&"s".into(), "/a", None, "close", now);
    assert_eq!(lines(close), ["close 1 ClosedByAgent"]);
    let late = diffs.resolved(key(1, 1), Outcome::Rejected);
    assert!(late.is_empty(), "C5.10");
    assert_eq!(
        lines(diffs.closed(key(1, 1), Ok("edited".into()))),
        [r#"close: Closed("edited")"#]
    );
    let again = diffs.close(&"s".into(), "/a", None, "again", now);
    assert_eq!(lines(again), ["again: error: no diff of /a is open"]);
}

#[test]
fn close_diff_before_the_view_is_open_answers_both_calls() {
    let (mut diffs, now) = (Machine::default(), Instant::now());
    open(&mut diffs, proposal("s", "/a", "new"), "open", now);
    assert_eq!(
        lines(diffs.close(&"s".into(), "/a", None, "close", now)),
        [
            "open: error: the agent closed the diff",
            "close 1 ClosedByAgent"
        ]
    );
}

#[test]
fn close_diff_for_an_outcome_under_way_returns_what_was_accepted() {
    let (mut diffs, now) = (Machine::default(), Instant::now());
    let close = diffs.close(&"s".into(), "/a", Some(accepted("x")), "close", now);
    assert_eq!(lines(close), [r#"close: Closed("x")"#]);
    let close = diffs.close(&"s".into(), "/a", Some(Outcome::Rejected), "close", now);
    assert_eq!(lines(close), ["close: error: the diff of /a was rejected"]);
}

#[test]
fn close_diff_fails_when_the_editor_does_not_answer() {
    let (mut diffs, now) = (pending(), Instant::now());
    diffs.close(&"s".into(), "/a", None, "close", now);
    assert_eq!(
        lines(diffs.expire(now + EDITOR_TIMEOUT)),
        ["close: error: the editor did not answer within 10 seconds"]
    );
    assert!(diffs.closed(key(1, 1), Ok("late".into())).is_empty());
}

#[test]
fn a_new_proposal_while_the_old_view_closes_is_a_diff_of_its_own() {
    let (mut diffs, now) = (pending(), Instant::now());
    diffs.close(&"s".into(), "/a", None, "close", now);
    let open = open(&mut diffs, proposal("s", "/a", "next"), "open", now);
    assert_eq!(lines(open), [r#"show 2 #1 "next""#]);
    assert_eq!(
        lines(diffs.closed(key(1, 1), Ok("old".into()))),
        [r#"close: Closed("old")"#]
    );
}

#[test]
fn a_name_means_the_text_that_was_shown_or_else_the_proposed_one() {
    let (mut diffs, now) = (pending(), Instant::now());
    let key = |revision| ProposalKey {
        id: DiffId(1),
        revision,
    };
    let is_meant = |diffs: &Machine, revision| {
        ["new", "mine", "newer"].map(|text| diffs.is_meant(key(revision), text))
    };
    assert_eq!(is_meant(&diffs, 1), [true, false, false]);
    diffs.note_printed(key(1), "mine");
    assert_eq!(is_meant(&diffs, 1), [false, true, false]);
    // What was shown of one revision says nothing of the next.
    open(&mut diffs, proposal("s", "/a", "newer"), "again", now);
    diffs.note_printed(key(1), "mine");
    assert_eq!(is_meant(&diffs, 1), [false; 3]);
    assert_eq!(is_meant(&diffs, 2), [false, false, true]);
}

#[test]
fn a_decision_on_a_replaced_proposal_does_not_settle_the_new_one() {
    let (mut diffs, now) = (pending(), Instant::now());
    open(&mut diffs, proposal("s", "/a", "newer"), "again", now);
    assert!(diffs.resolved(key(1, 1), accepted("old")).is_empty());
    assert_eq!(lines(diffs.shown(key(1, 2), Ok(()))), ["again: Opened"]);
    assert_eq!(
        lines(diffs.resolved(key(1, 2), Outcome::Rejected)),
        ["notify s /a Rejected"]
    );
}

#[test]
fn a_reviewer_who_decides_while_the_agent_closes_is_heard_in_the_answer() {
    let now = Instant::now();
    let mut diffs = pending();
    diffs.close(&"s".into(), "/a", None, "close", now);
    assert_eq!(
        lines(diffs.resolved(key(1, 1), accepted("mine"))),
        [r#"close: Closed("mine")"#]
    );
    let late = diffs.closed(key(1, 1), Err("no such view".into()));
    assert!(late.is_empty());
}

#[test]
fn the_views_of_an_agent_that_is_gone_go_away() {
    let (mut diffs, now) = (pending(), Instant::now());
    open(&mut diffs, proposal("s", "/b", "b"), "open", now);
    open(&mut diffs, proposal("other", "/a", "c"), "stays", now);
    assert_eq!(
        lines(diffs.session_gone(&"s".into(), now)),
        [
            "close 1 AgentGone",
            "close 2 AgentGone",
            "open: error: the agent is gone"
        ]
    );
    assert_eq!(lines(diffs.shown(key(3, 1), Ok(()))), ["stays: Opened"]);
}

#[test]
fn stopping_rejects_what_is_undecided_and_answers_who_waits() {
    let (mut diffs, now) = (pending(), Instant::now());
    open(&mut diffs, proposal("s", "/b", "b"), "open", now);
    assert_eq!(
        lines(diffs.stop()),
        [
            "notify s /a Rejected",
            "close 2 Settled",
            "open: error: the companion is stopping"
        ]
    );
}

#[test]
fn a_hook_is_answered_before_its_agent_gives_up() {
    let (mut machine, now) = (Machine::default(), Instant::now());
    let input = json!({"notebook_path": "/n", "cell_id": "a", "new_source": "x"});
    let held = Proposal {
        proposer: Dialect::ClaudeCode.into(),
        tab: Some(Tab {
            name: "n".to_owned(),
            request: RequestId::new(json!(1)).unwrap(),
            drops_last_line_feed: false,
            question: None,
        }),
        stand_in: HeldCall::of_cell(&input).map(StandIn::Held).map(Arc::new),
        ..proposal("s", "/n", "x")
    };
    machine.open(held, "hook", now);
    let target = Target::new("/n".into(), Original::default());
    machine.checked(key(1, 1), Ok(target), now);
    machine.shown(key(1, 1), Ok(()));
    assert_eq!(machine.due(), Some(now + HOOK_TIMEOUT));
    assert!(
        machine
            .expire(now + HOOK_TIMEOUT - EDITOR_TIMEOUT)
            .is_empty()
    );
    let mut actions = machine.expire(now + HOOK_TIMEOUT);
    let Some(Action::Notify { delivery, .. }) = actions.first_mut() else {
        panic!("{actions:?}");
    };
    assert_eq!(delivery.outcome, Outcome::Rejected);
    let words = delivery.words.take();
    assert_eq!(
        words.as_deref(),
        Some("The change was not made: nobody decided in time.")
    );
    assert_eq!(lines(actions).last().unwrap(), "close 1 AgentGone");
    assert_eq!(machine.due(), None);
}
