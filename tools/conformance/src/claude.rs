//! The rules of Claude Code's companion protocol: MCP over a WebSocket, found by a lock file. It has
//! no published text: every row says what breaks with the agent as it is.

mod access;
mod client;
mod context;
mod diagnostics;
mod diffs;
mod frames;
mod handshake;
mod lifecycle;
mod lock_files;
mod mcp;
mod scenario;
mod selection;
mod sessions;
mod tabs;
mod texts;
mod upgrade;

use crate::check::Check;

/// The rows of every group, in the order in which they are looked at and shown.
pub(super) const GROUPS: &[&[Check]] = &[
    lock_files::CHECKS,
    handshake::CHECKS,
    frames::CHECKS,
    access::CHECKS,
    mcp::CHECKS,
    context::CHECKS,
    diagnostics::CHECKS,
    diffs::CHECKS,
    tabs::CHECKS,
    texts::CHECKS,
    sessions::CHECKS,
    lifecycle::CHECKS,
];
