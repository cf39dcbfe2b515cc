//! The companion over real sockets, with a stand-in for the editor.

mod access;
mod bad_input;
mod context;
mod diffs;
mod lifecycle;
mod protocol;
mod support;
