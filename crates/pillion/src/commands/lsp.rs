//! `pillion lsp`.

use std::path::PathBuf;

use pillion_companion::start_own;
use pillion_lsp::{Error, Options};

use crate::failure::{Failure, Kind};

/// Serve an editor through its language-server client
///
/// The editor starts this command and talks to it over standard input and output; there is nothing
/// to see in a terminal. Pillion's plugins use a protocol of their own; any other language-server
/// client gets diagnostics and code actions.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The editor's name, if its client does not send one
    #[arg(long, value_name = "NAME")]
    editor: Option<String>,

    /// Listen at this new socket in a private folder for the editor, once, in place of standard input and output: on
    /// Linux, nobody else is heard there. A line on standard output says when it may connect
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// The program that opens a file in the editor, if its client cannot
    #[arg(long, value_name = "PROGRAM")]
    open_with: Option<String>,

    /// Give agents the editor's context, but show no proposals here: an agent shows its changes in another editor or
    /// review of the same folder, or itself
    #[arg(long)]
    no_diffs: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let options = Options {
        editor: args.editor,
        socket: args.socket,
        open_with: args.open_with,
        no_diffs: args.no_diffs,
        start_own,
    };
    pillion_lsp::run(options).map_err(|error| match error.downcast::<Error>() {
        Ok(error) => refused(error),
        Err(error) => error,
    })
}

fn refused(error: Error) -> anyhow::Error {
    let failure = Failure::new(Kind::Refused, error.to_string());
    match error {
        Error::ExitWithoutShutdown => failure
            .hint("Nothing is lost: pending diffs were rejected.")
            .into(),
        Error::Opened => failure
            .hint("Decide in `pillion`, or start the editor anew. An agent's command may have done this.")
            .into(),
        Error::Malformed(cause) => anyhow::Error::new(cause)
            .context(failure.hint("This command is for editors: start it from one, or see --log.")),
    }
}
