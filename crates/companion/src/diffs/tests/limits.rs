//! The limits of what one agent may have open.

use super::*;

#[test]
fn an_agent_may_have_so_many_diffs_open_and_no_more() {
    let (mut diffs, now) = (Machine::default(), Instant::now());
    for number in 0..MAX_OPEN {
        diffs.open(proposal("s", &format!("/{number}"), "x"), "open", now);
    }
    let refused = lines(diffs.open(proposal("t", "/more", "x"), "more", now));
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].starts_with("more: error: openDiff: too many pending diffs (limit 2000)"));
    let again = lines(diffs.open(proposal("s", "/7", "y"), "again", now));
    assert_eq!(again[1], "check 8 #2", "it takes the place of one");
    let other = Proposal {
        proposer: Dialect::QwenCode.into(),
        ..proposal("q", "/more", "x")
    };
    assert_eq!(lines(diffs.open(other, "other", now)), ["check 2001 #1"]);
    diffs.close(&"s".into(), "/1", None, "close", now);
    let after = lines(diffs.open(proposal("t", "/more", "x"), "more", now));
    assert_eq!(after, ["check 2002 #1"]);
}

#[test]
fn a_newer_proposal_that_is_too_much_takes_the_view_of_the_older_one_along() {
    let (mut diffs, now) = (pending(), Instant::now());
    let half = "x".repeat(MAX_OPEN_BYTES / 2);
    diffs.open(proposal("s", "/half", &half), "half", now);
    let too_much = lines(diffs.open(proposal("s", "/a", &(half + "x")), "more", now));
    assert_eq!(too_much.len(), 2, "{too_much:?}");
    assert_eq!(too_much[0], "close 1 NotShown");
    assert!(
        too_much[1].starts_with("more: error: openDiff: too much pending text (limit 512 MiB)")
    );
    assert_eq!(diffs.pending().count(), 0);
}
