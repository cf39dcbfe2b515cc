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

impl Protocol {
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
