//! Tool calls: how they reach the loop, and how its answer reads.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, Response};
use futures_util::stream;
use pillion_protocol::diff::{ClosedContent, TOOLS};
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorData, ProtocolVersion, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::SESSION_HEADER;
use super::handler::NEWEST;
use crate::diffs::Answer;
use crate::event::{Event, Events};
use crate::sessions::SessionId;

const VERSION_HEADER: &str = "mcp-protocol-version";

/// A tool call as it came, its arguments apart: they hold a whole file, which the SDK would copy
/// several times.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: Value,
    pub(crate) params: Map<String, Value>,
    pub(crate) arguments: Map<String, Value>,
}

/// A call in the form that agents use, which needs nothing of the SDK.
#[derive(Debug)]
pub(super) struct PlainCall {
    id: RequestId,
    session: SessionId,
    tool: &'static str,
    arguments: Map<String, Value>,
}

impl Call {
    /// The message without the arguments.
    pub(crate) fn envelope(&self) -> Bytes {
        #[derive(Serialize)]
        struct Envelope<'a> {
            jsonrpc: &'static str,
            id: &'a Value,
            method: &'static str,
            params: &'a Map<String, Value>,
        }
        let envelope = Envelope {
            jsonrpc: "2.0",
            id: &self.id,
            method: "tools/call",
            params: &self.params,
        };
        let bytes = serde_json::to_vec(&envelope);
        bytes.expect("JSON that was read can be written").into()
    }

    /// The call, if there is nothing in it or in its headers that only the SDK would understand,
    /// or refuse.
    pub(super) fn plain(self, headers: &HeaderMap) -> Result<PlainCall, Self> {
        let name = self.params.get("name").and_then(Value::as_str);
        let tool = TOOLS.iter().find(|tool| Some(tool.name) == name);
        let session = headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok());
        match (tool, session, RequestId::deserialize(&self.id)) {
            (Some(tool), Some(session), Ok(id)) if self.params.len() == 1 && is_plain(headers) => {
                Ok(PlainCall {
                    id,
                    session: session.into(),
                    tool: tool.name,
                    arguments: self.arguments,
                })
            }
            _ => Err(self),
        }
    }
}

impl PlainCall {
    pub(super) fn session(&self) -> &SessionId {
        &self.session
    }

    /// The answer, as the SDK would give it.
    ///
    /// Its head leaves before the loop hears of the call: while the loop works, the agent wakes up
    /// and reads it.
    pub(super) fn answer(self, events: Events) -> Response<Body> {
        let event = async move {
            let answer = call(&events, self.session, self.tool, self.arguments).await;
            let message = match answer {
                Ok(result) => {
                    let mut result = ServerResult::CallToolResult(result);
                    result.strip_result_type_for_legacy_peer();
                    ServerJsonRpcMessage::response(result, self.id)
                }
                Err(error) => ServerJsonRpcMessage::error(error, Some(self.id)),
            };
            let mut event = b"data: ".to_vec();
            serde_json::to_writer(&mut event, &message).expect("answers are strings and numbers");
            event.extend_from_slice(b"\n\n");
            Ok::<_, Infallible>(event)
        };
        let mut response = Response::new(Body::from_stream(stream::once(event)));
        for (name, value) in [
            (CONTENT_TYPE, "text/event-stream"),
            (CACHE_CONTROL, "no-cache"),
            (HeaderName::from_static("x-accel-buffering"), "no"),
        ] {
            let value = axum::http::HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// Whether the headers are those of the revisions that have sessions, and in order.
fn is_plain(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let accept = text(ACCEPT.as_str()).unwrap_or_default();
    let accepts = |wanted| accept.split(',').any(|kind| kind.trim() == wanted);
    let knows_version = text(VERSION_HEADER).is_none_or(|version| {
        let mut known = ProtocolVersion::known_up_to(&NEWEST).iter();
        known.any(|known| known.as_str() == version)
    });
    let is_plain = |name: &HeaderName| {
        let name = name.as_str();
        !name.starts_with("mcp-") || name == SESSION_HEADER || name == VERSION_HEADER
    };
    accepts("application/json")
        && accepts("text/event-stream")
        && knows_version
        && headers.keys().all(is_plain)
}

/// Hands a call to the loop and waits for the answer.
pub(super) async fn call(
    events: &Events,
    session: SessionId,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<CallToolResult, ErrorData> {
    let (caller, answer) = oneshot::channel();
    let event = Event::ToolCalled {
        session,
        tool: tool.to_owned(),
        arguments,
        caller,
    };
    let stopping = |_| ErrorData::internal_error("the companion is stopping", None);
    events.send(event).map_err(|_| stopping(()))?;
    Ok(match answer.await.map_err(|_| stopping(()))? {
        Ok(Answer::Opened | Answer::Settled | Answer::SettledWithEdits) => {
            CallToolResult::success(Vec::new())
        }
        Ok(Answer::Closed(content)) => {
            let text = serde_json::to_string(&ClosedContent { content })
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            CallToolResult::success(vec![ContentBlock::text(text)])
        }
        Err(reason) => CallToolResult::error(vec![ContentBlock::text(reason)]),
    })
}
