//! `pillion hook install`.

use std::io::{self, Write};

use pillion_hooks::settings::{self, Format};
use pillion_protocol::Dialect;
use pillion_text::visible;

use super::settings_file::{self, SettingsFile};
use crate::args;
use crate::failure::{Failure, Kind};

/// Add Pillion's hooks to an agent's settings
///
/// Adds its entries to the settings file of your user, and changes nothing else there: comments and
/// order stay. What an older Pillion wrote is replaced. A symbolic link stays one, and the file that
/// it leads to is changed. Refuses a file that cannot be read, is read-only, or belongs to another
/// user.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = args::agent(pillion_hooks::AGENTS))]
    agent: Dialect,

    /// Have the hooks deny every change while no companion runs
    #[arg(long)]
    strict: bool,

    /// Print what belongs into the settings, and change nothing
    #[arg(long)]
    print: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let Args { agent, strict, .. } = args;
    let protocol = super::protocol(agent)?;
    let flags = if strict { &["--strict"][..] } else { &[] };
    let command = super::command_line(agent, flags)?;
    let entries = protocol.entries(&command.to_string());
    if args.print {
        let format = Format::of(&settings_file::path(agent)?);
        let text = settings::add(format, None, agent.name(), &entries);
        let text = text.map_err(|why| Failure::new(Kind::Internal, why.why))?;
        return Ok(io::stdout().lock().write_all(text.as_bytes())?);
    }
    let file = SettingsFile::of(agent)?;
    let text = settings::add(file.format(), file.text(), agent.name(), &entries);
    let text = text.map_err(|why| file.refused(why))?;
    if file.text() == Some(&text) {
        say(&format!("{} has Pillion's hooks already", file.shown()))?;
    } else {
        file.replace(&text)?;
        say(&format!("added Pillion's hooks to {}", file.shown()))?;
        let lines = protocol.after_install().iter();
        lines.copied().try_for_each(say)?;
    }
    if file.is_untrusted(&text, agent.name()) {
        say(&format!(
            "{agent} runs a new or changed hook only when you have trusted it: it asks when it starts, and in `/hooks`. Look at \
             the command there, because whoever can write this file can add one. Pillion does not answer that question for \
             you, and until you have answered, changes are made without the hooks."
        ))?;
    }
    say(&format!(
        "`pillion doctor {}` tells whether {agent} runs them.",
        agent.name()
    ))
}

/// Prints a line that may hold a path.
pub fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(
        io::stdout().lock(),
        "{}",
        visible::one_line(line)
    )?)
}
