//! How the hooks of each agent work: a file each.

pub(crate) mod claude;
pub(crate) mod codex;
mod edit;
pub(crate) mod gemini;
pub(crate) mod qwen;

#[cfg(test)]
mod tests;
