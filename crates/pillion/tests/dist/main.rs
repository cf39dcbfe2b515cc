//! The artifacts, installed and run where there is nothing else: in an empty folder, in a bare Debian, by npm from
//! a registry of its own. `cargo xtask test --only dist` makes all of it first; no other run has these tests.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod archive;
mod bare;
mod debian;
mod managers;
mod npm;
mod recipes;
mod walk;
