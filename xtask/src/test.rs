//! `cargo xtask test`: everything that can be checked, in one command.

mod run;
mod tally;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};

use self::run::Run;
use crate::{npm, prerequisites, target_dir};

/// Check the sources and run all tests, those with the real agents too
///
/// The last line reads `N passed, N failed, N skipped`; a check that fails counts as one. What the
/// tests need is installed first: npm packages into the target folder, programs only as root on
/// Debian. Tests that need what is missing then are skipped, and named at the end.
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
        Err("left out".to_owned())
    } else {
        run.step("what the tests need", || {
            let needs = install();
            let is_there = needs.is_ok();
            (needs, is_there)
        })?
    };
    if let Err(missing) = &needs
        && no_skips
    {
        bail!("{missing}");
    }
    if args.name.is_none() {
        run.check(&["fmt", "--all", "--check"], &[])?;
        let clippy = ["clippy", "--workspace", "--all-targets", "--", "-Dwarnings"];
        run.check(&clippy, &[])?;
        let doc = ["doc", "--workspace", "--no-deps"];
        run.check(&doc, &[("RUSTDOCFLAGS", "-Dwarnings")])?;
    }
    let name = args.name.as_deref();
    let all = ["test", "--workspace", "--no-fail-fast"];
    let tally = run.tests(&all, &words(&[], name), &[])?;
    match needs {
        Err(missing) => run.skip(tally.needy, &missing),
        Ok(npm) if !tally.needy.is_empty() => {
            // Not the documentation's: what is marked as ignored there is not to be run at all.
            let targets = [&all[..], &["--lib", "--bins", "--tests"]].concat();
            let mut options = words(&["--ignored", THREADS], name);
            for part in &tally.parts {
                options.extend(["--skip", part]);
            }
            run.tests(&targets, &options, &[("PILLION_TEST_NPM", npm.as_os_str())])?;
        }
        Ok(_) => {}
    }
    let is_good = run.close(!no_skips)?;
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Installs what tests need. The folder of the npm packages; or what is missing, in words.
fn install() -> Result<PathBuf, String> {
    let missing = prerequisites::ensure();
    if !missing.is_empty() {
        let named: Vec<String> = missing
            .iter()
            .map(|program| format!("{} (Debian: {})", program.name, program.package))
            .collect();
        return Err(format!("needs {}", named.join(", ")));
    }
    npm::install(&target_dir()).map_err(|error| format!("needs the npm packages: {error:#}"))
}

fn words<'a>(options: &[&'a str], name: Option<&'a str>) -> Vec<&'a str> {
    options.iter().copied().chain(name).collect()
}
