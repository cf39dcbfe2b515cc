//! The errors of a session with a companion, beside those of an agent that asks whether it is let in.

use std::time::Duration;

use pillion_agent::ClientError as Refusal;

/// Why a companion could not be asked, or did not do it.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It does not answer, does not let one in, or breaks the protocol.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// The tool failed, and this is why (C5.2, C5.5).
    #[error("{0}")]
    Tool(String),
    /// The companion does not offer both tools for diffs (C5.1, C5.4).
    #[error("the companion cannot show diffs")]
    NoDiffs,
    /// The connection ended before anybody decided.
    #[error("the companion ended, and nobody had decided")]
    Lost,
}

impl ClientError {
    /// Its answer breaks the protocol, as this says.
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Refusal::Protocol(what.into()).into()
    }
}

impl From<pillion_http::Error> for ClientError {
    fn from(error: pillion_http::Error) -> Self {
        Refusal::from(error).into()
    }
}

pub(crate) fn unreachable(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> ClientError {
    Refusal::Unreachable(error.into()).into()
}

/// Waits for `answer`, but only for so long.
pub(crate) async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    tokio::time::timeout(limit, answer)
        .await
        .unwrap_or(Err(Refusal::Silent(limit).into()))
}
