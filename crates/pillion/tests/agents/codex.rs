//! Codex CLI: what it does with patches, and what it asks editors. Its hooks are among those of all agents (`hooks`).

mod context;
mod patches;
