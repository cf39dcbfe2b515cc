//! MCP's streamable HTTP (C1.1): requests are posted and answered by an event each, pushes come on a
//! stream of events. Agents need both without event ids, priming events and replays.
//!
//! They try to parse an event that is empty, and reconnect after one with an id.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use hyper::body::Incoming;
use pillion_protocol::Dialect;

use super::response::{self, Refusal, Response};
use super::{Shared, body};
use crate::ids::RequestId;
use crate::mcp::{Answer, Message, OpenError, check_revision};
use crate::sessions::{MAX_SESSIONS, SessionId};
use crate::wire::Wire;

/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";

/// The header that names the revision which was agreed on.
const REVISION_HEADER: &str = "mcp-protocol-version";

/// The interval at which something is sent on a stream: agents give up a silent one after five minutes.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(45);

/// A comment, which agents skip.
const KEEP_ALIVE: &[u8] = b":\n\n";

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";

/// A message of the agent.
pub(super) async fn post(
    shared: &Shared,
    headers: &HeaderMap,
    body: Incoming,
    wire: Arc<Wire>,
) -> Result<Response, Refusal> {
    let agent = shared.guard.admit_agent(headers)?;
    let session = session(shared, headers, agent)?;
    if !accepts(headers, JSON) || !accepts(headers, EVENT_STREAM) {
        return Err(not_acceptable(
            "both application/json and text/event-stream",
        ));
    }
    if !is_json(headers) {
        let text = "Unsupported Media Type: Content-Type must be application/json";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let bytes = body::read(headers, body, &shared.unfinished).await?;
    let message = Message::parse(&bytes).map_err(|malformed| bad(&Answer::malformed(malformed)))?;
    drop(bytes);
    let Some(session) = session else {
        return open(shared, headers, agent, message);
    };
    match message {
        Message::Request(request) => {
            check(headers, Some(&request.id))?;
            let answer = shared.mcp.clone().answer(session, request, Some(wire));
            // Its head leaves before the loop gets the call: while the loop works, the agent
            // wakes up and reads it.
            Ok(response::events(answered(answer, KEEP_ALIVE_INTERVAL)))
        }
        Message::Notification { method, params } => {
            check(headers, None)?;
            shared.mcp.notified(&session, &method, params);
            Ok(response::empty(StatusCode::ACCEPTED))
        }
        Message::Response => {
            check(headers, None)?;
            Ok(response::empty(StatusCode::ACCEPTED))
        }
    }
}

/// The events of an answer. The person's decision may be long in coming: until then the stream is kept alive, by a comment
/// at each `interval`.
fn answered(
    answer: impl Future<Output = Option<Answer>> + Send + 'static,
    interval: Duration,
) -> impl futures_util::Stream<Item = Vec<u8>> + Send + 'static {
    stream::unfold(Some(Box::pin(answer)), move |answer| async move {
        let mut answer = answer?;
        match tokio::time::timeout(interval, &mut answer).await {
            Ok(answer) => Some((event(&answer?), None)),
            Err(_) => Some((KEEP_ALIVE.to_vec(), Some(answer))),
        }
    })
}

/// The stream of pushes.
pub(super) fn get(
    shared: &Shared,
    headers: &HeaderMap,
    wire: Arc<Wire>,
) -> Result<Response, Refusal> {
    let agent = shared.guard.admit_agent(headers)?;
    let session = session(shared, headers, agent)?.ok_or_else(session_required)?;
    if !accepts(headers, EVENT_STREAM) {
        return Err(not_acceptable("text/event-stream"));
    }
    check(headers, None)?;
    let stream = shared.mcp.stream(&session, wire).ok_or_else(no_session)?;
    let events = stream::unfold(stream, |mut stream| async {
        let mut event = EVENT_START.to_vec();
        let next = stream.next(&mut event);
        match tokio::time::timeout(KEEP_ALIVE_INTERVAL, next).await {
            Ok(false) => None,
            Ok(true) => {
                event.extend_from_slice(EVENT_END);
                Some((event, stream))
            }
            Err(_) => Some((KEEP_ALIVE.to_vec(), stream)),
        }
    });
    Ok(response::events(events))
}

/// The agent ends its session.
pub(super) fn delete(shared: &Shared, headers: &HeaderMap) -> Result<Response, Refusal> {
    let agent = shared.guard.admit_agent(headers)?;
    let session = session(shared, headers, agent)?.ok_or_else(session_required)?;
    check(headers, None)?;
    shared.mcp.end(&session);
    Ok(response::empty(StatusCode::ACCEPTED))
}

/// Any other method.
pub(super) fn other(shared: &Shared, headers: &HeaderMap) -> Result<Response, Refusal> {
    shared.guard.admit_agent(headers)?;
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
    Err(refusal.with((ALLOW, HeaderValue::from_static("GET, POST, DELETE"))))
}

/// Opens a session for the message that asks for one.
fn open(
    shared: &Shared,
    headers: &HeaderMap,
    agent: Dialect,
    message: Message,
) -> Result<Response, Refusal> {
    let Message::Request(request) = message else {
        return Err(session_required());
    };
    let opened = shared.mcp.open(agent, request);
    // A refusal would end the agent's attempt.
    if let Err(OpenError::UnknownRevision(answer)) = opened {
        return Ok(response::events(stream::iter([event(&answer)])));
    }
    let (session, answer) = opened.map_err(|error| match error {
        // A client of a revision without sessions learns which ones have them.
        OpenError::NoInitialize(id) => {
            let checked = check(headers, Some(&id));
            checked.err().unwrap_or_else(session_required)
        }
        OpenError::Refused(answer) | OpenError::UnknownRevision(answer) => bad(&answer),
        OpenError::TooMany(_) => {
            let text = format!(
                "too many sessions: {MAX_SESSIONS} of {} are open; close some, or wait until they expire",
                agent.name()
            );
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, text)
        }
        OpenError::NoRandomness(_) => {
            let text = "the system has no random bytes for a session";
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
    })?;
    let mut response = response::events(stream::iter([event(&answer)]));
    let session = HeaderValue::from_str(&session).expect("an id is letters and digits");
    response.headers_mut().insert(SESSION_HEADER, session);
    Ok(response)
}

/// The session that a request names. It belongs to the agent whose token opened it.
fn session(
    shared: &Shared,
    headers: &HeaderMap,
    agent: Dialect,
) -> Result<Option<SessionId>, Refusal> {
    let Some(name) = headers.get(SESSION_HEADER) else {
        return Ok(None);
    };
    let session = name
        .to_str()
        .ok()
        .and_then(|name| shared.mcp.session(name, agent));
    session.map(Some).ok_or_else(no_session)
}

/// Refuses a revision that is not spoken. Without a header it is the one that was agreed on.
fn check(headers: &HeaderMap, id: Option<&RequestId>) -> Result<(), Refusal> {
    let Some(revision) = headers.get(REVISION_HEADER) else {
        return Ok(());
    };
    let revision = String::from_utf8_lossy(revision.as_bytes());
    check_revision(&revision, id).map_err(|answer| bad(&answer))
}

/// Returns true if the agent takes an answer of this type. One of weight 0 it does not.
fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let accept = headers.get_all(ACCEPT).iter();
    let kinds = accept.filter_map(|value| value.to_str().ok());
    kinds.flat_map(|value| value.split(',')).any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        let is_wanted = parts
            .next()
            .is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        is_wanted && weight.is_none_or(|weight| weight > 0.0)
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE);
    content_type
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| {
            let kind = value.split(';').next().unwrap_or_default();
            kind.trim().eq_ignore_ascii_case(JSON)
        })
}

const EVENT_START: &[u8] = b"data: ";
const EVENT_END: &[u8] = b"\n\n";

fn event(answer: &Answer) -> Vec<u8> {
    let mut event = EVENT_START.to_vec();
    answer.write_to(&mut event);
    event.extend_from_slice(EVENT_END);
    event
}

/// A request that gets an error instead of a stream.
fn bad(answer: &Answer) -> Refusal {
    let mut json = Vec::new();
    answer.write_to(&mut json);
    Refusal::json(StatusCode::BAD_REQUEST, json)
}

fn session_required() -> Refusal {
    let text = "Bad Request: Session ID is required: initialize first";
    Refusal::new(StatusCode::BAD_REQUEST, text)
}

fn no_session() -> Refusal {
    let text = "no such session: initialize first";
    Refusal::new(StatusCode::NOT_FOUND, text)
}

fn not_acceptable(kinds: &str) -> Refusal {
    let text = format!("Not Acceptable: Client must accept {kinds}");
    Refusal::new(StatusCode::NOT_ACCEPTABLE, text)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::StreamExt;
    use tokio::sync::oneshot;

    use super::*;

    /// The clients of agents give up an answer of which nothing has come for so long.
    const GIVEN_UP: Duration = Duration::from_secs(5 * 60);

    /// A person may be away for longer than that.
    #[tokio::test]
    async fn a_stream_says_something_for_as_long_as_nobody_decides() {
        let (decide, decided) = oneshot::channel();
        let interval = Duration::from_millis(1);
        let mut events = pin!(answered(async { decided.await.ok() }, interval));
        for _ in 0..GIVEN_UP.as_secs() / KEEP_ALIVE_INTERVAL.as_secs() {
            assert_eq!(events.next().await.unwrap(), KEEP_ALIVE);
        }
        let malformed = Message::parse(b"").unwrap_err();
        decide.send(Answer::malformed(malformed)).unwrap();
        let rest: Vec<_> = events.collect().await;
        let rest = rest.concat();
        let answer = rest.strip_prefix(EVENT_START).unwrap();
        assert!(answer.ends_with(EVENT_END));
        const { assert!(2 * KEEP_ALIVE_INTERVAL.as_secs() < GIVEN_UP.as_secs()) };
    }
}
