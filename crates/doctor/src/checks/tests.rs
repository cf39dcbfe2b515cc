//! Facts that this machine does not have, judged.

mod asides;
mod claude;
mod codex;
mod fixes;
mod hooks;

use std::path::PathBuf;

use pillion_agent::find::{
    self, Candidate, Dial, Refusal, Release, Source, Transport, Verdict, Version,
};
use pillion_agent::host::Host;
use pillion_discovery::Environment;
use pillion_discovery::survey::{Companion, FoundFile, Liveness, Survey};
use pillion_protocol::{Dialect, DiscoveryFile, IdeInfo, Token};

use super::*;
use crate::Examination;
use crate::facts::dial::{Dialled, Network, Outcome};
use crate::facts::neighbours::Elsewhere;
use crate::report;
use crate::setup::Setup;
use crate::setup::program::Program;
use crate::setup::settings::{Content, Scope, Settings, SettingsFile};
use crate::setup::variables::Variables;

const PORT: u16 = 4242;
const FILE: &str = "/t/gemini/ide/gemini-ide-server-1-4242.json";

/// An agent that is well, beside nothing at all.
fn alone(agent: Dialect, version: Version) -> Facts {
    let settings = serde_json::json!({"ide": {"enabled": true}});
    Facts {
        release: Release { agent, version },
        folder: PathBuf::from("/w"),
        program: Program {
            path: Some(PathBuf::from("/bin/agent")),
            version: Some(version),
            has_node: true,
            has_ps: true,
            is_packaged: true,
        },
        setup: Setup {
            settings: Settings {
                files: vec![SettingsFile {
                    scope: Scope::User,
                    path: PathBuf::from("/h/settings.json"),
                    content: Content::Object(settings.as_object().unwrap().clone()),
                }],
                of_folder: None,
            },
            hooks: crate::setup::hooks::Hooks::default(),
            variables: Variables::of(&Environment::from_pairs([("HOME", "/h"), ("TMPDIR", "/t")])),
        },
        elsewhere: Vec::new(),
        disk: Default::default(),
        network: Network::default(),
        survey: Survey::default(),
        search: find::Finding {
            ide_pid: Some(1),
            candidates: Vec::new(),
            dials: Vec::new(),
            refusal: Some(Refusal::Unsupported),
        },
        asked: None,
        connected: Vec::new(),
        dialled: Vec::new(),
        doubtful: Vec::new(),
    }
}

/// The same with a companion, which it dials on these hosts.
fn beside(agent: Dialect, version: Version, hosts: &[Host], outcome: Outcome) -> Facts {
    let mut facts = alone(agent, version);
    let content: DiscoveryFile = serde_json::from_value(serde_json::json!({
        "port": PORT, "workspacePath": "/", "authToken": "hidden"
    }))
    .unwrap();
    facts.survey.companions.push(Companion {
        port: PORT,
        ide: Some(IdeInfo::new("kate", "Kate")),
        roots: vec![PathBuf::from("/")],
        pids: vec![1],
        files: vec![FoundFile {
            path: PathBuf::from(FILE),
            dialect: agent,
            content,
        }],
        state: None,
        is_silent: false,
        liveness: Liveness::Alive,
    });
    facts.search.refusal = None;
    facts.search.candidates.push(Candidate {
        path: PathBuf::from(FILE),
        port: Some(PORT),
        roots: vec![PathBuf::from("/")],
        verdict: Verdict::Chosen,
    });
    facts.search.dials = hosts
        .iter()
        .map(|host| Dial {
            socket: None,
            host: *host,
            port: PORT,
            token: Some(Token::from("hidden".to_owned())),
            source: Source::File(PathBuf::from(FILE)),
            transport: Transport::Http,
        })
        .collect();
    let dials = facts.search.dials.iter().cloned();
    facts.dialled = dials
        .map(|dial| Dialled {
            dial,
            outcome: outcome.clone(),
        })
        .collect();
    facts
}

fn ids(facts: &Facts) -> Vec<(&'static str, Level)> {
    let findings = judge(facts);
    findings
        .iter()
        .map(|finding| (finding.id.as_str(), finding.level))
        .collect()
}

const GEMINI: Dialect = Dialect::GeminiCli;
const NEW: Version = Version::new(0, 61, 0);

#[test]
fn that_one_is_connected_already_is_said_with_the_verdict() {
    for (connected, verdict) in [
        (None, "Gemini CLI would not connect from here. First: "),
        (
            Some("gemini"),
            "Gemini CLI is connected, but another one would not connect from here. First: ",
        ),
    ] {
        let mut facts = alone(GEMINI, NEW);
        facts.connected.extend(connected.map(str::to_owned));
        let findings = judge(&facts);
        let mut text = Vec::new();
        let style = report::Style {
            is_coloured: false,
            is_unicode: true,
        };
        report::write(&mut text, &Examination { facts, findings }, style).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(verdict), "{text}");
    }
}

#[test]
fn nothing_is_wrong_where_nothing_is() {
    let facts = beside(GEMINI, NEW, &[Host::Loopback], Outcome::Connected);
    assert_eq!(ids(&facts), []);
}

#[test]
fn a_container_is_a_matter_of_facts_not_of_this_machine() {
    for resolves in [false, true] {
        let mut facts = beside(GEMINI, NEW, &[Host::ContainerHost], Outcome::Unreachable);
        facts.network = Network {
            in_container: true,
            resolves,
        };
        let findings = judge(&facts);
        assert_eq!(ids(&facts), [("container-host", Level::Problem)]);
        let fix = findings[0].fix.as_deref();
        assert_eq!(fix, Some("pillion run --port 4242 gemini"));
        let is_said = findings[0].what.contains("does not resolve");
        assert_eq!(is_said, !resolves, "{}", findings[0].what);
    }
}

#[test]
fn an_agent_that_does_not_connect_has_a_problem_whatever_the_reason() {
    for refusal in [
        Refusal::Unsupported,
        Refusal::NoCompanion,
        Refusal::NoFolder,
        Refusal::OtherWorkspace(vec![PathBuf::from("/x")]),
        Refusal::NoPort,
    ] {
        for agent in Dialect::AGENTS {
            let mut facts = alone(agent, NEW);
            facts.search.refusal = Some(refusal.clone());
            assert!(judge(&facts).iter().any(is_problem), "{refusal:?}");
            let outcome = Outcome::Unreachable;
            let mut facts = beside(agent, NEW, &[], outcome);
            facts.search.refusal = Some(refusal.clone());
            assert!(judge(&facts).iter().any(is_problem), "{refusal:?}");
        }
    }
    for outcome in [
        Outcome::Unreachable,
        Outcome::TokenRefused,
        Outcome::NoCompanion("x".to_owned()),
        Outcome::Silent,
    ] {
        let facts = beside(GEMINI, NEW, &[Host::Loopback], outcome.clone());
        assert!(judge(&facts).iter().any(is_problem), "{outcome:?}");
    }
}

#[test]
fn a_companion_that_does_not_say_its_editor_wants_a_terminal_that_is_known() {
    let mut facts = beside(GEMINI, NEW, &[], Outcome::Unreachable);
    facts.search.refusal = Some(Refusal::Unsupported);
    assert_eq!(ids(&facts), [("companion-not-taken", Level::Problem)]);
    let fix = judge(&facts).remove(0).fix;
    assert_eq!(fix.as_deref(), Some("pillion run --port 4242 gemini"));
}

#[test]
fn of_a_release_that_is_not_supported_nothing_else_is_reported() {
    for (agent, old) in [
        (GEMINI, Version::new(0, 44, 1)),
        (Dialect::QwenCode, Version::new(0, 21, 1)),
        (Dialect::ClaudeCode, Version::new(2, 1, 152)),
    ] {
        let connected = Outcome::Connected;
        for mut facts in [
            alone(agent, old),
            beside(agent, old, &[Host::Loopback], connected),
        ] {
            facts.program.has_node = false;
            assert_eq!(ids(&facts), [("agent-too-old", Level::Problem)]);
        }
    }
}

#[test]
fn no_finding_holds_a_token() {
    for outcome in [
        Outcome::TokenRefused,
        Outcome::NoCompanion("x".to_owned()),
        Outcome::Silent,
    ] {
        let facts = beside(GEMINI, NEW, &[Host::Loopback], outcome);
        let text = format!("{:?}", judge(&facts));
        assert!(!text.contains("hidden"), "{text}");
        assert!(!format!("{facts:?}").contains("hidden"));
    }
}

/// Nothing is dialled as yet, and would fail once it is.
#[test]
fn a_container_is_detected_before_the_companion_is_taken() {
    let mut facts = beside(GEMINI, NEW, &[Host::ContainerHost], Outcome::Silent);
    facts.dialled.clear();
    facts.search.dials.clear();
    facts.search.candidates[0].verdict = Verdict::NotLookedAt;
    facts.setup.variables.all = Environment::from_pairs([("TMPDIR", "/t")]);
    assert_eq!(ids(&facts), [("companion-not-taken", Level::Problem)]);
    facts.network.in_container = true;
    let expected = [
        ("companion-not-taken", Level::Problem),
        ("container-host", Level::Problem),
    ];
    assert_eq!(ids(&facts), expected);
    facts.network.resolves = true;
    assert_eq!(ids(&facts), [("companion-not-taken", Level::Problem)]);
}

/// Qwen Code dials both, and nothing is to be done about the second.
#[test]
fn the_containers_name_is_no_matter_where_loopback_is_dialled_too() {
    let version = Release::newest(Dialect::QwenCode).version;
    let hosts = [Host::Loopback, Host::ContainerHost];
    for second in [Outcome::Unreachable, Outcome::NameRefused] {
        let mut facts = beside(Dialect::QwenCode, version, &hosts, Outcome::Silent);
        facts.network.in_container = true;
        facts.dialled[1].outcome = second;
        let problems = ids(&facts);
        let problems = problems
            .iter()
            .filter(|(_, level)| *level == Level::Problem);
        assert_eq!(
            problems.collect::<Vec<_>>(),
            [&("no-answer", Level::Problem)]
        );
    }
}

#[test]
fn a_companion_that_does_not_answer_to_the_containers_name_keeps_its_file() {
    for outcome in [Outcome::NameRefused, Outcome::Unreachable] {
        let mut facts = beside(GEMINI, NEW, &[Host::ContainerHost], outcome);
        facts.network.in_container = true;
        assert_eq!(ids(&facts), [("container-host", Level::Problem)]);
        let fix = judge(&facts).remove(0).fix;
        assert_eq!(fix.as_deref(), Some("pillion run --port 4242 gemini"));
    }
}

#[test]
fn what_a_broken_settings_file_does_not_contain_is_not_reported() {
    let mut facts = beside(GEMINI, NEW, &[Host::Loopback], Outcome::Connected);
    facts.setup.settings.files[0].content = Content::Broken("x".to_owned());
    assert_eq!(ids(&facts), [("settings-broken", Level::Problem)]);
}

#[test]
fn another_qwen_home_is_named_although_files_for_older_releases_are_seen() {
    let mut facts = beside(
        Dialect::QwenCode,
        Release::newest(Dialect::QwenCode).version,
        &[],
        Outcome::Unreachable,
    );
    facts.search.refusal = Some(Refusal::NoCompanion);
    facts.search.candidates[0].verdict = Verdict::NotLookedAt;
    facts.elsewhere.push(Elsewhere {
        value: PathBuf::from("/q"),
        companions: facts.survey.companions.clone(),
    });
    let findings = judge(&facts);
    let problems: Vec<_> = findings.iter().filter(|it| is_problem(it)).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].id, Id::TmpdirDiffers);
    assert_eq!(problems[0].fix.as_deref(), Some("export QWEN_HOME=/q"));
}
