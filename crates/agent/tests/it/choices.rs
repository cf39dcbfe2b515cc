//! The rules of choice, against the real clients: the same files and the same environment must give
//! the same answer.

use std::collections::BTreeMap;
use std::fs;

use pillion_agent::find::{Finding, Refusal, Release, Situation, find};
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_system::process::Process;
use pillion_testkit::{ChoiceSituation, Chosen, IdeChooser};
use serde_json::Value;

use crate::situations::World;

/// The answer of both sides, in one form.
#[derive(Debug, PartialEq)]
struct Answer {
    config: Value,
    dials: Vec<(String, u16, Option<String>)>,
    kind: &'static str,
}

/// The number of situations that each release is asked about.
const SITUATIONS: u64 = 300;

#[test]
#[ignore = "in --all: takes half a minute, and needs the real agents: the client library of Gemini CLI 0.45.0"]
fn as_gemini_0_45_chooses() {
    let package = "gemini-cli-core-0.45.0";
    let kinds = compare(package, Dialect::GeminiCli, "0.45.0", false);
    assert_varied(&kinds);
}

#[test]
#[ignore = "takes half a minute, and needs the real agents: the client library of Gemini CLI 0.61.0"]
fn as_gemini_0_61_chooses() {
    let package = "@google/gemini-cli-core";
    let kinds = compare(package, Dialect::GeminiCli, "0.61.0", false);
    assert_varied(&kinds);
}

#[test]
#[ignore = "in --all: takes half a minute, and needs the real agents: Qwen Code 0.21.2"]
fn as_qwen_0_21_chooses() {
    let package = "qwen-code-0.21.2";
    let kinds = compare(package, Dialect::QwenCode, "0.21.2", false);
    assert_varied(&kinds);
}

#[test]
#[ignore = "takes half a minute, and needs the real agents: Qwen Code 0.24.4"]
fn as_qwen_0_24_chooses() {
    let package = "@qwen-code/qwen-code";
    let kinds = compare(package, Dialect::QwenCode, "0.24.4", false);
    assert_varied(&kinds);
}

#[test]
#[ignore = "in --all: takes half a minute, and needs the real agents: Qwen Code 0.24.4"]
fn as_qwen_0_24_in_a_container_chooses() {
    let package = "@qwen-code/qwen-code";
    let kinds = compare(package, Dialect::QwenCode, "0.24.4", true);
    assert_varied(&kinds);
}

/// Every kind of answer must come up, or agreeing on it proves nothing.
fn assert_varied(kinds: &BTreeMap<&'static str, usize>) {
    for kind in [
        "dials a file",
        "dials several",
        "dials by variable",
        "unsupported",
        "none",
        "empty",
        "elsewhere",
    ] {
        let count = kinds.get(kind).copied().unwrap_or(0);
        assert!(count > 2, "{kind}: {count} of {kinds:?}");
    }
}

fn compare(
    package: &str,
    agent: Dialect,
    version: &str,
    in_container: bool,
) -> BTreeMap<&'static str, usize> {
    let mut chooser = IdeChooser::start(package);
    let version = version.parse().unwrap();
    let release = Release { agent, version };
    let mut kinds = BTreeMap::new();
    let mut differing = Vec::new();
    for seed in 0..SITUATIONS {
        let mut world = World::generate(agent, seed, chooser.pid());
        if agent == Dialect::QwenCode {
            world.situation.in_container = in_container;
        }
        let ours = ours(release, &world.situation, chooser.pid());
        let listing = world.listing();
        // The real client goes last: Qwen Code deletes files.
        let told = chooser.choose(&world.situation);
        let theirs = theirs(&told);
        for kind in kinds_of(&theirs) {
            *kinds.entry(kind).or_default() += 1;
        }
        if ours.0 != theirs {
            differing.push(format!(
                "seed {seed}\n{:#?}\n{listing}\nours: {:#?}\n{:#?}\ntheirs: {theirs:#?}\n{told:?}",
                world.situation, ours.0, ours.1
            ));
        }
    }
    assert!(
        differing.is_empty(),
        "{} of {SITUATIONS} differ; the first and shortest: {}",
        differing.len(),
        differing.iter().min_by_key(|text| text.len()).unwrap()
    );
    kinds
}

fn ours(release: Release, asked: &ChoiceSituation, pid: u32) -> (Answer, Finding) {
    let environment = Environment::from_pairs(asked.env.iter().cloned())
        .with_current_dir(asked.cwd.canonicalize().unwrap());
    let chain = [Process {
        pid,
        parent: 1,
        command: asked.command.clone(),
    }];
    let finding = find(&Situation {
        only: None,
        release,
        environment: &environment,
        current_dir: &asked.cwd.canonicalize().unwrap(),
        chain: &chain,
        in_container: asked.in_container,
    });
    let config = match finding.chosen() {
        Some(chosen) => {
            let text = fs::read_to_string(&chosen.path).unwrap();
            serde_json::from_str(&text).unwrap()
        }
        None => Value::Null,
    };
    let dials = finding.dials.iter().map(|dial| {
        let token = dial.token.as_ref().map(|token| token.expose().to_owned());
        (dial.host.to_string(), dial.port, token)
    });
    let answer = Answer {
        config,
        dials: dials.collect(),
        kind: match &finding.refusal {
            None | Some(Refusal::NoPort) => "dials",
            Some(Refusal::Unsupported) => "unsupported",
            Some(Refusal::NoCompanion) => "none",
            Some(Refusal::NoFolder) => "empty",
            Some(Refusal::OtherWorkspace(_)) => "elsewhere",
            Some(
                Refusal::Ambiguous(_)
                | Refusal::OtherTerminal
                | Refusal::TurnedOff(_)
                | Refusal::TooOld(_)
                | Refusal::NoAgent,
            ) => unreachable!("only supported agents of the companion contract are asked"),
        },
    };
    (answer, finding)
}

fn theirs(told: &Chosen) -> Answer {
    let details = told.details.as_deref().unwrap_or_default();
    let kind = if told.error.is_some() {
        "fails"
    } else if told.ide.is_null() {
        "unsupported"
    } else if details.starts_with("Directory mismatch") {
        "elsewhere"
    } else if details.starts_with("To use this feature, please open") {
        "empty"
    } else if details.contains("companion extension. Please") {
        "none"
    } else {
        "dials"
    };
    let dials = told.dials.iter().cloned();
    Answer {
        config: told.config.clone(),
        dials: dials
            .map(|dial| (dial.host, dial.port, dial.token))
            .collect(),
        kind,
    }
}

fn kinds_of(answer: &Answer) -> Vec<&'static str> {
    let mut kinds = vec![answer.kind];
    if answer.kind == "dials" {
        if answer.config.is_null() && !answer.dials.is_empty() {
            kinds.push("dials by variable");
        }
        if !answer.config.is_null() && !answer.dials.is_empty() {
            kinds.push("dials a file");
        }
        if answer.dials.len() > 1 {
            kinds.push("dials several");
        }
    }
    kinds
}
