//! Facts that this machine does not have, judged.

mod codex;
mod containers;
mod fixes;
mod hooks;
mod permissions;
mod proxies;

use std::path::{Path, PathBuf};

use pillion_agent::find::{
    self, Candidate, Dial, Refusal, Release, Source, Transport, Verdict, Version,
};
use pillion_agent::host::Host;
use pillion_discovery::Environment;
use pillion_discovery::survey::{Companion, FoundFile, Liveness, Survey};
use pillion_protocol::{Dialect, DiscoveryFile, IdeInfo, Token};

use super::*;
use crate::facts::dial::{Dialled, Outcome};
use crate::facts::neighbours::Elsewhere;
use crate::facts::network::Network;
use crate::setup::Setup;
use crate::setup::program::Program;
use crate::setup::settings::{Content, Scope, Settings, SettingsFile};
use crate::setup::trust::{Trust, trust};
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
            installer: None,
            is_packaged: true,
        },
        setup: Setup {
            settings: Settings {
                files: vec![SettingsFile {
                    scope: Scope::User,
                    path: PathBuf::from("/h/settings.json"),
                    content: Content::Object(settings.as_object().unwrap().clone()),
                }],
                trust: Default::default(),
            },
            hooks: None,
            trust: Trust::Trusted,
            variables: Variables {
                all: Environment::from_pairs([("HOME", "/h"), ("TMPDIR", "/t")]),
                ..Variables::default()
            },
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
        checkouts: Vec::new(),
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

fn connected(can_diff: bool, has_context: bool) -> Outcome {
    Outcome::Connected {
        can_diff,
        has_context,
    }
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
fn nothing_is_wrong_where_nothing_is() {
    let facts = beside(GEMINI, NEW, &[Host::Loopback], connected(true, true));
    assert_eq!(ids(&facts), []);
    let facts = beside(GEMINI, NEW, &[Host::Loopback], connected(false, false));
    let expected = [
        ("tools-missing", Level::Warning),
        ("no-context", Level::Note),
    ];
    assert_eq!(ids(&facts), expected);
}

#[test]
fn a_container_is_a_matter_of_facts_not_of_this_machine() {
    let hosts = [Host::ContainerHost];
    for (version, fix) in [
        (NEW, "pillion run --port 4242 gemini"),
        (
            Version::new(0, 20, 2),
            "echo 127.0.0.1 host.docker.internal | sudo tee -a /etc/hosts",
        ),
    ] {
        for resolves in [false, true] {
            let mut facts = beside(GEMINI, version, &hosts, Outcome::Unreachable);
            let publisher = serde_json::json!({"pid": 1, "version": "0.1.0"});
            let content = &mut facts.survey.companions[0].files[0].content;
            content.pillion = Some(serde_json::from_value(publisher).unwrap());
            facts.network = Network {
                in_container: true,
                resolves,
            };
            let findings = judge(&facts);
            assert_eq!(ids(&facts), [("container-host", Level::Problem)]);
            assert_eq!(findings[0].fix.as_deref(), Some(fix));
            let is_said = findings[0].what.contains("does not resolve");
            assert_eq!(is_said, !resolves, "{}", findings[0].what);
        }
    }
}

#[test]
fn an_agent_that_does_not_connect_has_a_problem_whatever_the_reason() {
    let file = Some(PathBuf::from(FILE));
    for refusal in [
        Refusal::Unsupported,
        Refusal::NoCompanion,
        Refusal::NoFolder,
        Refusal::OtherWorkspace(vec![PathBuf::from("/x")]),
        Refusal::NoPort,
        Refusal::Fails(file),
        Refusal::Fails(None),
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
    assert_eq!(ids(&facts), [("editor-unknown", Level::Problem)]);
    let fix = judge(&facts).remove(0).fix;
    assert_eq!(fix.as_deref(), Some("pillion run --port 4242 gemini"));
}

#[test]
fn of_a_release_that_is_not_supported_nothing_else_is_reported() {
    for (agent, old) in [
        (GEMINI, Version::new(0, 18, 3)),
        (Dialect::QwenCode, Version::new(0, 4, 9)),
    ] {
        let connected = connected(true, true);
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

#[test]
fn a_folder_that_is_not_trusted_hides_only_its_own_settings() {
    let mut facts = beside(GEMINI, NEW, &[Host::Loopback], connected(true, true));
    let off = serde_json::json!({"ide": {"enabled": false}});
    let object = off.as_object().unwrap().clone();
    facts.setup.settings.files.push(SettingsFile {
        scope: Scope::Project,
        path: PathBuf::from("/w/.gemini/settings.json"),
        content: Content::Object(object),
    });
    let look = |facts: &mut Facts| {
        let environment = facts.environment();
        facts.setup.trust = trust(
            facts.release,
            environment,
            &facts.setup.settings,
            &facts.folder,
        );
        ids(facts)
    };
    assert_eq!(
        look(&mut facts),
        [("project-settings-ignored", Level::Warning)]
    );
    let rule = |facts: &mut Facts, folder: &str, is_trusted| {
        let folder = Path::new(folder);
        let rule = crate::setup::settings::TrustRule {
            length: folder.as_os_str().len(),
            folder: folder.to_owned(),
            is_trusted,
        };
        facts.setup.settings.trust.rules.push(rule);
    };
    rule(&mut facts, "/", true);
    assert_eq!(look(&mut facts), [("ide-mode-off", Level::Problem)]);
    // The longest rule decides.
    rule(&mut facts, "/w", false);
    assert_eq!(
        look(&mut facts),
        [("project-settings-ignored", Level::Warning)]
    );
    // Earlier releases trusted every folder.
    facts.release.version = Version::new(0, 27, 0);
    assert_eq!(look(&mut facts), [("ide-mode-off", Level::Problem)]);
}

/// Nothing is dialled as yet, and would fail once it is.
#[test]
fn a_container_is_detected_before_the_companion_is_taken() {
    let version = Version::new(0, 20, 2);
    let mut facts = beside(GEMINI, version, &[Host::ContainerHost], Outcome::Silent);
    facts.dialled.clear();
    facts.search.dials.clear();
    facts.search.candidates[0].verdict = Verdict::OtherProcess {
        pid: 1,
        wanted: Some(2),
    };
    facts.setup.variables.all = Environment::from_pairs([("TMPDIR", "/t")]);
    assert_eq!(ids(&facts), [("other-process", Level::Problem)]);
    facts.network.in_container = true;
    let expected = [
        ("other-process", Level::Problem),
        ("container-host", Level::Problem),
    ];
    assert_eq!(ids(&facts), expected);
    facts.network.resolves = true;
    assert_eq!(ids(&facts), [("other-process", Level::Problem)]);
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
    let hosts = [Host::ContainerHost];
    for (version, fix) in [
        (NEW, "pillion run --port 4242 gemini"),
        (
            Version::new(0, 20, 2),
            "npm install -g @google/gemini-cli@latest",
        ),
    ] {
        for outcome in [Outcome::NameRefused, Outcome::Unreachable] {
            let mut facts = beside(GEMINI, version, &hosts, outcome);
            facts.network.in_container = true;
            assert_eq!(ids(&facts), [("container-host", Level::Problem)]);
            assert_eq!(judge(&facts)[0].fix.as_deref(), Some(fix));
        }
    }
}

#[test]
fn what_a_broken_settings_file_does_not_contain_is_not_reported() {
    let mut facts = beside(GEMINI, NEW, &[Host::Loopback], connected(true, true));
    facts.setup.settings.files[0].content = Content::Broken("x".to_owned());
    assert_eq!(ids(&facts), [("settings-broken", Level::Problem)]);
    // It starts without this one, and then nothing turns IDE mode on.
    facts.release = Release::newest(Dialect::QwenCode);
    facts.setup.settings.files[0].scope = Scope::Project;
    let ids = ids(&facts);
    assert!(ids.contains(&("ide-mode-off", Level::Problem)), "{ids:?}");
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
    facts.search.candidates[0].verdict = Verdict::OtherProcess {
        pid: 1,
        wanted: Some(2),
    };
    facts.elsewhere.push(Elsewhere {
        base: pillion_protocol::dialect::Base::QwenHome,
        value: PathBuf::from("/q"),
        companions: facts.survey.companions.clone(),
    });
    let findings = judge(&facts);
    let problems: Vec<_> = findings.iter().filter(|it| is_problem(it)).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].id, Id::TmpdirDiffers);
    assert_eq!(problems[0].fix.as_deref(), Some("export QWEN_HOME=/q"));
}
