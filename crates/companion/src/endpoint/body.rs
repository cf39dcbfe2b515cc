//! Reads a request's body: bounded in size and in time.

use std::error::Error;
use std::time::Duration;

use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use pillion_discovery::budget::Budget;
use pillion_protocol::diff::MAX_CONTENT;

use super::response::Refusal;
use super::unfinished::{Begun, TOO_MANY};

/// The largest body, in bytes: the longest content may double its size as a JSON string.
const MAX_BODY: usize = 2 * MAX_CONTENT + 1024 * 1024;

/// The most memory that is taken before a body arrives, if it announces as much.
const MAX_AHEAD: usize = 16 * 1024 * 1024;

/// The time limit for a body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Others are being received.
#[derive(Debug, thiserror::Error)]
#[error("{TOO_MANY}")]
struct NoRoom;

/// The whole body.
///
/// # Errors
/// When it is too long, too many are received at once, it breaks off, or does not end within [`BODY_TIMEOUT`].
pub(super) async fn read(
    headers: &HeaderMap,
    body: Incoming,
    unfinished: &Budget,
) -> Result<Bytes, Refusal> {
    let begun = Begun::new(unfinished);
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok())
        .unwrap_or_default();
    if announced > MAX_BODY {
        return Err(too_long());
    }
    match tokio::time::timeout(BODY_TIMEOUT, collect(body, announced, &begun)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(error)) if error.is::<NoRoom>() => Err(Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            error.to_string(),
        )),
        Ok(Err(error)) => {
            let text = format!("the body was cut off: {error}");
            Err(Refusal::new(StatusCode::BAD_REQUEST, text))
        }
        Err(_) => {
            let text = format!("the body did not end within {BODY_TIMEOUT:?}");
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, text))
        }
    }
}

/// Returns the body in one piece. Several chunks are copied: each, however small, would keep a buffer of
/// the connection alive.
async fn collect(
    body: Incoming,
    announced: usize,
    begun: &Begun,
) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    let mut body = Limited::new(body, MAX_BODY);
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if bytes.is_empty() {
            if body.is_end_stream() {
                return Ok(data);
            }
            bytes.reserve_exact(announced.min(MAX_AHEAD));
        }
        if !begun.read(data.len()) {
            return Err(NoRoom.into());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

fn too_long() -> Refusal {
    let text = format!("the body is longer than {MAX_BODY} bytes");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
}
