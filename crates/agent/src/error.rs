//! Why a companion does not let an agent in.

use std::time::Duration;

/// Why a companion could not be asked, or does not let one in.
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
