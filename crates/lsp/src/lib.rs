//! `pillion lsp`: a companion inside an editor, reached over the editor's language-server client.
//!
//! One thread owns everything (`server`). It takes messages of the editor and events of the
//! companion, one after the other, and hands them to one of two profiles: `plugin` for Pillion's
//! own plugins (`docs/editor-protocol.md`), `plain` for every other client. A profile is a state
//! machine: it returns the work that it wants done as `profile::Action`s. Work that takes long or waits for a disk is done
//! by other threads (`comparer`, `disk`, `watch`).

mod asking;
mod comparer;
mod disk;
mod framing;
mod handshake;
mod message;
mod outgoing;
mod plain;
mod plugin;
mod position;
mod profile;
mod proposal_path;
mod quirks;
mod roots;
mod server;
mod session;
mod transport;
mod uri;
mod watch;

use std::path::PathBuf;

pub use framing::Malformed;
use pillion_view::StartOwn;
pub use server::run;

/// The way in which an editor left that should not have.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Without `shutdown`: nothing is lost, pending diffs were rejected.
    #[error("the editor sent exit without shutdown")]
    ExitWithoutShutdown,
    /// Its messages are not the base protocol.
    #[error("cannot parse the editor's messages")]
    Malformed(#[from] Malformed),
    /// What comes over it may be that program's.
    #[error(
        "another program has the editor's connection to Pillion open: nothing that came over it since counts"
    )]
    Opened,
}

/// The options for serving an editor.
#[derive(Debug, Clone)]
pub struct Options {
    /// The editor, if it does not identify itself.
    pub editor: Option<String>,
    /// The socket at which to listen for the editor, in place of standard input and output.
    pub socket: Option<PathBuf>,
    /// The program that opens a file in the editor, if the editor cannot by itself.
    pub open_with: Option<String>,
    /// True if agents are to show their changes themselves.
    pub no_diffs: bool,
    /// The function that starts a companion in this process, where there can be no hub.
    pub start_own: StartOwn,
}
