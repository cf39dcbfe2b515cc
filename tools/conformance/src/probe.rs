//! One HTTP request to a companion, as right or as wrong as a check wants it, over a connection of
//! its own; and its answer.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use pillion_http::header::{AUTHORIZATION, HOST};
use pillion_http::{
    Body, Bytes, Error, Events, HeaderName, HeaderValue, Method, Request, TitleCase, Upgraded,
};
use pillion_protocol::{Address, copilot, json};
use serde_json::Value;
use tokio::time::timeout;

use crate::message::answers;
use crate::rule::{Problem, cut};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Longer answers are not read to their end.
pub(super) const MAX_ANSWER: usize = 64 * 1024 * 1024;
pub(super) const MAX_ANSWER_SHOWN: &str = "64 MiB";

/// A request. It may hold a token, so it has no `Debug`.
#[derive(Clone)]
pub(super) struct Probe {
    to: To,
    target: String,
    request: Request<Bytes>,
}

/// The destination of a request.
#[derive(Clone)]
enum To {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// An answer whose body is still to come.
#[derive(Debug, derive_more::Deref)]
pub(super) struct Answer(pillion_http::Answer);

/// Why there is no answer, for a report.
#[derive(Debug, Clone, derive_more::Display)]
#[display("{why}")]
pub(super) struct NoAnswer {
    pub(super) why: String,
    /// True if the other side closed the connection instead of answering.
    pub(super) is_hung_up: bool,
}

impl From<NoAnswer> for Problem {
    fn from(NoAnswer { why, .. }: NoAnswer) -> Self {
        Self::Broken(why)
    }
}

impl NoAnswer {
    /// There is none, for this reason.
    pub(super) fn because<T>(why: impl Into<String>) -> Result<T, Self> {
        Err(Self::new(why))
    }

    pub(super) fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            is_hung_up: false,
        }
    }
}

impl Probe {
    /// A request with nothing but a host.
    pub(super) fn new(method: Method, address: &Address, target: &str) -> Self {
        let (to, host) = match address {
            Address::Tcp(port) => {
                let to = To::Tcp((Ipv4Addr::LOCALHOST, *port).into());
                (to, format!("127.0.0.1:{port}"))
            }
            Address::Unix(path) => (To::Unix(path.clone()), copilot::HOST.to_owned()),
        };
        let mut probe = Self {
            to,
            target: target.to_owned(),
            request: Request::default(),
        };
        *probe.request.method_mut() = method;
        probe.header(HOST, &host)
    }

    /// With another value for a header; one that cannot be sent is left out.
    pub(super) fn header(mut self, name: HeaderName, value: &str) -> Self {
        match HeaderValue::from_str(value) {
            Ok(value) => self.request.headers_mut().insert(name, value),
            Err(_) => self.request.headers_mut().remove(name),
        };
        self
    }

    /// The same for a value with the companion's port, written `PORT`, if it has one.
    pub(super) fn with_port(self, name: HeaderName, value: &str) -> Self {
        let value = match &self.to {
            To::Tcp(address) => value.replace("PORT", &address.port().to_string()),
            To::Unix(_) => value.replace(":PORT", ""),
        };
        self.header(name, &value)
    }

    /// One request with each of these values, which may have the port as well.
    pub(super) fn with_each(&self, name: &HeaderName, values: &[&str]) -> Vec<Self> {
        let with = |value: &&str| self.clone().with_port(name.clone(), value);
        values.iter().map(with).collect()
    }

    pub(super) fn without(mut self, name: HeaderName) -> Self {
        self.request.headers_mut().remove(name);
        self
    }

    /// With names of headers like `Host` instead of `host`.
    pub(super) fn title_case(mut self) -> Self {
        self.request.extensions_mut().insert(TitleCase);
        self
    }

    pub(super) fn token(self, scheme: &str, token: &str) -> Self {
        self.header(AUTHORIZATION, &format!("{scheme} {token}"))
    }

    /// Within a session, if the companion gave it an id.
    pub(super) fn session(self, id: Option<&str>) -> Self {
        match id {
            Some(id) => self.header(SESSION, id),
            None => self,
        }
    }

    pub(super) fn target(mut self, target: impl Into<String>) -> Self {
        self.target = target.into();
        self
    }

    pub(super) fn address(mut self, address: SocketAddr) -> Self {
        self.to = To::Tcp(address);
        self
    }

    pub(super) fn body(mut self, body: impl Into<Bytes>) -> Self {
        *self.request.body_mut() = body.into();
        self
    }

    /// Sends it, and waits for the head of the answer.
    pub(super) async fn send(self, limit: Duration) -> Result<Answer, NoAnswer> {
        timeout(limit, self.exchange())
            .await
            .unwrap_or_else(|_| NoAnswer::because(format!("no answer within {limit:?}")))
    }

    async fn exchange(mut self) -> Result<Answer, NoAnswer> {
        *self.request.uri_mut() = self.target.parse().map_err(no_answer)?;
        let answer = match &self.to {
            To::Tcp(address) => pillion_http::send(address, self.request).await,
            To::Unix(path) => pillion_http::send_on_socket(path, self.request).await,
        };
        answer.map(Answer).map_err(|error| NoAnswer {
            is_hung_up: error.is_hung_up(),
            ..no_answer(error)
        })
    }
}

impl Answer {
    /// The status, for a report.
    pub(super) fn shown(&self) -> String {
        format!("HTTP {}", self.status.as_u16())
    }

    /// The values of a header.
    pub(super) fn values(&self, name: HeaderName) -> Vec<&str> {
        let values = self.headers.get_all(name).into_iter();
        values.filter_map(|value| value.to_str().ok()).collect()
    }

    /// The connection behind an answer that agrees to another protocol.
    pub(super) async fn upgraded(self) -> Result<Upgraded, NoAnswer> {
        self.0.upgraded().await.map_err(no_answer)
    }

    /// The events of its body, of [`MAX_ANSWER`] bytes in all.
    pub(super) fn into_events(self) -> Events {
        self.into_body().events(MAX_ANSWER)
    }

    fn into_body(self) -> Body {
        self.0.body.up_to(MAX_ANSWER)
    }

    /// The whole body.
    async fn bytes(self, limit: Duration) -> Result<Vec<u8>, NoAnswer> {
        match timeout(limit, self.into_body().all()).await {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(Error::TooLong(_))) => {
                NoAnswer::because(format!("the answer is longer than {MAX_ANSWER_SHOWN}"))
            }
            Ok(Err(error)) => NoAnswer::because(format!("the answer was cut off: {error}")),
            Err(_) => NoAnswer::because(format!(
                "the answer began, but did not end within {limit:?}"
            )),
        }
    }

    /// Returns true if it holds this text, in its head or in its body.
    pub(super) async fn holds(self, text: &str, limit: Duration) -> bool {
        let has = |bytes: &[u8]| {
            bytes
                .windows(text.len())
                .any(|them| them == text.as_bytes())
        };
        if text.is_empty() || self.headers.values().any(|it| has(it.as_bytes())) {
            return !text.is_empty();
        }
        self.bytes(limit).await.is_ok_and(|body| has(&body))
    }

    /// The status, and what the body says about it to people, if it does so as MCP servers do.
    async fn refusal(self, limit: Duration) -> NoAnswer {
        let status = self.shown();
        let body = self.bytes(limit).await.ok();
        let body = body.and_then(|body| json::value(&body).ok());
        let message = body
            .as_ref()
            .and_then(|body| body.pointer("/error/message"));
        NoAnswer::new(match message.and_then(Value::as_str) {
            Some(message) => format!("{status}, \"{}\"", cut(message)),
            None => status,
        })
    }

    /// The message that answers request `id`: the body, or an event of it.
    pub(super) async fn reply(self, id: &Value, limit: Duration) -> Result<Value, NoAnswer> {
        if !self.status.is_success() {
            return Err(self.refusal(limit).await);
        }
        let status = self.shown();
        match self.media_type().as_str() {
            "application/json" => {
                let bytes = self.bytes(limit).await?;
                json::value(&bytes)
                    .map_err(|error| NoAnswer::new(format!("the body is not JSON: {error}")))
            }
            "text/event-stream" => timeout(limit, in_stream(self.into_events(), id))
                .await
                .unwrap_or_else(|_| NoAnswer::because(format!("no answer within {limit:?}"))),
            "" => NoAnswer::because(format!("{status} without a Content-Type")),
            other => NoAnswer::because(format!(
                "{status} with {other}, neither JSON nor an event stream"
            )),
        }
    }
}

async fn in_stream(mut stream: Events, id: &Value) -> Result<Value, NoAnswer> {
    let too_long = || format!("no answer within {MAX_ANSWER_SHOWN} of its event stream");
    while let Some(events) = stream.next().await.map_err(|error| match error {
        Error::TooLong(_) => NoAnswer::new(too_long()),
        error => no_answer(error),
    })? {
        for event in events {
            if let Ok(message) = json::value(event.data.as_bytes())
                && answers(&message, id)
            {
                return Ok(message);
            }
        }
    }
    NoAnswer::because("its event stream ends without an answer")
}

fn no_answer(error: impl std::error::Error) -> NoAnswer {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    NoAnswer::new(text)
}
