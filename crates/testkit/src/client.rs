//! The agent's side of the companion contract, as far as tests need it: it connects, proposes, and hears what became of that and
//! what the editor shows.
//!
//! - [`Client`] and [`Updates`]: one MCP session.
//! - [`claude`]: the same for Claude Code's protocol, over a WebSocket.
//!
//! Everything runs on the caller's Tokio runtime. Every wait has an end, except for the person who decides.

mod backoff;
pub mod claude;
mod error;
mod introduction;
mod link;
mod message;
mod session;
mod updates;

pub use error::ClientError;
pub use introduction::Server;
pub use pillion_agent::Address;
pub use session::Client;
pub use updates::{Update, Updates};
