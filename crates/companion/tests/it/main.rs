//! The companion over real sockets, with a stand-in for the editor.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod access;
mod bad_input;
mod commands;
mod context;
#[cfg(unix)]
mod copilot;
mod diffs;
#[cfg(unix)]
mod hub;
#[path = "../shared/insisting.rs"]
mod insisting;
mod lifecycle;
mod lost;
mod proposing;
mod protocol;
mod support;
mod websocket;
