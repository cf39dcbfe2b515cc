//! The HTTP request that asks for a WebSocket, as right or as wrong as a check wants it, and the
//! answer.

use std::net::Ipv4Addr;
use std::time::Duration;

use pillion_protocol::claude::{AUTHORIZATION_HEADER, SUBPROTOCOL, WEBSOCKET_PATH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::probe::NoAnswer;
use crate::test_context::TestContext;

/// No head of an answer is as long.
const MAX_HEAD: usize = 64 * 1024;

/// As good as any: it only proves that the other side speaks WebSocket.
const KEY: &str = "cGlsbGlvbi1jb25mb3JtMQ==";

/// A request. It may hold a token, so it has no `Debug`.
#[derive(Clone)]
pub(super) struct Upgrade {
    port: u16,
    target: String,
    headers: Vec<(String, String)>,
}

/// The head of an answer, and the connection behind it.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) stream: TcpStream,
    /// What came after the head.
    pub(super) rest: Vec<u8>,
}

impl Upgrade {
    /// A request as the agent makes it.
    pub(super) fn of_agent(test: &TestContext) -> Self {
        let upgrade = Self::of_stranger(test);
        match test.connection.target.token() {
            Some(token) => upgrade.header(AUTHORIZATION_HEADER, token.expose()),
            None => upgrade,
        }
    }

    /// The same without a token.
    pub(super) fn of_stranger(test: &TestContext) -> Self {
        let port = test.connection.target.port();
        let upgrade = Self {
            port,
            target: WEBSOCKET_PATH.to_owned(),
            headers: Vec::new(),
        };
        upgrade
            .header("Host", &format!("127.0.0.1:{port}"))
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", KEY)
            .header("Sec-WebSocket-Protocol", SUBPROTOCOL)
    }

    /// With another value for a header.
    pub(super) fn header(self, name: &str, value: &str) -> Self {
        let mut upgrade = self.without(name);
        upgrade.headers.push((name.to_owned(), value.to_owned()));
        upgrade
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(super) fn target(mut self, target: impl Into<String>) -> Self {
        self.target = target.into();
        self
    }

    /// Sends it, and waits for the head of the answer.
    pub(super) async fn send(&self, limit: Duration) -> Result<Answered, NoAnswer> {
        let sent = timeout(limit, self.exchange()).await;
        sent.unwrap_or_else(|_| Err(NoAnswer::new(format!("no answer within {limit:?}"))))
    }

    async fn exchange(&self) -> Result<Answered, NoAnswer> {
        let failed = |error: std::io::Error| NoAnswer::new(error.to_string());
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
            .await
            .map_err(failed)?;
        let mut request = format!("GET {} HTTP/1.1\r\n", self.target);
        for (name, value) in &self.headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += "\r\n";
        // Who hangs up before the request is complete may have answered all the same.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut head = Vec::new();
        loop {
            if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = head.split_off(end + 4);
                return Answered::parse(&head, stream, rest);
            }
            if head.len() > MAX_HEAD {
                return Err(NoAnswer::new("the head of the answer has no end"));
            }
            match stream.read_buf(&mut head).await {
                Ok(0) | Err(_) => {
                    return Err(NoAnswer {
                        why: "the connection is closed without an answer".to_owned(),
                        is_hung_up: true,
                    });
                }
                Ok(_) => {}
            }
        }
    }
}

impl Answered {
    fn parse(head: &[u8], stream: TcpStream, rest: Vec<u8>) -> Result<Self, NoAnswer> {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        let Some(status) = status.split(' ').nth(1).and_then(|it| it.parse().ok()) else {
            return Err(NoAnswer::new("the answer is not HTTP"));
        };
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        Ok(Self {
            status,
            headers: headers.collect(),
            stream,
            rest,
        })
    }

    /// The values of a header.
    pub(super) fn values(&self, name: &str) -> Vec<&str> {
        let named = self
            .headers
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }

    /// Whether it agrees to a WebSocket, as it must be said (RFC 6455, 4.2.2).
    pub(super) fn agrees(&self) -> Result<(), NoAnswer> {
        let wrong = |why: String| Err(NoAnswer::new(why));
        if self.status != 101 {
            return wrong(format!("HTTP {}", self.status));
        }
        for (name, wanted) in [("Upgrade", "websocket"), ("Connection", "upgrade")] {
            let values = self.values(name).join(", ");
            let mut words = values.split(',').map(str::trim);
            if !words.any(|word| word.eq_ignore_ascii_case(wanted)) {
                return wrong(format!("HTTP 101 with `{name}: {values}`"));
            }
        }
        match self.values("Sec-WebSocket-Accept")[..] {
            [value] if value == derive_accept_key(KEY.as_bytes()) => Ok(()),
            _ => wrong("HTTP 101 without the right `Sec-WebSocket-Accept`".to_owned()),
        }
    }

    /// Whether the answer holds this text.
    pub(super) async fn holds(mut self, text: &str, limit: Duration) -> bool {
        let in_head = self.headers.iter().any(|(_, value)| value.contains(text));
        let body = async {
            while self.rest.len() < MAX_HEAD {
                match self.stream.read_buf(&mut self.rest).await {
                    Ok(0) | Err(_) => break,
                    Ok(_) => {}
                }
            }
        };
        // Who keeps the connection open has sent its answer by then.
        let _ = timeout(limit, body).await;
        in_head || String::from_utf8_lossy(&self.rest).contains(text)
    }
}
