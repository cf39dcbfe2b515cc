//! The agent's side of the contract: the choice rules against the real agents, and the client
//! against Pillion's companion and against servers that are not as nice.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[cfg(unix)]
mod choices;
mod foreign;
#[cfg(unix)]
mod ide_processes;
mod pillion;
mod rude;
mod server;
#[cfg(unix)]
mod situations;
