//! The diffs that an agent leaves behind that is gone for good.

use super::*;

/// A diff of session `s`, after that is gone.
fn gone() -> (Machine, Instant) {
    let (mut diffs, now) = (pending(), Instant::now());
    let actions = diffs.session_gone(&"s".into(), now);
    assert_eq!(lines(actions), ["close 1 AgentGone"]);
    (diffs, now)
}

#[test]
fn what_was_accepted_before_the_editor_heard_of_it_is_lost_and_told() {
    let (mut diffs, _) = gone();
    assert_eq!(diffs.pending().count(), 0);
    let accepts = diffs.resolved(key(1, 1), accepted("mine"));
    assert_eq!(lines(accepts), [r#"lose /a "mine" edited"#]);
    assert!(diffs.closed(key(1, 1), Err("no view".into())).is_empty());
    let (mut diffs, _) = gone();
    let accepts = diffs.resolved(key(1, 1), accepted("new"));
    assert_eq!(lines(accepts), [r#"lose /a "new""#]);
}

#[test]
fn what_was_rejected_or_closed_then_is_no_loss() {
    let (mut diffs, _) = gone();
    assert!(diffs.resolved(key(1, 1), Outcome::Rejected).is_empty());
    let closed = diffs.closed(key(1, 1), Ok("edited".into()));
    assert!(closed.is_empty(), "the editor keeps it");
    assert!(diffs.resolved(key(1, 1), accepted("late")).is_empty());
}

#[test]
fn an_editor_that_does_not_answer_then_is_not_waited_for() {
    let (mut diffs, now) = gone();
    assert_eq!(diffs.due(), Some(now + EDITOR_TIMEOUT));
    assert!(diffs.expire(now + EDITOR_TIMEOUT).is_empty());
    assert_eq!(diffs.due(), None);
}
