//! Judges the facts. No I/O: a check takes facts and gives findings.

mod agent;
mod claude;
mod codex;
mod companion;
mod connection;
mod files;
mod folders;
mod hooks;
pub mod settings;
mod shell;
#[cfg(test)]
mod tests;

use pillion_protocol::dialect::Protocol;

use super::facts::Facts;
use super::finding::{Finding, Id, Level};

pub use self::agent::{older_than, update};
pub use self::claude::TOOLS;
pub use self::settings::ide_mode;

/// All findings, in the order of the walk.
pub fn judge(facts: &Facts) -> Vec<Finding> {
    if let Some(oldest) = facts.release.too_old() {
        return vec![agent::too_old(facts, oldest)];
    }
    let mut findings = Vec::new();
    agent::check(facts, &mut findings);
    if !facts.agent().opens_session() {
        hooks::check(facts, &mut findings);
        codex::check(facts, &mut findings);
        sort(&mut findings);
        return findings;
    }
    match facts.agent().protocol() {
        Protocol::Companion => settings::check(facts, &mut findings),
        Protocol::Claude => claude::settings(facts, &mut findings),
        // Nothing is known of settings that would keep Copilot CLI from connecting.
        Protocol::Copilot | Protocol::Hooks => {}
    }
    hooks::check(facts, &mut findings);
    folders::check(facts, &mut findings);
    files::check(facts, &mut findings);
    companion::check(facts, &mut findings);
    connection::check(facts, &mut findings);
    connection::session(facts, &mut findings);
    sort(&mut findings);
    if !facts.is_connected() && !findings.iter().any(is_problem) {
        findings.push(unexplained(facts));
    }
    findings
}

/// The first break comes first in its step.
fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by_key(|finding| (finding.id.step(), std::cmp::Reverse(finding.level)));
    say_once(findings);
}

pub fn is_problem(finding: &Finding) -> bool {
    finding.level == Level::Problem
}

/// Returns true if it says why no companion is found: one that runs is in another place, or the only one
/// is gone.
fn explains_absence(facts: &Facts, finding: &Finding) -> bool {
    let is_in_place = match finding.id {
        Id::TmpdirDiffers => false,
        Id::DeadCompanion => facts.living().next().is_some(),
        _ => true,
    };
    is_problem(finding) && !is_in_place
}

/// Leaves out what goes away with a problem, by the same command.
fn say_once(findings: &mut Vec<Finding>) {
    let problems = findings.iter().filter(|finding| is_problem(finding));
    let commands: Vec<_> = problems.filter_map(|it| it.fix.clone()).collect();
    findings.retain(|finding| {
        let is_said = |fix| commands.contains(fix);
        is_problem(finding) || !finding.fix.as_ref().is_some_and(is_said)
    });
}

/// The agent's own reason, where no check has a better one.
fn unexplained(facts: &Facts) -> Finding {
    let refusal = facts.search.refusal.as_ref();
    let what = refusal.map_or_else(|| "no companion responds".to_owned(), ToString::to_string);
    Finding::problem(
        Id::NoCompanion,
        what,
        format!(
            "{} needs a companion that it can find and that responds",
            facts.release
        ),
    )
    .fix(agent::start(facts))
}
