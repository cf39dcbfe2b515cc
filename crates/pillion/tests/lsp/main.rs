//! `pillion lsp`, as an editor and its agents meet it: a real process, driven over its pipes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod agent;
mod claude;
mod client;
mod comeback;
mod conformance;
mod context;
mod diffs;
mod emacs;
mod endings;
mod example;
mod framing;
mod handshake;
mod helix;
#[cfg(target_os = "linux")]
mod hung_disk;
mod kakoune;
mod kate;
#[cfg(target_os = "linux")]
mod memory;
mod no_diffs;
#[cfg(unix)]
#[path = "../shared/other_hub.rs"]
mod other_hub;
mod plain;
mod roots;
#[allow(dead_code, reason = "shared with the other tests of the command")]
#[path = "../it/sandbox.rs"]
mod sandbox;
#[path = "../shared/agent_work.rs"]
mod shared_agent_work;
#[path = "../../../companion/tests/shared/doubts.rs"]
mod shared_doubts;
#[path = "../shared/encodings.rs"]
mod shared_encodings;
mod silence;
#[cfg(target_os = "linux")]
mod socket;
