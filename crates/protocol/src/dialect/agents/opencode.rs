//! opencode, which reads Claude Code's files and presents its token.

use super::Row;
use crate::dialect::{Base, Dialect, Protocol};

pub(crate) const ROW: Row = Row {
    name: "opencode",
    display_name: "opencode",
    package: Some("opencode-ai"),
    shell_variable: Some("OPENCODE"),
    protocol: Protocol::Claude,
    client: Some("opencode"),
    usual_command: "opencode",
    keeps_settings_in: &[".opencode", "opencode.json", "opencode.jsonc"],
    follows: Some(Dialect::ClaudeCode),
    // It heeds no variable for a companion.
    overlooks: Some(Base::ClaudeConfig),
    ..Row::PLAIN
};
