//! `pillion run` and `pillion env` with the real agents: in a terminal outside of every editor, where
//! the wiring alone decides between companions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_protocol::Dialect;
use pillion_testkit::{
    Agent, AgentKind, Env, Home, IdeClient, MAY_DECIDE, Model, NvimSetup, NvimVersion, Outcome,
    Size, Tmux, Turn, discovery_file, discovery_files,
};
use serde_json::json;

use crate::companion::{self, PILLION, SOON, Serve, wait_until};

const FILE: &str = "wired.txt";

/// A person's machine, and a model for one kind of agent.
struct Stage {
    kind: AgentKind,
    model: Model,
    tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

impl Stage {
    fn new(kind: AgentKind) -> Stage {
        Stage {
            kind,
            model: Model::start(),
            tmux: Tmux::start(),
            home: Home::new(),
        }
    }

    /// Starts the agent through `pillion run` with these options, in a terminal of its own whose
    /// environment leads to no companion.
    fn run(&self, terminal: &str, options: &[&str], cwd: &Path) -> Agent {
        let command = [PILLION, "run"].iter().chain(options);
        let agent = [self.kind.name()];
        let agent = agent.iter().chain(self.kind.arguments());
        let command: Vec<&str> = command.chain(agent).copied().collect();
        let env = self.kind.unwired_env(self.home.env(), &self.model);
        let size = Size::new(120, 40);
        let pane = self.tmux.spawn(terminal, size, &env, cwd, &command);
        Agent::attach(self.kind, pane)
    }

    /// A new folder in the workspace.
    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.home.workspace().join(name);
        fs::create_dir_all(&folder).expect("the workspace is ours");
        folder
    }

    /// Lets the agent propose a new file in the workspace.
    fn propose(&self, agent: &Agent) {
        let path = self.home.workspace().join(FILE);
        let write = Turn::write_file(&path, "one\n");
        self.model.script([write, Turn::say("that is done")]);
        agent.prompt("write it");
        agent.wait_question();
    }
}

/// Of two companions in one folder the agent gets the one that was used last. It started first: by
/// themselves both agents take the other, with the greater pid and the newer files.
fn the_one_used_last_gets_the_proposal(kind: AgentKind) {
    let stage = Stage::new(kind);
    let home = &stage.home;
    let meant = Serve::start(home);
    let other = Serve::start(home);
    home.file("used.txt", "x");
    let port = meant.port().to_string();
    companion::run(home, ["focus", "used.txt", "--port", &port]);
    let agent = stage.run("agent", &["--require"], &stage.folder("deep/below"));
    agent.ide_status("Connected to Pillion");
    stage.propose(&agent);
    wait_until("a proposal", || {
        let mut all = [&meant, &other].into_iter();
        all.any(|it| !it.pending(home).is_empty()).then_some(())
    });
    assert_eq!(meant.pending(home).len(), 1, "the other one got it");
    companion::run(home, ["accept", "1.1", "--port", &port]);
    agent.wait_accepted(FILE);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_is_run_with_the_companion_that_was_used_last() {
    the_one_used_last_gets_the_proposal(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_is_run_with_the_companion_that_was_used_last() {
    the_one_used_last_gets_the_proposal(AgentKind::Qwen);
}

/// Neovim was used last. Then the companion beside it is named by its port.
fn neovim_gets_the_proposal(kind: AgentKind, version: NvimVersion) {
    let stage = Stage::new(kind);
    let home = &stage.home;
    let nvim = NvimSetup::new(version, home)
        .pillion(PILLION)
        .arg(home.file("open.txt", "x\n"))
        .in_tmux(&stage.tmux, Size::new(120, 40));
    nvim.wait_until(
        "Pillion running",
        "require('pillion.client').state.port ~= nil",
    );
    let other = Serve::start(home);
    let agent = stage.run("first", &["--require"], &stage.folder("below"));
    agent.ide_status("Connected to Neovim");
    stage.propose(&agent);
    nvim.wait_until("a pending diff", "#require('pillion.diff').list() == 1");
    assert!(other.pending(home).is_empty());
    nvim.wait_until("a diff that may be decided", MAY_DECIDE);
    nvim.lua::<()>("require('pillion').accept()", json!([]));
    agent.wait_accepted(FILE);
    agent.quit();

    let port = other.port().to_string();
    let agent = stage.run("second", &["--port", &port], &home.workspace());
    agent.ide_status("Connected to Pillion");
    nvim.assert_no_errors();
}

#[test]
#[ignore = "in --all: needs the real agents and Neovim: cargo xtask test --all"]
fn gemini_is_run_with_neovim() {
    neovim_gets_the_proposal(AgentKind::Gemini, NvimVersion::V0_12);
}

#[test]
#[ignore = "in --all: needs the real agents and Neovim: cargo xtask test --all"]
fn qwen_is_run_with_neovim() {
    neovim_gets_the_proposal(AgentKind::Qwen, NvimVersion::V0_10);
}

/// Without a companion the agent is there all the same.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_is_run_without_a_companion() {
    let stage = Stage::new(AgentKind::Gemini);
    let agent = stage.run("agent", &[], &stage.home.workspace());
    let before = agent.pane().scrollback();
    assert!(before.contains("Starting gemini without one"), "{before}");
    agent.quit();
}

/// The variables that a shell has after `eval "$(pillion env)"`.
fn wired_env(home: &Home, target: &str, without: &[&str]) -> Env {
    let script = r#"eval "$("$0" env --port "$1")"; env -0"#;
    let output = Command::new("sh")
        .args(["-c", script, PILLION, target])
        .current_dir(home.workspace())
        .env_clear()
        .envs(home.env().iter())
        .output()
        .expect("there is a shell");
    let text = String::from_utf8(output.stdout).expect("all of it is text");
    let mut env = Env::default();
    for pair in text.split('\0') {
        if let Some((name, value)) = pair.split_once('=')
            && !without.contains(&name)
        {
            env.set(name, value);
        }
    }
    env
}

/// By all variables, and by the pid alone, since files of several companions may lie under an ancestor that they
/// share.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn the_client_takes_the_one_that_env_says() {
    let home = Home::new();
    let serves = [(); 2].map(|()| Serve::start(&home));
    for (at, serve) in serves.iter().enumerate() {
        let port = serve.port().to_string();
        for without in [
            &[][..],
            &["GEMINI_CLI_IDE_SERVER_PORT", "GEMINI_CLI_IDE_AUTH_TOKEN"],
        ] {
            let env = wired_env(&home, &port, without);
            let mut client = IdeClient::start_with(&home.workspace(), env);
            let status = client.connect();
            assert_eq!(status["status"], "connected", "{status}");
            let path = home.workspace().join(FILE);
            let diff = client.open_diff(&path, "one\n");
            let diffs = wait_until("a pending diff", || {
                let diffs = serve.pending(&home);
                diffs.into_iter().next()
            });
            assert!(serves[1 - at].pending(&home).is_empty());
            companion::run(&home, ["reject", &diffs.name, "--port", &port]);
            assert_eq!(client.outcome(diff, SOON), Outcome::Rejected);
        }
    }
}

/// As VS Code's companion is, whose file names no editor: outside of VS Code's own terminals no
/// release connects to it by itself.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn a_client_outside_of_every_editor_takes_a_companion_without_an_editor() {
    let (there, home) = (Home::new(), Home::new());
    let serve = Serve::start(&there);
    let files = discovery_files(&there, Dialect::GeminiCli);
    let file = discovery_file(files.first().expect("it has files"));
    let token = file.auth_token.expect("Pillion's have one");
    let content = json!({
        "port": file.port, "workspacePath": home.workspace(), "authToken": token.expose(),
    });
    let folder = home.tmp().join("gemini/ide");
    fs::create_dir_all(&folder).expect("the home is ours");
    let name = format!(
        "gemini-ide-server-{}-{}.json",
        std::process::id(),
        file.port
    );
    fs::write(folder.join(name), content.to_string()).expect("the home is ours");
    let port = serve.port().to_string();
    let env = wired_env(&home, &port, &[]);
    let mut client = IdeClient::start_with(&home.workspace(), env);
    let status = client.connect();
    assert_eq!(status["status"], "connected", "{status}");
}
