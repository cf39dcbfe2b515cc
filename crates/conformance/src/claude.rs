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

use std::sync::atomic::Ordering;

use self::client::Client;
use crate::check::Check;
use crate::test_context::TestContext;

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

/// Views are closed with the connection that they were opened on, and every connection ends with its
/// row. False when one was cut off with a view open and the companion does not answer: it may be open
/// still.
pub(super) async fn clean_up(test: &TestContext) -> bool {
    let has_views = test.claude.has_views.swap(false, Ordering::Relaxed);
    !has_views || Client::open(test).await.is_ok()
}
