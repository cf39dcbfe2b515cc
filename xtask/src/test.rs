//! `cargo xtask test`: everything that can be checked, in one command.

mod needs;
mod run;
mod summary;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

use self::needs::Needs;
use self::run::Run;
use self::summary::IgnoredTest;

/// Check the sources and run all tests, those with the real agents too
///
/// The last line reads `N passed, N failed, N skipped`; a check that fails counts as one. What the
/// tests need is installed first: npm packages and editors into the target folder, programs only as
/// root on Debian. Tests that need what is missing then are skipped, and named at the end.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run only the tests whose name contains this, and no checks
    name: Option<String>,

    /// Run only one suite of the command's tests, and no checks
    #[arg(long, value_name = "SUITE", value_parser = SUITES)]
    only: Option<String>,

    /// Leave out the tests that need more than Rust, such as those with the real agents
    #[arg(long)]
    fast: bool,

    /// Fail when something that a test needs is missing [default: if CI is set]
    #[arg(long, conflicts_with = "fast")]
    no_skips: bool,
}

/// The folders below `crates/pillion/tests`.
const SUITES: [&str; 4] = ["agents", "it", "lsp", "nvim"];

/// Tests mostly wait: for agents, for editors, for what must not come.
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
    if args.name.is_none() && args.only.is_none() {
        check(&mut run)?;
    }
    test(&mut run, args, &needs)?;
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

/// Runs the chosen tests: first those that need nothing, then the others, beside which those that only
/// wait run.
fn test(run: &mut Run, args: &Args, needs: &Needs) -> Result<()> {
    let name = args.name.as_deref();
    let mut all = vec!["test", "--no-fail-fast"];
    match &args.only {
        Some(suite) => all.extend(["--package", "pillion", "--test", suite]),
        None => all.push("--workspace"),
    }
    let summary = run.tests(&all, &words(&[THREADS], name), &[])?;
    let is_possible = |test: &IgnoredTest| needs.missing_for(test).is_none();
    let (possible, others): (Vec<_>, Vec<_>) = summary.ignored.into_iter().partition(is_possible);
    if args.only.is_none() {
        // Not the documentation's: what is marked as ignored there is not to be run at all.
        all.extend(["--lib", "--bins", "--tests"]);
    }
    let (waiting, working): (Vec<_>, Vec<_>) = possible.iter().partition(|test| test.only_waits());
    let named = |tests: &[&IgnoredTest]| tests.iter().map(|test| test.test.clone()).collect();
    let (waiting, working): (Vec<String>, Vec<String>) = (named(&waiting), named(&working));
    let variables = needs.variables();
    let beside = if waiting.is_empty() {
        None
    } else {
        let exact = ["--ignored", "--exact"].into_iter();
        let options: Vec<_> = exact.chain(waiting.iter().map(String::as_str)).collect();
        Some(run.start(&all, &options, &variables)?)
    };
    if !working.is_empty() {
        let mut options = words(&["--ignored", THREADS], name);
        let others = others.iter().map(|test| &test.test);
        for test in summary.parts.iter().chain(others).chain(&waiting) {
            options.extend(["--skip", test]);
        }
        run.tests(&all, &options, &variables)?;
    }
    if let Some(beside) = beside {
        run.finish(beside)?;
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
