//! The agent's side of the contract, against the real agents.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[cfg(unix)]
mod choices;
#[cfg(unix)]
mod ide_processes;
#[cfg(unix)]
mod situations;
#[cfg(unix)]
mod verdicts;
