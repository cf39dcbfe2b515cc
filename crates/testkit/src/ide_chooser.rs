//! The agents' own companion clients, asked which companion they take and what they would dial.
//! Driven through `npm/choose.mjs` and `npm/walk.mjs`; nothing is dialled.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{fs, iter};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

use crate::{Npm, kill_tree};

/// A real client in a Node of its own, that answers one situation after the other. Killed on drop.
///
/// Unless a variable says otherwise its editor process is [its own](IdeChooser::pid): a `ps` on its
/// PATH says that its parent is process 1, and that its command is the situation's.
#[derive(Debug)]
pub struct IdeChooser {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    pid: u32,
    /// Holds that `ps`.
    path: TempDir,
}

/// The situation that a client starts with.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceSituation {
    /// All of its environment but PATH.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// True if it takes itself to be in a container. Qwen Code asks once per process.
    pub in_container: bool,
    /// The command of its editor process.
    pub command: String,
}

/// The choice of a client.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chosen {
    /// The name that it gives the editor, `{name, displayName}`; null if it refuses.
    pub ide: Value,
    /// The content of the file that it took; null if it took none.
    pub config: Value,
    /// The attempts to connect, in order.
    pub dials: Vec<ChosenDial>,
    /// Its last message; null if there was none.
    pub details: Option<String>,
    /// The error that ended its attempt.
    pub error: Option<String>,
}

/// An attempt to connect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChosenDial {
    /// The host's name.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The token that was presented.
    pub token: Option<String>,
}

impl IdeChooser {
    /// Starts the client of a package, such as `@google/gemini-cli-core`, and waits until it is
    /// loaded.
    pub fn start(package: &str) -> IdeChooser {
        let npm = Npm::from_env();
        let mut child = Command::new(npm.node())
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("npm/choose.mjs"))
            .arg(npm.package(package))
            .env_clear()
            .env("PATH", npm.bin())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the pinned node runs");
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let pid = child.id();
        let path = tempfile::tempdir().expect("a temporary folder can be made");
        let ps = path.path().join("ps");
        let script = format!(
            "#!/bin/sh\n[ \"$4\" = {pid} ] && echo \"1 $FAKE_COMMAND\" && exit\nPATH=/usr/bin:/bin exec ps \"$@\"\n"
        );
        fs::write(&ps, script).expect("the folder is ours");
        fs::set_permissions(&ps, fs::Permissions::from_mode(0o700)).expect("the file is ours");
        let mut chooser = IdeChooser {
            child,
            stdin,
            stdout,
            pid,
            path,
        };
        let hello: Value = chooser.line();
        assert_eq!(hello["pid"], pid);
        chooser
    }

    /// Its process, which is its editor's process, too.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The companion that it takes.
    pub fn choose(&mut self, situation: &ChoiceSituation) -> Chosen {
        let env: serde_json::Map<String, Value> = situation
            .env
            .iter()
            .cloned()
            .chain([
                ("PATH".to_owned(), self.path.path().display().to_string()),
                ("FAKE_COMMAND".to_owned(), situation.command.clone()),
            ])
            .map(|(name, value)| (name, value.into()))
            .collect();
        let ask = serde_json::json!({
            "env": env,
            "cwd": situation.cwd,
            "inContainer": situation.in_container,
        });
        writeln!(self.stdin, "{ask}").expect("the client reads its input");
        self.line()
    }

    fn line<T: serde::de::DeserializeOwned>(&mut self) -> T {
        let mut line = String::new();
        self.stdout
            .read_line(&mut line)
            .expect("the client writes UTF-8");
        serde_json::from_str(&line).unwrap_or_else(|error| {
            panic!("the client ended or said what is no answer: {error}: {line:?}")
        })
    }
}

impl Drop for IdeChooser {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone after the wait.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Node under some processes of the test's, that has asked clients for their editor process and
/// stays until it is dropped.
#[derive(Debug)]
pub struct IdeProcess {
    child: Child,
    pid: u32,
    found: Vec<u32>,
}

impl IdeProcess {
    /// Runs `command`, in which `"$@"` stands for that Node and its arguments, by a shell that is
    /// then no more (`sh -c 'exec …'`), and waits for what the clients of `packages` find.
    pub fn start(command: &str, packages: &[&str]) -> IdeProcess {
        let npm = Npm::from_env();
        let mut child = Command::new("/bin/sh")
            .args(["-c", command, "sh"])
            .arg(npm.node())
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("npm/walk.mjs"))
            .args(packages.iter().map(|package| npm.package(package)))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            // No login shell of the test reads the tester's files.
            .env("HOME", "/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut lines = iter::from_fn(|| {
            let mut line = String::new();
            let read = stdout.read_line(&mut line).ok()?;
            (read > 0).then_some(line)
        });
        let told = lines.find_map(|line| serde_json::from_str::<Value>(&line).ok());
        let told = told.unwrap_or_else(|| panic!("{command:?} ended without an answer"));
        let number = |value: &Value| {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            number.expect("a process id")
        };
        let found = told["found"].as_array().expect("a list");
        IdeProcess {
            pid: number(&told["pid"]),
            found: found.iter().map(number).collect(),
            child,
        }
    }

    /// The Node's own process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The process that each package's client takes for its editor.
    pub fn found(&self) -> &[u32] {
        &self.found
    }
}

impl Drop for IdeProcess {
    fn drop(&mut self) {
        // The Node ends with its input; what stands above it may not.
        drop(self.child.stdin.take());
        kill_tree(self.child.id());
        let _ = self.child.wait();
    }
}
