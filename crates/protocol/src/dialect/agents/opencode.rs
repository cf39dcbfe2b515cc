//! opencode, which reads Claude Code's files and presents its token.

use super::Row;
use crate::dialect::{Base, Dialect, Protocol};

pub(crate) const ROW: Row = Row {
    name: "opencode",
    display_name: "opencode",
    package: Some("opencode-ai"),
    // Claude Code's.
    places: &[],
    variables: None,
    shell_variable: Some("OPENCODE"),
    protocol: Protocol::Claude,
    client: Some("opencode"),
    usual_command: "opencode",
    follows: Some(Dialect::ClaudeCode),
    // It heeds no variable.
    overlooks: Some(Base::ClaudeConfig),
    ignores_empty_text: false,
    unchanged_is_rejection: false,
    refuses_changed_file: false,
    drops_last_line_feed: None,
    misses_context_after_rejection: false,
    proposes: false,
    announces_writes: false,
    writes_own_text: false,
    connects_in_roots_only: false,
    cuts_selection: None,
};
