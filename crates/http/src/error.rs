//! The reason why there is no answer, or no more of it.

/// The reason why there is no answer, or no more of it. Says what the system or the library below says.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody takes a connection.
    #[error(transparent)]
    Connect(std::io::Error),
    /// The connection broke, or what came is not HTTP.
    #[error(transparent)]
    Exchange(#[from] hyper::Error),
    /// The body, or an event of it, has more bytes than these.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
}

impl Error {
    /// Returns true if there was a connection, and it was closed or broke.
    pub fn is_hung_up(&self) -> bool {
        match self {
            Self::Exchange(error) => !error.is_parse() && !error.is_user() && !error.is_timeout(),
            Self::Connect(_) | Self::TooLong(_) => false,
        }
    }
}
