//! The hooks of each agent: a file each.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copilot;
mod edit;
pub(crate) mod gemini;
mod patch;
pub(crate) mod qwen;

#[cfg(test)]
mod tests;
