//! `pillion lsp`: a companion inside an editor, reached over the editor's language-server client.
//!
//! One thread owns everything (`server`). It takes messages of the editor and events of the
//! companion, one after the other, and hands them to one of two profiles: `plugin` for Pillion's
//! own plugins (`docs/editor-protocol.md`), `plain` for every other client. A profile is a state
//! machine: what it wants done comes back as `profile::Action`s. What takes long or waits for a disk is done
//! by other threads (`comparer`, `disk`).

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
mod restore;
mod roots;
mod server;
mod session;
mod transport;
mod uri;

pub use framing::Malformed;
use pillion_view::StartOwn;
pub use server::run;

/// How an editor left that should not have.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Without `shutdown`: nothing is lost, pending diffs were rejected.
    #[error("the editor sent exit without shutdown")]
    Hasty,
    /// What it wrote is not the base protocol.
    #[error("cannot parse the editor's messages")]
    Malformed(#[source] Malformed),
}

/// How to serve the editor.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which editor it is, if it does not identify itself.
    pub editor: Option<String>,
    /// The program that opens a file in the editor, if the editor cannot by itself.
    pub open_with: Option<String>,
    /// True if agents are to show their changes themselves.
    pub no_diffs: bool,
    /// What starts a companion in this process, where there can be no hub.
    pub start_own: StartOwn,
}
