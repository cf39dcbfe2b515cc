//! The features that only Kakoune has, in real Kakounes with the real `pillion kakoune`: a client split in tmux, macros, its
//! installation. The rules of all editors are in `tests/editors`.
//!
//! `cargo xtask test` installs both Kakounes and runs these tests, with `--all` each on each of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod agents;
mod await_write;
mod busy;
mod changes;
mod clients;
mod commands;
mod conformance;
mod decisions;
mod first_moment;
mod forged;
mod hung_disk;
mod install;
mod notes;
mod open_with;
mod seen;
mod split;
mod world;
