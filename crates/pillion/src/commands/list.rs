//! `pillion list`.

mod facts;
mod table;

use std::io::{self, IsTerminal, Write};

use pillion_discovery::survey::Survey;
use pillion_discovery::{Environment, survey};

use self::facts::Facts;
use crate::choice::Running;
use crate::cli::Target;
use crate::{failure, visible};

/// List the companions on this machine
///
/// Pillion's and others' (VS Code's, JetBrains'), with the agents and the pending diffs of
/// Pillion's. The one that commands in this folder talk to is marked with `*`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also show companions that are gone and left their discovery files, and why they count as gone
    #[arg(long)]
    all: bool,

    /// Print a JSON array of `{port, pid, editor, workspace, pillion, state, current, agents,
    /// pendingDiffs, lastFocusedMs, files}`; `state` is `alive`, `processGone` or `nobodyListens`
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let environment = Environment::current();
    let Survey {
        mut companions,
        unread,
        malformed,
    } = survey(&environment);
    for error in &unread {
        let (hint, cause) = (error.hint(), std::error::Error::source(error));
        let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
        failure::warn(format_args!("{error}{cause}; {hint}"));
    }
    for path in &malformed {
        let path = path.display();
        failure::warn(format_args!("{path} is not a discovery file; remove it"));
    }
    let found = companions.len();
    if !args.all {
        companions.retain(|companion| companion.is_alive());
    }
    let gone = found - companions.len();
    let running = Running::among(companions.clone());
    let here = running.choose(&Target::default(), &environment);
    let here = here.ok().map(|companion| companion.port);
    let listed = facts::gather(companions, here)?;
    for port in listed.iter().filter(|facts| facts.is_silent()) {
        let port = port.port();
        failure::warn(format_args!("the companion on port {port} does not answer"));
    }
    print(&args, &listed, &environment)?;
    if gone > 0 && !args.json {
        let what = if gone == 1 {
            "companion is"
        } else {
            "companions are"
        };
        failure::tell(format_args!(
            "{gone} {what} gone and left files: `pillion list --all` shows them."
        ));
    }
    Ok(())
}

fn print(args: &Args, listed: &[Facts], environment: &Environment) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", visible::json(&serde_json::to_string(listed)?))?;
    } else if listed.is_empty() {
        writeln!(out, "no companion runs on this machine")?;
        failure::tell(
            "Hint: Start one with `pillion` in the folder that you work in, or open an editor that has one.",
        );
    } else {
        let width = if out.is_terminal() {
            crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width))
        } else {
            usize::MAX
        };
        let home = environment.home();
        let table = table::table(listed, args.all, home.as_deref(), width);
        out.write_all(table.as_bytes())?;
    }
    Ok(())
}
