//! The hooks of each agent: a file each.

mod aliases;
pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod edit;
pub(crate) mod gemini;
pub(crate) mod kimi;
pub(crate) mod opencode;
mod patch;
pub(crate) mod qwen;
pub(crate) mod vibe;

#[cfg(test)]
mod tests;
