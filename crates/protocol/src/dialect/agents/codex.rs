//! OpenAI's Codex CLI. It opens no session and no diff: its hooks show what it changes, and it asks for context at a socket
//! ([`codex`](crate::codex)).

use super::Row;
use crate::dialect::Protocol;

pub(crate) const ROW: Row = Row {
    name: "codex",
    display_name: "Codex CLI",
    package: Some("@openai/codex"),
    places: &[],
    variables: None,
    shell_variable: Some("CODEX_THREAD_ID"),
    protocol: Protocol::Codex,
    client: None,
    usual_command: "codex",
    follows: None,
    overlooks: None,
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
