//! The folders of discovery files: the agent must look where companions are.

use std::path::Path;

use pillion_agent::find::Verdict;
use pillion_discovery::Environment;
use pillion_protocol::dialect::Base;

use super::super::facts::{Facts, decisive, is_for};
use super::super::finding::{Finding, Id};
use super::shell;

/// Names the home directory, in which most of an agent's own directories are.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let name = facts.agent().display_name();
    let base = decisive(facts.agent());
    for elsewhere in &facts.elsewhere {
        let mut there = elsewhere.companions.iter().filter(|companion| {
            let is_seen = is_seen(facts, companion.port);
            is_for(companion, facts.agent()) && !is_seen && companion.depth(&facts.folder).is_some()
        });
        let Some(companion) = there.next() else {
            continue;
        };
        let usual = Environment::variable(base).unwrap_or_default();
        let variable = deciding(facts, usual, &elsewhere.value);
        let is_set = facts.environment().filled(variable).is_some();
        let shown = facts.setup.variables.shown(variable);
        let by = if is_set {
            format!(", by {shown}")
        } else {
            String::new()
        };
        let what = format!(
            "{} serves this folder, but its discovery files are in {}; agents here look in {}{by}",
            companion.display_name(),
            elsewhere.value.display(),
            facts.environment().base(base).display(),
        );
        let why = format!(
            "{name} gets that directory from {variable}, which has another value in the editor"
        );
        let is_default = elsewhere.value == facts.environment().base(Base::ClaudeHome)
            || facts.environment().home().map(|home| home.join(".copilot"))
                == Some(elsewhere.value.clone());
        let fix = match facts.setup.variables.origin(variable) {
            Some(_) => shell::unset(facts, variable),
            // With that value, Claude Code would keep what its menus set in another place.
            None if is_default => shell::unset(facts, variable),
            None if variable == HOME => {
                let home = elsewhere.value.parent().unwrap_or(&elsewhere.value);
                shell::export(variable, &home.to_string_lossy())
            }
            None => shell::export(usual, &elsewhere.value.to_string_lossy()),
        };
        let blocks = !facts.is_connected();
        findings.push(Finding::blocking(blocks, Id::TmpdirDiffers, what, why).fix(fix));
    }
}

/// Returns true if the release has a file of the companion on this port before it that it can take.
fn is_seen(facts: &Facts, port: u16) -> bool {
    let mut candidates = facts.search.candidates.iter();
    // A companion leaves some of its files for older releases where all look.
    candidates.any(|candidate| {
        let is_passed_by = matches!(candidate.verdict, Verdict::NotLookedAt | Verdict::OtherUser);
        candidate.port == Some(port) && !is_passed_by
    })
}

/// The variable that a folder is really taken from.
fn deciding(facts: &Facts, variable: &'static str, there: &Path) -> &'static str {
    let names: &[&str] = match variable {
        "CLAUDE_CONFIG_DIR" | "COPILOT_HOME" if facts.environment().filled(variable).is_none() => {
            let usual = match variable {
                "COPILOT_HOME" => ".copilot",
                _ => ".claude",
            };
            let is_a_homes = there.file_name() == Some(usual.as_ref());
            return if is_a_homes { HOME } else { variable };
        }
        "TMPDIR" if cfg!(windows) => &["TEMP", "TMP"],
        "TMPDIR" => &["TMPDIR", "TMP", "TEMP"],
        _ => return variable,
    };
    let mut set = names
        .iter()
        .filter(|name| facts.environment().filled(name).is_some());
    set.next().copied().unwrap_or(variable)
}

/// The number of first components that two paths share.
pub fn shared(one: &Path, other: &Path) -> usize {
    let pairs = one.components().zip(other.components());
    pairs.take_while(|(one, other)| one == other).count()
}
