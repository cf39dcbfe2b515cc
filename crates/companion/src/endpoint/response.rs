//! Responses: whole ones, events as they come, and refusals.

use std::convert::Infallible;

use futures_util::{Stream, StreamExt};
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};

pub(super) type Response = http::Response<UnsyncBoxBody<Bytes, Infallible>>;

pub(super) fn whole(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response {
    let mut response = empty(status);
    *response.body_mut() = Full::new(body.into()).boxed_unsync();
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Full::default().boxed_unsync());
    *response.status_mut() = status;
    response
}

/// A response of server-sent events. Its head leaves before the first of them is there.
pub(super) fn events(events: impl Stream<Item = Vec<u8>> + Send + 'static) -> Response {
    let frames = events.map(|event| Ok(Frame::data(Bytes::from(event))));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    let content_type = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

/// A request that is not served, as the client reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// A refusal with a sentence for people.
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            body: text.into().into_bytes(),
            header: None,
        }
    }

    /// A refusal that a program reads.
    pub(super) fn json(status: StatusCode, json: Vec<u8>) -> Self {
        Self {
            status,
            content_type: "application/json",
            body: json,
            header: None,
        }
    }

    /// The same with a header that lists what would be served.
    pub(super) fn with(mut self, header: (HeaderName, HeaderValue)) -> Self {
        self.header = Some(header);
        self
    }

    pub(super) fn into_response(self) -> Response {
        let mut response = whole(self.status, self.content_type, self.body);
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> u16 {
        self.status.as_u16()
    }
}
