//! The commands: one file each.

pub mod accept;
pub mod changes;
pub mod completions;
pub mod context;
pub mod detect;
pub mod diff;
pub mod diffs;
pub mod doctor;
pub mod env;
pub mod focus;
pub mod hook;
#[cfg(unix)]
pub mod hub;
pub mod install;
pub mod kakoune;
pub mod list;
pub mod lsp;
pub mod man;
pub mod mention;
pub mod reject;
pub mod review;
pub mod review_mode;
pub mod run;
pub mod send_notes;
pub mod serve;
pub mod uninstall;
pub mod web;

mod ask;
mod control_client;
mod demo;
mod notes;
mod output;
mod pager;
mod position;
