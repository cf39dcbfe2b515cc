//! The extension for VS Code and its forks: its modules beside a stand-in for VS Code, with a real `pillion lsp`; and the whole in
//! a real VS Code, with a real Claude Code.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod agents;
mod changes;
mod proposals;
mod real;
#[allow(dead_code, reason = "shared with the other tests of the command")]
#[path = "../it/sandbox.rs"]
mod sandbox;
mod saves;
#[allow(dead_code, reason = "shared with the other tests of the command")]
#[path = "../shared/agent_work.rs"]
mod shared_agent_work;
mod stand_in;
mod windows;
