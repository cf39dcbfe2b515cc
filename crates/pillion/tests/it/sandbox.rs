//! Runs the command in a hermetic home, and shows everything when an expectation fails.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pillion_discovery::{CompanionState, Environment, state};
use pillion_protocol::Token;
use pillion_testkit::{Home, SOON, TestAgent, discovery_file};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub struct Sandbox {
    pub home: Home,
}

/// The output of a command, and how it ended.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    shown: String,
}

/// A running `pillion serve`.
pub struct Serve {
    pub child: Child,
    pub ready: Value,
}

/// Gives a command until nobody asks whether that is meant.
pub fn insist(run: impl Fn() -> Ran) -> Ran {
    let started = Instant::now();
    loop {
        let ran = run();
        if !ran.stderr.contains("accept again to go ahead") || started.elapsed() > SOON {
            return ran;
        }
    }
}

impl Sandbox {
    pub fn new() -> Self {
        Self { home: Home::new() }
    }

    /// The command, in the workspace unless the test says otherwise.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pillion"));
        command
            .args(args)
            .env_clear()
            .envs(self.home.env().iter())
            .current_dir(self.home.workspace())
            .stdin(Stdio::null());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        ran(&mut self.command(args), b"")
    }

    /// The same as a person gives it who is asked whether they mean it, reads that, and gives it again.
    pub fn insist<S: AsRef<OsStr> + Clone>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        self.insist_with_input(args, b"")
    }

    /// The same with this on standard input.
    pub fn insist_with_input<S: AsRef<OsStr> + Clone>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Ran {
        let args: Vec<S> = args.into_iter().collect();
        insist(|| self.run_with_input(args.iter().cloned(), input))
    }

    pub fn run_in<S: AsRef<OsStr>>(&self, folder: &Path, args: impl IntoIterator<Item = S>) -> Ran {
        ran(self.command(args).current_dir(folder), b"")
    }

    pub fn run_with_input<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Ran {
        ran(&mut self.command(args), input)
    }

    /// Runs the command as in another terminal of the person's: no process of a test is above it, and so no agent
    /// that a test plays.
    pub fn run_as_person<const N: usize>(&self, args: [&str; N]) -> Ran {
        let program = [env!("CARGO_BIN_EXE_pillion")];
        let said = self.home.run_as_person(&[&program[..], &args[..]].concat());
        Ran {
            code: said.code,
            stdout: said.stdout,
            stderr: said.stderr,
            shown: format!("{args:?}"),
        }
    }

    /// The process of the one editor, or review, that is served here.
    pub fn running_pid(&self) -> u32 {
        let running = self.running();
        assert_eq!(running.editors().len(), 1, "{running:?}");
        running.editors()[0]
    }

    /// The process of the one companion.
    pub fn companion_pid(&self) -> u32 {
        self.running().pid
    }

    pub fn companion_port(&self) -> u16 {
        self.running().port
    }

    /// The variables that say where companions are found.
    pub fn environment(&self) -> Environment {
        Environment::from_pairs([
            ("TMPDIR", self.home.tmp()),
            ("XDG_RUNTIME_DIR", self.home.runtime()),
        ])
    }

    fn running(&self) -> CompanionState {
        let mut running = state::list(&self.environment());
        assert_eq!(running.len(), 1, "{running:?}");
        running.remove(0)
    }

    /// With a companion of its own, in the process that the test may stop or kill.
    pub fn serve<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Serve {
        self.serve_with("PILLION_HUB", "off", args)
    }

    /// With a companion in the hub, as a person's.
    pub fn serve_in_hub<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Serve {
        let log = self.hub_log();
        self.serve_with("PILLION_HUB_LOG", log, args)
    }

    /// The file in which the hub logs.
    pub fn hub_log(&self) -> PathBuf {
        self.home.root().join("hub.log")
    }

    /// With this variable.
    pub fn serve_with<S: AsRef<OsStr>>(
        &self,
        name: &str,
        value: impl AsRef<OsStr>,
        args: impl IntoIterator<Item = S>,
    ) -> Serve {
        let serve = [OsStr::new("serve").to_owned()];
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        let mut child = self
            .command(serve.into_iter().chain(args))
            .env(name, value)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        Serve { child, ready }
    }
}

pub fn ran(command: &mut Command, input: &[u8]) -> Ran {
    let shown = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        shown,
    }
}

impl Ran {
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.report());
        self
    }

    /// Expects an error that says `error` and a hint that says `hint`.
    #[track_caller]
    pub fn expect_error(self, code: i32, error: &str, hint: &str) -> Self {
        let ran = self.expect(code);
        let line = |start: &str| ran.stderr.lines().find(|line| line.starts_with(start));
        let (message, advice) = (line("error: "), line("hint: "));
        assert!(
            message.is_some_and(|text| text.contains(error)),
            "{}",
            ran.report()
        );
        assert!(
            advice.is_some_and(|text| text.contains(hint)),
            "{}",
            ran.report()
        );
        ran
    }

    pub fn report(&self) -> String {
        format!(
            "{}\n--- exit code {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.shown, self.code, self.stdout, self.stderr
        )
    }
}

impl Serve {
    pub fn files(&self) -> Vec<PathBuf> {
        let files = self.ready["files"].as_array().unwrap();
        files
            .iter()
            .map(|file| file.as_str().unwrap().into())
            .collect()
    }

    pub fn port(&self) -> u16 {
        self.ready["port"].as_u64().unwrap().try_into().unwrap()
    }

    /// The token of the first discovery file, which is Gemini CLI's.
    pub fn token(&self) -> Token {
        discovery_file(&self.files()[0]).auth_token.unwrap()
    }

    pub fn connect(&self) -> TestAgent {
        TestAgent::connect(&self.files()[0])
    }

    pub fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Waits for the line on standard error that says this.
    pub fn said(&mut self, text: &str) -> String {
        let stderr = self.child.stderr.as_mut().unwrap();
        loop {
            let mut line = Vec::new();
            while line.last() != Some(&b'\n') {
                let mut byte = [0];
                stderr.read_exact(&mut byte).unwrap();
                line.extend(byte);
            }
            let line = String::from_utf8(line).unwrap();
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits for its end; the exit code, or nothing if a signal killed it.
    pub fn ended(&mut self) -> Option<i32> {
        ended(&mut self.child)
    }
}

pub fn signal(child: &Child, name: &str) {
    signal_to(child.id(), name);
}

/// By this process itself: whose signal it is counts.
pub fn signal_to(pid: u32, name: &str) {
    let signal = match name {
        "TERM" => Signal::TERM,
        "INT" => Signal::INT,
        "HUP" => Signal::HUP,
        "KILL" => Signal::KILL,
        "STOP" => Signal::STOP,
        "CONT" => Signal::CONT,
        _ => panic!("{name} is not known"),
    };
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    kill_process(pid.unwrap(), signal).unwrap();
}

/// Waits for the end of a process; its exit code, or nothing if a signal killed it.
pub fn ended(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(start.elapsed() < SOON, "it still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
