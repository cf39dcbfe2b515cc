//! The verdicts of Claude Code and opencode on each lock file, and why.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use pillion_agent::find::{Finding, Preference, Refusal, Release, Situation, Stale, Verdict, find};
use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_system::process::Process;
use pillion_testkit::IdleProcess;
use serde_json::{Value, json};
use tempfile::TempDir;

/// No system gives this id to a process.
const DEAD: u32 = 4_500_000;

struct Machine {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["w/p", "other", "home/.claude/ide", "config/ide"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let variables = Vec::new();
        Self { folder, variables }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn lock(&self, port: u16, root: &str, more: &Value) {
        self.lock_in("home/.claude", port, root, more);
    }

    fn lock_in(&self, folder: &str, port: u16, root: &str, more: &Value) {
        let mut content = json!({
            "pid": std::process::id(), "workspaceFolders": [self.path(root)],
            "ideName": "Kate", "transport": "ws", "authToken": format!("t{port}"),
        });
        for (name, value) in more.as_object().unwrap() {
            content[name] = value.clone();
        }
        let path = self.path(&format!("{folder}/ide/{port}.lock"));
        fs::write(path, content.to_string()).unwrap();
    }

    fn find(&self, agent: Dialect, version: &str, folder: &str) -> Finding {
        let home = [("HOME", self.path("home").display().to_string())];
        let variables = home.into_iter().chain(self.variables.iter().cloned());
        let environment = Environment::from_pairs(variables);
        let process = |pid, parent| Process {
            pid,
            parent,
            command: String::new(),
        };
        let own = std::process::id();
        find(&Situation {
            only: None,
            release: Release {
                agent,
                version: version.parse().unwrap(),
            },
            environment: &environment,
            current_dir: &self.path(folder),
            chain: &[process(DEAD + 1, own), process(own, 1)],
            in_container: false,
        })
    }

    fn newest(&self) -> Finding {
        self.find(Dialect::ClaudeCode, "2.1.332", "w/p")
    }
}

fn verdicts(finding: &Finding) -> Vec<(u16, &Verdict)> {
    let candidates = finding.candidates.iter();
    candidates
        .map(|candidate| (candidate.port.unwrap(), &candidate.verdict))
        .collect()
}

fn dials(finding: &Finding) -> Vec<String> {
    finding.dials.iter().map(ToString::to_string).collect()
}

#[test]
fn the_only_one_that_fits_is_dialled_with_its_token() {
    let machine = Machine::new();
    machine.lock(4001, "w", &json!({}));
    machine.lock(4002, "other", &json!({}));
    let finding = machine.newest();
    assert_eq!(
        verdicts(&finding),
        [(4001, &Verdict::Chosen), (4002, &Verdict::OtherWorkspace)]
    );
    assert_eq!(dials(&finding), ["ws://127.0.0.1:4001/"]);
    let token = finding.dials[0].token.as_ref().unwrap();
    assert_eq!(token.expose(), "t4001");
}

#[test]
fn of_two_that_fit_it_takes_none_unless_a_variable_names_one() {
    let mut machine = Machine::new();
    machine.lock(4001, "w", &json!({}));
    machine.lock(4002, "w/p", &json!({}));
    let finding = machine.newest();
    assert_eq!(finding.refusal, Some(Refusal::Ambiguous(vec![4001, 4002])));
    let ambiguous = &Verdict::Ambiguous;
    assert_eq!(verdicts(&finding), [(4001, ambiguous), (4002, ambiguous)]);
    let variable = "CLAUDE_CODE_SSE_PORT";
    machine.variables = vec![(variable, "4001".into())];
    let finding = machine.newest();
    let second = Verdict::SecondChoice(Preference::PortVariable(variable));
    assert_eq!(
        verdicts(&finding),
        [(4001, &Verdict::Chosen), (4002, &second)]
    );
    // A variable that names none of them changes nothing.
    machine.variables = vec![(variable, "4003".into())];
    assert!(matches!(
        machine.newest().refusal,
        Some(Refusal::Ambiguous(_))
    ));
}

#[test]
fn the_variables_companion_need_not_fit_but_must_live() {
    let mut machine = Machine::new();
    machine.variables = vec![("CLAUDE_CODE_SSE_PORT", "4001".into())];
    machine.lock(4001, "other", &json!({}));
    assert_eq!(dials(&machine.newest()), ["ws://127.0.0.1:4001/"]);
    machine.lock(4001, "w/p", &json!({"pid": DEAD}));
    let finding = machine.newest();
    let gone = Verdict::Stale(Stale::ProcessGone);
    assert_eq!(verdicts(&finding), [(4001, &gone)]);
    assert_eq!(finding.refusal, Some(Refusal::NoCompanion));
}

#[test]
fn a_root_that_is_named_by_a_link_never_fits() {
    let machine = Machine::new();
    symlink("w", machine.path("link")).unwrap();
    machine.lock(4001, "link/p", &json!({}));
    for folder in ["w/p", "link/p"] {
        let finding = machine.find(Dialect::ClaudeCode, "2.1.332", folder);
        let expected = Refusal::OtherWorkspace(vec![machine.path("link/p")]);
        assert_eq!(finding.refusal, Some(expected), "{folder}");
    }
    machine.lock(4001, "w/p", &json!({}));
    let finding = machine.find(Dialect::ClaudeCode, "2.1.332", "link/p");
    assert_eq!(dials(&finding), ["ws://127.0.0.1:4001/"]);
}

#[test]
fn in_a_terminal_of_an_editor_only_an_ancestors_companion_counts() {
    let mut machine = Machine::new();
    let stranger = IdleProcess::start();
    machine.lock(4001, "w", &json!({"pid": stranger.id()}));
    assert_eq!(dials(&machine.newest()).len(), 1);
    machine.variables = vec![("TERM_PROGRAM", "vscode".into())];
    let finding = machine.newest();
    assert_eq!(finding.refusal, Some(Refusal::OtherTerminal));
    assert_eq!(verdicts(&finding), [(4001, &Verdict::OtherTerminal)]);
    machine.lock(4002, "w", &json!({}));
    assert_eq!(dials(&machine.newest()), ["ws://127.0.0.1:4002/"]);
}

#[test]
fn automatic_connecting_can_be_turned_off() {
    let mut machine = Machine::new();
    machine.lock(4001, "w", &json!({}));
    let variable = "CLAUDE_CODE_AUTO_CONNECT_IDE";
    for (value, is_off) in [("false", true), ("0", true), ("no", true), ("x", false)] {
        machine.variables = vec![(variable, value.into())];
        let refusal = machine.newest().refusal;
        assert_eq!(
            refusal == Some(Refusal::TurnedOff(variable)),
            is_off,
            "{value}"
        );
    }
}

#[test]
fn one_companion_in_both_folders_is_two() {
    let mut machine = Machine::new();
    let config = machine.path("config").display().to_string();
    machine.variables = vec![("CLAUDE_CONFIG_DIR", config)];
    machine.lock(4001, "w", &json!({}));
    assert_eq!(dials(&machine.newest()).len(), 1);
    machine.lock_in("config", 4001, "w", &json!({}));
    let refusal = machine.newest().refusal;
    assert_eq!(refusal, Some(Refusal::Ambiguous(vec![4001, 4001])));
}

#[test]
fn a_file_without_a_process_counts_while_somebody_listens() {
    let machine = Machine::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    machine.lock(port, "w", &json!({"pid": null, "transport": "sse"}));
    let finding = machine.newest();
    assert_eq!(dials(&finding), [format!("http://127.0.0.1:{port}/sse")]);
    assert!(
        finding.dials[0].token.is_none(),
        "that transport knows none"
    );
    drop(listener);
    assert_eq!(machine.newest().refusal, Some(Refusal::NoCompanion));
}

#[test]
fn opencode_reads_only_the_home_directory_and_dials_by_the_variable_without_a_token() {
    let mut machine = Machine::new();
    let find = |machine: &Machine| machine.find(Dialect::OpenCode, "1.18.33", "w/p");
    machine.lock(4001, "w", &json!({}));
    machine.lock_in("config", 4002, "w", &json!({}));
    let config = machine.path("config").display().to_string();
    machine.variables = vec![("CLAUDE_CONFIG_DIR", config)];
    assert_eq!(dials(&find(&machine)), ["ws://127.0.0.1:4001/"]);
    machine
        .variables
        .push(("CLAUDE_CODE_SSE_PORT", "4001".into()));
    let finding = find(&machine);
    assert_eq!(dials(&finding), ["ws://127.0.0.1:4001/"]);
    assert!(finding.dials[0].token.is_none());
    assert_eq!(verdicts(&finding), [(4001, &Verdict::NotLookedAt)]);
}
