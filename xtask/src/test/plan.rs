//! The plan of the tests: those that run, in which processes, and what goes beside what.

use std::cmp::Reverse;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::binaries::Binary;
use super::durations::Durations;
use super::isolation;
use super::needs::Needs;
use super::pool::{Job, Lane};
use super::run::{cargo, title};
use super::summary::{IgnoredTest, Mark};
use super::{Args, DIST};
use crate::{javascript, lua, npm, root};

/// The tests that do not run.
#[derive(Debug, Default)]
pub struct Skipped {
    /// Each with what it misses.
    pub named: Vec<String>,
    /// The number that were left out by intent.
    pub unnamed: usize,
    /// The number that run only with `--all`.
    pub in_all_only: usize,
}

/// The duration of a job that no run has measured yet: one that is marked as slow, one that may wait, such as for a
/// client that has been silent for half a minute, the module tests of a crate, a test with real programs, and
/// any other.
const SLOW: Duration = Duration::from_secs(120);
const WAITING: Duration = Duration::from_secs(35);
const MODULES: Duration = Duration::from_secs(30);
const WITH_NEEDS: Duration = Duration::from_secs(10);
const OTHER: Duration = Duration::from_secs(1);

/// Suites whose tests mostly wait, for a peer that stays silent for seconds: they run beside those that work, and take
/// no slot from them.
const WITH_SILENCE: [&str; 3] = ["companion/it", "conformance/program", "pillion/lsp"];

/// A machine with many processors has not as much of everything else.
const MOST_WHEN_IDLE: usize = 32;

/// The lanes of the tests that `args` chooses, each with what takes longest first, and what is skipped.
pub fn tests(
    binaries: &[Binary],
    args: &Args,
    needs: &Needs,
    durations: &Durations,
) -> (Vec<Lane>, Skipped) {
    let mut skipped = Skipped::default();
    let (mut waiting, mut agents, mut working) = (Vec::new(), Vec::new(), Vec::new());
    let mut silent = Vec::new();
    let is_everything = chooses_everything(binaries, args);
    for binary in binaries {
        match WITH_SILENCE.contains(&binary.title.as_str()) {
            true => silent.extend(plain(binary, args, WAITING)),
            false => working.extend(plain(binary, args, OTHER)),
        }
        for test in chosen(binary, args) {
            let missing = needs.missing_for(test);
            if test.is_in_all_only() && !is_everything {
                skipped.in_all_only += 1;
            } else if args.fast {
                skipped.unnamed += 1;
            } else if let Some(missing) = missing {
                skipped
                    .named
                    .push(format!("{} {}: {missing}", binary.title, test.test));
            } else if test.mark() == Mark::Waits {
                waiting.push(ignored(binary, test, needs));
            } else {
                let is_slow = test.mark() == Mark::Takes;
                let expected = if is_slow { SLOW } else { WITH_NEEDS };
                let has_agents = test.reason.contains("real agents");
                let lane = if has_agents {
                    &mut agents
                } else {
                    &mut working
                };
                lane.push((expected, ignored(binary, test, needs)));
            }
        }
    }
    let longest_first = |mut jobs: Vec<(Duration, Job)>| {
        jobs.sort_by_cached_key(|(expected, job)| {
            Reverse(durations.of(&job.title).unwrap_or(*expected))
        });
        jobs.into_iter().map(|(_, job)| job).collect()
    };
    // Agents work for seconds before they wait: with more of them at once, none is ready in time. With more of the
    // others, editors do not show a text of megabytes in time.
    let mut lanes = vec![
        Lane {
            jobs: longest_first(agents),
            at_once: processors(),
            when_idle: 3 * processors(),
        },
        Lane {
            jobs: longest_first(working),
            at_once: processors() + 1,
            when_idle: (8 * processors()).min(MOST_WHEN_IDLE),
        },
        Lane {
            jobs: longest_first(silent),
            at_once: processors(),
            when_idle: 2 * processors(),
        },
    ];
    lanes.extend(
        waiting
            .into_iter()
            .map(|job| Lane::of_one_at_a_time(vec![job])),
    );
    (lanes, skipped)
}

/// The checks beside the tests, and what they miss. They compile all once more, while the tests mostly
/// wait.
pub fn checks(needs: &Needs) -> Result<(Lane, Skipped)> {
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-Dwarnings"];
    let mut doc = check(&["doc", "--workspace", "--no-deps"]);
    doc.command.env("RUSTDOCFLAGS", "-Dwarnings");
    let mut jobs = vec![
        check(&clippy),
        doc,
        check(&["test", "--workspace", "--doc"]),
    ];
    let mut skipped = Skipped::default();
    match needs.missing_for_lua() {
        None => jobs.extend(lua::checks()?),
        Some(_) if needs.are_left_out() => skipped.unnamed += 1,
        Some(missing) => skipped.named.push(format!("the checks of Lua: {missing}")),
    }
    match needs.missing_for_javascript() {
        None => jobs.extend(javascript::checks()?),
        Some(_) if needs.are_left_out() => skipped.unnamed += 1,
        Some(missing) => skipped
            .named
            .push(format!("the checks of JavaScript: {missing}")),
    }
    Ok((Lane::of_one_at_a_time(jobs), skipped))
}

/// The ignored tests of a binary that this run may have.
fn chosen<'a>(binary: &'a Binary, args: &Args) -> impl Iterator<Item = &'a IgnoredTest> {
    let is_left_out = is_of_artifacts(binary) && args.only.as_deref() != Some(DIST);
    binary
        .ignored
        .iter()
        .filter(move |test| !is_left_out && args.chooses(&test.test) && test.mark() != Mark::Part)
}

/// Returns true if the run has the tests that are not in the default set: somebody asks for them, or names tests of which
/// none is in it.
fn chooses_everything(binaries: &[Binary], args: &Args) -> bool {
    let is_in_default_set = |binary: &Binary| {
        binary.tests.iter().any(|test| args.chooses(test))
            || chosen(binary, args).any(|test| !test.is_in_all_only())
    };
    args.all || (args.name.is_some() && !binaries.iter().any(is_in_default_set))
}

/// Returns true if its tests install what is distributed, as root.
fn is_of_artifacts(binary: &Binary) -> bool {
    binary.title == format!("pillion/{DIST}")
}

pub fn processors() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}

/// A cargo command, in a process that leaves the processors to the tests.
fn check(arguments: &[&str]) -> Job {
    let cargo = cargo(arguments);
    let command = if cfg!(unix) {
        let mut nice = Command::new("nice");
        nice.args(["-n", "15"])
            .arg(cargo.get_program())
            .args(arguments);
        nice.current_dir(root());
        nice
    } else {
        cargo
    };
    Job {
        title: title(arguments),
        command,
        may_be_flaky: false,
    }
}

fn plain(binary: &Binary, args: &Args, expected: Duration) -> Vec<(Duration, Job)> {
    let chosen = binary.tests.iter().filter(|test| args.chooses(test));
    if !binary.is_of_modules {
        let job = |test: &String| {
            let mut job = job(binary, test, &["--exact", test]);
            job.may_be_flaky = true;
            (expected, job)
        };
        return chosen.map(job).collect();
    }
    if chosen.count() == 0 {
        return Vec::new();
    }
    let threads = format!("--test-threads={}", processors());
    let options: Vec<_> = [threads.as_str()]
        .into_iter()
        .chain(args.name.as_deref())
        .collect();
    vec![(MODULES, job(binary, "", &options))]
}

fn ignored(binary: &Binary, test: &IgnoredTest, needs: &Needs) -> Job {
    let mut job = job(binary, &test.test, &["--ignored", "--exact", &test.test]);
    job.command.envs(needs.variables());
    job.may_be_flaky = true;
    if npm::is_claude_needed(&test.reason) || npm::is_codex_needed(&test.reason) {
        // They dial their makers, whatever they are asked not to do.
        job.command = match is_of_artifacts(binary) {
            true => isolation::offline_as_root(job.command),
            false => isolation::offline(job.command),
        };
    }
    job
}

fn job(binary: &Binary, test: &str, options: &[&str]) -> Job {
    Job {
        title: format!("{} {test}", binary.title),
        // What tests print is how they tell that they gave up.
        command: binary.command(&[&["--show-output"], options].concat()),
        may_be_flaky: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEOVIM: &str = "needs Neovim: cargo xtask test";
    const OLDER: &str = "in --all: needs Neovim: cargo xtask test --all";

    /// A suite where a rule has a test with each of two releases, a slow one, and a part of another one.
    fn binaries() -> Vec<Binary> {
        let ignored = [
            ("a_rule::neovim_0_10", OLDER),
            ("a_rule::neovim_0_12", NEOVIM),
            (
                "slow",
                "in --all: waits for a minute: cargo xtask test --all",
            ),
            ("part", "run by a_rule"),
        ];
        vec![
            Binary::of("pillion/nvim", &["plain"], &ignored),
            Binary::of("pillion/dist", &[], &[("a_rule_of_files", NEOVIM)]),
        ]
    }

    /// The tests that such a run has, and the number that it leaves to `--all`.
    fn planned(name: Option<&str>, options: &[&str]) -> (Vec<String>, usize) {
        let args = Args {
            name: name.map(str::to_owned),
            all: options.contains(&"--all"),
            fast: options.contains(&"--fast"),
            ..Args::default()
        };
        let (lanes, skipped) = tests(
            &binaries(),
            &args,
            &Needs::all_there(),
            &Durations::default(),
        );
        assert_eq!(skipped.named, Vec::<String>::new());
        let jobs = lanes.into_iter().flat_map(|lane| lane.jobs);
        let mut titles: Vec<_> = jobs.map(|job| job.title).collect();
        titles.sort();
        (titles, skipped.in_all_only)
    }

    const NEWER: &str = "pillion/nvim a_rule::neovim_0_12";
    const PLAIN: &str = "pillion/nvim plain";

    #[test]
    fn older_releases_run_when_everything_does_and_are_counted_when_not() {
        assert_eq!(planned(None, &[]), (vec![NEWER.into(), PLAIN.into()], 2));
        let all = [
            "pillion/nvim a_rule::neovim_0_10",
            NEWER,
            PLAIN,
            "pillion/nvim slow",
        ];
        let all = all.map(str::to_owned).to_vec();
        assert_eq!(planned(None, &["--all"]), (all, 0));
        assert_eq!(planned(None, &["--fast"]), (vec![PLAIN.into()], 2));
    }

    #[test]
    fn who_names_a_test_that_no_other_run_has_gets_it() {
        let older = "pillion/nvim a_rule::neovim_0_10".to_owned();
        assert_eq!(planned(Some("neovim_0_10"), &[]), (vec![older.clone()], 0));
        assert_eq!(planned(Some("a_rule"), &[]), (vec![NEWER.into()], 1));
        let both = (vec![older, NEWER.into()], 0);
        assert_eq!(planned(Some("a_rule"), &["--all"]), both);
        assert_eq!(
            planned(Some("slow"), &[]),
            (vec!["pillion/nvim slow".into()], 0)
        );
    }
}
