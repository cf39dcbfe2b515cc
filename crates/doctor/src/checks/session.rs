//! The agent's tools and context once it is connected to a companion.

use super::super::facts::Facts;
use super::super::facts::dial::Outcome;
use super::super::finding::{Finding, Id};

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let Some(Outcome::Connected {
        can_diff,
        has_context,
    }) = facts.outcome()
    else {
        return;
    };
    let name = facts.agent().display_name();
    if !can_diff {
        let what = "the companion does not offer both `openDiff` and `closeDiff`";
        let why = format!("{name} then shows its changes in its own window (C5.1, C5.4)");
        findings.push(Finding::warning(Id::ToolsMissing, what, why));
    }
    if !has_context {
        let what = "the companion did not report what is open in the editor";
        let why =
            format!("{name} gets it as soon as it is connected, or with the next change (C4.1)");
        findings.push(Finding::note(Id::NoContext, what, why));
    }
}
