//! What goes back to an agent, written as one JSON-RPC message into the buffer that is sent. A text is
//! in it once, however often it is quoted.

use std::fmt;
use std::io;

use pillion_protocol::context::CONTEXT_UPDATE;
use pillion_protocol::diff::ClosedContent;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::message::{Malformed, RequestId};
use crate::diffs;
use crate::outbox::Push;

/// JSON-RPC's code for a method that there is not.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC's code for arguments that a method cannot take.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC's code for what is the server's own fault.
pub(super) const INTERNAL_ERROR: i32 = -32603;
/// MCP's code for a revision that the server does not speak.
const UNSUPPORTED_REVISION: i32 = -32022;

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    id: Option<RequestId>,
    outcome: Result<Success, Error>,
}

/// What a request came to.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Success {
    Value(Value),
    Tool(ToolResult),
}

/// What a tool came to: a call that fails is a result, too (C5.2).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult {
    content: Vec<Content>,
    is_error: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Content {
    Text {
        text: String,
    },
    #[serde(rename = "text")]
    Json {
        #[serde(serialize_with = "as_json_text")]
        text: ClosedContent,
    },
}

/// Why there is no result.
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

    /// The answer to bytes that are no message.
    pub(crate) fn malformed(malformed: Malformed) -> Self {
        let Malformed { code, reason } = malformed;
        Self {
            id: None,
            outcome: Err(Error::new(code, reason)),
        }
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

    /// Writes it to the end of `out`.
    pub(crate) fn write_to(&self, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct Response<'a> {
            jsonrpc: &'static str,
            id: &'a Option<RequestId>,
            #[serde(skip_serializing_if = "Option::is_none")]
            result: Option<&'a Success>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<&'a Error>,
        }
        if let Ok(Success::Tool(result)) = &self.outcome {
            out.reserve(result.size_hint());
        }
        let response = Response {
            jsonrpc: "2.0",
            id: &self.id,
            result: self.outcome.as_ref().ok(),
            error: self.outcome.as_ref().err(),
        };
        write_json(out, &response);
    }
}

impl ToolResult {
    pub(super) fn new(outcome: Result<diffs::Answer, String>) -> Self {
        let is_error = outcome.is_err();
        let content = match outcome {
            Ok(diffs::Answer::Closed(content)) => vec![Content::Json {
                text: ClosedContent { content },
            }],
            Ok(_) => Vec::new(),
            Err(reason) => vec![Content::Text { text: reason }],
        };
        Self { content, is_error }
    }

    /// About how many bytes it takes: text with some line ends and quotes.
    fn size_hint(&self) -> usize {
        let texts = self.content.iter().map(|content| match content {
            Content::Text { text } => text.len(),
            Content::Json { text } => text.content.len(),
        });
        let size: usize = texts.sum();
        size + size / 8 + 256
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

/// Writes a push to the end of `out`, as a notification.
pub(super) fn write_push(push: Push, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Notification<'a, P> {
        jsonrpc: &'static str,
        method: &'a str,
        params: P,
    }
    let jsonrpc = "2.0";
    match push {
        Push::Context(context) => write_json(
            out,
            &Notification {
                jsonrpc,
                method: CONTEXT_UPDATE,
                params: &*context,
            },
        ),
        Push::Outcome { file_path, outcome } => write_json(
            out,
            &Notification {
                jsonrpc,
                method: outcome.method(),
                params: outcome.into_params(file_path),
            },
        ),
    }
}

fn write_json(out: &mut Vec<u8>, message: &impl Serialize) {
    let written = serde_json::to_writer(out, message);
    written.expect("messages are strings and numbers, and memory takes them");
}

/// Serializes a value as a text that holds its JSON, without making that text first.
fn as_json_text<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    struct Json<'a, T>(&'a T);

    impl<T: Serialize> fmt::Display for Json<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            serde_json::to_writer(ToFormatter(f), self.0).map_err(|_| fmt::Error)
        }
    }

    struct ToFormatter<'a, 'b>(&'a mut fmt::Formatter<'b>);

    impl io::Write for ToFormatter<'_, '_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = str::from_utf8(bytes).map_err(io::Error::other)?;
            self.0.write_str(text).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    serializer.collect_str(&Json(value))
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

    fn tool(outcome: Result<diffs::Answer, String>) -> Answer {
        let id = RequestId::new(json!("two")).unwrap();
        Answer::new(id, Ok(Success::Tool(ToolResult::new(outcome))))
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
        fn a_closed_text_is_json_within_a_text(content in "(\\PC|[\u{0}-\u{1f}\"\\\\\u{2028}])*") {
            let answer = text(&tool(Ok(diffs::Answer::Closed(content.clone()))));
            let inner = serde_json::to_string(&json!({"content": content})).unwrap();
            let outer = json!([{"type": "text", "text": inner}]);
            let read: Value = serde_json::from_str(answer.strip_prefix("data: ").unwrap()).unwrap();
            prop_assert_eq!(&read["result"]["content"], &outer);
            // Also byte for byte: agents of some releases look for the quotes.
            let quoted = serde_json::to_string(&inner).unwrap();
            prop_assert!(answer.contains(&quoted), "{}", answer);
        }
    }
}
