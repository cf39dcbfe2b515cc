//! `pillion hook install`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pillion_discovery::Environment;
use pillion_doctor::setup::settings::user_file;
use pillion_hooks::settings::{self, Format, Hook, Refused, State};
use pillion_protocol::Dialect;

use crate::args;
use crate::commands::control_client;
use crate::commands::output::say;
use crate::failure::{Failure, Kind};
use crate::settings_file::SettingsFile;

/// Add Pillion's hooks to an agent's settings
///
/// Adds its entries to the settings file of your user, and changes nothing else there: comments and
/// order stay. What an older Pillion wrote is replaced. A symbolic link stays one, and the file that
/// it leads to is changed. Refuses a file that cannot be read, is read-only, belongs to another user,
/// or has comments where the agent reads none.
///
/// opencode has plugins in place of hooks: it gets a file of its own, which replaces no other
/// plugin, and nothing behind a symbolic link.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = args::agent(Dialect::ALL))]
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
    let protocol = pillion_hooks::of(agent);
    let flags = if strict { &["--strict"][..] } else { &[] };
    let command = super::command_line(agent, flags)?;
    let entries = protocol.entries(&command.to_string());
    let format = Format::of(agent);
    if args.print {
        let text = settings::add(format, None, agent.name(), &entries);
        let text = text.map_err(|why| Failure::new(Kind::Internal, why.why))?;
        return Ok(io::stdout().lock().write_all(text.as_bytes())?);
    }
    let name = agent.name();
    let by_hand =
        format!("Add the entry yourself: `pillion hook install {name} --print` shows it.");
    let file = settings_file(agent, &by_hand)?;
    let text = settings::add(format, file.text(), agent.name(), &entries);
    let text = text.map_err(|why| file.refused(why))?;
    if file.text() == Some(&text) {
        say(&format!("{} has Pillion's hooks already", file.shown()))?;
    } else {
        // Those that are there may be stricter, or another program's.
        let has_ours = |it| ours(format.with_comments(), it, name).is_ok_and(|it| !it.is_empty());
        if file.text().is_some_and(has_ours) {
            control_client::speak_for_the_person()?;
        }
        file.replace(&text)?;
        say(&format!("added Pillion's hooks to {}", file.shown()))?;
        let lines = protocol.after_install().iter();
        lines.copied().try_for_each(say)?;
    }
    if is_untrusted(file.path(), &text, agent) {
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

/// The settings file of an agent's user, looked at; `by_hand` is the advice where it cannot be written.
pub fn settings_file(agent: Dialect, by_hand: &str) -> anyhow::Result<SettingsFile> {
    let path = path(agent)?;
    // Settings may be kept elsewhere. A program that is all ours is in the place where we put it.
    if Format::of(agent) == Format::Script && path.is_symlink() {
        let message = format!("{} is a symbolic link", path.display());
        let failure = Failure::new(Kind::Refused, message);
        return Err(failure.hint("Remove the link, and run this again.").into());
    }
    Ok(SettingsFile::look(path, by_hand)?.private())
}

/// Our hooks in the text of a settings file.
pub fn ours(format: Format, text: &str, agent: &str) -> Result<Vec<Hook>, Refused> {
    let mut hooks = settings::hooks(&format.values(text)?);
    hooks.retain(|hook| hook.ours(agent).is_some());
    Ok(hooks)
}

fn path(agent: Dialect) -> Result<PathBuf, Failure> {
    let path = user_file(agent, &Environment::current());
    Some(path).filter(|path| path.is_absolute()).ok_or_else(|| {
        let message = format!("it is not known where {agent} has its settings");
        Failure::new(Kind::Refused, message).hint("Set HOME to your home folder.")
    })
}

/// Returns true if the agent does not run a hook of ours in this text of the file before its person has trusted it.
fn is_untrusted(path: &Path, text: &str, agent: Dialect) -> bool {
    let Ok(values) = Format::of(agent).values(text) else {
        return false;
    };
    let hooks = settings::hooks(&values).into_iter();
    let mut ours = hooks.filter(|hook| hook.ours(agent.name()).is_some());
    ours.any(|hook| settings::state(agent, &values, path, &hook) == State::Untrusted)
}
