//! Pillion's hooks in settings, judged.

use pillion_hooks::settings::{self, Format};
use serde_json::{Map, Value, json};

use super::*;
use crate::setup::hooks::Hooks;

const NEW: Version = Version::new(2, 1, 332);
const PATH: &str = "/h/settings.json";

/// A settings text with our hooks, which is then changed in this way.
fn installed(agent: Dialect, from: &str, to: &str) -> Map<String, Value> {
    let command = format!("/bin/pillion hook {}", agent.name());
    let entries = pillion_hooks::of(agent).entries(&command);
    let text = settings::add(Format::Json, None, agent.name(), &entries).unwrap();
    assert!(text.contains(from), "{text}");
    Format::Json.values(&text.replace(from, to)).unwrap()
}

fn facts(agent: Dialect, version: Version, values: Map<String, Value>) -> Facts {
    let mut facts = alone(agent, version);
    facts.setup.hooks = Hooks::of(agent, PathBuf::from(PATH), values.clone(), |it| {
        it == "/bin/pillion"
    });
    facts.setup.settings.files[0].content = Content::Object(values);
    facts
}

/// The findings about the hooks, each with its fix.
fn said(facts: &Facts) -> Vec<(&'static str, String)> {
    let findings = judge(facts).into_iter();
    let own = findings.filter(|finding| {
        let id = finding.id.as_str();
        id.starts_with("hook") && finding.id != Id::HooksInstalled
    });
    own.map(|finding| {
        assert!(finding.level < Level::Problem, "{}", finding.what);
        (finding.id.as_str(), finding.fix.unwrap_or_default())
    })
    .collect()
}

#[test]
fn hooks_that_are_as_they_should_be_need_no_word() {
    for (agent, version) in [
        (Dialect::ClaudeCode, NEW),
        (Dialect::CopilotCli, Version::new(1, 0, 102)),
    ] {
        assert_eq!(said(&facts(agent, version, installed(agent, "{", "{"))), []);
    }
}

/// And then nothing is made without asking.
#[test]
fn hooks_that_are_run_are_named_and_those_that_are_not_are_not() {
    let told = |facts: &Facts| {
        let findings = judge(facts);
        let mut ids = findings.iter().map(|finding| finding.id);
        let is_unasked = findings.iter().any(|finding| finding.id == Id::NoDiffs);
        (ids.any(|id| id == Id::HooksInstalled), is_unasked)
    };
    for (agent, version, is_automatic) in [
        (Dialect::ClaudeCode, NEW, true),
        (Dialect::QwenCode, Version::new(0, 24, 4), true),
        (Dialect::CopilotCli, Version::new(1, 0, 102), false),
    ] {
        let named = facts(agent, version, installed(agent, "{", "{"));
        assert_eq!(told(&named), (true, false), "{agent}");
        let none = facts(agent, version, Map::new());
        assert_eq!(told(&none), (false, is_automatic), "{agent}");
        let gone = installed(agent, "/bin/pillion", "/gone/pillion");
        let gone = facts(agent, version, gone);
        assert_eq!(told(&gone), (false, is_automatic), "{agent}");
    }
    for (from, to) in [
        ("86400", "5"),
        ("{\n  \"hooks\"", "{\"disableAllHooks\": true, \"hooks\""),
        ("Edit|Write|NotebookEdit", "Edit"),
    ] {
        let broken = installed(Dialect::ClaudeCode, from, to);
        let broken = facts(Dialect::ClaudeCode, NEW, broken);
        assert_eq!(told(&broken), (false, true), "{to}");
    }
}

#[test]
fn hooks_are_missed_only_where_changes_are_made_without_asking() {
    let missing = |agent, version, values: Value| {
        said(&facts(agent, version, values.as_object().unwrap().clone()))
    };
    let install = |agent: &str| [("hook-missing", format!("pillion hook install {agent}"))];
    let asks = json!({"permissions": {"defaultMode": "default"}});
    assert_eq!(missing(Dialect::ClaudeCode, NEW, asks), []);
    assert_eq!(
        missing(Dialect::ClaudeCode, NEW, json!({})),
        install("claude")
    );
    // It cannot take edits or hear reasons otherwise.
    let copilot = missing(Dialect::CopilotCli, Version::new(1, 0, 102), json!({}));
    assert_eq!(copilot, install("copilot"));
}

#[test]
fn what_is_not_as_it_is_installed_is_installed_again() {
    for (from, to, id) in [
        ("\"timeout\": 86400", "\"timeout\": 5", "hook-outdated"),
        (",\n            \"timeout\": 86400", "", "hook-outdated"),
        ("Edit|Write|NotebookEdit", "Edit", "hook-outdated"),
        ("\"PermissionRequest\"", "\"Gone\"", "hook-outdated"),
        ("/bin/pillion", "/gone/pillion", "hook-program-missing"),
    ] {
        let facts = facts(
            Dialect::ClaudeCode,
            NEW,
            installed(Dialect::ClaudeCode, from, to),
        );
        let fix = "pillion hook install claude".to_owned();
        assert_eq!(said(&facts), [(id, fix)], "{to}");
    }
    // More time, or flags, are a person's choice.
    for (from, to) in [("86400", "90000"), ("hook claude", "hook claude --strict")] {
        let facts = facts(
            Dialect::ClaudeCode,
            NEW,
            installed(Dialect::ClaudeCode, from, to),
        );
        assert_eq!(said(&facts), [], "{to}");
    }
}

/// Mistral Vibe makes no call whose `strict` hook fails; the others go on.
#[test]
fn what_becomes_of_a_change_whose_hook_fails_is_said() {
    for (agent, without, too_late) in [
        (
            Dialect::ClaudeCode,
            "changes are made without it",
            "Claude Code makes the change",
        ),
        (
            Dialect::MistralVibe,
            "Mistral Vibe makes no change",
            "Mistral Vibe does not make the change",
        ),
    ] {
        let command = format!("/bin/pillion hook {}", agent.name());
        let entries = pillion_hooks::of(agent).entries(&command);
        let format = Format::of(agent);
        let text = settings::add(format, None, agent.name(), &entries).unwrap();
        for (from, to, why) in [("/bin/", "/gone/", without), ("86400", "5", too_late)] {
            let values = format.values(&text.replace(from, to)).unwrap();
            let findings = judge(&facts(agent, NEW, values));
            assert!(
                findings.iter().any(|it| it.why.contains(why)),
                "{findings:#?}"
            );
        }
    }
}

#[test]
fn what_turns_hooks_off_is_named() {
    let edit = || format!("\"${{EDITOR:-vi}}\" {PATH}");
    let off = facts(
        Dialect::ClaudeCode,
        NEW,
        installed(
            Dialect::ClaudeCode,
            "{\n  \"hooks\"",
            "{\"disableAllHooks\": true, \"hooks\"",
        ),
    );
    assert_eq!(said(&off), [("hooks-disabled", edit())]);
    let mut managed = facts(
        Dialect::ClaudeCode,
        NEW,
        installed(Dialect::ClaudeCode, "{", "{"),
    );
    let only = json!({"allowManagedHooksOnly": true});
    managed.setup.settings.files.push(SettingsFile {
        scope: Scope::System,
        path: PathBuf::from("/etc/m.json"),
        content: Content::Object(only.as_object().unwrap().clone()),
    });
    assert_eq!(
        said(&managed),
        [("hooks-disabled", "\"${EDITOR:-vi}\" /etc/m.json".to_owned())]
    );
}

/// opencode's plugin is one hook, and as a whole what this version writes or not.
#[test]
fn a_plugin_is_there_or_missing_or_another_versions() {
    let script = |values: &Map<String, Value>, is_other_script, broken: Option<&str>| {
        let mut facts = facts(Dialect::OpenCode, Version::new(1, 18, 33), values.clone());
        let hooks = &mut facts.setup.hooks;
        hooks.is_other_script = is_other_script;
        hooks.broken = broken.map(str::to_owned);
        said(&facts)
    };
    let fix = |id| [(id, "pillion hook install opencode".to_owned())];
    let starts = |program: &str| {
        let command = format!("{program} hook opencode");
        let values = json!({"hooks": {"plugin": [{"command": command}]}});
        values.as_object().unwrap().clone()
    };
    let ours = starts("/bin/pillion");
    assert_eq!(script(&ours, false, None), []);
    assert_eq!(script(&ours, true, None), fix("hook-outdated"));
    assert_eq!(script(&Map::new(), false, None), fix("hook-missing"));
    let foreign = Some("it is not Pillion's plugin");
    assert_eq!(script(&Map::new(), false, foreign), fix("hook-missing"));
    let gone = script(&starts("/gone/pillion"), false, None);
    assert_eq!(gone, fix("hook-program-missing"));
}
