//! A request that is not served, as the client reads it.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;

/// JSON-RPC's code for a text that is no JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// JSON-RPC's code for JSON that is no message.
pub(super) const INVALID_REQUEST: i32 = -32600;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    status: StatusCode,
    body: Body,
}

#[derive(Debug, PartialEq, Eq)]
enum Body {
    Text(String),
    Json(String),
    JsonRpc { code: i32, message: String },
}

impl Refusal {
    /// A refusal with a sentence for people.
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        let body = Body::Text(text.into());
        Self { status, body }
    }

    /// A refusal of a body, as JSON-RPC puts it.
    pub(super) fn json_rpc(code: i32, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status: StatusCode::BAD_REQUEST,
            body: Body::JsonRpc { code, message },
        }
    }

    /// A refusal that the commands' client reads.
    pub(super) fn json(status: StatusCode, refusal: &impl Serialize) -> Self {
        let json = serde_json::to_string(refusal).unwrap_or_default();
        let body = Body::Json(json);
        Self { status, body }
    }

    /// The companion is on its way out.
    pub(super) fn stopping() -> Self {
        let text = "the companion is stopping";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> u16 {
        self.status.as_u16()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (content_type, body) = match self.body {
            Body::Text(text) => ("text/plain; charset=utf-8", text),
            Body::Json(json) => ("application/json", json),
            Body::JsonRpc { code, message } => {
                let error = json!({"code": code, "message": message});
                let response = json!({"jsonrpc": "2.0", "id": null, "error": error});
                ("application/json", response.to_string())
            }
        };
        let mut response = (self.status, [(CONTENT_TYPE, content_type)], body).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = axum::http::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
