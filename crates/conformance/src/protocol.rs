//! The rows of a protocol's rules that checks for both protocols refer to.

use pillion_protocol::dialect::Protocol;

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

impl SharedRows {
    pub(super) fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Companion => Self {
                answers: &["C6.1-answers"],
                file: &["C2.1-file"],
                json: &["C2.4-json"],
                token: &["C2.4-authToken"],
                session: &["C1.1-initialize"],
                stays: &["C1.1-stream-stays"],
            },
            Protocol::Claude => Self {
                answers: &["K9-answers"],
                file: &["K1-file"],
                json: &["K1-json"],
                token: &["K1-token", "K1-json"],
                session: &["K2-upgrade", "K4-initialize"],
                stays: &["K2-text"],
            },
            Protocol::Copilot | Protocol::Codex => Self {
                answers: &[],
                file: &[],
                json: &[],
                token: &[],
                session: &[],
                stays: &[],
            },
        }
    }
}
