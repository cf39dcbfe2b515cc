//! The example of a plugin that the page about the editor protocol shows: what it does is what it says.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};
use pillion_protocol::Dialect;
use pillion_testkit::conformance::{commands, fill, run, suite};
use pillion_testkit::{Npm, SOON, TestAgent, kill_tree, programs_below};

use crate::agent::{accepted, rejected};
use crate::sandbox::Sandbox;

/// A person at the example.
struct Example {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Example {
    fn start(sandbox: &Sandbox) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/plugin.mjs");
        let mut env = sandbox.home.env();
        let pillion = Path::new(env!("CARGO_BIN_EXE_pillion"));
        env.prepend_path(pillion.parent().unwrap());
        let mut child = Command::new(Npm::from_env().node())
            .arg(script)
            .env_clear()
            .envs(env.iter())
            .current_dir(sandbox.home.workspace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = unbounded();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self {
            input: child.stdin.take().unwrap(),
            child,
            lines,
        }
    }

    fn type_line(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// Waits until it prints a line with this.
    #[track_caller]
    fn wait(&self, part: &str) {
        if let Err(others) = self.prints(part, SOON) {
            panic!("expected {part:?}, but it printed {others:#?}");
        }
    }

    /// Succeeds if it does in time; if not, returns what it printed.
    fn prints(&self, part: &str, timeout: Duration) -> Result<(), Vec<String>> {
        let mut others = Vec::new();
        let until = Instant::now() + timeout;
        let left = || {
            self.lines
                .recv_timeout(until.saturating_duration_since(Instant::now()))
        };
        while let Ok(line) = left() {
            if line.contains(part) {
                return Ok(());
            }
            others.push(line);
        }
        Err(others)
    }

    /// Accepts or rejects as a person does, who looks again when it was too early.
    fn decide(&mut self, decision: &str) {
        let started = Instant::now();
        while started.elapsed() < SOON {
            // What came of the one before is printed as well.
            while self.lines.try_recv().is_ok() {}
            self.type_line(decision);
            let is_done = self.prints("to review: 0", Duration::from_millis(1500));
            if is_done.is_ok() {
                return;
            }
        }
        panic!("it does not {decision}");
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        kill_tree(self.child.id());
        let _ = self.child.wait();
    }
}

fn connect(sandbox: &Sandbox) -> TestAgent {
    TestAgent::find(&sandbox.home, Dialect::GeminiCli)
}

fn target(sandbox: &Sandbox, name: &str) -> String {
    let path: PathBuf = sandbox.home.file(name, "one\n");
    path.to_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn the_example_of_a_plugin_shows_accepts_rejects_and_comes_back() {
    let sandbox = Sandbox::new();
    let mut example = Example::start(&sandbox);
    let path = target(&sandbox, "a.txt");
    let mut agent = connect(&sandbox);
    example.wait("agents: Gemini CLI; to review: 0");
    example.type_line("focus a.txt");
    agent.context(|context| context.active_file().is_some_and(|file| file.path == path));

    agent.propose(&path, "one\ntwo\n");
    example.wait(&format!("Gemini CLI proposes {path}:"));
    example.type_line("accept");
    example.wait("this has only just opened");
    example.type_line("append mine");
    example.wait("mine");
    example.decide("accept");
    assert_eq!(agent.outcome(), accepted(&path, "one\ntwo\nmine\n"));

    agent.propose(&path, "one\n2\n");
    example.wait(&format!("Gemini CLI proposes {path}:"));
    example.decide("reject");
    assert_eq!(agent.outcome(), rejected(&path));
    agent.propose(&path, "one\n3\n");
    assert_eq!(agent.close(&path).unwrap(), "one\n3\n");
    example.wait("is closed: closedByAgent");
    drop(agent);

    let servers = programs_below(example.child.id(), "pillion");
    servers.into_iter().for_each(kill_tree);
    example.wait("it is started again");
    example.wait("agents: none; to review: 0");
    let mut agent = connect(&sandbox);
    agent.propose(&path, "\u{1b}[2J\n");
    example.wait("\u{fffd}[2J");
    example.decide("reject");
    assert_eq!(agent.outcome(), rejected(&path));
    example.type_line("quit");
    assert!(example.child.wait().unwrap().success());
}

#[test]
#[ignore = "in --all: needs Node: cargo xtask test --all"]
fn the_example_of_a_plugin_keeps_the_contract() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    sandbox.home.file("a.txt", "text\n".repeat(9));
    let mut example = Example::start(&sandbox);
    example.type_line("focus a.txt");
    let agent = connect(&sandbox);
    example.wait("agents: Gemini CLI; to review: 0");
    agent.disconnect();
    let mut command = suite(
        &sandbox.home,
        commands(&format!("kill {}", example.child.id())),
    );
    // It has one folder, which does not change. Nothing but time shows that a silent stream lives.
    run(&mut command).expect_all_but(&["C1.1-stream-alive", "C2.5-atomic", "C2.5-separator"]);
}
