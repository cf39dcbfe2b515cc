//! The agent's side of the companion contract: connect to a companion, propose changes, and hear
//! what became of them and what the editor shows.
//!
//! ```no_run
//! # async fn example(port: u16, token: pillion_protocol::Token) -> Result<(), pillion_agent::ClientError> {
//! use pillion_agent::{Client, Update};
//!
//! let (client, mut updates) = Client::connect(port, token).await?;
//! client.open_diff("/work/notes.md", "new text\n").await?;
//! while let Some(update) = updates.next().await {
//!     if let Update::DiffAccepted { path, content } = update {
//!         // The agent writes the file, never the companion (C5.9).
//!         std::fs::write(path, content).ok();
//!         break;
//!     }
//! }
//! client.disconnect().await
//! # }
//! ```

mod client;
pub mod conformance;
mod http;
mod sse;
mod updates;

pub use client::{Client, ClientError};
pub use updates::{Update, Updates};
