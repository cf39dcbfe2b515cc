//! `cargo xtask test`: everything that can be checked, in one command.

mod needs;
mod run;
mod tally;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

use self::needs::Needs;
use self::run::Run;
use self::tally::Needy;

/// Check the sources and run all tests, those with the real agents too
///
/// The last line reads `N passed, N failed, N skipped`; a check that fails counts as one. What the
/// tests need is installed first: npm packages and editors into the target folder, programs only as
/// root on Debian. Tests that need what is missing then are skipped, and named at the end.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run only the tests whose name contains this, and no checks
    name: Option<String>,

    /// Leave out the tests that need more than Rust, such as those with the real agents
    #[arg(long)]
    fast: bool,

    /// Fail when something that a test needs is missing [default: if CI is set]
    #[arg(long, conflicts_with = "fast")]
    no_skips: bool,
}

/// Tests with real agents mostly wait: for agents, and one of them for six minutes.
const THREADS: &str = "--test-threads=6";

pub fn run(args: &Args) -> Result<ExitCode> {
    let in_ci = env::var_os("CI").is_some_and(|value| !value.is_empty());
    let no_skips = !args.fast && (args.no_skips || in_ci);
    let mut run = Run::new();
    let needs = if args.fast {
        Needs::left_out()
    } else {
        run.step("what the tests need", || {
            let needs = Needs::install();
            let is_there = needs.missing().is_none();
            (needs, is_there)
        })?
    };
    if let Some(missing) = needs.missing()
        && no_skips
    {
        bail!("{missing}");
    }
    if args.name.is_none() {
        check(&mut run)?;
    }
    test(&mut run, args.name.as_deref(), &needs)?;
    let is_good = run.close(!no_skips)?;
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn check(run: &mut Run) -> Result<()> {
    run.check(&["fmt", "--all", "--check"], &[])?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-Dwarnings"];
    run.check(&clippy, &[])?;
    let doc = ["doc", "--workspace", "--no-deps"];
    run.check(&doc, &[("RUSTDOCFLAGS", "-Dwarnings")])
}

/// Runs the tests whose name contains `name`: first those that need nothing, then the others.
fn test(run: &mut Run, name: Option<&str>, needs: &Needs) -> Result<()> {
    let all = ["test", "--workspace", "--no-fail-fast"];
    let tally = run.tests(&all, &words(&[], name), &[])?;
    let is_possible = |test: &Needy| needs.missing_for(test).is_none();
    let (possible, others): (Vec<_>, Vec<_>) = tally.needy.into_iter().partition(is_possible);
    if !possible.is_empty() {
        // Not the documentation's: what is marked as ignored there is not to be run at all.
        let targets = [&all[..], &["--lib", "--bins", "--tests"]].concat();
        let mut options = words(&["--ignored", THREADS], name);
        let others = others.iter().map(|test| &test.test);
        for test in tally.parts.iter().chain(others) {
            options.extend(["--skip", test]);
        }
        run.tests(&targets, &options, &needs.variables())?;
    }
    for test in others {
        let why = needs.missing_for(&test).unwrap_or_default().to_owned();
        run.skip(test, &why);
    }
    Ok(())
}

fn words<'a>(options: &[&'a str], name: Option<&'a str>) -> Vec<&'a str> {
    options.iter().copied().chain(name).collect()
}
