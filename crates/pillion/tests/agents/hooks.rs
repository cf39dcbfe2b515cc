//! `pillion hook`, started by the real agents: their settings have the entries that `pillion_hooks` names, and nothing
//! else leads them to a companion.

pub mod claude;
mod codex;
mod copilot;
mod gemini;
mod qwen;
mod undecided;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pillion_protocol::Dialect;
use pillion_testkit::{AgentKind, Env, HEADLESS_PROMPT, Home, Model, ModelRequest, Npm, Turn};
use serde_json::{Value, json};

use crate::companion::{self, PILLION, SOON, Serve};
use crate::shared_encodings::{ENCODINGS, assert_bytes};

const BEFORE: &str = "one\ntwo\nthree\n";

/// An agent's settings with the entries of its hook, which has these options, beside what is there.
pub fn settings(agent: Dialect, options: &str, mut own: Value) -> Value {
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

/// Puts the hook of one of Gemini CLI and Qwen Code into the person's settings, beside what it needs.
fn install(home: &Home, kind: AgentKind, agent: Dialect) {
    let file = home.home().join(format!(".{0}/settings.json", kind.name()));
    let own = fs::read(&file).expect("it has settings");
    let own = serde_json::from_slice(&own).expect("they are ours");
    fs::write(&file, settings(agent, "", own).to_string()).expect("they are ours");
}

/// One of Gemini CLI and Qwen Code with its hook.
fn scene(kind: AgentKind, agent: Dialect) -> Scene {
    Scene::new(|home| install(home, kind, agent))
}

/// Starts one that prints its answer and ends.
fn print(scene: &Scene, kind: AgentKind, mode: &str) -> Child {
    let env = kind.env(scene.home.env(), &scene.model);
    let command = Npm::from_env().bin().join(kind.name());
    let command = command.display().to_string();
    scene.start(
        &env,
        &[&command, "--approval-mode", mode, "-p", HEADLESS_PROMPT],
    )
}

/// An agent makes each change that is allowed, as it was accepted: an edit of a file in each encoding, accepted as it is, and
/// after an edit. `start` starts one that ends by itself, the first or a later one.
fn makes_accepted_changes(scene: &Scene, start: impl Fn(&Scene, usize) -> Child) {
    for (number, (kind, encode)) in ENCODINGS.into_iter().enumerate() {
        if kind.starts_with("utf16") {
            continue;
        }
        let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
        let edit = Turn::replace(&file, "two", "zwei");
        scene.script([Turn::read_file(&file), edit]);
        let agent = start(scene, number);
        scene.decide(&file, &Decision::Accept);
        ended(agent).expect_done(kind);
        assert_bytes(&file, &encode(&BEFORE.replace("two", "zwei")));

        let edit = Turn::replace(&file, "zwei", "deux");
        scene.script([Turn::read_file(&file), edit]);
        let agent = start(scene, number);
        let accepted = BEFORE.replace("two", "dos").replace("three", "tres");
        scene.decide(&file, &Decision::Edit(&encode(&accepted)));
        scene.wait_told("-deux");
        ended(agent).expect_done(kind);
        assert_bytes(&file, &encode(&accepted));
    }
}

/// The same with whole files: a new one, and one that is overwritten.
fn writes_accepted_files(scene: &Scene, start: impl Fn(&Scene, usize) -> Child) {
    let texts = [
        ("lf.txt", "one\ntwo\n"),
        ("crlf.txt", "one\r\ntwo\r\n"),
        ("no-final-newline.txt", "one\ntwo"),
    ];
    for (number, (name, text)) in texts.into_iter().enumerate() {
        let file = scene.home.workspace().join(name);
        scene.script([Turn::write_file(&file, text)]);
        let agent = start(scene, number);
        scene.decide(&file, &Decision::Accept);
        ended(agent).expect_done(name);
        assert_bytes(&file, text.as_bytes());

        let write = Turn::write_file(&file, text.replace("one", "eins"));
        scene.script([Turn::read_file(&file), write]);
        let agent = start(scene, number);
        let accepted = text.replace("one", "uno");
        scene.decide(&file, &Decision::Edit(accepted.as_bytes()));
        scene.wait_told("+uno");
        ended(agent).expect_done(name);
        assert_bytes(&file, accepted.as_bytes());
    }
}

/// The model hears why an edit is rejected, and a new file; and the turn goes on.
fn hears_why_changes_are_rejected(scene: &Scene, start: impl Fn(&Scene, usize) -> Child) {
    for number in 0..2 {
        let file = scene.home.file("old.txt", BEFORE);
        let new = scene.home.workspace().join("new.txt");
        scene.script([
            Turn::read_file(&file),
            Turn::replace(&file, "two", "zwei"),
            Turn::write_file(&new, "new\n"),
        ]);
        let agent = start(scene, number);
        scene.decide(&file, &Decision::Reject("in English, please"));
        scene.wait_told("and says: in English, please");
        scene.decide(&new, &Decision::Reject("there is one already"));
        scene.wait_told("and says: there is one already");
        ended(agent).expect_done("rejected");
        assert_bytes(&file, BEFORE.as_bytes());
        assert!(!new.exists());
    }
}

impl Printed {
    #[track_caller]
    fn expect_done(&self, what: &str) {
        let output = &self.output;
        let is_done = self.has_succeeded && output.contains("the turn is done");
        assert!(is_done, "{what}: {output}");
    }
}
