//! The agent's side of the contract: against Pillion's companion, against servers that are not as
//! nice, and beside the real agents.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "../shared/accepting.rs"]
#[allow(dead_code, reason = "the examples of the documentation use more of it")]
mod accepting;
#[cfg(unix)]
mod choices;
mod claude;
#[cfg(target_os = "linux")]
mod claude_choices;
#[cfg(unix)]
mod claude_verdicts;
#[cfg(unix)]
mod copilot_verdicts;
mod endings;
mod foreign;
#[cfg(unix)]
mod ide_processes;
mod pillion;
mod rude;
mod server;
#[cfg(unix)]
mod situations;
#[cfg(unix)]
mod verdicts;
