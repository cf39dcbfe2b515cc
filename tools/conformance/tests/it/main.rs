//! The conformance suite, tried on a small companion that can break every rule.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod claude;
mod companion;
mod context;
mod copilot;
mod editor;
mod examined;
mod files;
mod flaws;
mod lock_files;
mod mcp;
mod rules;
mod strangers;
mod views;
mod wire;
