//! The verdicts of Copilot CLI on each lock file, and why.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use pillion_agent::find::{Finding, Preference, Refusal, Release, Situation, Verdict, find};
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use serde_json::{Value, json};
use tempfile::TempDir;

/// No system gives this id to a process.
const DEAD: u32 = 4_500_000;

struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["w/p", "other", "home/.copilot/ide", "config/ide"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn lock(&self, file: &str, roots: &[&str], more: &Value) {
        let roots: Vec<_> = roots.iter().map(|root| self.path(root)).collect();
        let mut content = json!({
            "socketPath": format!("/s/{file}"), "scheme": "unix", "pid": std::process::id(),
            "headers": {"Authorization": format!("Bearer {file}")}, "ideName": "Kate",
            "timestamp": 1, "workspaceFolders": roots,
        });
        for (name, value) in more.as_object().unwrap() {
            content[name] = value.clone();
        }
        let path = self.path(&format!("home/.copilot/ide/{file}.lock"));
        fs::write(path, content.to_string()).unwrap();
    }

    fn find(&self, folder: &str) -> Finding {
        let environment = Environment::from_pairs([("HOME", self.path("home"))]);
        self.find_in(folder, &environment)
    }

    fn find_in(&self, folder: &str, environment: &Environment) -> Finding {
        find(&Situation {
            only: None,
            release: Release::newest(Dialect::CopilotCli),
            environment,
            current_dir: &self.path(folder),
            chain: &[],
            in_container: false,
        })
    }
}

fn dials(finding: &Finding) -> Vec<String> {
    finding.dials.iter().map(ToString::to_string).collect()
}

#[test]
fn only_a_folder_that_equals_a_root_is_taken() {
    let machine = Machine::new();
    machine.lock("4001", &["other", "w/p/"], &json!({}));
    symlink("w/p", machine.path("link")).unwrap();
    // It compares its real folder.
    for folder in ["w/p", "link"] {
        let finding = machine.find(folder);
        assert_eq!(dials(&finding), ["/s/4001"], "{folder}");
        let dial = &finding.dials[0];
        assert_eq!(dial.token.as_ref().unwrap().expose(), "4001");
        assert_eq!(dial.port, 4001);
    }
    fs::create_dir(machine.path("w/p/below")).unwrap();
    for folder in ["w", "w/p/below", "home"] {
        let finding = machine.find(folder);
        assert!(finding.dials.is_empty(), "{folder}");
        assert_eq!(finding.candidates[0].verdict, Verdict::OtherWorkspace);
        let roots = [machine.path("other"), machine.path("w/p/")];
        let refusal = Some(Refusal::OtherWorkspace(roots.into()));
        assert_eq!(finding.refusal, refusal, "{folder}");
    }
    machine.lock("4001", &["link"], &json!({}));
    assert!(
        dials(&machine.find("w/p")).is_empty(),
        "a root that is a link"
    );
}

#[test]
fn the_newest_of_those_that_fit_is_taken_whatever_its_name() {
    let machine = Machine::new();
    machine.lock("0a1b-2c", &["w/p"], &json!({"timestamp": 3}));
    machine.lock("4001", &["w/p"], &json!({"timestamp": 2}));
    machine.lock("4002", &["w"], &json!({"timestamp": 9}));
    machine.lock("4003", &["w/p"], &json!({"timestamp": 9, "pid": DEAD}));
    let finding = machine.find("w/p");
    assert_eq!(dials(&finding), ["/s/0a1b-2c"]);
    let verdicts = finding.candidates.iter().map(|it| it.verdict.clone());
    assert_eq!(
        verdicts.collect::<Vec<_>>(),
        [
            Verdict::Chosen,
            Verdict::SecondChoice(Preference::Newer),
            Verdict::OtherWorkspace,
            Verdict::Dead,
        ]
    );
}

#[test]
fn a_file_that_lacks_a_field_is_passed_over() {
    let machine = Machine::new();
    for field in ["ideName", "timestamp", "headers", "socketPath", "pid"] {
        machine.lock("4001", &["w/p"], &json!({field: null}));
        let finding = machine.find("w/p");
        assert_eq!(finding.candidates[0].verdict, Verdict::Malformed, "{field}");
        assert_eq!(finding.refusal, Some(Refusal::NoCompanion));
    }
}

#[test]
fn the_variable_moves_the_folder() {
    let machine = Machine::new();
    machine.lock("4001", &["w/p"], &json!({}));
    let variables = [("COPILOT_HOME", machine.path("config"))];
    let environment = Environment::from_pairs(variables);
    assert!(machine.find_in("w/p", &environment).candidates.is_empty());
    let lock = machine.path("home/.copilot/ide/4001.lock");
    fs::rename(lock, machine.path("config/ide/4001.lock")).unwrap();
    assert_eq!(dials(&machine.find_in("w/p", &environment)), ["/s/4001"]);
}
