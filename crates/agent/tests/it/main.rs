//! The agent's side of the contract: against Pillion's companion, against servers that are not as
//! nice, and beside the real agents.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[cfg(unix)]
mod choices;
#[cfg(target_os = "linux")]
mod claude_choices;
#[cfg(unix)]
mod claude_verdicts;
#[cfg(unix)]
mod copilot_verdicts;
#[cfg(unix)]
mod ide_processes;
#[cfg(unix)]
mod situations;
#[cfg(unix)]
mod verdicts;
