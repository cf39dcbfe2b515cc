//! Whose rules a companion is checked against.

use pillion_protocol::Dialect;

/// A protocol between agents and companions, with rules of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The published companion contract of Gemini CLI and Qwen Code: MCP over HTTP.
    #[default]
    Companion,
    /// Claude Code's, which has no published text: MCP over a WebSocket.
    Claude,
}

/// The rows of a protocol that checks for both refer to.
#[derive(Debug)]
pub(super) struct SharedRows {
    /// That something answers on the port.
    pub(super) answers: &'static [&'static str],
    /// That discovery files are files.
    pub(super) file: &'static [&'static str],
    /// That they hold a JSON object.
    pub(super) json: &'static [&'static str],
    /// That they hold a token.
    pub(super) token: &'static [&'static str],
    /// That sessions can be opened.
    pub(super) session: &'static [&'static str],
    /// That connections stay.
    pub(super) stays: &'static [&'static str],
}

impl Protocol {
    pub(super) fn rows(self) -> SharedRows {
        match self {
            Self::Companion => SharedRows {
                answers: &["C6.1-answers"],
                file: &["C2.1-file"],
                json: &["C2.4-json"],
                token: &["C2.4-authToken"],
                session: &["C1.1-initialize"],
                stays: &["C1.1-stream-stays"],
            },
            Self::Claude => SharedRows {
                answers: &["K9-answers"],
                file: &["K1-file"],
                json: &["K1-json"],
                token: &["K1-token", "K1-json"],
                session: &["K2-upgrade", "K4-initialize"],
                stays: &["K2-text"],
            },
        }
    }

    /// The agents that speak it and have files of their own.
    pub(super) fn agents(self) -> &'static [Dialect] {
        match self {
            Self::Companion => &[Dialect::GeminiCli, Dialect::QwenCode],
            Self::Claude => &[Dialect::ClaudeCode],
        }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::Companion => Self::Claude,
            Self::Claude => Self::Companion,
        }
    }
}
