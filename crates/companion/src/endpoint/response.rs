//! The bodies of responses: whole, or events as they come.

use std::convert::Infallible;

use futures_util::{Stream, StreamExt};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};

pub(super) type Response = http::Response<UnsyncBoxBody<Bytes, Infallible>>;

/// A response with a body of this type.
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
