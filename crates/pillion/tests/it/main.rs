//! The command line, as a script meets it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod commands;
mod detect;
mod files;
mod install;
mod readme;
mod reference;
mod review;
mod sandbox;
mod serve;
