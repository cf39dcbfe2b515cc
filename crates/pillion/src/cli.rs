//! The command line, and the choice of the command that runs.

mod groups;

use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use pillion_discovery::socket;
use pillion_text::{stderr, visible};

use crate::commands::changes::{self, decide, forget, log, look, show, turns, waiting};
#[cfg(unix)]
use crate::commands::hub;
use crate::commands::{
    accept, completions, context, detect, diff, diffs, doctor, env, focus, hook, install, kakoune,
    list, lsp, man, mention, reject, review, review_mode, run, send_notes, serve, uninstall, web,
};

/// The IDE companion for terminal coding agents, in any editor
///
/// Shows Claude Code, Codex CLI, Copilot CLI, Gemini CLI, Qwen Code and opencode which files you are working on, and
/// lets you review what they change. Without a command, it opens the terminal review of the current folder.
#[derive(Debug, Parser)]
#[command(
    name = "pillion",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    after_help = EXIT_CODES
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub review: review::Args,

    /// Append a log to this file; it contains no tokens and no file contents
    #[arg(long, value_name = "FILE", global = true)]
    pub log: Option<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    refused or not found
  2    usage error
  3    no companion here
  70   internal error
  129  the terminal was closed while a command was waiting
  130  Ctrl-C while a command was waiting
  143  SIGTERM while a command was waiting";

#[derive(Debug, Subcommand)]
pub enum Command {
    Review(review::Args),
    Serve(serve::Args),
    Web(web::Args),
    #[command(hide = true)]
    Lsp(lsp::Args),
    #[command(hide = true)]
    Kakoune(kakoune::Args),
    #[cfg(unix)]
    #[command(hide = true)]
    Hub(hub::Args),
    Run(run::Args),
    Env(env::Args),
    List(list::Args),
    Context(context::Args),
    Diff(diff::Args),
    Focus(focus::Args),
    Mention(mention::Args),
    Diffs(diffs::Args),
    Accept(accept::Args),
    Reject(reject::Args),
    ReviewMode(review_mode::Args),
    Turns(turns::Args),
    Changes(changes::Args),
    Log(log::Args),
    Show(show::Args),
    Look(look::Args),
    Keep(decide::Keep),
    Revert(decide::Revert),
    Stage(decide::Stage),
    Undo(decide::Undo),
    Forget(forget::Args),
    Notes(waiting::Args),
    SendNotes(send_notes::Args),
    Detect(detect::Args),
    Doctor(doctor::Args),
    Hook(hook::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Cli {
    /// Returns true if an agent's hook is to be answered, whatever happens.
    pub fn is_hook(&self) -> bool {
        matches!(self.command, Some(Command::Hook(_)))
    }

    /// Reads the command line that was typed. A mistake ends the program, and so does a question for help.
    pub fn typed() -> Self {
        let mut command = Self::full_command();
        let matches = command.try_get_matches_from_mut(std::env::args_os());
        let parsed = matches.and_then(|matches| {
            Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
        });
        parsed.unwrap_or_else(|error| {
            if !error.use_stderr() {
                error.exit();
            }
            // An argument may be the name of a file, which says what a terminal would do.
            stderr::print(visible::lines(error.to_string().trim_end()));
            std::process::exit(error.exit_code());
        })
    }

    fn full_command() -> clap::Command {
        groups::grouped(Self::command())
    }

    /// Runs what was typed.
    pub fn run(self) -> anyhow::Result<()> {
        // What an agent has listen there could show another text than the one that is accepted then. The doctor says who it is.
        if !matches!(self.command, Some(Command::Doctor(_))) {
            socket::expect_our_program();
        }
        match self.command {
            None => review::run(self.review),
            Some(Command::Review(args)) => review::run(args),
            Some(Command::Serve(args)) => serve::run(args),
            Some(Command::Web(args)) => web::run(args),
            Some(Command::Lsp(args)) => lsp::run(args),
            Some(Command::Kakoune(args)) => kakoune::run(args),
            #[cfg(unix)]
            Some(Command::Hub(args)) => hub::run(args),
            Some(Command::Run(args)) => run::run(args),
            Some(Command::Env(args)) => env::run(args),
            Some(Command::List(args)) => list::run(args),
            Some(Command::Context(args)) => context::run(args),
            Some(Command::Diff(args)) => diff::run(args),
            Some(Command::Focus(args)) => focus::run(args),
            Some(Command::Mention(args)) => mention::run(args),
            Some(Command::Diffs(args)) => diffs::run(args),
            Some(Command::Accept(args)) => accept::run(args),
            Some(Command::Reject(args)) => reject::run(args),
            Some(Command::ReviewMode(args)) => review_mode::run(args),
            Some(Command::Turns(args)) => turns::run(&args),
            Some(Command::Changes(args)) => changes::run(args),
            Some(Command::Log(args)) => log::run(&args),
            Some(Command::Show(args)) => show::run(&args),
            Some(Command::Look(args)) => look::run(args),
            Some(Command::Keep(args)) => decide::keep(args),
            Some(Command::Revert(args)) => decide::revert(args),
            Some(Command::Stage(args)) => decide::stage(&args),
            Some(Command::Undo(args)) => decide::undo(&args),
            Some(Command::Forget(args)) => forget::run(&args),
            Some(Command::Notes(args)) => waiting::run(&args),
            Some(Command::SendNotes(args)) => send_notes::run(args),
            Some(Command::Detect(args)) => detect::run(args),
            Some(Command::Doctor(args)) => doctor::run(args),
            Some(Command::Hook(args)) => hook::run(args),
            Some(Command::Install(args)) => install::run(args),
            Some(Command::Uninstall(args)) => uninstall::run(args),
            Some(Command::Completions(args)) => completions::run(args, Self::full_command()),
            Some(Command::Man(args)) => man::run(args, Self::full_command()),
        }
    }
}
