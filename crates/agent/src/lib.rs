//! The agent's side of the companion contract: connect to a companion, Pillion's or another's,
//! propose changes, and hear what became of them and what the editor shows.
//!
//! - [`find`]: which companion each release of an agent takes from here, and why not another.
//! - [`Client`] and [`Updates`]: one MCP session, which proposes texts and follows the context.
//! - [`claude`]: the same for Claude Code's protocol, over a WebSocket.
//! - [`knock`]: whether a companion would let one in, without a session.
//!
//! Everything runs on the caller's Tokio runtime. Every wait has an end, except for the person who
//! decides; no message may be longer than twice the longest text (C5), nor hold more values than a
//! companion has use for; and no bytes of a companion make this crate panic.
//!
//! Find the companion that the newest Gemini CLI would take here, and connect to it:
//!
//! ```
//! # mod accepting { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shared/accepting.rs")); }
//! use pillion_agent::Client;
//! use pillion_agent::find::{Release, Situation, find};
//! use pillion_discovery::Environment;
//! use pillion_system::process;
//! use pillion_protocol::Dialect;
//!
//! # let companion = accepting::Accepting::start();
//! # accepting::run(async {
//! let environment = Environment::current();
//! # let environment = companion.environment();
//! let chain = process::chain(std::process::id());
//! let finding = find(&Situation {
//!     release: Release::newest(Dialect::GeminiCli),
//!     environment: &environment,
//!     current_dir: environment.current_dir(),
//!     chain: &chain,
//!     in_container: false,
//! });
//! let dial = finding.dials.first().ok_or("no companion is running")?;
//! let (client, _updates) = Client::connect_to(dial.address()).await?;
//! assert_eq!(client.server().name, "pillion");
//! client.disconnect().await?;
//! # Ok(())
//! # });
//! ```
//!
//! The editor's context, as an agent sees it (C4.8):
//!
//! ```
//! # mod accepting { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shared/accepting.rs")); }
//! use pillion_agent::Client;
//!
//! # let companion = accepting::Accepting::start();
//! # let address = companion.address();
//! # accepting::run(async {
//! let (_client, mut updates) = Client::connect_to(address).await?;
//! loop {
//!     let context = updates.context().await?;
//!     if let Some(file) = context.active_file() {
//!         println!("looking at {}", file.path);
//!         # assert!(file.path.ends_with("open.md"));
//!         break;
//!     }
//! }
//! # Ok(())
//! # });
//! ```
//!
//! A proposal:
//!
//! ```
//! # mod accepting { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shared/accepting.rs")); }
//! use pillion_agent::Client;
//! use pillion_protocol::Outcome;
//!
//! # let companion = accepting::Accepting::start();
//! # let address = companion.address();
//! # accepting::run(async {
//! let (client, mut updates) = Client::connect_to(address).await?;
//! client.open_diff("/work/notes.md", "new text\n").await?;
//! match updates.decision("/work/notes.md").await? {
//!     // The agent writes the file, never the companion (C5.9).
//!     Outcome::Accepted { content, .. } => assert_eq!(*content, "new text\n"),
//!     Outcome::Rejected => {}
//! }
//! client.disconnect().await?;
//! # Ok(())
//! # });
//! ```

mod address;
mod backoff;
pub mod claude;
mod client;
mod error;
pub mod find;
pub mod host;
mod introduction;
mod knock;
mod link;
mod message;
mod release;
mod updates;

use std::io;

use tokio::runtime::{Builder, Runtime};

pub use address::Address;
pub use backoff::Backoff;
pub use client::Client;
pub use error::ClientError;
pub use introduction::Server;
pub use knock::knock;
pub use updates::{Update, Updates};

/// The runtime of a command's talk with a companion, on the calling thread, with sockets and clocks.
///
/// # Errors
/// When the system refuses.
pub fn runtime() -> io::Result<Runtime> {
    let started = Builder::new_current_thread().enable_all().build();
    started.map_err(|error| {
        let kind = error.kind();
        io::Error::new(kind, format!("cannot start the runtime: {error}"))
    })
}
