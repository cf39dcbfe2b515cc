//! The command as the real agents see it: Gemini CLI and Qwen Code in tmux against a stand-in
//! model, Gemini's own client library, and MCP's own conformance suite.
//!
//! `cargo xtask test` installs what these tests need and runs them. Each has a home, a temporary
//! folder and a tmux server of its own, and leaves no process behind.

mod companion;
mod conformance;
mod texts;
