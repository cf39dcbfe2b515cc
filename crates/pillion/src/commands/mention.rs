//! `pillion mention`.

use std::ffi::OsString;

use pillion_text::stderr;
use pillion_view::ask::Mention;

use super::control_client;
use super::position;
use crate::args::Target;
use crate::failure::{Failure, Kind};

/// Name a file, or some of its lines, in the agent's prompt
///
/// Claude Code, opencode and Copilot CLI insert a reference such as @src/main.rs#L3-7 where the cursor is in their prompt,
/// and read those lines when the prompt is sent. If several agents are connected, the most recently active
/// one gets it. Gemini CLI and Qwen Code do not support such references.
///
/// The companion is the one whose workspace contains FILE, else the one of the current folder.
#[derive(Debug, clap::Args)]
#[command(mut_arg("workspace", |arg| arg.help(Target::WORKSPACE_OF_FILE)))]
pub struct Args {
    /// The file, optionally with one line or the first and the last, counted from 1
    #[arg(value_name = "FILE[:FROM[-TO]]")]
    file: OsString,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let (path, place) = position::locate(&args.file)?;
    let target = args.target.about(&path);
    let lines = place.map(|place| place.within(&path).lines());
    match control_client::ask(&target, Mention { path, lines })? {
        Some(agent) => {
            let agent = agent.display_name();
            stderr::print(format!("mentioned in the prompt of {agent}"));
            Ok(())
        }
        None => {
            let message = "no connected agent supports mentions";
            Err(Failure::new(Kind::Refused, message)
                .hint(
                    "Claude Code, opencode and Copilot CLI do; `pillion list` shows which agents are connected.",
                )
                .into())
        }
    }
}
