//! The doctor's verdict against what the real agents do, on the same machine, in the same folder,
//! with the same variables.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use pillion_agent::host::is_in_container;
use pillion_testkit::{Agent, AgentKind, Env, Home, Model, Tmux};
use serde_json::Value;

use crate::sandbox::{Sandbox, Serve};

/// The agents' words about a companion that they are connected to.
const CONNECTED: &str = "Connected to Pillion";

/// A real agent and the doctor, of one mind or not.
struct Both {
    kind: AgentKind,
    sandbox: Sandbox,
    model: Model,
    more: Env,
}

impl Both {
    fn new(kind: AgentKind) -> Self {
        Self {
            kind,
            sandbox: Sandbox::new(),
            model: Model::start(),
            more: Env::default(),
        }
    }

    fn home(&self) -> &Home {
        &self.sandbox.home
    }

    /// The variables that both have.
    fn env(&self) -> Env {
        let mut env = self.kind.env(self.home().env(), &self.model);
        for (name, value) in self.more.iter() {
            env.set(name, value);
        }
        env
    }

    /// The verdict of the doctor: if the agent would connect, and the first problem's id.
    fn verdict(&self, folder: &Path) -> Result<(), String> {
        let doctor = Command::new(env!("CARGO_BIN_EXE_pillion"))
            .args(["doctor", self.kind.name(), "--json"])
            .env_clear()
            .envs(self.env().iter())
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
        let agent = &report["agents"][0];
        assert!(agent["version"].is_string(), "{report}");
        if agent["wouldConnect"] == true {
            return Ok(());
        }
        let findings = agent["findings"].as_array().unwrap().iter();
        let mut problems = findings.filter(|finding| finding["level"] == "problem");
        Err(problems.next().unwrap()["id"].as_str().unwrap().to_owned())
    }

    /// The agent's own words, when it is asked.
    fn status(&self, folder: &Path) -> String {
        let tmux = Tmux::start();
        let agent = Agent::start_with(
            self.kind,
            &tmux,
            self.home(),
            &self.model,
            folder,
            &self.more,
        );
        let says = ["onnected", "not supported", "disabled", "mismatch"];
        let screen = agent.command("/ide status", &says);
        agent.kill();
        screen
    }

    /// Both say that the agent connects.
    fn connects_in(&self, folder: &Path) {
        assert_eq!(self.verdict(folder), Ok(()));
        let screen = self.status(folder);
        assert!(screen.contains(CONNECTED), "{screen}");
    }

    /// Both say that it does not; the doctor, why.
    fn fails_in(&self, folder: &Path, id: &str) {
        assert_eq!(self.verdict(folder), Err(id.to_owned()));
        let screen = self.status(folder);
        assert!(!screen.contains(CONNECTED), "{screen}");
    }

    /// Changes the agent's settings.
    fn set(&self, change: impl FnOnce(&mut Value)) {
        let settings = self
            .home()
            .home()
            .join(format!(".{}/settings.json", self.kind.name()));
        let text = fs::read_to_string(&settings).unwrap();
        let mut content: Value = serde_json::from_str(&text).unwrap();
        change(&mut content);
        fs::write(&settings, content.to_string()).unwrap();
    }

    fn serve(&self) -> Serve {
        self.sandbox.serve::<&str>([])
    }
}

fn connected(kind: AgentKind) {
    let both = Both::new(kind);
    let _serve = both.serve();
    let folder = both.home().workspace();
    both.connects_in(&folder);
}

fn wrong_folder(kind: AgentKind) {
    let both = Both::new(kind);
    let _serve = both.serve();
    let other = both.home().other_workspace("other");
    both.fails_in(&other, "wrong-folder");
}

fn ide_mode_off(kind: AgentKind) {
    let both = Both::new(kind);
    let _serve = both.serve();
    both.set(|settings| settings["ide"]["enabled"] = false.into());
    let folder = both.home().workspace();
    both.fails_in(&folder, "ide-mode-off");
    // What the doctor says to type.
    let tmux = Tmux::start();
    let agent = Agent::start(kind, &tmux, both.home(), &both.model, &folder);
    agent.ide_enable();
    agent.kill();
    both.connects_in(&folder);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_connects_as_the_doctor_says() {
    connected(AgentKind::Gemini);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_connects_as_the_doctor_says() {
    connected(AgentKind::Qwen);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_refuses_another_folder_as_the_doctor_says() {
    wrong_folder(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_refuses_another_folder_as_the_doctor_says() {
    wrong_folder(AgentKind::Qwen);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_without_ide_mode_is_as_the_doctor_says() {
    ide_mode_off(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_without_ide_mode_is_as_the_doctor_says() {
    ide_mode_off(AgentKind::Qwen);
}

/// If this machine is a container, the agent dials out of it; elsewhere it connects. The doctor
/// says which.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_in_a_container_is_as_the_doctor_says() {
    let mut both = Both::new(AgentKind::Gemini);
    let _serve = both.serve();
    // An empty one is as good as none to it.
    both.more.set("REMOTE_CONTAINERS", "");
    let folder = both.home().workspace();
    let verdict = both.verdict(&folder);
    if is_in_container() {
        assert_eq!(verdict, Err("container-host".to_owned()));
    }
    let screen = both.status(&folder);
    assert_eq!(screen.contains(CONNECTED), verdict.is_ok(), "{screen}");
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_in_a_container_is_as_the_doctor_says() {
    let both = Both::new(AgentKind::Qwen);
    let _serve = both.serve();
    let folder = both.home().workspace();
    both.connects_in(&folder);
}
