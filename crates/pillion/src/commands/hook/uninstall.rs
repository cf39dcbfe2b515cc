//! `pillion hook uninstall`.

use pillion_hooks::settings::{self, Format, Hook};
use pillion_protocol::Dialect;

use super::install::{ours, settings_file};
use crate::args;
use crate::commands::control_client;
use crate::commands::output::say;

/// Remove Pillion's hooks from an agent's settings
///
/// Takes out what `pillion hook install` put there. Everything else stays: other hooks, comments, order.
/// A file in which nothing else is left is deleted, as is Pillion's plugin for opencode.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = args::agent(Dialect::ALL))]
    agent: Dialect,

    /// Print what would be removed, and change nothing
    #[arg(long)]
    print: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    if !args.print {
        control_client::speak_for_the_person()?;
    }
    let by_hand = "Take the entries whose command is `pillion hook` out yourself.";
    let file = settings_file(args.agent, by_hand)?;
    let format = Format::of(args.agent).with_comments();
    let (agent, text) = (args.agent.name(), file.text().unwrap_or_default());
    let ours = match file.text() {
        Some(text) => ours(format, text, agent).map_err(|why| file.refused(why))?,
        None => Vec::new(),
    };
    if ours.is_empty() {
        return say(&format!("{} has no Pillion hooks", file.shown()));
    }
    let without = settings::remove(format, text, agent);
    let without = without.map_err(|why| file.refused(why))?;
    if args.print {
        say(&format!("would remove from {}:", file.shown()))?;
        let line = |hook: &Hook| say(&format!("{}: {}", hook.event, hook.command));
        return ours.iter().try_for_each(line);
    }
    // A file that is empty without them is one that they were put in; what a link leads to is kept by other means.
    match format.is_empty(&without) && !file.path().is_symlink() {
        true => file.delete()?,
        false => file.replace(&without)?,
    }
    say(&format!("removed Pillion's hooks from {}", file.shown()))?;
    say("Agents that run already may go on calling them until they end.")
}
