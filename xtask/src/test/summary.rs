//! The results of the tests of a binary, read from what it printed.

/// The tests of one process.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestSummary {
    /// That passed, and really did something.
    pub passed: usize,
    /// That failed.
    pub failed: usize,
    /// That noticed that they cannot run here, each with the reason.
    pub gave_up: Vec<String>,
    /// Marked as ignored.
    pub ignored: Vec<IgnoredTest>,
}

/// A test that only runs when it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredTest {
    /// Its name.
    pub test: String,
    /// The words that it is marked with.
    pub reason: String,
}

/// The reason why a test is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// `waits for …`: it sleeps for minutes, and does nothing meanwhile.
    Waits,
    /// `takes …`: it needs nothing but time.
    Takes,
    /// `needs …`: a program, or the network.
    Needs,
    /// `run by …`: another test runs it as part of itself.
    Part,
}

/// The start of the reason of a test that only a run of everything has, such as one with an older release.
const IN_ALL: &str = "in --all: ";

impl IgnoredTest {
    /// Returns true if it is not in the default set.
    pub fn is_in_all_only(&self) -> bool {
        self.reason.starts_with(IN_ALL)
    }

    pub fn mark(&self) -> Mark {
        let reason = self.reason.strip_prefix(IN_ALL).unwrap_or(&self.reason);
        match reason.split(' ').next() {
            Some("waits") => Mark::Waits,
            Some("takes") => Mark::Takes,
            Some("run") => Mark::Part,
            _ => Mark::Needs,
        }
    }

    /// Returns true if it runs only where what it needs is installed.
    pub fn needs_something(&self) -> bool {
        self.mark() != Mark::Takes || self.reason.contains("needs ")
    }
}

/// The message of a test that cannot run on this machine: it prints this, a reason, and passes.
const GAVE_UP: &str = "skipped: ";

impl TestSummary {
    /// Reads what a test binary, or several, printed with `--show-output`.
    pub fn of(output: &str) -> TestSummary {
        let mut summary = TestSummary::default();
        // The test whose output the lines are; its name is taken when it gives up.
        let mut printed_by: Option<String> = None;
        let (mut is_printed, mut is_of_passed) = (false, false);
        for line in output.lines().map(str::trim_end) {
            let heading = line.strip_prefix("---- ");
            if line == "successes:" || line == "failures:" {
                (printed_by, is_printed) = (None, false);
                is_of_passed = line == "successes:";
            } else if let Some(name) = heading.and_then(|it| it.strip_suffix(" stdout ----")) {
                (printed_by, is_printed) = (Some(name.to_owned()), true);
            } else if is_printed {
                // Whatever else it says: tests of test runners print results that are not theirs.
                if is_of_passed
                    && let Some(reason) = line.strip_prefix(GAVE_UP)
                    && let Some(test) = printed_by.take()
                {
                    summary.gave_up.push(format!("{test}: {reason}"));
                }
            } else if let Some(result) = line.strip_prefix("test result: ") {
                summary.passed += number(result, "passed");
                summary.failed += number(result, "failed");
            } else {
                summary.ignored.extend(ignored(line));
            }
        }
        // The harness says that those which gave up have passed.
        summary.passed = summary.passed.saturating_sub(summary.gave_up.len());
        summary
    }
}

/// The ignored test that a line such as `test NAME ... ignored, REASON` names.
fn ignored(line: &str) -> Option<IgnoredTest> {
    let (test, reason) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    Some(IgnoredTest {
        test: test.to_owned(),
        reason: reason.trim_start_matches(", ").to_owned(),
    })
}

/// The number in front of `word` in `ok. 5 passed; 0 failed; …`.
fn number(result: &str, word: &str) -> usize {
    let counts = result.split([';', '.']).map(str::trim);
    counts
        .filter_map(|count| count.strip_suffix(word))
        .find_map(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 6 tests
test a::works ... ok
test a::needs_root ... ok
test b::part ... ignored, run by b::whole
test b::real ... ignored, needs the real agents: cargo xtask test
test b::older ... ignored, in --all: waits for a minute: cargo xtask test --all
test c::broken ... FAILED

successes:

---- a::needs_root stdout ----
skipped: only root can mount

---- a::works stdout ----
test result: FAILED. 0 passed; 3 failed
test c::inner ... ignored, not a test of this run


successes:
    a::needs_root
    a::works

failures:

---- c::broken stdout ----
skipped: this is no success

failures:
    c::broken

test result: FAILED. 2 passed; 1 failed; 3 ignored; 0 measured; 7 filtered out; finished in 1.20s
";

    #[test]
    fn a_run_is_summed_up() {
        let summary = TestSummary::of(OUTPUT);
        assert_eq!((summary.passed, summary.failed), (1, 1));
        assert_eq!(summary.gave_up, ["a::needs_root: only root can mount"]);
        let marks: Vec<_> = summary.ignored.iter().map(IgnoredTest::mark).collect();
        assert_eq!(marks, [Mark::Part, Mark::Needs, Mark::Waits]);
        let in_all_only: Vec<_> = { summary.ignored.iter() }
            .map(IgnoredTest::is_in_all_only)
            .collect();
        assert_eq!(in_all_only, [false, false, true]);
        assert_eq!(summary.ignored[1].test, "b::real");
        assert_eq!(
            summary.ignored[1].reason,
            "needs the real agents: cargo xtask test"
        );
    }

    #[test]
    fn results_of_several_binaries_add_up() {
        let summary = TestSummary::of(
            "test result: ok. 12 passed; 0 failed; 0 ignored\n\
             test result: FAILED. 30 passed; 4 failed; 0 ignored\n",
        );
        assert_eq!((summary.passed, summary.failed), (42, 4));
    }

    #[test]
    fn a_test_that_only_takes_long_needs_nothing() {
        for (reason, needs_something) in [
            ("takes a minute: cargo xtask test", false),
            ("takes a minute; needs Neovim: cargo xtask test", true),
            ("waits for six minutes; needs the real agents", true),
            ("needs tmux: cargo xtask test", true),
            ("in --all: takes a minute: cargo xtask test --all", false),
            ("in --all: needs tmux: cargo xtask test --all", true),
        ] {
            let test = IgnoredTest {
                test: "a".into(),
                reason: reason.into(),
            };
            assert_eq!(test.needs_something(), needs_something, "{reason}");
        }
    }
}
