//! One run of several steps: each is shown while it runs, timed, and summed up.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::plan::Skipped;
use super::pool::{self, Ended, Lane};
use super::summary::TestSummary;
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
    /// Those that were left out by intent, and are too many to be named.
    skipped_unnamed: usize,
    /// What ran side by side, and how long each took.
    jobs: Vec<(String, Duration)>,
}

/// How many of the slowest jobs the end names.
const SLOWEST_SHOWN: usize = 10;

impl Run {
    pub fn new() -> Run {
        Run {
            started: Instant::now(),
            steps: Vec::new(),
            passed: 0,
            failed: 0,
            skipped: Vec::new(),
            skipped_unnamed: 0,
            jobs: Vec::new(),
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
    pub fn check(&mut self, arguments: &[&str]) -> Result<()> {
        let status = self.step(&title(arguments), || {
            let status = cargo(arguments).status();
            let is_good = status.as_ref().is_ok_and(ExitStatus::success);
            (status, is_good)
        })?;
        if !status.context("cargo did not start")?.success() {
            self.failed += 1;
        }
        Ok(())
    }

    /// The tests did not compile.
    pub fn not_built(&mut self) {
        self.failed += 1;
    }

    /// Runs jobs side by side ([`pool::run`]); their tests count, and each that has no tests counts
    /// when it fails.
    pub fn jobs(&mut self, lanes: Vec<Lane>, folder: &Path) -> Result<()> {
        let started = Instant::now();
        say("==> tests")?;
        let failed_before = self.failed;
        pool::run(lanes, folder, |ended| self.job(ended))?;
        let is_good = self.failed == failed_before;
        self.steps
            .push(("tests".to_owned(), started.elapsed(), is_good));
        say("")
    }

    fn job(&mut self, ended: Ended) -> Result<()> {
        let summary = TestSummary::of(&ended.output);
        self.passed += summary.passed;
        self.failed += summary.failed;
        if !ended.is_good && summary.failed == 0 {
            // A check, or tests that did not compile, or one that brought its whole process down.
            self.failed += 1;
        }
        self.skipped.extend(summary.gave_up);
        let mark = if ended.is_good { "ok    " } else { "FAILED" };
        let seconds = ended.took.as_secs_f64();
        let several = summary.passed + summary.failed;
        let count = if several > 1 {
            format!(" ({several} tests)")
        } else {
            String::new()
        };
        say(&format!("{mark} {seconds:>6.1} s  {}{count}", ended.title))?;
        if !ended.is_good {
            say(&ended.output)?;
        }
        self.jobs.push((ended.title, ended.took));
        Ok(())
    }

    /// Notes tests that were not run.
    pub fn skip(&mut self, tests: Skipped) {
        self.skipped_unnamed += tests.unnamed;
        self.skipped.extend(tests.named);
    }

    /// Sums up; whether all is well. Skipped tests are, if they are `allowed`.
    pub fn close(mut self, allowed: bool) -> Result<bool> {
        self.jobs.sort_by_key(|(_, took)| Reverse(*took));
        say("the slowest:")?;
        for (title, took) in self.jobs.iter().take(SLOWEST_SHOWN) {
            say(&format!("  {:>7.1} s  {title}", took.as_secs_f64()))?;
        }
        say("the steps:")?;
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
        let (passed, failed) = (self.passed, self.failed);
        let skipped = self.skipped.len() + self.skipped_unnamed;
        say(&format!(
            "\n{passed} passed, {failed} failed, {skipped} skipped"
        ))?;
        Ok(failed == 0 && (allowed || skipped == 0))
    }
}

pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// What people would type.
pub fn title(arguments: &[&str]) -> String {
    format!("cargo {}", arguments.join(" "))
}

fn say(line: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .context("nobody reads the output")
}
