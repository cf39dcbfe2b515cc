//! Codex CLI, whose hooks show what it changes: what keeps them from being run, or leaves them with nobody to ask.

use super::super::facts::Facts;
use super::super::finding::{Finding, Id, Level};
use super::agent::start;

/// Judges what the checks of hooks have found, and whether a companion is there.
pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let stops = |finding: &&mut Finding| {
        matches!(
            finding.id,
            Id::SettingsBroken
                | Id::HookMissing
                | Id::HookUntrusted
                | Id::HooksDisabled
                | Id::HookProgram
        )
    };
    for finding in findings.iter_mut().filter(stops) {
        finding.level = Level::Problem;
    }
    if facts.companion().is_none() {
        let what = format!("none of Pillion's companions is open for {}", facts.folder.display());
        let why = "Pillion's hooks then have nobody to ask, and with `/ide` Codex CLI says that it cannot enable the context";
        findings.push(Finding::problem(Id::NoCompanion, what, why).fix(start(facts)));
    }
}
