//! What a run of `cargo test` says of its tests: read from its lines while they pass through.

/// The tests of one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestSummary {
    /// That passed, and really did something.
    pub passed: usize,
    /// That failed.
    pub failed: usize,
    /// That noticed that they cannot run here, each with the reason.
    pub gave_up: Vec<String>,
    /// Marked as ignored because they need something.
    pub ignored: Vec<IgnoredTest>,
    /// Marked as ignored because another test runs them, by name.
    pub parts: Vec<String>,
    section: Section,
    /// How many gave up in this section.
    uncounted: usize,
}

/// A test that needs something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredTest {
    /// Its name.
    pub test: String,
    /// The words that it is marked with.
    pub reason: String,
}

impl IgnoredTest {
    /// Whether it does nothing but wait, for minutes: others may run meanwhile.
    pub fn only_waits(&self) -> bool {
        self.reason.starts_with(WAITS)
    }
}

/// Where in a binary's output a line stands.
#[derive(Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Lines,
    /// What the tests that passed have printed; the name of the test.
    Printed(String),
}

/// How a test that cannot run on this machine says so: it prints this, a reason, and passes.
const GAVE_UP: &str = "skipped: ";

/// How a test that waits for minutes is marked: `#[ignore = "waits for …"]`.
const WAITS: &str = "waits ";

/// How a test that another one runs as part of itself is marked: `#[ignore = "run by …"]`.
const PART: &str = "run by ";

impl TestSummary {
    /// Takes in one line of output. Whether people are to see it, too.
    pub fn read(&mut self, line: &str) -> bool {
        let line = plain(line);
        let line = line.trim_end();
        if let Some(result) = line.strip_prefix("test result: ") {
            self.section = Section::Lines;
            // The harness says that those which gave up have passed.
            self.passed += number(result, "passed").saturating_sub(self.uncounted);
            self.uncounted = 0;
            self.failed += number(result, "failed");
            return true;
        }
        if line == "successes:" {
            self.section = Section::Printed(String::new());
        } else if line == "failures:" {
            self.section = Section::Lines;
        }
        match &mut self.section {
            Section::Lines => self.read_verdict(line),
            Section::Printed(test) => {
                let heading = line.strip_prefix("---- ");
                if let Some(name) = heading.and_then(|line| line.strip_suffix(" stdout ----")) {
                    *test = name.to_owned();
                } else if let Some(reason) = line.strip_prefix(GAVE_UP) {
                    // Once, however often it says so.
                    if !test.is_empty() {
                        self.gave_up.push(format!("{test}: {reason}"));
                        self.uncounted += 1;
                        test.clear();
                    }
                }
                false
            }
        }
    }

    fn read_verdict(&mut self, line: &str) -> bool {
        let ignored = line
            .strip_prefix("test ")
            .and_then(|line| line.split_once(" ... ignored"));
        if let Some((name, reason)) = ignored {
            let reason = reason.trim_start_matches(", ");
            if reason.starts_with(PART) {
                self.parts.push(name.to_owned());
            } else {
                self.ignored.push(IgnoredTest {
                    test: name.to_owned(),
                    reason: reason.to_owned(),
                });
            }
        }
        true
    }
}

/// The number in front of `word` in `ok. 5 passed; 0 failed; …`.
fn number(result: &str, word: &str) -> usize {
    let counts = result.split([';', '.']).map(str::trim);
    counts
        .filter_map(|count| count.strip_suffix(word))
        .find_map(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

/// The line without escape sequences of colours.
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // `[…m`, or `(B`, which resets.
        let end = match part.strip_prefix("(B") {
            Some(rest) => part.len() - rest.len(),
            None => part.find('m').map_or(part.len(), |at| at + 1),
        };
        plain.push_str(&part[end..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 5 tests
test a::works ... ok
test a::needs_root ... ok
test b::part ... ignored, run by b::whole
test b::real ... ignored, needs the real agents: cargo xtask test
test c::broken ... FAILED

successes:

---- a::needs_root stdout ----
skipped: only root can mount


successes:
    a::needs_root
    a::works

failures:

---- c::broken stdout ----
skipped: this is no success

failures:
    c::broken

test result: FAILED. 2 passed; 1 failed; 2 ignored; 0 measured; 7 filtered out; finished in 1.20s
";

    #[test]
    fn a_run_is_summed_up() {
        let mut summary = TestSummary::default();
        let shown: Vec<_> = OUTPUT.lines().filter(|line| summary.read(line)).collect();
        assert_eq!((summary.passed, summary.failed), (1, 1));
        assert_eq!(summary.gave_up, ["a::needs_root: only root can mount"]);
        let ignored = IgnoredTest {
            test: "b::real".into(),
            reason: "needs the real agents: cargo xtask test".into(),
        };
        assert_eq!(summary.ignored, [ignored]);
        assert_eq!(summary.parts, ["b::part"]);
        assert!(!shown.contains(&"skipped: only root can mount"));
        assert!(shown.contains(&"skipped: this is no success"));
    }

    #[test]
    fn results_add_up_with_and_without_colours() {
        let mut summary = TestSummary::default();
        summary.read("test result: ok. 12 passed; 0 failed; 0 ignored");
        summary.read("test result: \u{1b}[32mok\u{1b}(B\u{1b}[m. 30 passed; 4 failed; 0 ignored");
        assert_eq!((summary.passed, summary.failed), (42, 4));
    }
}
