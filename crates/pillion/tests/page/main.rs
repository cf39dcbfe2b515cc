//! The page of `pillion web` in a real browser, used as a person does: with keys and clicks, through what is on the screen.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod after;
mod claude;
mod deciding;
mod fields;
mod hostile;
mod looks;
mod remote;
#[path = "../it/sandbox.rs"]
#[allow(dead_code, reason = "shared with tests that use more of it")]
mod sandbox;
mod seen;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "../../../companion/tests/shared/doubts.rs"]
mod shared_doubts;
mod source;
mod tabs;
mod world;
