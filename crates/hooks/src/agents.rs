//! How the hooks of each agent work: a file each.

pub(crate) mod claude;
pub(crate) mod codex;
mod edit;
