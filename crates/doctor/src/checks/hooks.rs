//! Pillion's hooks: whether they are there, and whether the agent runs them. None of this keeps an agent from connecting.

use pillion_hooks::HookProtocol;
use pillion_hooks::settings::{self, CommandLine, Format, Hook, State};
use pillion_protocol::Dialect;
use serde_json::{Map, Value};

use super::super::facts::Facts;
use super::super::finding::{Finding, Id};
use super::shell;
use crate::setup::hooks::Hooks;
use crate::setup::settings::{Content, Scope};

pub fn check(facts: &Facts, findings: &mut Vec<Finding>) {
    let (hooks, protocol) = (&facts.setup.hooks, pillion_hooks::of(facts.agent()));
    if hooks.ours.is_empty() {
        findings.extend(missing(facts, hooks, findings));
        return;
    }
    let faults = [
        untrusted(facts, hooks, protocol),
        disabled(facts, hooks),
        incomplete(facts, hooks, protocol),
        program(facts, hooks, protocol),
    ];
    let has_faults = faults.iter().any(Option::is_some);
    findings.extend(faults.into_iter().flatten());
    if !has_faults {
        // It asks nobody, but the hooks do.
        findings.retain(|finding| finding.id != Id::NoDiffs);
        findings.push(installed(facts, hooks));
    }
}

/// Nothing is wrong with them.
fn installed(facts: &Facts, hooks: &Hooks) -> Finding {
    let name = facts.agent().display_name();
    let what = format!(
        "Pillion's hooks are in {}, and {name} runs them",
        hooks.path.display()
    );
    let why = "every change of a file is shown to you before it is made, in every mode, while an editor or review is open";
    Finding::note(Id::HooksInstalled, what, why)
}

/// A hint, where changes may be made that nobody sees: elsewhere the agent shows them without hooks, too.
fn missing(facts: &Facts, hooks: &Hooks, findings: &[Finding]) -> Option<Finding> {
    let name = facts.agent().display_name();
    let path = hooks.path.display();
    let is_script = Format::of(facts.agent()) == Format::Script;
    if let Some(why) = hooks.broken.as_ref().filter(|_| !is_script) {
        // Where it is told already, in the agent's own words.
        let is_told = findings
            .iter()
            .any(|finding| finding.id == Id::SettingsBroken);
        let what = format!("{path} is not a valid settings file: {why}");
        let becomes = match facts.agent() {
            Dialect::CodexCli => "does not start with",
            _ => "ignores",
        };
        let finding = Finding::warning(
            Id::SettingsBroken,
            what,
            format!("{name} {becomes} such a file"),
        );
        return (!is_told).then(|| finding.fix(shell::edit(&hooks.path)));
    }
    let is_unasked = findings.iter().any(|finding| finding.id == Id::NoDiffs);
    let why = match facts.agent() {
        Dialect::CopilotCli => {
            "without them it shows no change that it does not ask about, takes no edits, and does not hear why you rejected \
             a change"
        }
        agent if !agent.proposes() => "without them, none of its changes are shown to you",
        _ if is_unasked => "with them, every change is shown to you, in every mode",
        _ => return None,
    };
    let what = match &hooks.broken {
        Some(why) => format!("Pillion's hooks are not in {path}: {why}"),
        None => format!("Pillion's hooks are not in {path}"),
    };
    let fix = format!("pillion hook install {}", facts.agent().name());
    Some(Finding::note(Id::HookMissing, what, why).fix(fix))
}

/// An agent that asks the person whether it may run a hook at all. Its changes are shown by the hook before they are made.
fn untrusted(facts: &Facts, hooks: &Hooks, protocol: &dyn HookProtocol) -> Option<Finding> {
    let asking = protocol.entries("").first().map(|entry| entry.event);
    let states = hooks.ours.iter().map(|ours| {
        let state = settings::state(facts.agent(), &hooks.values, &hooks.path, &ours.hook);
        (state, asking == Some(ours.hook.event.as_str()))
    });
    let states: Vec<_> = states.collect();
    let worst = states.iter().map(|it| it.0).max()?;
    let count = states.iter().filter(|it| it.0 == worst).count();
    let which = match states.len() {
        all if all == count => "Pillion's hooks".to_owned(),
        all => format!("{count} of Pillion's {all} hooks"),
    };
    let name = facts.agent().display_name();
    let (what, how) = match worst {
        State::Untrusted => (
            format!("{name} does not run {which} yet: you have not trusted them"),
            "it asks about new and changed hooks when it starts, and `t` trusts all in `/hooks`; until then ",
        ),
        State::Disabled => (
            format!("{which} are turned off in {}", hooks.path.display()),
            "",
        ),
        State::Active => return None,
    };
    let shows = states.contains(&(State::Active, true));
    let goes_on = match shows {
        true => {
            "its changes are shown, but nothing tells the ends of its calls and turns, or what its commands changed"
        }
        false => "it goes on without these",
    };
    let why = format!("{how}{goes_on}");
    let finding = Finding::blocking(!shows, Id::HookUntrusted, what, why);
    Some(finding.fix("/hooks"))
}

/// A setting that turns all hooks off, or all but the administrator's.
fn disabled(facts: &Facts, hooks: &Hooks) -> Option<Finding> {
    let is_set =
        |values: &Map<String, Value>, name: &str| values.get(name) == Some(&Value::Bool(true));
    let own = (&hooks.path, is_set(&hooks.values, "disableAllHooks"));
    let others = facts.setup.settings.counting().filter_map(|file| {
        let Content::Object(values) = &file.content else {
            return None;
        };
        let is_managed = file.scope == Scope::System && is_set(values, "allowManagedHooksOnly");
        Some((&file.path, is_managed || is_set(values, "disableAllHooks")))
    });
    let (path, _) = others.chain([own]).find(|(_, is_off)| *is_off)?;
    let name = facts.agent().display_name();
    let what = format!("{} turns Pillion's hooks off", path.display());
    let why = format!(
        "{name} runs no hooks then, or only the administrator's, so changes are made without them"
    );
    Some(Finding::warning(Id::HooksDisabled, what, why).fix(shell::edit(path)))
}

/// An entry that is not as `pillion hook install` writes it: it is missing, its time is too short, or it is about fewer tools.
fn incomplete(facts: &Facts, hooks: &Hooks, protocol: &dyn HookProtocol) -> Option<Finding> {
    let agent = facts.agent().name();
    let name = facts.agent().display_name();
    let path = hooks.path.display();
    let fix = |finding: Finding| finding.fix(format!("pillion hook install {agent}"));
    if hooks.is_other_script {
        let what = format!("{path} is not as this version of Pillion writes it");
        let why = "it may not show you every change";
        return Some(fix(Finding::warning(Id::HookOutdated, what, why)));
    }
    for entry in protocol.entries("") {
        let mut values = Map::new();
        values.insert(
            "hooks".to_owned(),
            serde_json::json!({entry.event: [entry.item]}),
        );
        let wanted = settings::hooks(&values).into_iter().next()?;
        let Some(found) = hooks
            .ours
            .iter()
            .find(|ours| ours.hook.event == entry.event)
        else {
            let what = format!("Pillion's {} hook is not in {path}", entry.event);
            let why = "it was written by another version of Pillion, or somebody has removed it";
            return Some(fix(Finding::warning(Id::HookOutdated, what, why)));
        };
        let Hook { limit, matcher, .. } = &found.hook;
        if wanted.limit > Some(limit.unwrap_or_default()) {
            let shown = limit.map_or("its own default".to_owned(), |limit| limit.to_string());
            let what = format!(
                "the time limit of Pillion's {} hook is too short: {shown}",
                entry.event
            );
            let makes = if is_strict(protocol) {
                "does not make"
            } else {
                "makes"
            };
            let why = format!(
                "when that time is over, {name} {makes} the change that you are looking at"
            );
            return Some(fix(Finding::warning(Id::HookOutdated, what, why)));
        }
        if *matcher != wanted.matcher {
            let what = format!(
                "Pillion's {} hook does not name the tools that this version of Pillion watches",
                entry.event
            );
            let why = "changes by a tool that it does not name are not shown to you first, and it is unclear who made them";
            return Some(fix(Finding::warning(Id::HookOutdated, what, why)));
        }
    }
    None
}

/// Returns true if the agent makes no change whose hook fails.
fn is_strict(protocol: &dyn HookProtocol) -> bool {
    let entries = protocol.entries("");
    entries.iter().any(|entry| entry.item["strict"] == true)
}

/// A program that is not where the hook has it.
fn program(facts: &Facts, hooks: &Hooks, protocol: &dyn HookProtocol) -> Option<Finding> {
    let CommandLine { program, agent, .. } = hooks
        .ours
        .iter()
        .find(|ours| !ours.has_program)
        .map(|ours| &ours.command)?;
    let name = facts.agent().display_name();
    let what = format!("{program}, which Pillion's hooks run, is not there or may not be run");
    let why = match is_strict(protocol) {
        true => format!("{name} makes no change whose hook it cannot run"),
        false => format!(
            "{name} goes on without a hook that it cannot run, so changes are made without it"
        ),
    };
    let finding = Finding::warning(Id::HookProgram, what, why);
    Some(finding.fix(format!("pillion hook install {agent}")))
}
