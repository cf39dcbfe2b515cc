//! A person's machine with stand-in agents on PATH, and a doctor for it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pillion_testkit::Home;
use serde_json::Value;

use crate::sandbox::{Sandbox, Serve};

pub const GEMINI: &str = "gemini";
pub const QWEN: &str = "qwen";
pub const CLAUDE: &str = "claude";
pub const CODEX: &str = "codex";

/// The newest releases that the doctor is tried with.
pub const NEW_GEMINI: &str = "0.61.0";
pub const NEW_QWEN: &str = "0.24.4";

pub struct World {
    pub sandbox: Sandbox,
    variables: Vec<(OsString, OsString)>,
}

/// The doctor's answer about one agent.
pub struct Told {
    pub code: i32,
    pub agent: Value,
    pub text: String,
}

impl World {
    /// Both agents are installed in their newest releases, with IDE mode on.
    pub fn new() -> Self {
        Self::at(Home::new())
    }

    /// The same, in this home.
    pub fn at(home: Home) -> Self {
        let world = Self {
            sandbox: Sandbox { home },
            variables: Vec::new(),
        };
        fs::create_dir_all(world.bin()).unwrap();
        world.program("node", "#!/bin/sh\nexit 9\n");
        world.install(GEMINI, NEW_GEMINI);
        world.install(QWEN, NEW_QWEN);
        // Tests may run in a container, where an agent needs this to find its editor beside it.
        world.with("REMOTE_CONTAINERS", "1")
    }

    pub fn home(&self) -> &Home {
        &self.sandbox.home
    }

    /// The folder of the agents' commands, which is first on PATH.
    pub fn bin(&self) -> PathBuf {
        self.home().root().join("bin")
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self.variables
            .push((name.into(), value.as_ref().to_owned()));
        self
    }

    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self
    }

    pub fn program(&self, name: &str, text: &str) {
        let path = self.bin().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Puts a package as npm installs it, with a command that can do nothing.
    pub fn install(&self, agent: &str, version: &str) {
        let name = match agent {
            GEMINI => "@google/gemini-cli",
            CLAUDE => "@anthropic-ai/claude-code",
            CODEX => "@openai/codex",
            _ => "@qwen-code/qwen-code",
        };
        let folder = self.home().root().join("lib/node_modules").join(name);
        fs::create_dir_all(folder.join("bundle")).unwrap();
        let description = serde_json::json!({"name": name, "version": version});
        fs::write(folder.join("package.json"), description.to_string()).unwrap();
        let program = folder.join("bundle/cli.js");
        fs::write(&program, "#!/usr/bin/env node\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let link = self.bin().join(agent);
        let _ = fs::remove_file(&link);
        symlink(program, link).unwrap();
    }

    /// The agent's own settings.
    pub fn settings(&self, agent: &str, text: &str) -> PathBuf {
        let path = self.home().home().join(format!(".{agent}/settings.json"));
        fs::write(&path, text).unwrap();
        path
    }

    pub fn serve(&self) -> Serve {
        self.sandbox.serve::<&str>([])
    }

    pub fn serve_in(&self, folder: &Path) -> Serve {
        self.sandbox
            .serve([OsStr::new("--workspace"), folder.as_os_str()])
    }

    /// A companion that was started with another variable than this person's terminal has, and
    /// agents can find by now.
    pub fn serve_with(&self, name: &str, value: &Path) -> Killed {
        let mut command = self.sandbox.command(["serve"]);
        command.env("PILLION_HUB", "off").env(name, value);
        let serve = command.stdout(Stdio::piped()).spawn();
        let mut serve = Killed(serve.unwrap());
        let mut line = String::new();
        BufReader::new(serve.0.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert!(line.contains("port"), "{line}");
        serve
    }

    /// A command of this person's, with a shell between this process and it, as in a terminal.
    pub fn command(&self, script: &str, args: &[&str]) -> Command {
        let mut path = OsString::from(self.bin());
        path.push(":/usr/local/bin:/usr/bin:/bin");
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", script, env!("CARGO_BIN_EXE_pillion"), "doctor"])
            .args(args)
            .env_clear()
            .envs(self.home().env().iter())
            .env("PATH", path)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home().workspace())
            .stdin(Stdio::null());
        command
    }

    pub fn doctor(&self, agent: &str) -> Told {
        self.told("", agent)
    }

    /// Returns the report of the doctor after its advice was followed.
    pub fn after(&self, fix: &str, agent: &str) -> Told {
        self.told(fix, agent)
    }

    fn told(&self, before: &str, agent: &str) -> Told {
        let script = format!("{before}\n\"$0\" \"$@\"; exit $?");
        self.told_by(self.command(&script, &[agent, "--json"]), || {
            self.command(&script, &[agent])
        })
    }

    /// Runs the doctor for scripts, and then for people: both say the same.
    pub fn told_by(&self, mut json: Command, people: impl Fn() -> Command) -> Told {
        let output = json.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let report: Value = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
        let code = output.status.code().unwrap();
        let agents = report["agents"].as_array().unwrap();
        assert_eq!(agents.len(), 1, "{stdout}");
        let agent = agents[0].clone();
        match agent["name"].as_str() {
            Some(CODEX) => assert!(agent["wouldConnect"].is_null(), "{stdout}"),
            _ => assert_eq!(agent["wouldConnect"], code == 0, "{stdout}"),
        }
        let output = people().output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{stdout}");
        let text = String::from_utf8(output.stdout).unwrap();
        self.expect_no_token(&stdout);
        self.expect_no_token(&text);
        Told { code, agent, text }
    }

    /// No token of any file that is there is in `text`.
    fn expect_no_token(&self, text: &str) {
        let mut folders = vec![self.home().root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(path);
                    continue;
                }
                let content = fs::read(&path).unwrap_or_default();
                let content: Value = serde_json::from_slice(&content).unwrap_or_default();
                let token = content["authToken"].as_str();
                assert!(!token.is_some_and(|token| text.contains(token)), "{text}");
            }
        }
    }
}

impl Told {
    /// The finding of this id.
    pub fn finding(&self, id: &str) -> Option<&Value> {
        let findings = self.agent["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["id"] == id)
    }

    /// Expects this to be the first thing that breaks; the command that fixes it.
    #[track_caller]
    pub fn expect_first(&self, id: &str, what: &str) -> String {
        assert_eq!(self.code, 1, "{}", self.text);
        let findings = self.agent["findings"].as_array().unwrap();
        let first = findings
            .iter()
            .find(|finding| finding["level"] == "problem");
        assert_eq!(first.unwrap()["id"], id, "{}", self.text);
        let fix = self.expect(id, "problem", what);
        let verdict = match self.agent["name"] == CODEX {
            true => "would not be shown. First: ",
            false => "would not connect from here. First: ",
        };
        let (_, verdict) = self.text.split_once(verdict).unwrap();
        assert!(verdict.contains(&fix), "{}", self.text);
        fix
    }

    /// Expects this finding; the command that fixes it.
    #[track_caller]
    pub fn expect(&self, id: &str, level: &str, what: &str) -> String {
        let finding = self
            .finding(id)
            .unwrap_or_else(|| panic!("no {id}:\n{}", self.text));
        assert_eq!(finding["level"], level, "{}", self.text);
        let said = finding["what"].as_str().unwrap();
        assert!(said.contains(what), "{said:?} does not say {what:?}");
        assert!(!finding["why"].as_str().unwrap().is_empty());
        assert!(self.text.contains(id), "{}", self.text);
        finding["fix"].as_str().unwrap_or_default().to_owned()
    }

    /// Expects that the agent would connect, and that `ids` are not reported.
    #[track_caller]
    pub fn expect_connects(&self, without: &str) {
        assert_eq!(self.code, 0, "{}", self.text);
        assert!(self.text.contains("would connect to "), "{}", self.text);
        self.expect_gone(without);
    }

    #[track_caller]
    pub fn expect_gone(&self, id: &str) {
        assert!(self.finding(id).is_none(), "{}", self.text);
    }
}

/// Kills a companion so that it can tidy up nothing.
pub fn kill(mut serve: Serve) -> u16 {
    let port = serve.port();
    serve.child.kill().unwrap();
    serve.child.wait().unwrap();
    port
}

/// A process of the test's own, gone with it.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The command behind a shell script, as root of namespaces of its own. The script gets
/// `arguments`, and behind them the command.
pub fn in_namespace(script: &str, arguments: &[&OsStr], command: &Command) -> Command {
    in_namespaces(&[], script, arguments, command)
}

/// The same with more namespaces: options of `unshare`.
pub fn in_namespaces(
    more: &[&str],
    script: &str,
    arguments: &[&OsStr],
    command: &Command,
) -> Command {
    let mut wrapped = Command::new("unshare");
    wrapped
        .args(["-r", "-m"])
        .args(more)
        .args(["/bin/sh", "-c", script, "sh"])
        .args(arguments)
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        wrapped.env(name, value.unwrap());
    }
    wrapped
}
