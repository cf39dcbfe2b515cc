//! `cargo xtask test`: everything that can be checked, in one command.

mod run;
mod tally;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};

use self::run::Run;
use self::tally::Needy;
use crate::prerequisites::Program;
use crate::{editors, npm, prerequisites, target_dir};

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
        Err("left out".to_owned())
    } else {
        run.step("what the tests need", || {
            let needs = install();
            let is_there = needs
                .as_ref()
                .is_ok_and(|installed| installed.editors.is_ok());
            (needs, is_there)
        })?
    };
    if no_skips {
        match &needs {
            Err(missing) => bail!("{missing}"),
            Ok(Installed { editors, .. }) => {
                if let Err(missing) = editors {
                    bail!("{missing}");
                }
            }
        }
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
        Ok(installed) => {
            let (with_editor, others): (Vec<Needy>, Vec<Needy>) = tally
                .needy
                .into_iter()
                .partition(|test| editors::are_needed(&test.reason));
            let mut left_out: Vec<&str> = tally.parts.iter().map(String::as_str).collect();
            let mut variables = vec![("PILLION_TEST_NPM", installed.npm.as_os_str())];
            let mut are_some_left = !others.is_empty();
            match &installed.editors {
                Ok(editors) => {
                    variables.push(("PILLION_TEST_EDITORS", editors.as_os_str()));
                    are_some_left |= !with_editor.is_empty();
                }
                Err(_) => left_out.extend(with_editor.iter().map(|test| test.test.as_str())),
            }
            if are_some_left {
                // Not the documentation's: what is marked as ignored there is not to be run at all.
                let targets = [&all[..], &["--lib", "--bins", "--tests"]].concat();
                let mut options = words(&["--ignored", THREADS], name);
                for test in left_out {
                    options.extend(["--skip", test]);
                }
                run.tests(&targets, &options, &variables)?;
            }
            if let Err(missing) = installed.editors {
                run.skip(with_editor, &missing);
            }
        }
    }
    let is_good = run.close(!no_skips)?;
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What tests find installed.
struct Installed {
    /// The folder of the npm packages.
    npm: PathBuf,
    /// The folder of the editors; or what is missing, in words: not every machine can have them.
    editors: Result<PathBuf, String>,
}

/// Installs what tests need; or says what is missing, in words.
fn install() -> Result<Installed, String> {
    let (for_editors, for_all): (Vec<Program>, Vec<Program>) = prerequisites::ensure()
        .into_iter()
        .partition(|program| program.is_for_editors);
    if !for_all.is_empty() {
        return Err(format!("needs {}", named(&for_all)));
    }
    let target = target_dir();
    let npm =
        npm::install(&target).map_err(|error| format!("needs the npm packages: {error:#}"))?;
    let editors = if for_editors.is_empty() {
        editors::install(&target).map_err(|error| format!("needs the editors: {error:#}"))
    } else {
        Err(format!("needs {} to install editors", named(&for_editors)))
    };
    Ok(Installed { npm, editors })
}

fn named(programs: &[Program]) -> String {
    let named: Vec<String> = programs
        .iter()
        .map(|program| format!("{} (Debian: {})", program.name, program.package))
        .collect();
    named.join(", ")
}

fn words<'a>(options: &[&'a str], name: Option<&'a str>) -> Vec<&'a str> {
    options.iter().copied().chain(name).collect()
}
