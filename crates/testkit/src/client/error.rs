//! The errors between an agent and a companion.

use std::time::Duration;

/// Why a companion could not be asked, or did not do it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Nothing listens, or the connection broke.
    #[error("no answer from the companion")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Something listens, but does not answer in time.
    #[error("the companion did not answer within {0:?}")]
    Silent(Duration),
    /// The companion refused the request; 401 is a wrong token (C3.3).
    #[error("the companion refused the request (HTTP {0})")]
    Refused(u16),
    /// The answer breaks the protocol.
    #[error("invalid answer from the companion: {0}")]
    Protocol(String),
    /// The tool failed, and this is why (C5.2, C5.5).
    #[error("{0}")]
    Tool(String),
    /// The companion does not offer both tools for diffs (C5.1, C5.4).
    #[error("the companion cannot show diffs")]
    NoDiffs,
    /// The session is away from its companion just now.
    #[error("the companion is not connected")]
    NotConnected,
    /// The connection ended before anybody decided.
    #[error("the companion ended, and nobody had decided")]
    Lost,
}

impl From<pillion_http::Error> for ClientError {
    fn from(error: pillion_http::Error) -> Self {
        match error {
            pillion_http::Error::TooLong(_) => Self::Protocol(error.to_string()),
            error => unreachable(error),
        }
    }
}

pub(crate) fn unreachable(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> ClientError {
    ClientError::Unreachable(error.into())
}

/// Waits for `answer`, but only for so long.
pub(crate) async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    tokio::time::timeout(limit, answer)
        .await
        .unwrap_or(Err(ClientError::Silent(limit)))
}
