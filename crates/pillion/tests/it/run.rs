//! `pillion run`: which companion it takes, and what becomes of the agent. The agents are stand-ins
//! that say what they were started with.

mod claude;
mod start;
mod wrappers;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{self, Command, Output};
use std::time::{Duration, Instant};

use pillion_agent::host::is_in_container;
use pillion_protocol::Dialect;

use crate::foreign::Foreign;
use crate::hook::{Hook, edit};
use crate::sandbox::{Sandbox, Serve, signal_to};

/// Says its process id, arguments and variables, and ends with exit code 7.
const TALKATIVE: &str = r#"printf '%s\0' "$$" "$#" "$@"; env -0; exit 7"#;

/// A sandbox with stand-ins for both agents on PATH.
struct Stage {
    sandbox: Sandbox,
}

/// The output of a talkative agent.
#[derive(Debug)]
struct Said {
    output: Output,
    pid: u32,
    args: Vec<String>,
    variables: BTreeMap<String, String>,
}

impl Stage {
    fn new(script: &str) -> Self {
        let sandbox = Sandbox::new();
        let stage = Self { sandbox };
        fs::create_dir(stage.bin()).unwrap();
        for agent in Dialect::ALL {
            let path = stage.bin().join(agent.name());
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        stage
    }

    fn bin(&self) -> PathBuf {
        self.sandbox.home.root().join("bin")
    }

    fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.sandbox.command(["run"]);
        command.args(args).env("PATH", self.path());
        command
    }

    fn path(&self) -> OsString {
        let mut env = self.sandbox.home.env();
        env.prepend_path(self.bin());
        env.get("PATH").unwrap().to_owned()
    }

    fn said(&self, mut command: Command) -> Said {
        let child = command
            .stdout(process::Stdio::piped())
            .stderr(process::Stdio::piped())
            .spawn()
            .unwrap();
        let started = child.id();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let mut parts = text.split('\0').map(str::to_owned);
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
        let pid = number().unwrap_or_else(|| panic!("it did not run: {error}"));
        let count = number().unwrap() as usize;
        assert_eq!(pid, started, "the agent is another process");
        let args = parts.by_ref().take(count).collect();
        let pair = |part: String| part.split_once('=').map(|(n, v)| (n.into(), v.into()));
        Said {
            pid,
            args,
            variables: parts.filter_map(pair).collect(),
            output,
        }
    }

    /// The port that this agent would be given.
    fn port(&self, agent: Dialect, change: impl FnOnce(&mut Command)) -> Option<u16> {
        let mut command = self.command([agent.name()]);
        change(&mut command);
        let said = self.said(command);
        let port = said.variables.get(agent.port_variable().unwrap())?;
        Some(port.parse().unwrap())
    }

    fn serve_in(&self, folder: &std::path::Path) -> Serve {
        fs::create_dir_all(folder).unwrap();
        let args = [OsStr::new("--workspace"), folder.as_os_str()];
        self.sandbox.serve(args)
    }
}

impl Said {
    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The variables that lead to a companion.
    fn leading(&self) -> Vec<&str> {
        let names = self.variables.keys().map(String::as_str);
        names.filter(|name| name.contains("_IDE_")).collect()
    }
}

#[test]
fn the_agent_gets_every_variable_and_takes_this_process() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let workspace = stage.sandbox.home.workspace();
    let said = stage.said(stage.command(["gemini"]));
    assert_eq!(said.output.status.code(), Some(7), "{}", said.stderr());
    assert_eq!(said.stderr(), "");
    let token = serve.token();
    let (port, pid) = (serve.port().to_string(), serve.child.id().to_string());
    for (name, value) in [
        ("GEMINI_CLI_IDE_SERVER_PORT", port.as_str()),
        ("GEMINI_CLI_IDE_WORKSPACE_PATH", workspace.to_str().unwrap()),
        ("GEMINI_CLI_IDE_AUTH_TOKEN", token.expose()),
        ("GEMINI_CLI_IDE_PID", &pid),
    ] {
        assert_eq!(said.variable(name), Some(value), "{name}");
    }
    let expected = is_in_container().then_some("1");
    assert_eq!(said.variable("REMOTE_CONTAINERS"), expected);

    let said = stage.said(stage.command(["qwen"]));
    let names = ["QWEN_CODE_IDE_SERVER_PORT", "QWEN_CODE_IDE_WORKSPACE_PATH"];
    assert_eq!(said.leading(), names);
    assert_eq!(said.variable(names[0]), Some(port.as_str()));
    assert_eq!(said.variable(names[1]), workspace.to_str());
    assert!(said.pid > 0);
}

#[test]
fn how_to_turn_ide_mode_on_is_shown() {
    let stage = Stage::new(TALKATIVE);
    let home = stage.sandbox.home.home();
    let said = |agent: &str| stage.said(stage.command([agent])).stderr();
    for (agent, name) in [("gemini", "Gemini CLI"), ("qwen", "Qwen Code")] {
        let file = home.join(format!(".{agent}/settings.json"));
        let told = format!("note: IDE mode is off in {name}: type `/ide enable` in it, once.\n");
        let note = |settings: Option<&str>| {
            match settings {
                Some(text) => fs::write(&file, text).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            let serve = stage.sandbox.serve::<&str>([]);
            let note = said(agent);
            drop(serve);
            note
        };
        assert_eq!(note(Some(r#"{"ide": {"enabled": true}}"#)), "");
        assert_eq!(note(Some(r#"{"ide": {"hasSeenNudge": true}}"#)), told);
        assert_eq!(note(Some(r#"{"ide": {"enabled": false}}"#)), told);
        assert_eq!(note(Some("{")), "", "nobody knows");
        assert_eq!(note(None), told);
        // Without a companion there is nothing to turn on.
        assert!(!said(agent).contains("IDE mode"));
    }
}

#[test]
fn without_a_companion_the_agent_starts_and_finds_nothing_stale() {
    let stage = Stage::new(TALKATIVE);
    let dead = Foreign::new().port().to_string();
    let mut command = stage.command(["gemini"]);
    command
        .env("GEMINI_CLI_IDE_SERVER_PORT", &dead)
        .env("GEMINI_CLI_IDE_AUTH_TOKEN", "stale")
        .env("GEMINI_CLI_IDE_PID", "1")
        // So that a container's host is out of the question.
        .env("SSH_CONNECTION", "x");
    let said = stage.said(command);
    assert_eq!(said.output.status.code(), Some(7));
    assert!(said.leading().is_empty(), "{:?}", said.leading());
    let folder = stage.sandbox.home.workspace();
    let note = format!(
        "note: no companion is running for {}. Starting gemini without one.\n",
        folder.display()
    );
    assert_eq!(said.stderr(), note);

    let output = stage.command(["--require", "gemini"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(output.stdout.is_empty(), "it did not run");
}

#[test]
fn the_deepest_folder_wins_although_the_terminals_parents_are_shared() {
    let stage = Stage::new(TALKATIVE);
    let workspace = stage.sandbox.home.workspace();
    let inner = workspace.join("inner");
    // Both are published under this test's pid, which is an ancestor of the agent's, too.
    let deep = stage.serve_in(&inner);
    let shallow = stage.serve_in(&workspace);
    let port = |folder: &std::path::Path| {
        stage.port(Dialect::GeminiCli, |command| {
            command.current_dir(folder);
        })
    };
    assert_eq!(port(&inner), Some(deep.port()));
    assert_eq!(port(&workspace), Some(shallow.port()));
    fs::create_dir(workspace.join("other")).unwrap();
    assert_eq!(port(&workspace.join("other")), Some(shallow.port()));
}

#[test]
fn the_variable_of_the_terminal_wins_over_a_deeper_folder() {
    let stage = Stage::new(TALKATIVE);
    let workspace = stage.sandbox.home.workspace();
    let shallow = stage.serve_in(&workspace);
    let deep = stage.serve_in(&workspace.join("inner"));
    let port = |agent: Dialect, named: u16| {
        stage.port(agent, |command| {
            let name = Dialect::QwenCode.port_variable().unwrap();
            command
                .current_dir(workspace.join("inner"))
                .env(name, named.to_string());
        })
    };
    for agent in Dialect::AGENTS {
        assert_eq!(port(agent, shallow.port()), Some(shallow.port()));
        assert_eq!(port(agent, deep.port()), Some(deep.port()));
        assert_eq!(port(agent, 1), Some(deep.port()));
    }
}

#[test]
fn the_terminals_own_editor_wins_over_all_others_in_its_folder() {
    let stage = Stage::new(TALKATIVE);
    let workspace = stage.sandbox.home.workspace();
    let deep = stage.serve_in(&workspace.join("inner"));
    // This test is the editor: the agent descends from it.
    let own = Foreign::new();
    let root = workspace.to_str().unwrap();
    own.serve_gemini(&stage.sandbox, process::id(), root, "own");
    let port = |agent: Dialect, folder: &str| {
        stage.port(agent, |command| {
            let name = Dialect::GeminiCli.port_variable().unwrap();
            command
                .current_dir(folder)
                .env(name, deep.port().to_string());
        })
    };
    let inner = workspace.join("inner");
    let inner = inner.to_str().unwrap();
    assert_eq!(port(Dialect::GeminiCli, inner), Some(own.port()));
    // It serves no Qwen Code, which gets the other.
    assert_eq!(port(Dialect::QwenCode, inner), Some(deep.port()));
    // And no other folder.
    let elsewhere = stage.sandbox.home.other_workspace("elsewhere");
    let there = stage.serve_in(&elsewhere);
    let there = Some(there.port());
    assert_eq!(port(Dialect::GeminiCli, elsewhere.to_str().unwrap()), there);
}

#[test]
fn of_equals_the_one_used_last_wins() {
    let stage = Stage::new(TALKATIVE);
    let serves = [(); 3].map(|()| stage.sandbox.serve::<&str>([]));
    stage.sandbox.home.file("a.txt", "x");
    for serve in serves.iter().chain(&serves) {
        let port = serve.port().to_string();
        stage
            .sandbox
            .run(["focus", "a.txt", "--port", &port])
            .expect(0);
        let found = stage.port(Dialect::GeminiCli, |_| {});
        assert_eq!(found, Some(serve.port()));
    }
}

#[test]
fn one_that_does_not_answer_is_not_waited_for() {
    let stage = Stage::new(TALKATIVE);
    let workspace = stage.sandbox.home.workspace();
    let mute = Foreign::new();
    let root = workspace.to_str().unwrap();
    // Of process 1, the ancestor of all: that makes no editor the terminal's own.
    mute.serve_gemini(&stage.sandbox, 1, root, "t");
    let serve = stage.sandbox.serve::<&str>([]);
    stage.sandbox.home.file("a.txt", "x");
    stage.sandbox.run(["focus", "a.txt"]).expect(0);
    let start = Instant::now();
    let found = stage.port(Dialect::GeminiCli, |_| {});
    assert_eq!(found, Some(serve.port()));
    assert!(start.elapsed() < Duration::from_secs(15));
}

/// Whoever stopped or killed it may have put the other one there.
#[test]
fn no_other_companion_is_taken_for_one_of_pillions_that_does_not_answer() {
    for (is_in_hub, how) in [
        (true, "STOP"),
        (false, "STOP"),
        (true, "KILL"),
        (false, "KILL"),
    ] {
        let stage = Stage::new(TALKATIVE);
        let serve = match is_in_hub {
            true => stage.sandbox.serve_in_hub::<&str>([]),
            false => stage.sandbox.serve::<&str>([]),
        };
        let workspace = stage.sandbox.home.workspace();
        let companion = stage.sandbox.companion_pid();
        let other = Foreign::new();
        // It passes itself off as the terminal's own editor.
        let root = workspace.to_str().unwrap();
        other.serve_gemini(&stage.sandbox, process::id(), root, "t");
        // A front end that lives would start another hub.
        if how == "KILL" && is_in_hub {
            serve.signal(how);
        }
        signal_to(companion, how);
        let said = stage.said(stage.command(["gemini"]));
        let env = stage.sandbox.run(["env", "--shell", "bash"]);
        let accept = stage.sandbox.run(["accept", "1.1"]);
        let list = stage.sandbox.run(["list"]).expect(0);
        let file = stage.sandbox.home.file("a.txt", "one");
        let edit = edit(&stage.sandbox, &file, "one", "two");
        let hook = (how == "STOP").then(|| Hook::call(&stage.sandbox, &["claude"], &edit).answer());
        let port = other.port().to_string();
        let named = stage.said(stage.command(["--port", &port, "gemini"]));
        if how == "STOP" {
            signal_to(companion, "CONT");
        }
        let what = match how {
            "STOP" => format!(
                "the companion of Pillion (port {}) does not answer",
                serve.port()
            ),
            _ => format!("the companion of Pillion for {root} was killed, or is not there yet"),
        };
        accept.expect_error(3, &what, "suspended");
        let mut current = { list.stdout.lines() }.filter_map(|line| line.strip_prefix('*'));
        let current = current.find_map(|it| it.split_whitespace().next());
        let port_of_pillion = serve.port().to_string();
        let expected = (how == "STOP").then_some(&*port_of_pillion);
        assert_eq!(current, expected, "{how}: {}", list.stdout);
        hook.inspect(|it| it.expect_denied(&what));
        let what = format!("{what}; VS Code takes its place only with --port {port}");
        let note = format!(
            "note: {what}. Starting gemini without one, but it may connect to VS Code (port {port}) by itself."
        );
        assert!(said.stderr().contains(&note), "{is_in_hub} {how}: {said:?}");
        assert_eq!(said.leading(), Vec::<&str>::new());
        assert!(env.expect(3).stderr.contains(&format!("error: {what}")));
        let variable = named.variable("GEMINI_CLI_IDE_SERVER_PORT");
        assert_eq!(variable, Some(&*port));
    }
}

#[test]
fn a_companion_that_is_named_is_taken_with_a_warning_if_the_agent_will_refuse_it() {
    let stage = Stage::new(TALKATIVE);
    let elsewhere = stage.sandbox.home.other_workspace("elsewhere");
    let there = stage.serve_in(&elsewhere);
    let here = stage.sandbox.serve::<&str>([]);
    let port = there.port().to_string();
    let named = [
        ["--port", port.as_str()],
        ["--workspace", elsewhere.to_str().unwrap()],
    ];
    for target in named {
        let said = stage.said(stage.command(target.into_iter().chain(["gemini"])));
        assert_eq!(
            said.variable("GEMINI_CLI_IDE_SERVER_PORT"),
            Some(port.as_str())
        );
        let warning = format!(
            "warning: Pillion (port {port}) does not have this folder in its workspace: Gemini CLI will refuse it\n"
        );
        assert_eq!(said.stderr(), warning);
    }
    let own = here.port().to_string();
    let said = stage.said(stage.command(["--port", own.as_str(), "gemini"]));
    assert_eq!(said.stderr(), "");
}

#[test]
fn a_companion_that_was_started_with_another_temporary_directory_is_found_by_the_agent() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let elsewhere = stage.sandbox.home.other_workspace("elsewhere");
    let run = |agent: &str| {
        let mut command = stage.command([agent]);
        command.env("TMPDIR", &elsewhere);
        stage.said(command)
    };
    let tmpdir = stage.sandbox.home.tmp();
    let tmpdir = tmpdir.to_str().unwrap();
    let said = run("gemini");
    let port = serve.port().to_string();
    assert_eq!(said.variable("GEMINI_CLI_IDE_SERVER_PORT"), Some(&*port));
    assert_eq!(said.variable("TMPDIR"), Some(tmpdir));
    let note = format!(
        "note: TMPDIR is set to {tmpdir}, where the companion keeps the files that Gemini CLI looks for.\n"
    );
    assert_eq!(said.stderr(), note);
    // Its file lies at home.
    let said = run("qwen");
    assert_eq!(said.variable("QWEN_CODE_IDE_SERVER_PORT"), Some(&*port));
    assert_eq!(said.variable("TMPDIR"), elsewhere.to_str());
    assert_eq!(said.stderr(), "");
}

#[test]
fn the_agent_and_the_commands_that_answer_it_mean_one_companion() {
    let stage = Stage::new(TALKATIVE);
    let serves = [(); 2].map(|()| stage.sandbox.serve::<&str>([]));
    stage.sandbox.home.file("a.txt", "x");
    for serve in serves.iter().chain(&serves) {
        let port = serve.port();
        let named = ["focus", "a.txt", "--port", &port.to_string()];
        stage.sandbox.run(named).expect(0);
        assert_eq!(stage.port(Dialect::GeminiCli, |_| {}), Some(port));
        // Not the one that started last.
        let agent = serve.connect();
        let file = stage.sandbox.home.workspace().join("new.txt");
        agent.propose(&file, "x");
        let diffs = stage.sandbox.run(["diffs"]).expect(0).stdout;
        assert!(diffs.contains("new.txt"), "{diffs}");
    }
}

/// Its hooks show what it changes, and nothing leads it to a companion.
#[test]
fn codex_starts_as_it_is_and_what_it_needs_is_told() {
    let stage = Stage::new(TALKATIVE);
    let home = stage.sandbox.home.home().join(".codex");
    let missing = format!(
        "note: Pillion's hooks are not in {}, so you are not shown what Codex CLI changes: `pillion hook install codex` adds them.\n",
        home.join("config.toml").display()
    );
    let without = format!(
        "note: no Pillion companion is running for {}. Starting codex without one.\n",
        stage.sandbox.home.workspace().display()
    );
    let context = "note: type `/ide` in Codex CLI to show it what your editor shows.\n";
    let said = || {
        let said = stage.said(stage.command(["codex", "exec", "--print"]));
        assert_eq!(said.args, ["exec", "--print"]);
        assert!(said.leading().is_empty(), "{:?}", said.leading());
        said.stderr()
    };
    assert_eq!(said(), without.clone() + &missing);
    let required = stage.command(["--require", "codex"]).output().unwrap();
    assert_eq!(required.status.code(), Some(3), "{required:?}");
    let serve = stage.sandbox.serve::<&str>([]);
    assert_eq!(said(), missing.clone() + context);
    stage.sandbox.run(["hook", "install", "codex"]).expect(0);
    assert_eq!(said(), context);
    let other = stage.sandbox.home.other_workspace("elsewhere");
    let mut command = stage.command(["--port", &serve.port().to_string(), "codex"]);
    command.current_dir(other);
    let refused = stage.said(command).stderr();
    assert!(refused.contains("Codex CLI will not use it"), "{refused}");
    assert!(!refused.contains("/ide"), "{refused}");
    drop(serve);
    assert_eq!(said(), without);
}
