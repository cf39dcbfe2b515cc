//! Publishing, sweeping and finding, in directories of the test's own.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod claude;
mod copilot;
#[cfg(target_os = "linux")]
mod full_disk;
mod handover;
mod modes;
mod node;
mod publish;
mod refused;
mod restore;
mod seats;
mod state;
mod survey;
mod sweep;
mod unended;
mod world;
