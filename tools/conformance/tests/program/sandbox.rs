//! Runs the suite and Pillion in a hermetic home, and shows everything when an expectation fails.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use pillion_discovery::{Environment, state};
use pillion_testkit::conformance::{program, suite};
use pillion_testkit::{Home, SOON, pause};
use serde_json::Value;

pub struct Sandbox {
    pub home: Home,
}

/// The output of the suite, and how it ended.
pub struct Ran {
    code: Option<i32>,
    pub stdout: String,
    stderr: String,
}

/// A running `pillion serve`.
pub struct Serve {
    pub child: Child,
    ready: Value,
}

impl Sandbox {
    pub fn new() -> Self {
        Self { home: Home::new() }
    }

    /// The suite, in the workspace unless the test says otherwise.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        suite(&self.home, args)
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        ran(&mut self.command(args))
    }

    /// What a command of Pillion's prints, which succeeds.
    pub fn pillion<const N: usize>(&self, args: [&str; N]) -> String {
        ran(self.pillion_command().args(args)).expect(0).stdout
    }

    fn pillion_command(&self) -> Command {
        let mut command = Command::new(program("pillion"));
        command
            .env_clear()
            .envs(self.home.env().iter())
            .current_dir(self.home.workspace())
            .stdin(Stdio::null());
        command
    }

    /// The process of the one review that is served here.
    pub fn running_pid(&self) -> u32 {
        let environment = Environment::from_pairs([
            ("TMPDIR", self.home.tmp()),
            ("XDG_RUNTIME_DIR", self.home.runtime()),
        ]);
        let running = state::list(&environment);
        let editors: Vec<_> = running.iter().flat_map(|it| it.editors()).collect();
        assert_eq!(editors.len(), 1, "{running:?}");
        editors[0]
    }

    /// With a companion of its own, in the process that the test may stop or kill.
    pub fn serve(&self) -> Serve {
        self.serve_with(&[("PILLION_HUB", "off")])
    }

    /// With a companion in the hub, as a person's.
    pub fn serve_in_hub(&self) -> Serve {
        self.serve_with(&[])
    }

    fn serve_with(&self, variables: &[(&str, &str)]) -> Serve {
        let mut command = self.pillion_command();
        command.arg("serve").envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        Serve { child, ready }
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ran {
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        let (out, err) = (&self.stdout, &self.stderr);
        assert_eq!(
            self.code,
            Some(code),
            "--- stdout\n{out}\n--- stderr\n{err}"
        );
        self
    }

    /// Expects an error that says `error` and a hint that says `hint`.
    #[track_caller]
    pub fn expect_error(self, code: i32, error: &str, hint: &str) -> Self {
        let ran = self.expect(code);
        for (start, part) in [("error: ", error), ("hint: ", hint)] {
            let line = ran.stderr.lines().find(|line| line.starts_with(start));
            let says = line.is_some_and(|line| line.contains(part));
            assert!(says, "no {start}{part}\n{}", ran.stderr);
        }
        ran
    }
}

impl Serve {
    pub fn files(&self) -> Vec<PathBuf> {
        let files = self.ready["files"].as_array().unwrap().iter();
        files.map(|file| file.as_str().unwrap().into()).collect()
    }

    pub fn port(&self) -> u16 {
        self.ready["port"].as_u64().unwrap().try_into().unwrap()
    }

    pub fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Waits for its end.
    pub fn ended(&mut self) {
        ended(&mut self.child);
    }
}

pub fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let status = Command::new("kill").args(["-s", name, &pid]).status();
    assert!(status.unwrap().success());
}

/// Waits for the end of a process; its exit code, or nothing if a signal killed it.
pub fn ended(child: &mut Child) -> Option<i32> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(started.elapsed() < SOON, "it still runs");
        pause(started);
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
