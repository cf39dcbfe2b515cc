//! Codex CLI, which opens no session: its hooks, the companion that they ask, and its question for context.

use pillion_discovery::version::VERSION;
use pillion_hooks::settings::{self, Format};
use serde_json::json;

use super::*;
use crate::facts::codex::{Answer, Asked};
use crate::setup::hooks::Hooks;

const CODEX: Dialect = Dialect::CodexCli;
const TRIED: Version = Version::new(0, 169, 0);
const PATH: &str = "/h/.codex/config.toml";
const TRUST: &str = "
[hooks.state]
\"/h/.codex/config.toml:pre_tool_use:0:0\" = { trusted_hash = \"sha256:a\" }
\"/h/.codex/config.toml:permission_request:0:0\" = { trusted_hash = \"sha256:b\" }
\"/h/.codex/config.toml:post_tool_use:0:0\" = { trusted_hash = \"sha256:c\" }
\"/h/.codex/config.toml:user_prompt_submit:0:0\" = { trusted_hash = \"sha256:d\" }
\"/h/.codex/config.toml:stop:0:0\" = { trusted_hash = \"sha256:e\" }
";

/// One with Pillion's hooks, whose text is then changed in this way, and with nobody to ask.
fn facts(version: Version, from: &str, to: &str) -> Facts {
    let mut facts = alone(CODEX, version);
    let entries = pillion_hooks::of(CODEX).entries("/bin/pillion hook codex");
    let text = settings::add(Format::Toml, None, CODEX.name(), &entries).unwrap() + TRUST;
    assert!(text.contains(from), "{text}");
    let values = Format::Toml.values(&text.replace(from, to)).unwrap();
    facts.setup.hooks = Hooks::of(CODEX, PathBuf::from(PATH), values, |it| {
        it == "/bin/pillion"
    });
    facts.asked = Some(Asked {
        socket: PathBuf::from("/h/.codex/ipc/ipc.sock"),
        answer: Answer::Context,
    });
    facts
}

/// The same beside one of Pillion's companions for this folder.
fn served(mut facts: Facts, root: &str) -> Facts {
    let mut other = beside(CODEX, TRIED, &[], Outcome::Connected);
    let mut companion = other.survey.companions.remove(0);
    companion.files.clear();
    companion.roots = vec![PathBuf::from(root)];
    let state = json!({
        "pid": 1, "version": VERSION, "port": PORT, "scriptToken": "t", "roots": [root], "views": [],
        "ide": {"name": "kate", "displayName": "Kate"}, "startedAtMs": 1, "agents": [], "pendingDiffs": 0,
    });
    companion.state = Some(serde_json::from_value(state).unwrap());
    facts.survey.companions.push(companion);
    facts
}

fn said(facts: &Facts) -> Vec<(&'static str, Level, String)> {
    let findings = judge(facts).into_iter();
    let faults = findings.filter(|it| it.id != Id::HooksInstalled);
    faults
        .map(|it| (it.id.as_str(), it.level, it.fix.unwrap_or_default()))
        .collect()
}

#[test]
fn codex_needs_hooks_that_it_runs_and_nothing_that_is_about_connecting() {
    let well = served(facts(TRIED, "a", "a"), "/w");
    assert_eq!(said(&well), []);
    assert_eq!(ids(&well), [("hooks-installed", Level::Note)]);
    // It looks for no process and reads no file.
    let mut bare = served(facts(TRIED, "a", "a"), "/w");
    bare.program.has_ps = false;
    bare.network.in_container = true;
    assert_eq!(said(&bare), []);
    let install = "pillion hook install codex";
    for (from, to, id, level, fix) in [
        (
            "pillion hook codex",
            "other",
            "hook-missing",
            Level::Problem,
            install,
        ),
        (
            "trusted_hash",
            "else",
            "hook-untrusted",
            Level::Problem,
            "/hooks",
        ),
        (
            "trusted_hash = \"sha256:a\"",
            "enabled = false",
            "hook-untrusted",
            Level::Problem,
            "/hooks",
        ),
        (
            "/bin/pillion",
            "/gone/pillion",
            "hook-program-missing",
            Level::Problem,
            install,
        ),
        ("86400", "5", "hook-outdated", Level::Warning, install),
        (
            "apply_patch|Bash",
            "apply_patch",
            "hook-outdated",
            Level::Warning,
            install,
        ),
    ] {
        let facts = served(facts(TRIED, from, to), "/w");
        assert_eq!(said(&facts), [(id, level, fix.to_owned())], "{to}");
    }
}

#[test]
fn codexs_hooks_ask_a_companion_of_pillions_for_the_folder() {
    let start = || [("no-companion", Level::Problem, "pillion".to_owned())];
    assert_eq!(said(&facts(TRIED, "a", "a")), start());
    assert_eq!(said(&served(facts(TRIED, "a", "a"), "/elsewhere")), start());
    let mut anothers = served(facts(TRIED, "a", "a"), "/w");
    anothers.survey.companions[0].state = None;
    assert_eq!(said(&anothers), start());
    let deeper = served(served(facts(TRIED, "a", "a"), "/w"), "/");
    assert_eq!(deeper.companion().unwrap().roots, [PathBuf::from("/w")]);
}

#[test]
fn a_hub_of_another_version_is_told_for_codex_too() {
    let mut facts = served(facts(TRIED, "a", "a"), "/w");
    let state = facts.survey.companions[0].state.as_mut().unwrap();
    state.version = "0.0.1".to_owned();
    let update = said(&facts).remove(0);
    assert_eq!((update.0, update.1), ("hub-version", Level::Warning));
}

#[test]
fn who_does_not_answer_codexs_question_is_named_and_hinders_no_hook() {
    for (answer, what) in [
        (
            Answer::NoEditor,
            "/h/.codex/ipc/ipc.sock is served, but not for this folder",
        ),
        (Answer::Nobody("x".to_owned()), "/h/.codex is not there"),
    ] {
        let mut facts = served(facts(TRIED, "a", "a"), "/w");
        facts.asked.as_mut().unwrap().answer = answer;
        let mut findings = judge(&facts);
        findings.retain(|finding| finding.id != Id::HooksInstalled);
        let [finding] = &findings[..] else {
            panic!("{findings:?}");
        };
        assert_eq!(
            (finding.id.as_str(), finding.level),
            ("no-context", Level::Warning)
        );
        assert!(finding.what.starts_with(what), "{}", finding.what);
        // Without a companion there is nobody who could.
        facts.survey.companions.clear();
        assert!(said(&facts).iter().all(|(id, ..)| *id == "no-companion"));
    }
}
