//! Codex CLI with the hook.

mod patches;
