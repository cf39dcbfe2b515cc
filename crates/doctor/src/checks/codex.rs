//! The agents that open no session, so that hooks show what they change: the obstacles that keep those from being run, or leave them
//! with nobody to ask. Codex CLI's own question, with `/ide`, is beside that.

use super::super::facts::Facts;
use super::super::facts::codex::{Answer, Asked};
use super::super::finding::{Finding, Id, Level};
use super::agent::start;
use super::companion::hub_version;

/// Judges what the checks of hooks have found, and whether a companion is there.
pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let stops = |finding: &&mut Finding| {
        matches!(
            finding.id,
            Id::SettingsBroken | Id::HookMissing | Id::HooksDisabled | Id::HookProgram
        )
    };
    for finding in findings.iter_mut().filter(stops) {
        finding.level = Level::Problem;
    }
    if facts.companion().is_some() {
        hub_version(facts, findings);
        findings.extend(facts.asked.as_ref().and_then(|it| no_context(facts, it)));
    } else {
        let what = format!(
            "none of Pillion's companions is open for {}",
            facts.folder.display()
        );
        let why = match facts.agent().asks_for_context() {
            true => {
                "Pillion's hooks then have nobody to ask, and with `/ide` Codex CLI says that it cannot enable the context"
            }
            false => "Pillion's hooks then have nobody to ask",
        };
        findings.push(Finding::problem(Id::NoCompanion, what, why).fix(start(facts)));
    }
}

/// Nobody tells it what the editor of this folder shows.
fn no_context(facts: &Facts, asked: &Asked) -> Option<Finding> {
    let socket = asked.socket.display();
    let home = facts.environment().codex_home();
    let (what, why) = match &asked.answer {
        Answer::Context => return None,
        Answer::NoEditor => (
            format!("{socket} is served, but not for this folder"),
            "another program has the socket, or Pillion's hub does not host the companion of this folder; with `/ide`, \
             Codex CLI asks there what your editor shows",
        ),
        Answer::Nobody(_) if !home.is_dir() => (
            format!(
                "{} is not there, so Codex CLI is told nothing of your editor",
                home.display()
            ),
            "Codex CLI makes that folder when it is first started, and Pillion serves its socket there within five seconds",
        ),
        Answer::Nobody(why) => (
            format!("{socket} does not answer: {why}"),
            "with `/ide`, Codex CLI asks there what your editor shows; Pillion serves it within five seconds, in the \
             CODEX_HOME of every editor and review, and of `pillion run codex`",
        ),
    };
    Some(Finding::warning(Id::NoContext, what, why))
}
