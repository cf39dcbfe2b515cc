//! `pillion kakoune`.

use anyhow::Context;
use pillion_companion::start_own;
use pillion_kakoune::Options;

/// Serve a Kakoune session
///
/// Kakoune's module starts this; there is nothing to see in a terminal. It runs until the session ends.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the session
    #[arg(long, value_name = "NAME")]
    session: String,

    /// The process of the session's server
    #[arg(long, value_name = "PID")]
    server: u32,

    /// Show proposals in the session's own clients, even in tmux
    #[arg(long)]
    no_split: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let options = Options {
        session: args.session,
        server: args.server,
        may_split: !args.no_split,
        start_own,
    };
    pillion_kakoune::run(options).context("cannot serve the session")
}
