//! The commands: one file each.

pub mod accept;
pub mod completions;
pub mod conformance;
pub mod context;
pub mod detect;
pub mod diff;
pub mod diffs;
pub mod doctor;
pub mod env;
pub mod focus;
pub mod install;
pub mod list;
pub mod lsp;
pub mod man;
pub mod reject;
pub mod review;
pub mod run;
pub mod serve;
pub mod uninstall;

mod control_client;

use crate::cli::{Cli, Command};

/// Runs what was typed.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        None => review::run(cli.review),
        Some(Command::Review(args)) => review::run(args),
        Some(Command::Serve(args)) => serve::run(args),
        Some(Command::Lsp(args)) => lsp::run(args),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Env(args)) => env::run(args),
        Some(Command::List(args)) => list::run(args),
        Some(Command::Context(args)) => context::run(args),
        Some(Command::Diff(args)) => diff::run(args),
        Some(Command::Focus(args)) => focus::run(args),
        Some(Command::Diffs(args)) => diffs::run(args),
        Some(Command::Accept(args)) => accept::run(args),
        Some(Command::Reject(args)) => reject::run(args),
        Some(Command::Detect(args)) => detect::run(args),
        Some(Command::Doctor(args)) => doctor::run(args),
        Some(Command::Conformance(args)) => conformance::run(args),
        Some(Command::Install(args)) => install::run(args),
        Some(Command::Uninstall(args)) => uninstall::run(args),
        Some(Command::Completions(args)) => completions::run(args),
        Some(Command::Man(args)) => man::run(args),
    }
}
