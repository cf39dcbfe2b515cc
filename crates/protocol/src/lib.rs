//! The companion contract of the terminal coding agents, as types and pure rules.
//!
//! Everything here is data: no I/O, no clock, no async, no HTTP. Rule numbers such as `C4.7` name
//! the rules of the contract that a line implements.
//!
//! - [`dialect`]: the differences between agents, as one table.
//! - [`discovery`]: the file by which an agent finds a companion, and its addresses (C2).
//! - [`token`]: secrets that never show in a log (C3).
//! - [`context`]: the context that the editor shows, and the rules of both sides (C4).
//! - [`diff`]: the two tools and their outcomes (C5).
//! - [`proposer`]: who proposes a change: an agent, or a program of Pillion's.
//! - [`review`]: the cases in which agents ask, as a person chooses.
//! - [`verdict`]: the decision of a person, with notes for the agent.
//! - [`remarks`]: the words in which an agent's model is told of it.
//! - [`claude`]: Claude Code's protocol, which is another one.
//! - [`copilot`]: GitHub Copilot CLI's, which is a third.
//! - [`codex`]: Codex CLI's question for what an editor shows.
//! - [`diagnostics`]: the problems that an editor shows.
//! - [`held`]: the calls that a hook of an agent's holds until the person has decided.
//! - [`ask`]: what our own programs ask the hub.
//! - [`json`]: JSON of others, in bounded memory, also of programs that count in UTF-16.
//! - [`path`]: paths by their text alone.

pub mod ask;
pub mod claude;
pub mod codex;
pub mod context;
pub mod copilot;
pub mod diagnostics;
pub mod dialect;
pub mod diff;
pub mod discovery;
pub mod held;
pub mod json;
pub mod path;
pub mod proposer;
pub mod record;
pub mod remarks;
pub mod review;
pub mod runs_code;
mod stranger;
pub mod token;
pub mod verdict;

pub use context::{Cursor, File, IdeContext, Position, Range, WorkspaceState};
pub use diagnostics::{Diagnostic, FileDiagnostics, Severity};
pub use dialect::Dialect;
pub use diff::{Outcome, ProposedFile};
pub use discovery::{Address, DiscoveryFile, IdeInfo};
pub use proposer::Proposer;
pub use review::{AgentProcess, ProcessChoice, ReviewChoice, ReviewMode};
pub use stranger::Stranger;
pub use token::Token;
pub use verdict::{Decision, Note, Verdict};

/// The name that Pillion's conformance suite gives itself as an agent. It starts the commands of the person who
/// checks a companion.
pub const SUITE_CLIENT: &str = "pillion-conformance";

/// The path of the one endpoint for MCP traffic (C1.2).
pub const MCP_PATH: &str = "/mcp";
