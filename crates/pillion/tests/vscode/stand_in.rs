//! A window of the stand-in for VS Code, and the person at it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::{Heard, Npm, SOON, TestAgent, pause};
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

pub struct Window {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Window {
    /// Opens one with the extension running.
    pub fn open(sandbox: &Sandbox) -> Self {
        let mut window = Self::prepare(sandbox);
        window.run("start()");
        window.wait_until("!bar().includes('warning')");
        window
    }

    /// Opens one in which the extension does not run yet.
    pub fn prepare(sandbox: &Sandbox) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new(Npm::from_env().node())
            .arg(root.join("tests/vscode/stand_in.cjs"))
            .arg(sandbox.home.workspace())
            .arg(root.join("../../editors/vscode"))
            .arg(env!("CARGO_BIN_EXE_pillion"))
            .env_clear()
            .envs(sandbox.home.env().iter())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            input,
            output,
        }
    }

    /// The value of an expression there, once it is known.
    #[track_caller]
    pub fn run(&mut self, script: &str) -> Value {
        writeln!(self.input, "{}", json!(script)).unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(
            answer.get("error").is_none(),
            "{script}: {}",
            answer["error"]
        );
        answer["value"].clone()
    }

    #[track_caller]
    pub fn wait_until(&mut self, script: &str) {
        let started = Instant::now();
        while self.run(&format!("!!(await ({script}))")) != json!(true) {
            let known = "({said: state.said, told: state.told, sentence: sentence(), above: above(), bar: bar(), tabs: group.tabs.map((it) => it.label)})";
            if started.elapsed() > SOON {
                let known = self.run(known);
                panic!("{script} did not become true: {known:#}");
            }
            pause(started);
        }
    }

    /// Waits until a proposal with this name is in front, and has been read.
    #[track_caller]
    pub fn wait_for(&mut self, name: &str, text: &str) {
        self.wait_until(&format!(
            "group.activeTab?.label?.includes({}) && active?.document.text.includes({})",
            json!(name),
            json!(text)
        ));
    }

    #[track_caller]
    pub fn wait_for_sentence(&mut self, part: &str) {
        let part = json!(part);
        self.wait_until(&format!(
            "sentence()?.includes({part}) && above().join(' ').includes({part})"
        ));
    }

    /// Does this as a person who is told to look first, and does it again, until the agent hears of it.
    #[track_caller]
    pub fn insist(&mut self, script: &str, agent: &mut TestAgent) -> Update {
        let started = Instant::now();
        loop {
            self.run(script);
            match agent.hear(Duration::from_millis(900)) {
                Heard::Outcome(update) => return update,
                heard if started.elapsed() > SOON => {
                    let said = self.run("[sentence(), ...state.said]");
                    panic!("{script}: {heard:?} {said:#}");
                }
                _ => {}
            }
        }
    }

    /// Does this as a person who is told to look first, and does it again, until something is so.
    #[track_caller]
    pub fn insist_until(&mut self, script: &str, so: &str) {
        let started = Instant::now();
        while self.run(&format!("{script}.then(() => !!({so}))")) != json!(true) {
            let said = self.run("[sentence(), ...state.said]");
            assert!(
                started.elapsed() < SOON,
                "{so} did not become true: {said:#}"
            );
            // A key that is held down comes faster.
            thread::sleep(LOOK);
        }
    }

    /// What stands in the proposal that is in front.
    pub fn text(&mut self) -> String {
        self.run("person.text()").as_str().unwrap().to_owned()
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Ends as a window that is reloaded.
    pub fn reload(mut self) {
        self.run("leave()");
        drop(self.input);
        self.child.wait().unwrap();
    }
}

/// Proposes by a command, which is no agent.
pub fn propose(sandbox: &Sandbox, name: &str, content: &str) -> Child {
    let mut command = sandbox.command(["diff", "--json", name]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(content.as_bytes()).unwrap();
    child
}

/// The same for a set of files, of which the second are the texts.
pub fn propose_set(sandbox: &Sandbox, files: &[(&str, &str)]) -> Child {
    let mut args = vec!["diff".to_owned(), "--json".to_owned()];
    for (name, content) in files {
        let text = sandbox.home.root().join(format!("proposed-{name}"));
        std::fs::write(&text, content).unwrap();
        args.push(format!("--content-file={}", text.display()));
    }
    args.extend(files.iter().map(|(name, _)| (*name).to_owned()));
    let mut command = sandbox.command(args);
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// What it prints once it is decided.
pub fn answer(diff: Child) -> Value {
    let output = diff.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A sandbox with this file, an open window, and an agent that is connected to it.
pub fn at_work(name: &str, content: &str) -> (Sandbox, Window, TestAgent, String) {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file(name, content);
    let mut window = Window::open(&sandbox);
    let agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
    window.wait_until("bar().includes('Gemini CLI')");
    (sandbox, window, agent, file.to_str().unwrap().to_owned())
}
