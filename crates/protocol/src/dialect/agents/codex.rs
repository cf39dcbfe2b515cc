//! OpenAI's Codex CLI. It opens no session and no diff: its hooks show what it changes, and it asks for context at a socket
//! ([`codex`](crate::codex)).

use super::Row;

pub(crate) const ROW: Row = Row {
    name: "codex",
    display_name: "Codex CLI",
    package: Some("@openai/codex"),
    shell_variable: Some("CODEX_THREAD_ID"),
    usual_command: "codex",
    keeps_settings_in: &[".codex", "agents.md", "agents.override.md"],
    ..Row::PLAIN
};
