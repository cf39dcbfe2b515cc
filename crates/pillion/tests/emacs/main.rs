//! The Emacs package in real Emacsen, with the real `pillion lsp`: what no other editor has. The rules that all
//! editors keep are in `tests/editors`.
//!
//! `cargo xtask test` installs the Emacsen and runs these tests, with `--all` each on each of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod additions;
mod agents;
mod beside;
mod busy;
mod changes;
mod conformance;
mod daemon;
mod diagnostics;
mod gate;
mod install;
mod merge;
mod newer;
mod no_diffs;
mod notes;
mod review;
mod seen;
mod sources;
mod start;
mod starters;
mod terminal;
mod world;
mod written;
