//! `cargo xtask test`: everything that can be checked, in one command.

mod artifacts;
mod binaries;
mod durations;
mod idle;
pub mod isolation;
mod needs;
mod plan;
mod platforms;
mod pool;
mod results;
mod run;
mod scratch;
mod summary;

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::{env, thread};

use anyhow::{Result, bail};

use self::artifacts::Artifacts;
use self::binaries::Binary;
use self::durations::Durations;
use self::needs::Needs;
pub use self::pool::Job;
use self::run::Run;
pub use self::run::cargo;
use self::scratch::Scratch;
use crate::target_dir;

/// Check the sources and run the tests, those with the real agents too
///
/// The default set has the newest release of each agent and editor, and of the oldest one what a person does each day;
/// `--all` has everything with everything. The last line reads `N passed, N failed, N skipped`; a check that fails counts as one. What the
/// tests need is installed first: npm packages and editors into the target folder, programs only as
/// root on Debian. Tests that need what is missing then are skipped, and named at the end.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Run only the tests whose name contains this, and no checks
    ///
    /// Those of the default set; if none of them is in it, those that run only with --all.
    name: Option<String>,

    /// Run everything: each test with each release, and what takes long
    ///
    /// This takes about twice as long as the default set. It also compares the results with those in docs/editors.md.
    #[arg(long, conflicts_with = "fast")]
    all: bool,

    /// Run only one suite of the command's tests, and no checks
    #[arg(long, value_name = "SUITE", value_parser = SUITES)]
    only: Option<String>,

    /// Leave out the tests that need more than Rust, and slow ones
    ///
    /// What is left takes about two minutes on two processors once it is built: the module tests of
    /// all crates, and the tests with stand-ins. Left out are real agents, Neovim, Vim, Emacs, Kakoune,
    /// tmux, other shells, the checks of Lua, and what is marked as slow.
    #[arg(long)]
    fast: bool,

    /// Fail when something that a test needs is missing [default: if CI is set]
    #[arg(long, conflicts_with = "fast")]
    no_skips: bool,
}

impl Args {
    /// Returns true if the test with this name is to run.
    fn chooses(&self, test: &str) -> bool {
        self.name.as_ref().is_none_or(|part| test.contains(part))
    }
}

/// The suites whose results with all releases are in the documentation: of the editors with a plugin, and of those
/// without.
const EDITORS: &str = "editors";
const LSP: &str = "lsp";

/// The suite of what is distributed. No other run has its tests: building that takes longer than all of them.
const DIST: &str = "dist";

/// Not a suite of tests, but checks that no other run has.
const PLATFORMS: &str = "platforms";

/// The folders below `crates/pillion/tests`, and the platforms.
const SUITES: [&str; 12] = [
    "agents", DIST, EDITORS, "emacs", "it", "kakoune", LSP, "nvim", "page", PLATFORMS, "vim",
    "vscode",
];

pub fn run(args: &Args) -> Result<ExitCode> {
    let in_ci = env::var_os("CI").is_some_and(|value| !value.is_empty());
    let no_skips = !args.fast && (args.no_skips || in_ci);
    let mut run = Run::new();
    if args.only.as_deref() == Some(PLATFORMS) {
        let (lanes, skipped) = platforms::jobs(&mut run)?;
        run.skip(skipped);
        run.jobs(lanes, &target_dir().join("test-output"))?;
        return run.close(true).map(exit_code);
    }
    let is_whole = args.name.is_none() && args.only.is_none();
    if is_whole {
        run.check(&["fmt", "--all", "--check"])?;
    }
    let (needs, binaries) = prepare(&mut run, args)?;
    if let Some(missing) = needs.missing()
        && no_skips
    {
        bail!("{missing}");
    }
    match binaries {
        Some(binaries) => {
            let folder = target_dir().join("test-output");
            let durations = Durations::read(&folder);
            let (mut lanes, skipped) = plan::tests(&binaries, args, &needs, &durations);
            run.skip(skipped);
            if is_whole {
                let (checks, skipped) = plan::checks(&needs)?;
                lanes.push(checks);
                run.skip(skipped);
            }
            let scratch = Scratch::new();
            let artifacts = match args.only.as_deref() {
                Some(DIST) => Some(Artifacts::make(&mut run)?),
                _ => None,
            };
            for job in lanes.iter_mut().flat_map(|lane| &mut lane.jobs) {
                scratch.give_to(&mut job.command);
                if let Some(artifacts) = &artifacts {
                    artifacts.give_to(&mut job.command);
                }
            }
            run.jobs(lanes, &folder)?;
            // Of the module tests of a crate, a name chooses a part.
            if args.name.is_none() {
                run.keep_durations(durations, &folder)?;
            }
            let is_documented = args.all && args.name.is_none() && needs.missing().is_none();
            for suite in [EDITORS, LSP] {
                let is_run = args.only.as_deref().is_none_or(|only| only == suite);
                if is_documented && is_run {
                    run.results(suite)?;
                }
            }
        }
        None => run.not_built(),
    }
    run.close(!no_skips).map(exit_code)
}

fn exit_code(is_good: bool) -> ExitCode {
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Builds the tests, and installs what they need meanwhile: that mostly waits for the network.
fn prepare(run: &mut Run, args: &Args) -> Result<(Needs, Option<Vec<Binary>>)> {
    thread::scope(|scope| {
        let installing = (!args.fast).then(|| scope.spawn(|| Needs::install(args.all)));
        let mut options = vec!["--lib", "--bins", "--tests"];
        match &args.only {
            Some(suite) => {
                // Cargo builds the programs of the packages whose tests these are, and no other that they run.
                if args.all {
                    run.check(&["build", "--package", "companion-conformance"])?;
                }
                options = vec!["--package", "pillion", "--test", suite];
            }
            None => options.push("--workspace"),
        }
        let binaries = run.step("build the tests", || {
            let binaries = binaries::build(&options);
            let is_good = binaries.as_ref().is_ok_and(Option::is_some);
            (binaries, is_good)
        })??;
        let Some(installing) = installing else {
            return Ok((Needs::left_out(), binaries));
        };
        let needs = run.step("what the tests need", || {
            let needs = installing.join();
            let is_there = needs.as_ref().is_ok_and(|needs| needs.missing().is_none());
            (needs, is_there)
        })?;
        Ok((needs.unwrap_or_else(|panic| resume_unwind(panic)), binaries))
    })
}
