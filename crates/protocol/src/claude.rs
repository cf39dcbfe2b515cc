//! Claude Code's own companion protocol: MCP over a WebSocket, found by a lock file. Learnt by watching
//! the program; it has no published text.
//!
//! - [`hooks`]: the hooks that make it ask before each change.
//! - [`lock_file`]: the file by which the agent learns port, workspace and token.
//! - [`tools`]: the tools that it calls, and the words of the answers.
//! - [`notifications`]: the editor's notifications.

pub mod hooks;
pub mod lock_file;
pub mod notifications;
pub mod tools;

pub use lock_file::LockFile;
pub use notifications::{at_mentioned, selection_changed};

/// The request header in which the agent presents its token, which is bare there.
pub const AUTHORIZATION_HEADER: &str = "x-claude-code-ide-authorization";

/// The WebSocket subprotocol that Claude Code offers, and without whose name in the answer it hangs up.
/// opencode offers none.
pub const SUBPROTOCOL: &str = "mcp";

/// The path of the WebSocket.
pub const WEBSOCKET_PATH: &str = "/";

/// The first release whose own default permission mode is "auto". (2.1.282 was seen to ask.)
pub const AUTO_BY_DEFAULT: (u32, u32, u32) = (2, 1, 283);
