//! One HTTP/1 request over a connection of its own, and its answer, piece by piece: for whoever talks
//! to a companion. Knows no companion, no token and no clock: the caller waits as long as it likes.

mod error;
mod events;
pub mod unauthenticated;

use std::path::Path;

use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, ToSocketAddrs};
use tokio::task::JoinSet;

pub use error::Error;
pub use events::{Event, Events};
pub use http::header::InvalidHeaderValue;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header, request};
pub use hyper::body::Bytes;

/// Among a request's extensions, has the names of its headers written like `Host`, as most libraries
/// for WebSockets write them, and not like `host`.
#[derive(Debug, Clone, Copy)]
pub struct TitleCase;

/// A connection that has become another protocol's.
pub type Upgraded = TokioIo<hyper::upgrade::Upgraded>;

/// An answer whose body is still to come.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
    upgrade: OnUpgrade,
}

/// An answer's body. Dropping it closes the connection, however much is still to come.
#[derive(Debug)]
pub struct Body {
    incoming: Incoming,
    limit: usize,
    /// The number of bytes that may still come.
    left: usize,
    /// The task that moves the bytes; ends with this value.
    _connection: JoinSet<()>,
}

/// A header's value that `Debug` does not show, such as one with a token.
///
/// # Errors
/// When it has characters that no header can have.
pub fn secret(value: String) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::try_from(value)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Sends a request as it is to the first of these addresses that takes a connection, and waits for the
/// head of the answer. Nothing is added to the request but its length.
///
/// # Errors
/// When nothing listens, or what is answered is not HTTP.
pub async fn send(to: impl ToSocketAddrs, request: Request<Bytes>) -> Result<Answer, Error> {
    let stream = TcpStream::connect(to).await.map_err(Error::Connect)?;
    stream.set_nodelay(true).map_err(Error::Connect)?;
    exchange(stream, request).await
}

/// The same to the Unix socket at this path.
///
/// # Errors
/// As [`send`]; and where the system has none.
pub async fn send_on_socket(path: &Path, request: Request<Bytes>) -> Result<Answer, Error> {
    #[cfg(unix)]
    {
        let stream = tokio::net::UnixStream::connect(path).await;
        exchange(stream.map_err(Error::Connect)?, request).await
    }
    #[cfg(not(unix))]
    {
        let _ = (path, request);
        Err(Error::Connect(std::io::ErrorKind::Unsupported.into()))
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Bytes>,
) -> Result<Answer, Error> {
    let is_title_case = request.extensions().get::<TitleCase>().is_some();
    let mut builder = http1::Builder::new();
    let builder = builder.title_case_headers(is_title_case);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    let mut task = JoinSet::new();
    task.spawn(async { drop(connection.with_upgrades().await) });
    let mut answer = sender.send_request(request.map(Full::new)).await?;
    let upgrade = hyper::upgrade::on(&mut answer);
    let (head, incoming) = answer.into_parts();
    let body = Body {
        incoming,
        limit: usize::MAX,
        left: usize::MAX,
        _connection: task,
    };
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        body,
        upgrade,
    })
}

impl Answer {
    /// The connection behind an answer that agrees to another protocol.
    ///
    /// # Errors
    /// When it does not, or the connection broke.
    pub async fn upgraded(self) -> Result<Upgraded, Error> {
        Ok(TokioIo::new(self.upgrade.await?))
    }

    /// The media type, without parameters and in lower case; empty if none is given.
    pub fn media_type(&self) -> String {
        let value = self.headers.get(header::CONTENT_TYPE);
        let value = value.and_then(|value| value.to_str().ok());
        let essence = value.and_then(|value| value.split(';').next());
        essence.unwrap_or_default().trim().to_ascii_lowercase()
    }
}

impl Body {
    /// The same, of which at most `limit` bytes are read.
    #[must_use]
    pub fn up_to(self, limit: usize) -> Self {
        Self {
            limit,
            left: limit,
            ..self
        }
    }

    /// The next bytes; none at the end. Cancel-safe.
    ///
    /// # Errors
    /// When the connection broke, or more comes than is read.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        while let Some(frame) = self.incoming.frame().await {
            let Ok(bytes) = frame?.into_data() else {
                continue;
            };
            let left = self.left.checked_sub(bytes.len());
            self.left = left.ok_or(Error::TooLong(self.limit))?;
            return Ok(Some(bytes));
        }
        Ok(None)
    }

    /// All of it.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub async fn all(mut self) -> Result<Vec<u8>, Error> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.next().await? {
            whole.extend_from_slice(&bytes);
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::thread::{self, JoinHandle};

    use tokio::io::AsyncReadExt;

    use super::*;

    const ANSWER: &[u8] =
        b"HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; a=b\r\n\r\ndata: one\n\n";

    /// Answers one request with these bytes; gives its end of the connection, or hangs up.
    fn server(bytes: &'static [u8]) -> (SocketAddr, JoinHandle<Option<TcpStream>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serve = move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            stream.write_all(bytes).unwrap();
            (!bytes.is_empty()).then_some(stream)
        };
        (address, thread::spawn(serve))
    }

    #[tokio::test]
    async fn a_connection_ends_with_its_answer() {
        let (address, server) = server(ANSWER);
        let answer = send(address, Request::default()).await.unwrap();
        assert_eq!(answer.media_type(), "text/event-stream");
        let mut events = answer.body.events(100);
        assert_eq!(events.next().await.unwrap().unwrap()[0].data, "one");
        drop(events);
        // The task that held it ends.
        tokio::task::yield_now().await;
        let mut stream = server.join().unwrap().unwrap();
        let end = stream.read(&mut [0]);
        assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
    }

    #[tokio::test]
    async fn no_more_is_read_than_was_asked_for() {
        let (address, _server) = server(ANSWER);
        let answer = send(address, Request::default()).await.unwrap();
        let whole = answer.body.up_to(10).all().await;
        assert!(matches!(whole, Err(Error::TooLong(10))), "{whole:?}");
    }

    #[tokio::test]
    async fn a_connection_is_handed_over_if_the_answer_agrees() {
        let agreed = b"HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello";
        let (address, _server) = server(agreed);
        let answer = send(address, Request::default()).await.unwrap();
        let mut stream = answer.upgraded().await.unwrap();
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"hello");
        let (address, _server) = server(ANSWER);
        let answer = send(address, Request::default()).await.unwrap();
        assert!(answer.upgraded().await.is_err());
    }

    #[tokio::test]
    async fn who_hangs_up_is_told_from_who_answers_nonsense() {
        for (bytes, is_hung_up) in [(&b""[..], true), (b"SSH-2.0-x\r\n\r\n", false)] {
            let (address, _server) = server(bytes);
            let error = send(address, Request::default()).await.unwrap_err();
            assert_eq!(error.is_hung_up(), is_hung_up, "{error}");
        }
        let (address, server) = server(b"");
        send(address, Request::default()).await.unwrap_err();
        server.join().unwrap();
        let error = send(address, Request::default()).await.unwrap_err();
        assert!(matches!(&error, Error::Connect(_)) && !error.is_hung_up());
    }
}
