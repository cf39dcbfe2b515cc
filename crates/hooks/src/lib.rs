//! The hooks that agents run before they change files, as pure rules: which changes a call makes, what the agent is
//! answered when a person has decided about them, and which entries its settings need.
//!
//! Everything here is data and text: no I/O, no clock, no async. `pillion hook` reads the files and asks the person.
//!
//! - [`caller`]: whose call it is.
//! - [`call`]: what the hooks of all agents have in common.
//! - [`change`]: the files that a call changes.
//! - [`ruling`]: what became of the changes of a call, and what the agent's model is told.
//! - [`settings`]: settings files as texts, and our entries in an agent's, put in and taken out again.
//! - `format`: the languages of these files.
//! - `agents`: one file for each agent, with its tools, its words and its settings.

mod agents;
pub mod call;
pub mod caller;
pub mod change;
mod format;
pub mod ruling;
pub mod settings;

use pillion_protocol::Dialect;

pub use agents::edit::NOT_EXACT;
pub use call::{Answer, Call, Entry, Event, HookProtocol, Order, Record, Scope};
pub use change::{After, Change, Changes, Files};
pub use ruling::{Accepted, Decided, Reviewed, Ruling};

/// Returns the hooks of this agent.
pub fn of(agent: Dialect) -> &'static dyn HookProtocol {
    match agent {
        Dialect::ClaudeCode => &agents::claude::Claude,
        Dialect::CopilotCli => &agents::copilot::Copilot,
        Dialect::CodexCli => &agents::codex::Codex,
        Dialect::GeminiCli => &agents::gemini::Gemini,
        Dialect::KimiCode => &agents::kimi::Kimi,
        Dialect::MistralVibe => &agents::vibe::Vibe,
        Dialect::OpenCode => &agents::opencode::OpenCode,
        Dialect::QwenCode => &agents::qwen::Qwen,
    }
}
