//! `pillion kakoune`.

use std::path::PathBuf;

use anyhow::Context;
use pillion_companion::start_own;
use pillion_kakoune::Options;

/// Serve a Kakoune session
///
/// Kakoune's module starts this; there is nothing to see in a terminal. It runs until the session ends.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the session
    #[arg(long, value_name = "NAME", required_unless_present = "say")]
    session: Option<String>,

    /// The process of the session's server
    #[arg(long, value_name = "PID", required_unless_present = "say")]
    server: Option<u32>,

    /// Show proposals in the session's own clients, even in tmux
    #[arg(long)]
    no_split: bool,

    /// Hand the input, as from Kakoune, to the one that serves the session and has this folder
    #[arg(long, num_args = 2, value_names = ["FOLDER", "NAME"], exclusive = true, hide = true)]
    say: Vec<PathBuf>,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    if let [folder, name] = &*args.say {
        return pillion_kakoune::say(folder, &name.to_string_lossy());
    }
    let options = Options {
        session: args.session.unwrap_or_default(),
        server: args.server.unwrap_or_default(),
        may_split: !args.no_split,
        start_own,
    };
    pillion_kakoune::run(options).context("cannot serve the session")
}
