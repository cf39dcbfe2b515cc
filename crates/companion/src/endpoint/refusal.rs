//! A request that is not served, as the client reads it.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderName, HeaderValue, StatusCode};

use super::response::{self, Response};

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
        let mut response = response::whole(self.status, self.content_type, self.body);
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
