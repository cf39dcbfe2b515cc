//! Proposals whose target is still being checked.

use super::*;
use crate::disk::CHECK_TIMEOUT;

#[test]
fn a_target_that_takes_longer_than_two_seconds_fails_its_call_alone() {
    let (mut diffs, now) = (pending(), Instant::now());
    let checks = diffs.open(proposal("s", "/hangs", "x"), "hangs", now);
    assert_eq!(lines(checks), ["check 2 #1"]);
    assert_eq!(diffs.due(), Some(now + CHECK_TIMEOUT));
    let other = open(&mut diffs, proposal("s", "/b", "y"), "other", now);
    assert_eq!(lines(other), [r#"show 3 #1 "y""#]);
    diffs.shown(key(3, 1), Ok(()));
    let late = lines(diffs.expire(now + CHECK_TIMEOUT));
    assert_eq!(late.len(), 1, "no view to close: {late:?}");
    assert!(late[0].starts_with("hangs: error: openDiff: cannot read \"/hangs\""));
    assert!(
        diffs
            .checked(key(2, 1), Ok(target("/hangs")), now)
            .is_empty()
    );
    assert_eq!(diffs.pending().count(), 2);
}

#[test]
fn a_target_that_cannot_be_shown_takes_the_view_of_the_older_proposal_along() {
    let (mut diffs, now) = (pending(), Instant::now());
    let again = diffs.open(proposal("s", "/a", "newer"), "again", now);
    assert_eq!(lines(again), ["check 1 #2"]);
    assert_eq!(
        lines(diffs.checked(key(1, 2), Err("a folder".into()), now)),
        ["close 1 NotShown", "again: error: a folder"]
    );
}

#[test]
fn a_decision_on_what_a_newer_proposal_is_about_to_replace_does_not_count() {
    let (mut diffs, now) = (pending(), Instant::now());
    diffs.open(proposal("s", "/a", "newer"), "again", now);
    assert!(diffs.resolved(key(1, 1), accepted("new")).is_empty());
    let shown = diffs.checked(key(1, 2), Ok(target("/a")), now);
    assert_eq!(lines(shown), [r#"show 1 #2 "newer""#]);
}

#[test]
fn an_agent_that_closes_what_is_still_looked_at_gets_the_newest_text() {
    let (mut diffs, now) = (pending(), Instant::now());
    diffs.open(proposal("s", "/a", "newer"), "open", now);
    assert_eq!(
        lines(diffs.close(&"s".into(), "/a", None, "close", now)),
        [
            "close 1 ClosedByAgent",
            "open: error: the agent closed the diff",
            r#"close: Closed("newer")"#
        ]
    );
    assert!(diffs.closed(key(1, 1), Ok("new".into())).is_empty());
    let late = diffs.checked(key(1, 2), Ok(target("/a")), now);
    assert!(late.is_empty(), "it is closed: {late:?}");

    diffs.open(proposal("s", "/b", "first"), "open", now);
    assert_eq!(
        lines(diffs.close(&"s".into(), "/b", None, "close", now)),
        [
            "open: error: the agent closed the diff",
            r#"close: Closed("first")"#
        ],
        "the editor never heard of it"
    );
}

#[test]
fn only_the_newest_of_two_looks_counts() {
    let (mut diffs, now) = (Machine::default(), Instant::now());
    diffs.open(proposal("s", "/a", "old"), "first", now);
    diffs.open(proposal("s", "/a", "new"), "second", now);
    let newest = diffs.checked(key(1, 2), Ok(target("/a")), now);
    assert_eq!(lines(newest), [r#"show 1 #2 "new""#]);
    let stale = diffs.checked(key(1, 1), Ok(target("/a")), now);
    assert!(stale.is_empty(), "{stale:?}");
}
