//! The agent's side of the companion contract: which companion an agent takes from here, and whether that would let it in.
//!
//! - [`find`]: which companion each release of an agent takes from here, and why not another.
//! - [`knock()`] and [`knock_claude`]: whether a companion would let one in, without a session.
//!
//! Knocking runs on the caller's Tokio runtime, and every wait has an end. No bytes of a companion make this crate panic.
//!
//! Find the companion that the newest Gemini CLI would take here, and see whether it would let it in:
//!
//! ```no_run
//! use pillion_agent::find::{Release, Situation, find};
//! use pillion_discovery::Environment;
//! use pillion_system::process;
//! use pillion_protocol::Dialect;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let environment = Environment::current();
//! let chain = process::chain(std::process::id());
//! let finding = find(&Situation {
//!     only: None,
//!     release: Release::newest(Dialect::GeminiCli),
//!     environment: &environment,
//!     current_dir: environment.current_dir(),
//!     chain: &chain,
//!     in_container: false,
//! });
//! let dial = finding.dials.first().ok_or("no companion is running")?;
//! pillion_agent::knock(&dial.address()).await?;
//! # Ok(())
//! # }
//! ```

mod address;
mod error;
pub mod find;
pub mod host;
mod knock;
mod release;

use std::io;

use tokio::runtime::{Builder, Runtime};

pub use address::Address;
pub use error::ClientError;
pub use knock::{claude as knock_claude, knock};

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
