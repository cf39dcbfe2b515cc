//! `pillion run`.

use pillion_text::stderr;
mod review;
#[cfg(not(unix))]
mod windows;
mod wrapper;

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use pillion_agent::find::Release;
use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_doctor::setup::Setup;
use pillion_doctor::setup::hooks;
use pillion_doctor::setup::program::{self, is_bare};
use pillion_protocol::Dialect;
use pillion_protocol::dialect::{Base, Protocol};
use pillion_text::visible;
use pillion_view::Client;
use pillion_view::ask::ContextAsker;

use self::review::OwnHooks;
use super::hook;
use crate::args::Target;
use crate::choice::{Need, Running};
use crate::failure::{self, Failure, Kind};
use crate::logging;
use crate::wiring::{Surroundings, Wiring};

/// Run an agent connected to this folder's editor
///
/// Works in any terminal, inside or outside the editor. If several companions serve this folder, it picks
/// that of the editor that this terminal runs in, else the one with the deepest workspace folder, else the
/// most recently used. Where Pillion's own was killed or does not answer, another program's takes its place only with --port.
/// The agent then replaces this command: keys, signals and exit code are the agent's. If
/// no companion serves this folder, the agent starts without one, and a note says so; in a terminal, it waits two
/// seconds for one. Claude Code goes on looking for half a minute, and asks before each change in its own window until it is
/// connected.
///
/// Everything after AGENT is passed on unchanged: `pillion run qwen --approval-mode default`. For an agent
/// that you start in another way, such as with `npx`, see `pillion env`.
///
/// A script of your own that has the agent's name may call this command: it starts the next agent of that
/// name on PATH, not the script again.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pillion run [OPTIONS] <AGENT> [ARGS]...")]
pub struct Args {
    /// Show what would be set and run, but run nothing; tokens are shown as `…`
    #[arg(long)]
    print: bool,

    /// Fail with exit code 3 if there is no companion
    #[arg(long)]
    require: bool,

    /// When Claude Code asks before it changes a file, and so shows a diff
    #[arg(long, value_name = "WHEN", default_value = "always")]
    review: review::Review,

    #[command(flatten)]
    target: Target,

    /// `claude`, `gemini`, `qwen`, `opencode`, `copilot`, `codex`, `kimi` or `vibe`, or a path to one of them,
    /// followed by the agent's own arguments
    // One list, so that no option behind the agent is taken for one of ours.
    #[arg(
        value_names = ["AGENT", "ARGS"],
        required = true,
        num_args = 1..,
        trailing_var_arg = true
    )]
    command: Vec<OsString>,
}

/// The time that an agent waits in a terminal for a companion: the editor may be starting just now. The note is read
/// meanwhile, too; the agent's own screen covers it.
const PATIENCE: Duration = Duration::from_secs(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The words that were typed behind the options.
struct Start<'a> {
    agent: Dialect,
    /// The agent's command, as it was written.
    command: &'a OsStr,
    arguments: &'a [OsString],
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let start = Start::read(&args.command)?;
    let agent = start.agent;
    let environment = Environment::current();
    let chosen = wrapper::look_behind(start.command, agent, &environment)?;
    let start = Start {
        command: &chosen.program,
        ..start
    };
    let here = Surroundings::here(&environment);
    let need = match agent.opens_session() {
        true => Need::Agent(agent),
        false => Need::Control,
    };
    let running = Running::look(&environment);
    let companion = match running.choose(need, &args.target) {
        Ok(companion) => Some(companion),
        Err(error) if !args.require && failure::is_without_companion(&error) => {
            let name = agent.name();
            let is_watched = !args.print && io::stderr().is_terminal();
            let (starts, when) = match args.print {
                true => ("Would start", ""),
                false if is_watched => ("Starting", " in two seconds"),
                false => ("Starting", ""),
            };
            let finds = match running.found_by(agent, &args.target) {
                Some(other) => format!(
                    ", but it may connect to {} (port {}) by itself",
                    other.display_name(),
                    other.port
                ),
                None => String::new(),
            };
            stderr::print(format_args!(
                "note: {error}. {starts} {name} without one{when}{finds}."
            ));
            let choose = || Running::look(&environment).choose(need, &args.target);
            is_watched.then(|| wait_for(choose)).flatten()
        }
        Err(error) => return Err(error),
    };
    let release = program::release(agent, Path::new(start.command), &environment);
    warn_if_too_old(release, None);
    let wiring = Wiring::of(companion.as_ref(), release, &here);
    let wiring = match companion {
        Some(_) => wiring,
        None => wiring.for_later(agent, &here),
    };
    // It may have been named by its port or another folder. Claude Code takes one that is named by its port.
    let refused = companion.as_ref().filter(|companion| {
        companion.depth(environment.current_dir()).is_none()
            && release.too_old().is_none()
            && !wiring.leads_to(companion, release, &here)
    });
    if let Some(refused) = refused {
        let (editor, port) = (refused.display_name(), refused.port);
        let consequence = match agent.opens_session() {
            true => "will refuse it",
            false => "will not use it",
        };
        stderr::warn(format_args!(
            "{editor} (port {port}) does not have this folder in its workspace: {agent} {consequence}"
        ));
    }
    if let Some(companion) = companion
        .as_ref()
        .filter(|_| agent.connects_in_roots_only())
        && refused.is_none()
        && !wiring.leads_to(companion, release, &here)
    {
        let editor = companion.display_name();
        stderr::print(format_args!(
            "note: {agent} does not connect to {editor} on its own from here: type `/ide` in it and choose {editor}."
        ));
    }
    let overridden = wiring.overridden(release, &environment);
    for note in wiring.notes(agent).chain(overridden) {
        stderr::print(format_args!("note: {note}."));
    }
    if !agent.proposes() {
        let context = (agent.asks_for_context() && companion.is_some() && refused.is_none())
            .then(|| format!("type `/ide` in {agent} to show it what your editor shows"));
        for note in missing_hooks(agent, &environment)
            .into_iter()
            .chain(context)
        {
            stderr::print(format_args!("note: {note}."));
        }
    }
    // Gemini CLI itself asks, and with "Yes" only looks for an extension that it could install.
    let setup = || Setup::read(release.agent, &environment, environment.current_dir());
    let has_mode = companion.is_some() && agent.protocol() == Protocol::Companion;
    if has_mode && setup().settings.has_ide_mode_nowhere() {
        stderr::print(format_args!(
            "note: IDE mode is off in {agent}: type `/ide enable` in it, once."
        ));
    }
    let arguments = match &companion {
        // Who starts before the editor or review is asked about its changes, and finds that later.
        None if agent != Dialect::ClaudeCode => start.arguments.to_vec(),
        Some(companion) if companion.state.is_none() => start.arguments.to_vec(),
        _ => {
            let is_asked = agent == Dialect::ClaudeCode;
            let reported = is_asked.then(|| chosen.reported_release(agent, &environment));
            if let Some(reported) = reported.filter(|_| !release.is_known()) {
                warn_if_too_old(reported, Some(Path::new(start.command)));
            }
            let release = reported.unwrap_or(release);
            let folder = environment.current_dir();
            let own_hooks = match agent {
                Dialect::ClaudeCode => review::own_hooks(&setup()),
                _ => OwnHooks::default(),
            };
            let command = || hook::command_line(agent, &[]);
            // Without them, notes that wait go with the next prompt, and no answer of ours lets a call pass.
            let beside = hook::commands_beside(agent, args.review.into()).ok();
            let (arguments, note) = review::arguments(
                release,
                start.arguments,
                folder,
                args.review,
                command,
                beside.as_ref(),
                &own_hooks,
            );
            if let Some(note) = note {
                stderr::print(format_args!("note: {note}."));
            }
            match companion {
                None => review::looking(arguments),
                Some(_) => arguments,
            }
        }
    };
    let start = Start {
        arguments: &arguments,
        ..start
    };
    if args.print {
        return Ok(print(companion.as_ref(), &wiring, &start.shown())?);
    }
    let mut command = Command::new(start.command);
    command.args(start.arguments);
    for change in wiring.changes() {
        match &change.value {
            Some(value) => command.env(change.name, value.expose()),
            None => command.env_remove(change.name),
        };
    }
    match &chosen.guard {
        Some(guard) => command.env(wrapper::GUARD, guard),
        None => command.env_remove(wrapper::GUARD),
    };
    if agent.asks_for_context()
        && let Some(client) = companion.and_then(|it| Client::new(it.state.as_ref()?))
    {
        let start = ContextAsker {
            home: environment.codex_home(),
            tmpdir: environment.base(Base::TmpDir),
        };
        // A companion of an older version does not know of it.
        if let Err(error) = client.ask(start) {
            tracing::warn!(%error, "the companion may not serve /ide");
        }
    }
    logging::finish();
    #[cfg(unix)]
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let error = windows::become_process(command);
    Err(start.failed(error))
}

impl<'a> Start<'a> {
    fn read(words: &'a [OsString]) -> anyhow::Result<Self> {
        let (command, arguments) = words.split_first().context("no agent was named")?;
        let name = Path::new(command).file_stem();
        let mut agents = Dialect::ALL.into_iter();
        let agent = agents.find(|agent| name == Some(OsStr::new(agent.name())));
        let agent = agent.ok_or_else(|| {
            let names = Dialect::ALL.map(Dialect::name).join(", ");
            let message = format!("unknown agent {}", command.display());
            Failure::new(Kind::Usage, message).hint(format!(
                "The agents are {names}. For an agent that you start in another way, `pillion env` wires the shell."
            ))
        })?;
        Ok(Self {
            agent,
            command,
            arguments,
        })
    }

    /// The command as a shell would read it.
    fn shown(&self) -> String {
        let words = [self.command].into_iter();
        let words = words.chain(self.arguments.iter().map(OsString::as_os_str));
        shell_words::join(words.map(OsStr::to_string_lossy))
    }

    fn failed(&self, error: io::Error) -> anyhow::Error {
        let (agent, shown) = (self.agent, Path::new(self.command).display());
        if error.kind() != io::ErrorKind::NotFound {
            let failure = Failure::new(Kind::Refused, format!("cannot start {shown}")).hint(
                format!("Run `{shown} --version` to see whether it runs at all."),
            );
            return anyhow::Error::new(error).context(failure);
        }
        if let Some(path) = dangling(Path::new(self.command)) {
            let message = format!("{} cannot be run", path.display());
            let failure = Failure::new(Kind::Refused, message)
                .hint("The file it links to, or the interpreter in its first line, is missing: reinstall it.");
            return anyhow::Error::new(error).context(failure);
        }
        if !is_bare(Path::new(self.command)) {
            let message = format!("there is no program {shown}");
            let hint = format!("`pillion run {}` uses the one on PATH.", agent.name());
            return Failure::new(Kind::Refused, message).hint(hint).into();
        }
        let message = format!("{agent} is not installed: there is no `{shown}` on PATH");
        let hint = format!("Install it with `{}`.", agent.install_command());
        Failure::new(Kind::Refused, message).hint(hint).into()
    }
}

/// Says that nothing is known of this release, and how to update it. `program` is its program if no npm package
/// brought it.
fn warn_if_too_old(release: Release, program: Option<&Path>) {
    if let Some([what, hint]) = pillion_doctor::too_old(release, program) {
        stderr::warn(what);
        stderr::print(format_args!("hint: {hint}"));
    }
}

/// A note for a person on an agent that shows nothing without its hooks.
fn missing_hooks(agent: Dialect, environment: &Environment) -> Option<String> {
    let hooks = hooks::read(agent, environment);
    hooks.ours.is_empty().then(|| {
        format!(
            "Pillion's hooks are not in {}, so you are not shown what {agent} changes: `pillion hook install {}` adds them",
            visible::one_line(&hooks.path.display().to_string()),
            agent.name()
        )
    })
}

/// One that starts in time.
fn wait_for(choose: impl Fn() -> anyhow::Result<Companion>) -> Option<Companion> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        thread::sleep(BETWEEN_LOOKS);
        if let Ok(companion) = choose() {
            return Some(companion);
        }
    }
    None
}

/// The path where the command is looked for although there is nothing to run: a link that leads
/// nowhere, or a script whose interpreter is gone.
fn dangling(command: &Path) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    if !is_bare(command) {
        return Some(command.to_owned()).filter(is_there);
    }
    let search_path = program::search_path(&Environment::current());
    search_path.files(command).find(is_there)
}

/// Prints what would be done, for people.
fn print(companion: Option<&Companion>, wiring: &Wiring, command: &str) -> io::Result<()> {
    let mut lines = Vec::new();
    if let Some(companion) = companion {
        let (editor, port) = (companion.display_name(), companion.port);
        lines.push(format!(
            "companion: {editor}, port {port}, {}",
            companion.shown_roots().join(", ")
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
