//! The messages that go back to an agent, each written as one JSON-RPC message into the buffer that is sent.
//!
//! Claude Code waits for the outcome in its `openDiff` call. To the loop, that outcome is a notification like the
//! others: the outbox delivers it, and here it becomes the answer to that call. So it is delivered once, and kept
//! if its agent never receives it, by the same rules as all others.

use pillion_protocol::Dialect;
use pillion_protocol::diff::ClosedContent;
use serde::Serialize;
use serde_json::{Value, json};

use super::message::Malformed;
use crate::agents::{self, Message, ToolResult};
use crate::diffs;
use crate::ids::RequestId;
use crate::outbox::Push;

/// JSON-RPC's code for a request that is none here.
const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC's code for a method that there is not.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC's code for arguments that a method cannot take.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC's code for what is the server's own fault.
pub(super) const INTERNAL_ERROR: i32 = -32603;
/// MCP's code for a revision that the server does not speak.
const UNSUPPORTED_REVISION: i32 = -32022;

#[derive(Debug)]
pub(crate) struct Answer {
    id: Option<RequestId>,
    outcome: Result<Success, Error>,
}

#[derive(Debug)]
pub(super) enum Success {
    Value(Value),
    Tool(ToolResult),
    /// Text blocks, in the order in which the agent reads them.
    Blocks(Vec<String>),
}

/// The reason why there is no result.
#[derive(Debug, Serialize)]
pub(super) struct Error {
    pub(super) code: i32,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
}

impl Answer {
    pub(super) fn new(id: RequestId, outcome: Result<Success, Error>) -> Self {
        let id = Some(id);
        Self { id, outcome }
    }

    /// The answer to bytes that are not a message.
    pub(crate) fn malformed(malformed: Malformed) -> Self {
        let Malformed { code, reason } = malformed;
        Self {
            id: None,
            outcome: Err(Error::new(code, reason)),
        }
    }

    /// The answer to a request that is not served now.
    pub(crate) fn refused(id: RequestId, why: &str) -> Self {
        Self::new(id, Err(Error::new(INVALID_REQUEST, why)))
    }

    /// The answer to a request in a revision that is not among those that are `spoken`.
    pub(crate) fn unsupported(id: Option<RequestId>, requested: &str, spoken: &[&str]) -> Self {
        let mut error = Error::new(UNSUPPORTED_REVISION, "Unsupported protocol version");
        error.data = Some(json!({"supported": spoken, "requested": requested}));
        Self {
            id,
            outcome: Err(error),
        }
    }

    pub(crate) fn write_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        write_json(out, &self.id);
        match &self.outcome {
            Ok(success) => {
                out.extend_from_slice(br#","result":"#);
                match success {
                    Success::Value(value) => write_json(out, value),
                    Success::Tool(result) => write_tool_result(out, result),
                    Success::Blocks(texts) => write_json(out, &Blocks::new(texts, None)),
                }
            }
            Err(error) => {
                out.extend_from_slice(br#","error":"#);
                write_json(out, error);
            }
        }
        out.push(b'}');
    }
}

impl Error {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }
}

/// The text blocks of a result, as they are written.
#[derive(Serialize)]
struct Blocks<'a> {
    content: Vec<Block<'a>>,
    #[serde(rename = "isError", skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
}

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl<'a> Blocks<'a> {
    fn new(texts: &'a [String], is_error: Option<bool>) -> Self {
        let block = |text| Block {
            r#type: "text",
            text,
        };
        Self {
            content: texts.iter().map(String::as_str).map(block).collect(),
            is_error,
        }
    }
}

fn write_tool_result(out: &mut Vec<u8>, result: &ToolResult) {
    let (texts, is_error) = match result {
        // JSON within a text of JSON (C5.5).
        Ok(diffs::Answer::Closed(content)) => {
            let content = content.clone();
            let mut closed = Vec::new();
            write_json(&mut closed, &ClosedContent { content });
            let closed = String::from_utf8(closed).expect("JSON is UTF-8");
            (vec![closed], false)
        }
        Ok(_) => (Vec::new(), false),
        Err(reason) => (vec![reason.clone()], true),
    };
    write_json(out, &Blocks::new(&texts, Some(is_error)));
}

/// Writes a push to the end of `out`, if it can be told this agent.
pub(super) fn write_push(push: Push, agent: Dialect, out: &mut Vec<u8>) -> bool {
    let protocol = agents::of(agent);
    let message = match push {
        Push::Context(context) => protocol.context(context, agent),
        Push::Outcome(delivery) => protocol.outcome(delivery),
        Push::Mention(mention) => match protocol.mention(&mention, agent) {
            Some(message) => message,
            None => return false,
        },
    };
    match message {
        Message::Notification(method, params) => write_notification(out, method, params),
        Message::Answer(request, blocks) => {
            Answer::new(request, Ok(Success::Blocks(blocks))).write_to(out);
        }
    }
    true
}

fn write_notification(out: &mut Vec<u8>, method: &str, params: impl Serialize) {
    #[derive(Serialize)]
    struct Notification<'a, P> {
        jsonrpc: &'static str,
        method: &'a str,
        params: P,
    }
    let jsonrpc = "2.0";
    write_json(
        out,
        &Notification {
            jsonrpc,
            method,
            params,
        },
    );
}

fn write_json(out: &mut Vec<u8>, message: &impl Serialize) {
    let written = serde_json::to_writer(out, message);
    written.expect("messages are strings and numbers, and memory takes them");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(answer: &Answer) -> String {
        let mut out = b"data: ".to_vec();
        answer.write_to(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn tool(outcome: ToolResult) -> Answer {
        let id = RequestId::new(json!("two")).unwrap();
        Answer::new(id, Ok(Success::Tool(outcome)))
    }

    #[test]
    fn answers_have_the_shape_of_the_contract() {
        assert_eq!(
            text(&tool(Ok(diffs::Answer::Opened))),
            r#"data: {"jsonrpc":"2.0","id":"two","result":{"content":[],"isError":false}}"#
        );
        assert_eq!(
            text(&tool(Err("no \"such\"".into()))),
            r#"data: {"jsonrpc":"2.0","id":"two","result":{"content":[{"type":"text","text":"no \"such\""}],"isError":true}}"#
        );
        let malformed = Malformed {
            code: -32700,
            reason: "r".into(),
        };
        assert_eq!(
            text(&Answer::malformed(malformed)),
            r#"data: {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"r"}}"#
        );
    }

    proptest! {
        #[test]
        fn a_closed_text_is_json_within_a_text(content in "(\\PC|[\u{0}-\u{1f}\"\\\\\u{2028}]|[a-z]{12,40})*") {
            let answer = text(&tool(Ok(diffs::Answer::Closed(content.clone()))));
            let inner = serde_json::to_string(&json!({"content": content})).unwrap();
            let outer = json!([{"type": "text", "text": inner}]);
            let read: Value = serde_json::from_str(answer.strip_prefix("data: ").unwrap()).unwrap();
            prop_assert_eq!(&read["result"]["content"], &outer);
            // Also byte for byte: agents of some releases search for the quotes.
            let quoted = serde_json::to_string(&inner).unwrap();
            prop_assert!(answer.contains(&quoted), "{}", answer);
        }
    }
}
