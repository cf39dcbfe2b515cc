//! One run of several steps: each is shown while it runs, timed, and summed up.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use super::summary::{IgnoredTest, TestSummary};
use crate::root;

/// The steps so far.
#[derive(Debug)]
pub struct Run {
    started: Instant,
    /// What the steps were, how long each took and whether it went well.
    steps: Vec<(String, Duration, bool)>,
    passed: usize,
    failed: usize,
    skipped: Vec<String>,
}

/// A `cargo test` that runs beside others.
#[derive(Debug)]
pub struct Beside {
    title: String,
    thread: JoinHandle<Ended>,
}

/// What such a run was.
#[derive(Debug)]
struct Ended {
    /// The tests in it, and whether it succeeded.
    result: Result<(TestSummary, bool)>,
    /// What people are to see.
    lines: Vec<String>,
    took: Duration,
}

impl Run {
    pub fn new() -> Run {
        Run {
            started: Instant::now(),
            steps: Vec::new(),
            passed: 0,
            failed: 0,
            skipped: Vec::new(),
        }
    }

    /// A step that is no command: what it does decides how long it took.
    pub fn step<T>(&mut self, title: &str, work: impl FnOnce() -> (T, bool)) -> Result<T> {
        let started = Instant::now();
        say(&format!("==> {title}"))?;
        let (value, is_good) = work();
        let took = started.elapsed();
        self.steps.push((title.to_owned(), took, is_good));
        let verdict = if is_good { "done" } else { "FAILED" };
        say(&format!("    {verdict} in {:.1} s\n", took.as_secs_f64()))?;
        Ok(value)
    }

    /// A cargo command that is one check: it counts when it fails.
    pub fn check(&mut self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
        let mut command = cargo(arguments);
        command.envs(variables.iter().copied());
        let status = self.step(&title(arguments), || {
            let status = command.status();
            let is_good = status.as_ref().is_ok_and(|status| status.success());
            (status, is_good)
        })?;
        if !status.context("cargo did not start")?.success() {
            self.failed += 1;
        }
        Ok(())
    }

    /// A `cargo test` with `options` for the tests themselves: its tests count.
    pub fn tests(
        &mut self,
        arguments: &[&str],
        options: &[&str],
        variables: &[(&str, &OsStr)],
    ) -> Result<TestSummary> {
        let command = tests(arguments, options, variables);
        let result = self.step(&title(arguments), || {
            let result = read(command, say);
            let is_good = result.as_ref().is_ok_and(|(_, is_good)| *is_good);
            (result, is_good)
        })?;
        self.count(result?)
    }

    /// As [`Run::tests`], beside what comes next. What it prints is shown by [`Run::finish`].
    pub fn start(
        &self,
        arguments: &[&str],
        options: &[&str],
        variables: &[(&str, &OsStr)],
    ) -> Result<Beside> {
        let command = tests(arguments, options, variables);
        let title = format!("{}, beside it", title(arguments));
        let started = Instant::now();
        let work = move || {
            let mut lines = Vec::new();
            let result = read(command, |line| {
                lines.push(line.to_owned());
                Ok(())
            });
            let took = started.elapsed();
            Ended {
                result,
                lines,
                took,
            }
        };
        let thread = thread::Builder::new().spawn(work)?;
        Ok(Beside { title, thread })
    }

    /// Waits for it.
    pub fn finish(&mut self, beside: Beside) -> Result<TestSummary> {
        say(&format!("==> {}", beside.title))?;
        let ended = beside.thread.join();
        let ended = ended.map_err(|_| anyhow!("the tests beside it are lost"))?;
        for line in ended.lines {
            say(&line)?;
        }
        let is_good = ended.result.as_ref().is_ok_and(|(_, is_good)| *is_good);
        self.steps.push((beside.title, ended.took, is_good));
        self.count(ended.result?)
    }

    fn count(&mut self, (summary, is_good): (TestSummary, bool)) -> Result<TestSummary> {
        self.passed += summary.passed;
        self.failed += summary.failed;
        if !is_good && summary.failed == 0 {
            // They did not compile, or one brought its whole binary down.
            self.failed += 1;
        }
        self.skipped.extend(summary.gave_up.iter().cloned());
        Ok(summary)
    }

    /// Notes a test that was not run.
    pub fn skip(&mut self, test: IgnoredTest, why: &str) {
        self.skipped.push(format!("{}: {why}", test.test));
    }

    /// Sums up; whether all is well. Skipped tests are, if they are `allowed`.
    pub fn close(self, allowed: bool) -> Result<bool> {
        for (title, took, is_good) in &self.steps {
            let mark = if *is_good { "  " } else { "✗ " };
            say(&format!("{mark}{:>7.1} s  {title}", took.as_secs_f64()))?;
        }
        say(&format!(
            "  {:>7.1} s  in all",
            self.started.elapsed().as_secs_f64()
        ))?;
        for test in &self.skipped {
            say(&format!("  skipped  {test}"))?;
        }
        let (passed, failed, skipped) = (self.passed, self.failed, self.skipped.len());
        say(&format!(
            "\n{passed} passed, {failed} failed, {skipped} skipped"
        ))?;
        Ok(failed == 0 && (allowed || skipped == 0))
    }
}

/// A `cargo test` whose output is read.
fn tests(arguments: &[&str], options: &[&str], variables: &[(&str, &OsStr)]) -> Command {
    let mut command = cargo(arguments);
    // What tests print is how they tell that they gave up.
    command.args(["--", "--show-output"]).args(options);
    if io::stdout().is_terminal() {
        command.arg("--color=always");
    }
    command
        .envs(variables.iter().copied())
        .stdout(Stdio::piped());
    command
}

/// Runs it, and passes on to `show` what people are to see. The tests in it, and whether it succeeded.
fn read(
    mut command: Command,
    mut show: impl FnMut(&str) -> Result<()>,
) -> Result<(TestSummary, bool)> {
    let mut child = command.spawn().context("cargo did not start")?;
    let mut summary = TestSummary::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.context("cannot read what cargo prints")?;
            let line = String::from_utf8_lossy(&line);
            if summary.read(&line) {
                show(&line)?;
            }
        }
    }
    let status = child.wait().context("cargo is gone")?;
    Ok((summary, status.success()))
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

fn title(arguments: &[&str]) -> String {
    format!("cargo {}", arguments.join(" "))
}

fn say(line: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .context("nobody reads the output")
}
