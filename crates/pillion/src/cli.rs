//! What can be typed: the commands and the flags that they share.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    accept, completions, conformance, context, detect, diff, diffs, doctor, env, focus, install,
    list, lsp, man, reject, review, run, serve, uninstall,
};

/// The IDE companion for terminal coding agents, in any editor
///
/// Shows Gemini CLI and Qwen Code which files you are working on, and lets you review the changes
/// they propose. Without a command, it opens the terminal review of the current folder.
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
    Lsp(lsp::Args),
    Run(run::Args),
    Env(env::Args),
    List(list::Args),
    Context(context::Args),
    Diff(diff::Args),
    Focus(focus::Args),
    Diffs(diffs::Args),
    Accept(accept::Args),
    Reject(reject::Args),
    Detect(detect::Args),
    Doctor(doctor::Args),
    Conformance(conformance::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Where a companion starts.
#[derive(Debug, Args)]
pub struct Roots {
    /// A workspace folder; agents running in or below it connect [default: the current folder]
    #[arg(long = "workspace", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
}

/// Which running companion is meant.
#[derive(Debug, Clone, Default, Args)]
pub struct Target {
    /// Use the companion of this folder [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Use the companion on this port
    #[arg(long, value_name = "N", value_parser = port, conflicts_with = "workspace")]
    pub port: Option<u16>,

    /// The file that the command is about, absolute: if neither of the others is given, it counts
    /// before the current folder.
    #[arg(skip)]
    pub file: Option<PathBuf>,
}

fn port(text: &str) -> Result<u16, &'static str> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or("a port is a number from 1 to 65535")
}

impl Target {
    /// The help of `--workspace` where a command is about one file.
    pub const WORKSPACE_OF_FILE: &str =
        "Use the companion of this folder [default: FILE's folder, else the current folder]";

    /// The same for a command about this file, by its absolute path.
    #[must_use]
    pub fn about(self, file: &Path) -> Self {
        Self {
            file: Some(file.to_owned()),
            ..self
        }
    }
}
