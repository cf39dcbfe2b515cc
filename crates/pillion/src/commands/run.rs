//! `pillion run`.

#[cfg(unix)]
#[path = "run/unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "run/windows.rs"]
mod system;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_protocol::Dialect;

use crate::choice::Running;
use crate::cli::Target;
use crate::failure::{self, Failure, Kind};
use crate::visible;
use crate::wiring::{Surroundings, Wiring};

/// Start an agent that is wired to the companion of this folder
///
/// From any terminal, also one outside the editor. Of several companions it takes the one of the
/// editor that this terminal runs in, else the one with the deepest workspace folder, else the one
/// used last. Then this command becomes the agent: keys, signals and exit code are the agent's. If
/// no companion serves this folder, the agent starts without one, and a line says so.
///
/// What stands behind AGENT goes to the agent as it is: `pillion run qwen --approval-mode default`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pillion run [OPTIONS] <AGENT> [ARGS]...")]
pub struct Args {
    /// Show what would be set and run, and run nothing; tokens are shown as `…`
    #[arg(long)]
    print: bool,

    /// Fail with exit code 3 if there is no companion
    #[arg(long)]
    require: bool,

    #[command(flatten)]
    target: Target,

    /// `gemini` or `qwen`, and behind it the agent's own arguments
    // One list, so that no option behind the agent is taken for one of ours.
    #[arg(
        value_names = ["AGENT", "ARGS"],
        required = true,
        num_args = 1..,
        trailing_var_arg = true
    )]
    command: Vec<OsString>,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let (agent, own) = split(&args.command)?;
    let environment = Environment::current();
    let here = Surroundings::here(&environment);
    let companion = match find(agent, &args.target, &environment) {
        Ok(companion) => Some(companion),
        Err(error) if !args.require && is_without_companion(&error) => {
            let name = agent.name();
            let starts = if args.print {
                "Would start"
            } else {
                "Starting"
            };
            failure::tell(format_args!("Note: {error}. {starts} {name} without one."));
            None
        }
        Err(error) => return Err(error),
    };
    let wiring = match &companion {
        Some(companion) => Wiring::to(companion, agent, here),
        None => Wiring::without(agent, environment.current_dir(), here),
    };
    if let Some(note) = wiring.note(agent) {
        failure::tell(format_args!("Note: {note}."));
    }
    if args.print {
        return Ok(print(companion.as_ref(), &wiring, &shown(agent, own))?);
    }
    let mut command = Command::new(agent.name());
    command.args(own);
    for change in wiring.changes() {
        match &change.value {
            Some(value) => command.env(change.name, value.expose()),
            None => command.env_remove(change.name),
        };
    }
    let error = system::become_process(command);
    Err(not_started(agent, error))
}

/// The agent, and its own arguments.
fn split(command: &[OsString]) -> anyhow::Result<(Dialect, &[OsString])> {
    let (name, own) = command.split_first().context("no agent was named")?;
    let mut agents = Dialect::AGENTS.into_iter();
    let agent = agents.find(|agent| name == agent.name()).ok_or_else(|| {
        let names = Dialect::AGENTS.map(Dialect::name).join(" and ");
        Failure::new(Kind::Usage, format!("there is no agent {}", name.display()))
            .hint(format!("The agents are {names}."))
    })?;
    Ok((agent, own))
}

fn find(agent: Dialect, target: &Target, environment: &Environment) -> anyhow::Result<Companion> {
    let companion = Running::look(environment).choose_for(agent, target, environment)?;
    // It may have been named by its port or another folder.
    if companion.depth(environment.current_dir()).is_none() {
        let (editor, port) = (companion.display_name(), companion.port);
        failure::warn(format_args!(
            "{editor} (port {port}) does not have this folder in its workspace: {agent} will refuse it"
        ));
    }
    Ok(companion)
}

fn is_without_companion(error: &anyhow::Error) -> bool {
    let failure = error.downcast_ref::<Failure>();
    failure.is_some_and(|failure| failure.kind() == Kind::NoCompanion)
}

fn not_started(agent: Dialect, error: io::Error) -> anyhow::Error {
    let name = agent.name();
    if error.kind() != io::ErrorKind::NotFound {
        let failure = Failure::new(Kind::Refused, format!("cannot start {name}")).hint(format!(
            "Run `{name} --version` to see whether it runs by itself."
        ));
        return anyhow::Error::new(error).context(failure);
    }
    if let Some(path) = dangling(name) {
        let message = format!("{} cannot be run", path.display());
        let failure = Failure::new(Kind::Refused, message)
            .hint("What it leads to, or the program that its first line names, is gone: install both again.");
        return anyhow::Error::new(error).context(failure);
    }
    let message = format!("{agent} is not installed: there is no `{name}` on PATH");
    let failure = Failure::new(Kind::Refused, message);
    match agent.package() {
        Some(package) => failure.hint(format!("Install it with `npm install -g {package}`.")),
        None => failure,
    }
    .into()
}

/// What has the program's name on PATH although there is nothing to run: a link that leads nowhere,
/// or a script whose interpreter is gone.
fn dangling(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut paths = std::env::split_paths(&path).map(|folder| folder.join(name));
    paths.find(|path| path.symlink_metadata().is_ok())
}

/// The command as a shell would read it.
fn shown(agent: Dialect, own: &[OsString]) -> String {
    let own = own.iter().map(|arg| arg.to_string_lossy().into_owned());
    let words: Vec<_> = [agent.name().to_owned()].into_iter().chain(own).collect();
    shell_words::join(words)
}

/// What would be done, for people.
fn print(companion: Option<&Companion>, wiring: &Wiring, command: &str) -> io::Result<()> {
    let mut lines = Vec::new();
    if let Some(companion) = companion {
        let roots = companion.roots.iter();
        let roots: Vec<_> = roots.map(|root| root.display().to_string()).collect();
        let (editor, port) = (companion.display_name(), companion.port);
        lines.push(format!(
            "companion: {editor}, port {port}, {}",
            roots.join(", ")
        ));
    }
    for change in wiring.changes() {
        let name = change.name;
        lines.push(match &change.value {
            Some(value) => format!("set:       {name}={}", value.shown()),
            None => format!("unset:     {name}"),
        });
    }
    lines.push(format!("run:       {command}"));
    let mut out = io::stdout().lock();
    // Paths and arguments may hold anything.
    let mut lines = lines.iter().map(|line| visible::one_line(line));
    lines.try_for_each(|line| writeln!(out, "{line}"))
}
