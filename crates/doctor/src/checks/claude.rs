//! The peculiarities of Claude Code and opencode: when they connect by themselves, which of several companions
//! they take, and when they show no diffs.

use pillion_agent::find::{Refusal, Version};
use pillion_discovery::survey::Companion;
use pillion_protocol::Dialect;
use pillion_protocol::claude::AUTO_BY_DEFAULT;
use serde_json::Value;

use super::super::facts::Facts;
use super::super::finding::{Finding, Id};
use super::agent::run;
use super::settings::merged;
use super::shell;
use crate::setup::settings::{Content, Scope, SettingsFile};

/// The oldest release that was seen not to start with an administrator's file that is broken.
const INSISTENT: Version = Version::new(2, 1, 330);

/// The first release that makes changes without asking if no setting says otherwise.
const AUTOMATIC: Version = Version::from_numbers(AUTO_BY_DEFAULT);

/// The permission modes in which it makes changes without asking.
const WITHOUT_ASKING: [&str; 3] = ["auto", "acceptEdits", "bypassPermissions"];

/// The tools that change files.
pub const TOOLS: [&str; 2] = ["Edit", "Write"];

/// Checks that its settings let it connect, and show diffs.
pub fn settings(facts: &Facts, findings: &mut Vec<Finding>) {
    if facts.agent() != Dialect::ClaudeCode {
        return;
    }
    let files = facts.setup.settings.files.iter();
    findings.extend(files.filter_map(|file| broken(facts, file)));
    findings.extend(not_automatic(facts));
    findings.extend(without_asking(facts));
    findings.extend(in_terminal(facts));
}

fn broken(facts: &Facts, file: &SettingsFile) -> Option<Finding> {
    let Content::Broken(reason) = &file.content else {
        return None;
    };
    let path = file.path.display();
    let what = format!("{path} is not a valid settings file: {reason}");
    let insists = file.scope == Scope::System && facts.release.version >= INSISTENT;
    let why = match file.scope {
        Scope::System if insists => "Claude Code does not start with it",
        Scope::Menus => "the doctor does not know what Claude Code makes of it",
        _ => {
            "Claude Code skips it: in a terminal it asks whether to continue without this file's settings"
        }
    };
    let finding = Finding::blocking(insists, Id::SettingsBroken, what, why);
    Some(finding.fix(shell::edit(&file.path)))
}

/// Why it does not connect by itself, if it does not.
fn not_automatic(facts: &Facts) -> Option<Finding> {
    if let Some(Refusal::TurnedOff(variable)) = facts.search.refusal {
        let shown = facts.setup.variables.shown(variable);
        let what = format!("{shown} keeps Claude Code from connecting on its own");
        let why = "it then connects to no companion, not even with `--ide` or with the port in a variable";
        let fix = shell::unset(facts, variable);
        return Some(Finding::problem(Id::IdeModeOff, what, why).fix(fix));
    }
    let environment = facts.environment();
    let names = ["CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_AUTO_CONNECT_IDE"];
    let by_variable = names.iter().any(|name| environment.filled(name).is_some());
    let menus = of(facts, Scope::Menus);
    let chosen = menus.and_then(|file| file.content.get(&["autoConnectIde"]));
    if by_variable || chosen.and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let what = "Claude Code does not connect on its own here";
    let why = "it does with `claude --ide`, after `/ide`, if `/config` turns \"Auto-connect to IDE\" on, or if a variable names the companion; with `-p` it never does";
    // Where it would reach no companion either way, how it is started comes second.
    let finding = Finding::blocking(facts.is_connected(), Id::IdeModeOff, what, why);
    Some(finding.fix("pillion run claude"))
}

/// The permission mode that shows no diffs, unless rules have it ask about every change. Other rules are not judged.
fn without_asking(facts: &Facts) -> Option<Finding> {
    let set = merged(facts, &["permissions", "defaultMode"]).and_then(Value::as_str);
    let is_default = set.is_none() && facts.release.version >= AUTOMATIC;
    let mode = set.unwrap_or(if is_default { "auto" } else { "default" });
    let mut files = facts.setup.settings.files.iter();
    let asks_about = |tool: &&str| {
        let mut lists = files.clone();
        lists.any(|file| {
            let asked = file.content.get(&["permissions", "ask"]);
            let asked = asked.and_then(Value::as_array);
            asked.is_some_and(|rules| rules.contains(&Value::from(*tool)))
        })
    };
    if !WITHOUT_ASKING.contains(&mode) || TOOLS.iter().all(asks_about) {
        return None;
    }
    let own = if is_default { ", its own default" } else { "" };
    let what =
        format!("Claude Code makes changes without asking: its permission mode is {mode:?}{own}");
    let why = "it then shows no diffs, not even in the editor; `\"permissions\": {\"ask\": [\"Edit\", \"Write\"]}` in its settings brings them back in every mode, and so does `pillion run claude`";
    let user = files.find(|file| file.scope == Scope::User)?;
    let finding = Finding::note(Id::NoDiffs, what, why);
    Some(finding.fix(shell::edit(&user.path)))
}

fn in_terminal(facts: &Facts) -> Option<Finding> {
    let menus = of(facts, Scope::Menus)?;
    let tool = menus.content.get(&["diffTool"]).and_then(Value::as_str);
    (tool == Some("terminal")).then(|| {
        let what = format!("`diffTool` is \"terminal\" in {}", menus.path.display());
        let why = "Claude Code then shows its changes in its own window only; `/config` sets its diff tool to `auto`";
        Finding::warning(Id::DiffsInTerminal, what, why).fix("/config")
    })
}

fn of(facts: &Facts, scope: Scope) -> Option<&SettingsFile> {
    let mut files = facts.setup.settings.files.iter();
    files.find(|file| file.scope == scope)
}

/// Why it takes none of the companions that are there, where the reason is Claude Code's own.
pub fn not_taken(facts: &Facts) -> Option<Finding> {
    match facts.search.refusal.as_ref()? {
        Refusal::Ambiguous(ports) => several(facts, ports),
        _ => None,
    }
}

fn several(facts: &Facts, ports: &[u16]) -> Option<Finding> {
    let name = facts.agent().display_name();
    let shown = ports.iter().map(|port| {
        let editor = facts.at(*port).map_or("an editor", Companion::display_name);
        format!("{editor} on port {port}")
    });
    let shown: Vec<_> = shown.collect();
    let what = format!(
        "{} companions serve this folder, and {name} then connects to none: {}",
        shown.len(),
        shown.join(", ")
    );
    let why =
        "nothing says which one you mean: `/ide` in the agent asks, and the command names one";
    let port = ports.iter().find(|port| facts.at(**port).is_some());
    let finding = Finding::problem(Id::SeveralCompanions, what, why);
    Some(finding.fix(run(facts, *port.or(ports.first())?)))
}
