//! One session over a WebSocket, as Claude Code opens it.

mod client;
mod connection;
mod updates;

pub use client::{Answer, Client};
pub use updates::{Mention, Selection, Update, Updates};
