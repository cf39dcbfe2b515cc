//! The rows of a protocol's rules that checks for several protocols refer to.

use pillion_protocol::dialect::Protocol;

/// The rows of a protocol that checks for several refer to.
#[derive(Debug)]
pub(super) struct SharedRows {
    /// Something answers on the port.
    pub(super) answers: &'static [&'static str],
    /// Discovery files are files.
    pub(super) file: &'static [&'static str],
    /// They hold a JSON object.
    pub(super) json: &'static [&'static str],
    /// They hold a token.
    pub(super) token: &'static [&'static str],
    /// Sessions can be opened.
    pub(super) session: &'static [&'static str],
    /// Connections stay.
    pub(super) stays: &'static [&'static str],
    /// Sessions over HTTP have ids.
    pub(super) session_id: &'static [&'static str],
    /// There are event streams.
    pub(super) stream: &'static [&'static str],
    /// There can be two sessions.
    pub(super) two: &'static [&'static str],
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
                session_id: &["C1.1-session"],
                stream: &["C1.1-stream"],
                two: &["C1.4-two"],
            },
            Protocol::Claude => Self {
                answers: &["K9-answers"],
                file: &["K1-file"],
                json: &["K1-json"],
                token: &["K1-token", "K1-json"],
                session: &["K2-upgrade", "K4-initialize"],
                stays: &["K2-text"],
                session_id: &[],
                stream: &[],
                two: &["K8-two"],
            },
            Protocol::Copilot => Self {
                answers: &["P9-answers"],
                file: &["P1-file"],
                json: &["P1-json"],
                token: &["P1-token", "P1-headers", "P1-json"],
                session: &["P2-initialize"],
                stays: &["P2-stream-stays"],
                session_id: &["P2-session"],
                stream: &["P2-stream"],
                two: &["P8-two"],
            },
            // Nobody can ask for it: it opens no sessions.
            Protocol::Hooks => Self {
                answers: &[],
                file: &[],
                json: &[],
                token: &[],
                session: &[],
                stays: &[],
                session_id: &[],
                stream: &[],
                two: &[],
            },
        }
    }
}
