//! The variables that are set, and those that are taken out.

use std::fs;
use std::net::TcpListener;

use pillion_agent::find::Version;
use pillion_discovery::survey::Liveness;
use pillion_protocol::{DiscoveryFile, IdeInfo};
use serde_json::json;

use super::*;

/// A companion with a file of each of these names, for the editor 7.
fn companion(files: &[(Dialect, &str, Option<&str>)]) -> Companion {
    let file = |(dialect, name, token): &(Dialect, &str, Option<&str>)| FoundFile {
        path: Path::new("/t").join(name),
        dialect: *dialect,
        content: DiscoveryFile {
            port: 4242,
            workspace_path: "/w".to_owned(),
            auth_token: token.map(|token| Token::from(token.to_owned())),
            ide_info: Some(IdeInfo::new("x", "X")),
            ppid: Some(7),
            ide_name: None,
            pillion: None,
        },
    };
    Companion {
        port: 4242,
        ide: None,
        roots: vec!["/w".into()],
        pids: Vec::new(),
        files: files.iter().map(file).collect(),
        state: None,
        is_silent: false,
        liveness: Liveness::Alive,
    }
}

/// Every change as a line, tokens exposed.
fn lines(wiring: &Wiring) -> Vec<String> {
    let line = |change: &Change| match &change.value {
        Some(value) => format!("{}={}", change.name, value.expose()),
        None => format!("-{}", change.name),
    };
    wiring.changes().iter().map(line).collect()
}

fn wired(companion: &Companion, agent: Dialect, variables: &[(&str, &str)]) -> Vec<String> {
    let environment = Environment::from_pairs(variables.iter().copied());
    let here = Surroundings {
        environment: &environment,
        chain: LazyCell::new(|| process::chain(std::process::id())),
        is_container: false,
        has_host: || true,
    };
    lines(&Wiring::leading(companion, agent, &here))
}

const GEMINI_FILE: &str = "gemini-ide-server-4194305-4242.json";

#[test]
fn everything_that_an_agent_reads_is_set() {
    let both = companion(&[
        (Dialect::GeminiCli, GEMINI_FILE, Some("g")),
        (Dialect::QwenCode, "4242.lock", Some("q")),
    ]);
    assert_eq!(
        wired(&both, Dialect::GeminiCli, &[]),
        [
            "GEMINI_CLI_IDE_SERVER_PORT=4242",
            "GEMINI_CLI_IDE_WORKSPACE_PATH=/w",
            "GEMINI_CLI_IDE_AUTH_TOKEN=g",
            "GEMINI_CLI_IDE_PID=4194305",
        ]
    );
    assert_eq!(
        wired(&both, Dialect::QwenCode, &[]),
        [
            "QWEN_CODE_IDE_SERVER_PORT=4242",
            "QWEN_CODE_IDE_WORKSPACE_PATH=/w"
        ]
    );
}

#[test]
fn what_the_companion_does_not_tell_is_not_left_from_another() {
    let bare = companion(&[(Dialect::GeminiCli, "other.json", None)]);
    let stale = [
        ("GEMINI_CLI_IDE_SERVER_PORT", "1"),
        ("GEMINI_CLI_IDE_AUTH_TOKEN", "stale"),
        ("GEMINI_CLI_IDE_PID", "9"),
    ];
    assert_eq!(
        wired(&bare, Dialect::GeminiCli, &stale),
        [
            "GEMINI_CLI_IDE_SERVER_PORT=4242",
            "GEMINI_CLI_IDE_WORKSPACE_PATH=/w",
            "-GEMINI_CLI_IDE_AUTH_TOKEN",
            "-GEMINI_CLI_IDE_PID",
        ]
    );
}

/// A folder with a companion's file for an editor that is not above this process: no process has such a number.
struct Published {
    root: String,
    companion: Companion,
    _tmp: tempfile::TempDir,
}

impl Published {
    fn new(token: Option<&str>, editor: &serde_json::Value) -> std::io::Result<Self> {
        let tmp = tempfile::tempdir()?;
        let root = tmp.path().display().to_string();
        let folder = tmp.path().join("gemini/ide");
        fs::create_dir_all(&folder)?;
        let content = json!({"port": 4242, "workspacePath": root, "authToken": token,
            "ideInfo": editor});
        fs::write(folder.join(GEMINI_FILE), content.to_string())?;
        let mut companion = companion(&[(Dialect::GeminiCli, GEMINI_FILE, token)]);
        companion.files[0].content.workspace_path.clone_from(&root);
        Ok(Self {
            root,
            companion,
            _tmp: tmp,
        })
    }

    /// The value that TERM_PROGRAM is set to for this release, in a terminal where it is that.
    fn says(&self, release: (u32, u32), terminal: &str) -> Option<String> {
        let (agent, (minor, patch)) = (Dialect::GeminiCli, release);
        let version = Version::new(0, minor, patch);
        let pairs = [("TMPDIR", self.root.as_str()), ("TERM_PROGRAM", terminal)];
        let environment = Environment::from_pairs(pairs).with_current_dir(&self.root);
        let here = Surroundings {
            environment: &environment,
            chain: LazyCell::new(|| process::chain(std::process::id())),
            is_container: false,
            has_host: || true,
        };
        let wiring = Wiring::to(&self.companion, Release { agent, version }, &here);
        let lines = lines(&wiring);
        let notes: Vec<_> = wiring.notes(agent).collect();
        let said = lines
            .iter()
            .find_map(|line| line.strip_prefix("TERM_PROGRAM="));
        assert_eq!(notes.len(), usize::from(said.is_some()), "{notes:?}");
        said.map(str::to_owned)
    }
}

#[test]
fn a_companion_that_does_not_tell_its_editor_is_accepted_in_any_terminal() {
    let vscode = Some("vscode".to_owned());
    let nameless = json!({"name": "x", "displayName": ""});
    for editor in [json!(null), nameless] {
        let untold = Published::new(Some("t"), &editor).unwrap();
        for release in [(45, 0), (61, 0)] {
            assert_eq!(untold.says(release, "tmux"), vscode, "{release:?}");
            assert_eq!(untold.says(release, ""), vscode, "{release:?}");
            assert_eq!(untold.says(release, "vscode"), None, "{release:?}");
        }
        // One that this release knows does as well.
        assert_eq!(untold.says((61, 0), "Zed"), None);
    }
    let told = Published::new(Some("t"), &json!({"name": "x", "displayName": "X"})).unwrap();
    for release in [(45, 0), (61, 0)] {
        assert_eq!(told.says(release, "tmux"), None, "{release:?}");
    }
}

#[test]
fn a_value_that_no_environment_can_hold_is_left_out() {
    let odd = companion(&[(Dialect::GeminiCli, "other.json", Some("a\0b"))]);
    let lines = wired(&odd, Dialect::GeminiCli, &[]);
    assert!(!lines.iter().any(|line| line.contains('\0')), "{lines:?}");
}

#[test]
fn no_token_is_shown() {
    let both = companion(&[(Dialect::GeminiCli, GEMINI_FILE, Some("hunter2"))]);
    let environment = Environment::default();
    let here = Surroundings {
        environment: &environment,
        chain: LazyCell::new(|| process::chain(std::process::id())),
        is_container: false,
        has_host: || true,
    };
    let wiring = Wiring::leading(&both, Dialect::GeminiCli, &here);
    assert!(!format!("{wiring:?}").contains("hunter2"));
    let values = wiring.changes().iter().filter_map(|it| it.value.as_ref());
    let shown: Vec<_> = values.map(Value::shown).collect();
    assert_eq!(shown, ["4242", "/w", "…", "4194305"]);
}

#[test]
fn the_pid_is_a_living_one_and_rather_the_editors() {
    let own = std::process::id();
    let parent = std::os::unix::process::parent_id();
    let dead = i32::MAX as u32;
    // Of the two, one that is not the number of the port by accident: the name of such a file has no process in it.
    let old = if parent == 4242 { own } else { parent };
    let pid = |editor: u32, named: &[u32]| {
        let names: Vec<String> = named
            .iter()
            .map(|pid| format!("gemini-ide-server-{pid}-4242.json"))
            .chain([format!("gemini-ide-server-{old}.json")])
            .collect();
        let files: Vec<_> = names
            .iter()
            .map(|name| (Dialect::GeminiCli, name.as_str(), None))
            .collect();
        let mut companion = companion(&files);
        for file in &mut companion.files {
            file.content.ppid = Some(editor);
        }
        editor_pid(&companion, Dialect::GeminiCli)
    };
    // The old name alone is not read by who knows the variable.
    assert_eq!(pid(own, &[]), None);
    for named in [[parent, own], [own, parent]] {
        assert_eq!(pid(own, &named), Some(own));
        assert_eq!(pid(parent, &named), Some(parent));
    }
    assert_eq!(pid(dead, &[dead, own]), Some(own));
    assert_eq!(pid(own, &[dead]), Some(dead));
}

#[test]
fn in_a_container_gemini_gets_the_host_of_a_companion_that_is_in_it_too() {
    let both = companion(&[
        (Dialect::GeminiCli, GEMINI_FILE, None),
        (Dialect::QwenCode, "4242.lock", None),
    ]);
    let says = |agent, variables: &[(&str, &str)], is_container| {
        let environment = Environment::from_pairs(variables.iter().copied());
        let here = Surroundings {
            environment: &environment,
            chain: LazyCell::new(|| process::chain(std::process::id())),
            is_container,
            has_host: || true,
        };
        let lines = lines(&Wiring::leading(&both, agent, &here));
        lines.contains(&"REMOTE_CONTAINERS=1".to_owned())
    };
    assert!(says(Dialect::GeminiCli, &[], true));
    assert!(!says(Dialect::GeminiCli, &[], false));
    assert!(
        !says(Dialect::QwenCode, &[], true),
        "it finds out by itself"
    );
    for name in [
        "SSH_CONNECTION",
        "REMOTE_CONTAINERS",
        "VSCODE_REMOTE_CONTAINERS_SESSION",
    ] {
        assert!(!says(Dialect::GeminiCli, &[(name, "x")], true), "{name}");
        assert!(says(Dialect::GeminiCli, &[(name, "")], true), "{name}");
    }
}

#[test]
fn without_a_companion_only_what_surely_leads_nowhere_is_taken_out() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let alive = listener.local_addr().unwrap().port().to_string();
    let gone = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let dead = gone.local_addr().unwrap().port().to_string();
    drop(gone);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let removed = |port: &str, workspace: &str, host: Option<fn() -> bool>| {
        let environment = Environment::from_pairs([
            ("GEMINI_CLI_IDE_SERVER_PORT", port),
            ("GEMINI_CLI_IDE_WORKSPACE_PATH", workspace),
            ("GEMINI_CLI_IDE_PID", "4194305"),
            ("QWEN_CODE_IDE_SERVER_PORT", "1"),
        ]);
        let environment = environment.with_current_dir(folder.path());
        let here = Surroundings {
            environment: &environment,
            chain: LazyCell::new(|| process::chain(std::process::id())),
            is_container: host.is_some(),
            has_host: host.unwrap_or(|| panic!("there is none")),
        };
        lines(&Wiring::without(Dialect::GeminiCli, &here))
    };
    let all = [
        "-GEMINI_CLI_IDE_SERVER_PORT",
        "-GEMINI_CLI_IDE_WORKSPACE_PATH",
        "-GEMINI_CLI_IDE_PID",
    ];
    assert_eq!(removed(&dead, root, None), all);
    assert_eq!(removed("x", root, None), all);
    assert_eq!(removed(&alive, "/nope/elsewhere", None), all);
    assert!(removed(&alive, root, None).is_empty());
    assert!(removed(&dead, root, Some(|| true)).is_empty());
    assert_eq!(removed(&alive, root, Some(|| false)), all);
    // A pid alone leads to no port, but away from where the agent would look.
    let lone = ["-GEMINI_CLI_IDE_WORKSPACE_PATH", "-GEMINI_CLI_IDE_PID"];
    assert_eq!(removed("", root, None), lone);
}
