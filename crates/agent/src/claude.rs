//! The agent's side of Claude Code's protocol: one session over a WebSocket, as the command-line
//! program opens it.
//!
//! - [`Client`]: the handshake and the tools. [`Client::open_diff`] waits for the person's decision.
//! - [`knock`]: whether a companion would let one in, without a session.
//! - [`Updates`]: what is selected and mentioned in the editor.
//!
//! A companion is found by its lock file ([`find`](crate::find)) and dialled by an
//! [`Address`](crate::Address), as any other.

mod client;
mod connection;
mod updates;

pub use crate::knock::claude as knock;
pub use client::{Answer, Client};
pub use updates::{Mention, Selection, Update, Updates};
