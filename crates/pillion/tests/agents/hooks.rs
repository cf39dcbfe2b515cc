//! `pillion hook`, started by the real agents: their settings have the entries that `pillion_hooks` names, and nothing
//! else leads them to a companion.

mod claude;
mod codex;
mod copilot;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pillion_protocol::Dialect;
use pillion_testkit::{Env, Home, Model, ModelRequest, Turn};
use serde_json::{Value, json};

use crate::companion::{self, PILLION, SOON, Serve};

/// An agent's settings with the entries of its hook, which has these options, beside what is there.
fn settings(agent: Dialect, options: &str, mut own: Value) -> Value {
    let hooks = pillion_hooks::of(agent).expect("it has hooks");
    let command = format!("'{PILLION}' hook {} {options}", agent.name());
    for entry in hooks.entries(command.trim()) {
        let list = &mut own["hooks"][entry.event];
        if list.is_null() {
            *list = json!([]);
        }
        list.as_array_mut().expect("it is a list").push(entry.item);
    }
    own
}

/// An agent that works without a terminal, with a headless companion in its folder.
struct Scene {
    model: Model,
    /// None once it has ended.
    serve: Option<Serve>,
    // Last: the others have files in it.
    home: Home,
}

/// What an agent printed, once it has ended.
struct Printed {
    output: String,
    has_succeeded: bool,
}

impl Scene {
    fn new(set_up: impl FnOnce(&Home)) -> Self {
        let home = Home::new();
        set_up(&home);
        Self {
            model: Model::start(),
            serve: Some(Serve::start(&home)),
            home,
        }
    }

    /// Lets the model do this, and say "done" at the end.
    fn script(&self, turns: impl IntoIterator<Item = Turn>) {
        self.model.clear();
        self.model.script(turns);
        self.model.script([Turn::say("the turn is done")]);
    }

    /// Starts a command in the workspace that is to end by itself.
    fn start(&self, env: &Env, command: &[&str]) -> Child {
        Command::new(command[0])
            .args(&command[1..])
            .current_dir(self.home.workspace())
            .env_clear()
            .envs(env.iter())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the agent starts")
    }

    /// Waits for the proposal for this file, and decides: with the text, if there is one.
    fn decide(&self, path: &Path, decision: &Decision<'_>) {
        let pending = companion::wait_pending(&self.home, path);
        self.decide_about(&pending.name, decision);
    }

    /// Decides about a proposal that is shown.
    fn decide_about(&self, name: &str, decision: &Decision<'_>) {
        match decision {
            Decision::Accept => companion::accept(&self.home, name, None),
            Decision::Edit(text) => {
                let file = self.home.home().join("accepted");
                fs::write(&file, text).expect("the home is ours");
                companion::accept(&self.home, name, Some(&file));
            }
            Decision::Reject(why) => {
                companion::run(&self.home, ["reject", name, "--because", why]);
            }
        }
    }

    /// Waits until the model has been told this.
    fn wait_told(&self, text: &str) -> ModelRequest {
        let what = format!("with {text:?}");
        let is_told = |request: &ModelRequest| request.is_main && request.mentions(text);
        self.model.wait_for(&what, SOON, is_told)
    }
}

/// What a person decides.
enum Decision<'a> {
    Accept,
    /// Accept with this text.
    Edit(&'a [u8]),
    /// Reject, for this reason.
    Reject(&'a str),
}

/// Waits until an agent has ended.
fn ended(mut agent: Child) -> Printed {
    let mut output = String::new();
    for pipe in [
        agent.stdout.take().map(|it| Box::new(it) as Box<dyn Read>),
        agent.stderr.take().map(|it| Box::new(it) as Box<dyn Read>),
    ] {
        let mut pipe = pipe.expect("it is piped");
        pipe.read_to_string(&mut output).expect("it prints text");
    }
    let status = agent.wait().expect("it ends");
    Printed {
        output,
        has_succeeded: status.success(),
    }
}

/// Where a file of this name is, or would be, in the workspace.
fn path(home: &Home, name: &str) -> PathBuf {
    home.workspace().join(name)
}
