//! GitHub Copilot CLI's own companion protocol: MCP over HTTP on a Unix socket, found by a lock file. Learnt by
//! watching the program; it has no published text.
//!
//! - [`lock_file`]: the file by which the agent learns socket, workspace and token.
//! - [`tools`]: the tools that it calls, and the words of the answers.
//! - [`notifications`]: the editor's notifications.
//! - [`record`]: what it has sent with its prompts.

pub mod lock_file;
pub mod notifications;
pub mod record;
pub mod tools;

pub use lock_file::LockFile;
pub use notifications::{add_file_reference, selection_changed};

/// The `Host` header of its requests: a socket has no port.
pub const HOST: &str = "localhost";
