//! Anthropic's Claude Code, whose protocol is its own ([`claude`](crate::claude)).

use super::Row;
use crate::dialect::{Base, FileName, Place, Protocol, Variables};

const fn claude_lock(base: Base) -> Place {
    Place {
        base,
        folder: &["ide"],
        name: FileName::PortLock,
    }
}

pub(crate) const ROW: Row = Row {
    name: "claude",
    display_name: "Claude Code",
    package: Some("@anthropic-ai/claude-code"),
    extension: Some("anthropic.claude-code"),
    places: &[
        claude_lock(Base::ClaudeConfig),
        // opencode reads only this one.
        claude_lock(Base::ClaudeHome),
    ],
    variables: Some(Variables {
        port: "CLAUDE_CODE_SSE_PORT",
        workspace: None,
        token: None,
        pid: None,
        // Without an extension for it, it would install the one of VS Code into whatever is there.
        settings: &[("CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL", "1")],
        same_host: &[],
        // It looks for no name, and asks more of a companion in a terminal of VS Code.
        known_editor: None,
    }),
    shell_variable: Some("CLAUDECODE"),
    protocol: Protocol::Claude,
    client: Some("claude-code"),
    usual_command: "claude",
    keeps_settings_in: &[".claude", ".claude.json", "claude.md", "claude.local.md"],
    unchanged_is_rejection: true,
    refuses_changed_file: true,
    // Where it does not take it for an edit of a file that ends with one. (Seen with nine releases from
    // 2.1.112 on, and not with 2.1.329.)
    drops_last_line_feed: Some((2, 1, 328)),
    proposes: true,
    announces_writes: true,
    connects_when_told: true,
    ..Row::PLAIN
};
