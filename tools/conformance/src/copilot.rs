//! The rules of Copilot CLI's companion protocol: MCP over HTTP on a Unix socket, found by a lock file. It has no
//! published text: every row says what breaks with the agent as it is.

mod access;
mod client;
mod context;
mod diffs;
mod lifecycle;
mod limits;
mod lock_files;
mod scenario;
mod selection;
mod sessions;
mod tabs;
mod tools;
mod transport;

use crate::check::Check;

/// The rows of every group, in the order in which they are looked at and shown.
pub(super) const GROUPS: &[&[Check]] = &[
    lock_files::CHECKS,
    transport::CHECKS,
    access::CHECKS,
    limits::CHECKS,
    tools::CHECKS,
    context::CHECKS,
    diffs::CHECKS,
    tabs::CHECKS,
    sessions::CHECKS,
    lifecycle::CHECKS,
];
