//! `pillion doctor`.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use pillion_discovery::Environment;
use pillion_doctor::{Examination, Report, Style};
use pillion_protocol::Dialect;
use pillion_text::visible;

use super::output::is_plain;
use crate::args;
use crate::failure::{self, Kind};
use crate::progress;
use crate::silent_disk;
use crate::workspace;

/// Explain why an agent does not connect here, and how to fix it
///
/// Follows the whole path from the agent to the editor, as the installed agent would if you started
/// it in this terminal now: its release, its settings, where it looks, which companion it picks,
/// and whether that companion answers. Reports the first thing that breaks, with the command that
/// fixes it, and then everything else. Changes nothing and prints no tokens.
///
/// The exit code is 0 if the agent would connect, and 1 if not. Codex CLI opens no connection: for it, the
/// exit code is 0 if Pillion's hooks would show its changes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent [default: every installed one]
    #[arg(value_name = "AGENT", value_parser = args::agent(Dialect::ALL))]
    agent: Option<Dialect>,

    /// Check as if the agent were started in this folder [default: the current folder]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Print JSON: `{agents: [{name, version, wouldConnect, companion, findings: [{id, level, what,
    /// why, fix}]}]}`
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let _watch = silent_disk::Watch::start(&Environment::current());
    // Where the agent would be started.
    let folder = workspace::root(&args.workspace.unwrap_or_else(|| PathBuf::from(".")))?;
    let environment = Environment::current().with_current_dir(&folder);
    let doing = |what: &str| progress::doing(what);
    let examine = |agent| Examination::of(agent, &environment, &folder, &doing);
    let agents = pillion_doctor::agents(args.agent, &environment).into_iter();
    let examinations = agents.map(examine).collect::<anyhow::Result<Vec<_>>>()?;
    progress::pause();
    let mut out = io::stdout().lock();
    if args.json {
        let json = serde_json::to_string_pretty(&Report::new(&examinations))?;
        writeln!(out, "{}", visible::json(&json))?;
    } else {
        let style = style(&environment, out.is_terminal());
        for (index, examination) in examinations.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            pillion_doctor::write(&mut out, examination, style)?;
        }
    }
    out.flush()?;
    if examinations.iter().all(Examination::has_no_problem) {
        Ok(())
    } else {
        Err(failure::reported(Kind::Refused).into())
    }
}

fn style(environment: &Environment, is_terminal: bool) -> Style {
    let mut locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let locale = locale.find_map(|name| environment.filled(name));
    let locale = locale
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    Style {
        is_unicode: cfg!(not(unix)) || locale.contains("utf-8") || locale.contains("utf8"),
        is_coloured: is_terminal && !is_plain(environment),
    }
}
