//! One run of several steps: each is shown while it runs, timed, and summed up.

use std::cmp::Reverse;
use std::io::{self, Stdout, Write};
use std::mem;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::durations::Durations;
use super::idle::IdleTime;
use super::plan::{Skipped, processors};
use super::pool::{self, Ended, Job, Lane};
use super::results::Results;
use super::summary::TestSummary;
use crate::root;

/// The steps so far.
#[derive(Debug)]
pub struct Run<W = Stdout> {
    /// The place where all of it is shown.
    out: W,
    started: Instant,
    /// The steps, how long each took and whether it went well.
    steps: Vec<(String, Duration, bool)>,
    passed: usize,
    failed: usize,
    skipped: Vec<String>,
    /// Those that were left out by intent, and are too many to be named.
    skipped_unnamed: usize,
    /// The number of tests that run only with `--all`: they are in another set, and nothing is missing.
    in_all_only: usize,
    /// The jobs that ran side by side, how long each took and whether it went well.
    jobs: Vec<(String, Duration, bool)>,
    /// Tests that failed, and may pass when nothing runs beside them.
    doubtful: Vec<Job>,
    /// Those that did.
    flaky: Vec<String>,
    results: Results,
}

/// The number of the slowest jobs that the end names.
const SLOWEST_SHOWN: usize = 10;

/// When more tests than these fail, and than one in a hundred, it is not the machine.
const MOST_FLAKY: usize = 8;
const FLAKY_SHARE: usize = 100;

impl Run {
    pub fn new() -> Run {
        Run::shown_on(io::stdout())
    }
}

impl<W: Write> Run<W> {
    fn shown_on(out: W) -> Run<W> {
        Run {
            out,
            started: Instant::now(),
            steps: Vec::new(),
            passed: 0,
            failed: 0,
            skipped: Vec::new(),
            skipped_unnamed: 0,
            in_all_only: 0,
            jobs: Vec::new(),
            doubtful: Vec::new(),
            flaky: Vec::new(),
            results: Results::default(),
        }
    }

    /// A step that is not a command: what it does decides how long it took.
    pub fn step<T>(&mut self, title: &str, work: impl FnOnce() -> (T, bool)) -> Result<T> {
        let started = Instant::now();
        self.say(&format!("==> {title}"))?;
        let (value, is_good) = work();
        let took = started.elapsed();
        self.steps.push((title.to_owned(), took, is_good));
        let verdict = if is_good { "done" } else { "FAILED" };
        self.say(&format!("    {verdict} in {:.1} s\n", took.as_secs_f64()))?;
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
    /// when it fails. A few that failed beside others are repeated alone, up to the first that fails again, and are named
    /// as flaky if they pass then: agents and editors have timeouts of their own.
    pub fn jobs(&mut self, lanes: Vec<Lane>, folder: &Path) -> Result<()> {
        let (started, idle) = (Instant::now(), IdleTime::start());
        self.say("==> tests")?;
        let failed_before = self.failed;
        pool::run(lanes, folder, |ended| self.job(ended))?;
        let most = most_flaky(self.jobs.len());
        let doubtful = mem::take(&mut self.doubtful);
        let mut left = doubtful.len();
        for job in doubtful {
            // What has failed besides, or alone too, decides about the run.
            if left > most || self.failed - failed_before > left {
                break;
            }
            let lane = Lane::of_one_at_a_time(vec![job]);
            pool::run(vec![lane], folder, |ended| self.repeated(ended))?;
            left -= 1;
        }
        let is_good = self.failed == failed_before;
        let idle = idle.share(processors());
        let idle = idle.map_or(String::new(), |share| {
            format!(", with {:.0} % of the processors' time idle", 100.0 * share)
        });
        self.steps
            .push((format!("tests{idle}"), started.elapsed(), is_good));
        self.say("")
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
        self.say_ended(&ended, summary.passed + summary.failed)?;
        let title = ended.job.title.clone();
        self.jobs.push((title, ended.took, ended.is_good));
        if ended.is_good {
            self.results.passed(&ended.job.title);
        }
        if !ended.is_good && ended.job.may_be_flaky {
            self.doubtful.push(ended.job);
        }
        Ok(())
    }

    /// One test that had failed beside others, alone.
    fn repeated(&mut self, ended: Ended) -> Result<()> {
        self.say_ended(&ended, 1)?;
        if ended.is_good {
            self.failed -= 1;
            self.passed += 1;
            self.results.passed(&ended.job.title);
            self.flaky.push(ended.job.title);
        }
        Ok(())
    }

    /// Keeps how long each job took that went well, for the next run: without, that only takes longer.
    pub fn keep_durations(&mut self, mut durations: Durations, folder: &Path) -> Result<()> {
        for (title, took, _) in self.jobs.iter().filter(|(_, _, is_good)| *is_good) {
            durations.note(title, *took);
        }
        match durations.write(folder) {
            Ok(()) => Ok(()),
            Err(error) => self.say(&format!("warning: {error:#}")),
        }
    }

    /// Compares what passed of a suite with what the documentation says.
    pub fn results(&mut self, suite: &str) -> Result<()> {
        let compared = self.results.compare_with_page(suite);
        let title = format!("the results of {suite} in the documentation");
        self.step(&title, || ((), compared.is_ok()))?;
        if let Err(error) = compared {
            self.failed += 1;
            self.say(&format!("{error:#}"))?;
        }
        Ok(())
    }

    /// Notes tests that were not run.
    pub fn skip(&mut self, tests: Skipped) {
        self.skipped_unnamed += tests.unnamed;
        self.in_all_only += tests.in_all_only;
        self.skipped.extend(tests.named);
    }

    /// Sums up; whether all is well. Skipped tests are, if they are `allowed`.
    pub fn close(mut self, allowed: bool) -> Result<bool> {
        self.jobs.sort_by_key(|(_, took, _)| Reverse(*took));
        self.say("the slowest:")?;
        for (title, took, _) in mem::take(&mut self.jobs).iter().take(SLOWEST_SHOWN) {
            self.say(&format!("  {:>7.1} s  {title}", took.as_secs_f64()))?;
        }
        self.say("the steps:")?;
        for (title, took, is_good) in mem::take(&mut self.steps) {
            let mark = if is_good { "  " } else { "✗ " };
            self.say(&format!("{mark}{:>7.1} s  {title}", took.as_secs_f64()))?;
        }
        self.say(&format!(
            "  {:>7.1} s  in all",
            self.started.elapsed().as_secs_f64()
        ))?;
        for test in mem::take(&mut self.flaky) {
            self.say(&format!("  flaky    {test}: failed, and passed alone"))?;
        }
        let skipped = self.skipped.len() + self.skipped_unnamed;
        for test in mem::take(&mut self.skipped) {
            self.say(&format!("  skipped  {test}"))?;
        }
        if self.in_all_only > 0 {
            let more = self.in_all_only;
            self.say(&format!("  {more} more with --all"))?;
        }
        let (passed, failed) = (self.passed, self.failed);
        self.say(&format!(
            "\n{passed} passed, {failed} failed, {skipped} skipped"
        ))?;
        Ok(failed == 0 && (allowed || skipped == 0))
    }

    /// The line of a job, and what it printed if it failed; `tests` is how many it had.
    fn say_ended(&mut self, ended: &Ended, tests: usize) -> Result<()> {
        let mark = if ended.is_good { "ok    " } else { "FAILED" };
        let seconds = ended.took.as_secs_f64();
        let count = match tests {
            0 | 1 => String::new(),
            several => format!(" ({several} tests)"),
        };
        self.say(&format!(
            "{mark} {seconds:>6.1} s  {}{count}",
            ended.job.title
        ))?;
        if !ended.is_good {
            self.say(&ended.output)?;
        }
        Ok(())
    }

    fn say(&mut self, line: &str) -> Result<()> {
        writeln!(self.out, "{line}")
            .and_then(|()| self.out.flush())
            .context("nobody reads the output")
    }
}

/// The number of failures that may be those of a busy machine, of so many jobs.
fn most_flaky(jobs: usize) -> usize {
    MOST_FLAKY.max(jobs / FLAKY_SHARE)
}

pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// The command as people would type it.
pub fn title(arguments: &[&str]) -> String {
    format!("cargo {}", arguments.join(" "))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const PASSES: &str = "echo 'test result: ok. 1 passed; 0 failed'";

    const FAILS: &str = "echo 'test result: FAILED. 0 passed; 1 failed'; exit 1";

    /// A run of these shell scripts: how many passed, how many failed, and which were flaky.
    fn run(name: &str, scripts: &[&str], may_be_flaky: bool) -> (usize, usize, Vec<String>) {
        let folder = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        let job = |script: &&str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).env("FOLDER", &folder);
            Job {
                title: "a test".to_owned(),
                command,
                may_be_flaky,
            }
        };
        let jobs = scripts.iter().map(job).collect();
        let mut run = Run::shown_on(io::sink());
        let lane = Lane {
            jobs,
            at_once: 2,
            when_idle: 0,
        };
        run.jobs(vec![lane], &folder).expect("sh runs");
        std::fs::remove_dir_all(folder).expect("the folder is ours");
        (run.passed, run.failed, run.flaky)
    }

    #[test]
    fn what_passes_alone_is_flaky_and_what_fails_again_has_failed() {
        let once = format!("mkdir $FOLDER/once && {{ {FAILS}; }}; {PASSES}");
        let flaky = vec!["a test".to_owned()];
        assert_eq!(run("once", &[PASSES, &once], true), (2, 0, flaky));
        assert_eq!(run("twice", &[PASSES, FAILS], true), (1, 1, Vec::new()));
        assert_eq!(run("ours", &[PASSES, &once], false), (1, 1, Vec::new()));
    }

    /// Continuous integration allows no skipped tests; what only `--all` runs is not missing there.
    #[test]
    fn what_is_left_for_all_is_counted_and_not_skipped() {
        let mut out = Vec::new();
        let mut run = Run::shown_on(&mut out);
        run.skip(Skipped {
            in_all_only: 7,
            ..Skipped::default()
        });
        assert!(run.close(false).expect("it is written to memory"));
        let out = String::from_utf8(out).expect("it is text");
        let end = "  7 more with --all\n\n0 passed, 0 failed, 0 skipped\n";
        assert!(out.ends_with(end), "{out}");
    }

    /// The second repeat would pass.
    #[test]
    fn after_one_that_fails_alone_none_is_repeated() {
        let counted = format!(
            "echo >> $FOLDER/count; [ $(wc -l < $FOLDER/count) -le 3 ] || {{ {PASSES}; exit; }}; {FAILS}"
        );
        let scripts = [counted.as_str(); 2];
        assert_eq!(run("again", &scripts, true), (0, 2, Vec::new()));
    }

    #[test]
    fn of_more_tests_more_may_be_flaky() {
        assert_eq!([0, 899, 2200].map(most_flaky), [8, 8, 22]);
    }

    #[test]
    fn many_failures_are_not_repeated() {
        const MANY: usize = MOST_FLAKY + 1;
        let counted = format!(
            "echo >> $FOLDER/count; [ $(wc -l < $FOLDER/count) -le {MANY} ] || {{ {PASSES}; exit; }}; {FAILS}"
        );
        assert_eq!(
            run("many", &[counted.as_str(); MANY], true),
            (0, MANY, Vec::new())
        );
    }
}
