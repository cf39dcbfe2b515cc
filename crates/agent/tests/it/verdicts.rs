//! The verdict on each file and why.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pillion_agent::find::{Finding, Preference, Refusal, Release, Situation, Stale, Verdict, find};
use pillion_agent::host::Host;
use pillion_discovery::{DiscoveryFiles, DiscoveryInfo, Environment, Seat, Tokens};
use pillion_protocol::{Dialect, IdeInfo};
use pillion_system::process::Process;
use serde_json::{Value, json};
use tempfile::TempDir;

/// No system gives these ids to processes.
const DEAD: u32 = 4_500_000;
const EDITOR: u32 = 4_600_000;

fn process(pid: u32, parent: u32, command: &str) -> Process {
    Process {
        pid,
        parent,
        command: command.into(),
    }
}

struct Machine {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
    in_container: bool,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "project",
            "other",
            "tmp/gemini/ide",
            "home/.qwen/ide",
            "q/ide",
        ] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let variables = vec![];
        Self {
            folder,
            variables,
            in_container: false,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn gemini(&self, pid: u32, port: u16, root: &str) -> PathBuf {
        let name = format!("tmp/gemini/ide/gemini-ide-server-{pid}-{port}.json");
        self.file(&name, port, root, json!({}))
    }

    fn lock(&self, port: u16, root: &str, more: Value) -> PathBuf {
        self.file(&format!("home/.qwen/ide/{port}.lock"), port, root, more)
    }

    fn file(&self, name: &str, port: u16, root: &str, more: Value) -> PathBuf {
        let mut content = json!({
            "port": port, "workspacePath": self.path(root), "authToken": format!("t{port}"),
            "ideInfo": { "name": "kate", "displayName": "Kate" },
        });
        for (name, value) in more.as_object().unwrap() {
            content[name] = value.clone();
        }
        let path = self.path(name);
        fs::write(&path, content.to_string()).unwrap();
        // A later port is a later file.
        let modified =
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + u64::from(port));
        File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(modified)
            .unwrap();
        path
    }

    fn find(&self, agent: Dialect, version: &str) -> Finding {
        let pairs = [("TMPDIR", self.path("tmp")), ("HOME", self.path("home"))];
        let given = self
            .variables
            .iter()
            .map(|(name, value)| (*name, PathBuf::from(value)));
        let environment = Environment::from_pairs(pairs.into_iter().chain(given));
        let chain = [
            process(DEAD + 9, EDITOR, "node agent"),
            process(EDITOR, 1, "kate"),
        ];
        find(&Situation {
            only: None,
            release: Release {
                agent,
                version: version.parse().unwrap(),
            },
            environment: &environment,
            current_dir: &self.path("project"),
            chain: &chain,
            in_container: self.in_container,
        })
    }
}

fn verdict<'a>(finding: &'a Finding, path: &Path) -> &'a Verdict {
    let found = finding
        .candidates
        .iter()
        .find(|candidate| candidate.path == path);
    &found
        .unwrap_or_else(|| panic!("{} is not in {finding:#?}", path.display()))
        .verdict
}

fn ports(finding: &Finding) -> Vec<u16> {
    finding.dials.iter().map(|dial| dial.port).collect()
}

#[test]
fn every_second_choice_has_a_reason() {
    let mut machine = Machine::new();
    let this = std::process::id();
    let own = machine.gemini(EDITOR, 1001, "project");
    let later = machine.gemini(EDITOR, 1002, "project");
    let living = machine.gemini(this, 1003, "project");
    let dead = machine.gemini(DEAD, 1004, "project");
    let elsewhere = machine.gemini(EDITOR, 1005, "other");
    let finding = machine.find(Dialect::GeminiCli, "0.61.0");
    assert_eq!(finding.ide_pid, Some(EDITOR));
    assert_eq!(*verdict(&finding, &own), Verdict::Chosen);
    let second = |finding: &Finding, path: &Path| match verdict(finding, path) {
        Verdict::SecondChoice(preference) => *preference,
        other => panic!("{}: {other}", path.display()),
    };
    assert_eq!(second(&finding, &later), Preference::FirstName);
    assert_eq!(second(&finding, &living), Preference::OwnProcess);
    assert_eq!(second(&finding, &dead), Preference::OwnProcess);
    assert_eq!(*verdict(&finding, &elsewhere), Verdict::OtherWorkspace);

    machine
        .variables
        .push(("GEMINI_CLI_IDE_SERVER_PORT", "1004".into()));
    let finding = machine.find(Dialect::GeminiCli, "0.61.0");
    assert_eq!(*verdict(&finding, &dead), Verdict::Chosen);
    let by_port = Preference::PortVariable("GEMINI_CLI_IDE_SERVER_PORT");
    assert_eq!(second(&finding, &own), by_port);
    assert_eq!(second(&finding, &living), by_port);

    machine.variables.clear();
    fs::remove_file(&own).unwrap();
    fs::remove_file(&later).unwrap();
    let finding = machine.find(Dialect::GeminiCli, "0.61.0");
    assert_eq!(*verdict(&finding, &living), Verdict::Chosen);
    assert_eq!(second(&finding, &dead), Preference::LivingProcess);
    fs::remove_file(&living).unwrap();
    let smaller = machine.gemini(DEAD - 1, 1006, "project");
    let finding = machine.find(Dialect::GeminiCli, "0.61.0");
    assert_eq!(second(&finding, &smaller), Preference::LargerPid);
}

#[test]
fn one_unreadable_file_spoils_the_others_of_an_old_release() {
    let machine = Machine::new();
    let good = machine.gemini(EDITOR, 1001, "project");
    let bad = machine.path(&format!(
        "tmp/gemini/ide/gemini-ide-server-{EDITOR}-1002.json"
    ));
    symlink("nowhere", &bad).unwrap();
    for (version, expected) in [
        ("0.45.0", Verdict::Spoiled),
        ("0.56.0", Verdict::Spoiled),
        ("0.57.0", Verdict::Chosen),
        ("0.61.0", Verdict::Chosen),
    ] {
        let finding = machine.find(Dialect::GeminiCli, version);
        assert_eq!(*verdict(&finding, &good), expected, "{version}");
        assert!(matches!(verdict(&finding, &bad), Verdict::Unreadable(_)));
    }
}

#[test]
fn a_file_that_does_not_fit_explains_the_refusal_of_a_new_release() {
    let machine = Machine::new();
    let path = machine.gemini(EDITOR, 1001, "other");
    let finding = machine.find(Dialect::GeminiCli, "0.61.0");
    assert_eq!(*verdict(&finding, &path), Verdict::ChosenToExplain);
    assert_eq!(
        finding.refusal,
        Some(Refusal::OtherWorkspace(vec![machine.path("other")]))
    );
    let finding = machine.find(Dialect::GeminiCli, "0.45.0");
    assert_eq!(*verdict(&finding, &path), Verdict::OtherWorkspace);
    assert_eq!(finding.refusal, Some(Refusal::Unsupported));
}

#[test]
fn of_a_release_that_is_older_than_the_supported_ones_nothing_is_worked_out() {
    let machine = Machine::new();
    machine.gemini(EDITOR, 1001, "project");
    machine.lock(1002, "project", json!({}));
    for (agent, version, oldest) in [
        (Dialect::GeminiCli, "0.44.1", Some("Gemini CLI 0.45.0")),
        (Dialect::GeminiCli, "0.45.0", None),
        (Dialect::GeminiCli, "0.45.0-nightly.1", None),
        (Dialect::GeminiCli, "1.0.0", None),
        (Dialect::QwenCode, "0.15.10", Some("Qwen Code 0.21.2")),
        (Dialect::QwenCode, "0.21.2", None),
        (Dialect::ClaudeCode, "2.1.152", Some("Claude Code 2.1.153")),
        (Dialect::ClaudeCode, "2.1.153", None),
        (Dialect::OpenCode, "0.1.0", None),
    ] {
        let finding = machine.find(agent, version);
        let refused = match &finding.refusal {
            Some(Refusal::TooOld(oldest)) => Some(oldest.to_string()),
            _ => None,
        };
        assert_eq!(refused.as_deref(), oldest, "{agent} {version}");
        let is_empty = finding.dials.is_empty() && finding.candidates.is_empty();
        assert!(oldest.is_none() || is_empty, "{finding:?}");
        assert!(Release::newest(agent).too_old().is_none());
    }
}

#[test]
fn qwen_does_not_look_in_geminis_folder() {
    let machine = Machine::new();
    let name = format!("tmp/gemini/ide/qwen-code-ide-server-{EDITOR}-1001.json");
    let path = machine.file(&name, 1001, "project", json!({}));
    machine.lock(1002, "project", json!({}));
    let finding = machine.find(Dialect::QwenCode, "0.24.4");
    assert_eq!(*verdict(&finding, &path), Verdict::NotLookedAt);
    assert_eq!(ports(&finding), [1002]);
}

#[test]
fn qwen_takes_the_newest_lock_file_that_fits_unless_a_variable_names_another() {
    let mut machine = Machine::new();
    let older = machine.lock(1001, "project", json!({}));
    machine.lock(1002, "project", json!({}));
    let find = |machine: &Machine| machine.find(Dialect::QwenCode, "0.24.4");
    let finding = find(&machine);
    assert_eq!(ports(&finding), [1002, 1001]);
    assert_eq!(*verdict(&finding, &older), Verdict::Fallback);
    machine
        .variables
        .push(("QWEN_CODE_IDE_SERVER_PORT", "999".into()));
    assert_eq!(ports(&find(&machine)), [1002, 1001, 999]);
    machine.variables[0].1 = "1001".into();
    let finding = find(&machine);
    assert_eq!(finding.chosen().map(|chosen| &chosen.path), Some(&older));
}

#[test]
fn a_second_file_of_one_companion_is_no_fallback_for_the_first() {
    let machine = Machine::new();
    let name = format!("tmp/qwen-code-ide-server-{EDITOR}.json");
    let first = machine.file(&name, 1001, "project", json!({}));
    let same = machine.lock(1001, "project", json!({}));
    let other = machine.lock(1002, "project", json!({}));
    let foreign = machine.file(
        "tmp/qwen-code-ide-server-77.json",
        1003,
        "project",
        json!({}),
    );
    let by_port = machine.file(
        "tmp/qwen-code-ide-server-1004.json",
        1004,
        "project",
        json!({}),
    );
    let finding = machine.find(Dialect::QwenCode, "0.24.4");
    let first_place = Verdict::SecondChoice(Preference::FirstPlace);
    for (path, expected) in [
        (&first, Verdict::Chosen),
        (&same, first_place),
        (&other, Verdict::Fallback),
        (&foreign, Verdict::NotLookedAt),
        (&by_port, Verdict::NotLookedAt),
    ] {
        assert_eq!(*verdict(&finding, path), expected, "{}", path.display());
    }
    assert_eq!(ports(&finding), [1001, 1002]);
}

#[test]
fn qwen_passes_over_the_variables_lock_file_if_its_workspace_does_not_fit() {
    let mut machine = Machine::new();
    let elsewhere = machine.lock(1001, "other", json!({}));
    machine.lock(1002, "project", json!({}));
    machine
        .variables
        .push(("QWEN_CODE_IDE_SERVER_PORT", "1001".into()));
    let finding = machine.find(Dialect::QwenCode, "0.24.4");
    assert_eq!(*verdict(&finding, &elsewhere), Verdict::OtherWorkspace);
    // Its number is not the text of the variable: that is dialled all the same.
    assert_eq!(ports(&finding), [1002, 1001]);
}

#[test]
fn what_qwen_would_delete_is_told_and_left_alone() {
    let machine = Machine::new();
    let gone = machine.lock(1001, "project", json!({ "ppid": DEAD }));
    let no_folder = machine.lock(1002, "missing", json!({}));
    let two = format!(
        "{}:{}",
        machine.path("project").display(),
        machine.path("other").display()
    );
    let several = machine.lock(1003, "project", json!({ "workspacePath": two }));
    let kept = machine.lock(
        1004,
        "project",
        json!({ "workspacePath": two, "ppid": std::process::id() }),
    );
    let finding = machine.find(Dialect::QwenCode, "0.24.4");
    for (path, expected) in [
        (&gone, Verdict::Stale(Stale::ProcessGone)),
        (&no_folder, Verdict::Stale(Stale::NoFolder)),
        (&several, Verdict::Stale(Stale::NoFolder)),
        (&kept, Verdict::Chosen),
    ] {
        assert_eq!(*verdict(&finding, path), expected);
        assert!(path.exists());
    }
}

#[test]
fn qwen_home_names_the_folder_of_the_lock_files() {
    let mut machine = Machine::new();
    machine
        .variables
        .push(("QWEN_HOME", machine.path("q").display().to_string()));
    machine.lock(1001, "project", json!({}));
    machine.file("q/ide/1002.lock", 1002, "project", json!({}));
    assert_eq!(ports(&machine.find(Dialect::QwenCode, "0.24.4")), [1002]);
}

#[test]
fn in_a_container_each_agent_dials_its_own_host() {
    let mut machine = Machine::new();
    machine.in_container = true;
    machine.gemini(EDITOR, 1001, "project");
    machine.lock(1001, "project", json!({}));
    let name = format!("tmp/qwen-code-ide-server-{EDITOR}.json");
    machine.file(&name, 1001, "project", json!({}));
    let hosts = |machine: &Machine, agent, version| {
        let dials = machine.find(agent, version).dials;
        dials.iter().map(|dial| dial.host).collect::<Vec<_>>()
    };
    assert_eq!(
        hosts(&machine, Dialect::GeminiCli, "0.61.0"),
        [Host::ContainerHost]
    );
    let both = [Host::Loopback, Host::ContainerHost];
    assert_eq!(hosts(&machine, Dialect::QwenCode, "0.24.4"), both);
    machine.variables.push(("REMOTE_CONTAINERS", "1".into()));
    assert_eq!(
        hosts(&machine, Dialect::GeminiCli, "0.61.0"),
        [Host::Loopback]
    );
}

#[test]
fn a_pipe_or_a_huge_file_in_the_folder_holds_nobody_up() {
    let machine = Machine::new();
    let good = machine.gemini(EDITOR, 1001, "project");
    let pipe = machine.path("tmp/gemini/ide/gemini-ide-server-7-1002.json");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let huge = machine.path("tmp/gemini/ide/gemini-ide-server-7-1003.json");
    File::create(&huge).unwrap().set_len(1 << 40).unwrap();
    let finding = machine.find(Dialect::GeminiCli, "0.61.0");
    assert_eq!(*verdict(&finding, &good), Verdict::Chosen);
    assert!(matches!(verdict(&finding, &pipe), Verdict::Unreadable(_)));
    assert_eq!(*verdict(&finding, &huge), Verdict::Malformed);
}

#[test]
fn the_oldest_and_the_newest_release_of_each_agent_find_pillions_own_files() {
    let machine = Machine::new();
    let environment =
        Environment::from_pairs([("HOME", machine.path("home"))]).with_tmpdir(machine.path("tmp"));
    let tokens = Tokens::generate().unwrap();
    let discovery_info = DiscoveryInfo {
        companion_pid: std::process::id(),
        port: 1001,
        socket: None,
        roots: vec![machine.path("other"), machine.path("project")],
        ide: IdeInfo::new("kate", "Kate"),
        tokens: tokens.clone(),
    };
    let seat = Seat {
        environment: environment.clone(),
        editor_pid: std::process::id(),
    };
    let _discovery_files = DiscoveryFiles::publish(vec![seat], discovery_info).unwrap();
    let this = std::process::id();
    // In a terminal of the editor; its parent's pid is above 1.
    let chain = [
        process(DEAD, DEAD + 1, "node agent"),
        process(DEAD + 1, DEAD + 2, "bash"),
        process(DEAD + 2, this, "a shell's helper"),
        process(this, 1, "kate"),
    ];
    let agents = [Dialect::GeminiCli, Dialect::QwenCode, Dialect::ClaudeCode];
    let oldest = agents.into_iter().filter_map(Release::oldest_supported);
    let releases: Vec<_> = agents
        .map(Release::newest)
        .into_iter()
        .chain(oldest)
        .collect();
    assert_eq!(releases.len(), 6);
    for release in releases {
        let finding = find(&Situation {
            only: None,
            release,
            environment: &environment,
            current_dir: &machine.path("project"),
            chain: &chain,
            in_container: false,
        });
        assert_eq!(ports(&finding)[..1], [1001], "{release}: {finding:#?}");
        let token = finding.dials[0].token.as_ref().unwrap();
        assert_eq!(token.expose(), tokens.get(release.agent).expose());
    }
}

#[test]
fn the_page_about_agents_names_every_release_that_is_the_oldest_supported() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let page = fs::read_to_string(page).unwrap();
    let agents = Dialect::AGENTS.into_iter();
    for release in agents.filter_map(Release::oldest_supported) {
        let row = format!("| {release} |");
        assert!(page.contains(&row), "{release} is not in docs/agents.md");
    }
}
