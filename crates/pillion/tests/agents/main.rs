//! The command as the real agents see it: Gemini CLI and Qwen Code in tmux against a stand-in
//! model, Gemini's own client library, and MCP's own conformance suite.
//!
//! `cargo xtask test` installs what these tests need and runs them. Each has a home, a temporary
//! folder and a tmux server of its own, and leaves no process behind.

// First by its name, so that its six minutes pass while all others run.
mod away;
mod claude;
mod codex;
mod companion;
mod conformance;
mod connection;
mod context;
mod copilot;
mod hooks;
mod lost;
mod no_diffs;
mod opencode;
mod patch_cases;
mod proposals;
mod review;
mod run;
#[path = "../shared/encodings.rs"]
mod shared_encodings;
#[path = "../shared/texts.rs"]
mod shared_texts;
mod texts;
mod together;
mod unhooked;
