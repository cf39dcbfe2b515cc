//! `pillion lsp`.

use crate::lsp::{self, Options};

/// Serve an editor over its language-server client
///
/// The editor starts this command and talks to it over standard input and output, so there is
/// nothing to see in a terminal. Plugins of Pillion use a protocol of their own, every other
/// language-server client gets diagnostics and code actions.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Who the editor is, if it does not say so itself
    #[arg(long, value_name = "NAME")]
    editor: Option<String>,

    /// The program that opens a file in the editor, if the editor cannot by itself
    #[arg(long, value_name = "PROGRAM")]
    open_with: Option<String>,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    lsp::run(Options {
        editor: args.editor,
        open_with: args.open_with,
    })
}
