//! `companion-conformance` as people run it, on companions of the `pillion` that lies beside it: `cargo build -p pillion`
//! makes that, and so does `cargo xtask test`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod command;
mod companions;
mod page;
mod sandbox;
