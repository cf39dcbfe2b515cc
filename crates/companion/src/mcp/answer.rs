//! The messages that go back to an agent, each written as one JSON-RPC message into the buffer that is sent. A text is
//! in it once, however often it is quoted.
//!
//! Claude Code waits for the outcome in its `openDiff` call. To the loop, that outcome is a notification like the
//! others: the outbox delivers it, and here it becomes the answer to that call. So it is delivered once, and kept
//! if its agent never receives it, by the same rules as all others.

use std::iter;

use pillion_protocol::Dialect;
use serde::Serialize;
use serde_json::{Value, json};

use super::json::{BLOCK, append, append_plain, escaped_bytes};
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

/// The number of bytes of a text that are written at a time.
const PIECE: usize = 64 * 1024;

/// The end of the message, after the text that an agent gets back.
const CLOSED_END: &[u8] = br#"\"}"}],"isError":false}}"#;

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    id: Option<RequestId>,
    outcome: Result<Success, Error>,
}

/// The result of a request.
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

    /// Writes it to the end of `out`.
    pub(crate) fn write_to(&self, out: &mut Vec<u8>) {
        self.write_to_text(out);
        let (text, rest) = self.long_text();
        quote_twice(out, text);
        out.extend_from_slice(rest);
    }

    /// The answer, between `before` and `after`, in pieces: the agent reads one while the next is written.
    pub(crate) fn into_pieces(
        self,
        before: &'static [u8],
        after: &'static [u8],
    ) -> impl Iterator<Item = Vec<u8>> {
        let mut first = before.to_vec();
        self.write_to_text(&mut first);
        let (mut next, mut written) = (Some(first), 0);
        iter::from_fn(move || {
            let mut piece = next.take()?;
            let (text, rest) = self.long_text();
            let left = &text[written..];
            let taken = &left[..left.len().min(PIECE)];
            quote_twice(&mut piece, taken);
            written += taken.len();
            if taken.len() < left.len() {
                next = Some(Vec::new());
            } else {
                piece.extend_from_slice(rest);
                piece.extend_from_slice(after);
            }
            Some(piece)
        })
    }

    /// Writes all that comes before its [long text](Self::long_text).
    fn write_to_text(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        write_json(out, &self.id);
        match &self.outcome {
            Ok(success) => {
                out.extend_from_slice(br#","result":"#);
                match success {
                    Success::Value(value) => write_json(out, value),
                    Success::Tool(result) => write_tool_result(out, result),
                    Success::Blocks(texts) => write_blocks(out, texts),
                }
            }
            Err(error) => {
                out.extend_from_slice(br#","error":"#);
                write_json(out, error);
            }
        }
    }

    /// The text that an agent gets back with closeDiff, which may be a whole file and is quoted twice, and
    /// what comes after it; an empty one in any other answer.
    fn long_text(&self) -> (&[u8], &'static [u8]) {
        match &self.outcome {
            Ok(Success::Tool(Ok(diffs::Answer::Closed(text)))) => (text.as_bytes(), CLOSED_END),
            _ => (b"", b"}"),
        }
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

fn write_tool_result(out: &mut Vec<u8>, result: &ToolResult) {
    const TEXT_BLOCK: &[u8] = br#"{"content":[{"type":"text","text":"#;
    match result {
        // The text comes after it.
        Ok(diffs::Answer::Closed(_)) => {
            out.extend_from_slice(TEXT_BLOCK);
            out.extend_from_slice(br#""{\"content\":\""#);
        }
        Ok(_) => out.extend_from_slice(br#"{"content":[],"isError":false}"#),
        Err(reason) => {
            out.extend_from_slice(TEXT_BLOCK);
            write_json(out, reason);
            out.extend_from_slice(br#"}],"isError":true}"#);
        }
    }
}

/// Writes a text, or a part of it, as it is within JSON that is within a text of JSON: the text of a
/// `ClosedContent` (C5.5). It may be a whole file, so it is copied a block at a time.
fn quote_twice(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    // About what it takes: source code with its line ends, tabs and quotes.
    out.reserve(rest.len() + rest.len() / 4);
    let append_quoted = |out: &mut Vec<u8>, byte: u8| {
        let (written, length) = &TWICE_QUOTED[usize::from(byte)];
        append(out, written, *length);
    };
    while let Some(window) = rest.first_chunk() {
        let mut escaped = escaped_bytes(window);
        let mut written = 0;
        while escaped != 0 {
            let next = escaped.trailing_zeros() as usize;
            append_plain(out, window, written, next);
            append_quoted(out, window[next]);
            written = next + 1;
            escaped &= escaped - 1;
        }
        append_plain(out, window, written, BLOCK);
        rest = &rest[BLOCK..];
    }
    for byte in rest {
        append_quoted(out, *byte);
    }
}

/// The form of each byte of a text in JSON within JSON, and the number of bytes that it takes.
static TWICE_QUOTED: [([u8; 8], usize); 256] = {
    let mut table = [([0; 8], 1); 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = twice_quoted(byte as u8);
        byte += 1;
    }
    table
};

const fn twice_quoted(byte: u8) -> ([u8; 8], usize) {
    let written: &[u8] = match byte {
        b'"' => br#"\\\""#,
        b'\\' => br"\\\\",
        b'\n' => br"\\n",
        b'\r' => br"\\r",
        b'\t' => br"\\t",
        0x08 => br"\\b",
        0x0c => br"\\f",
        0..b' ' => {
            let hex = b"0123456789abcdef";
            &[
                b'\\',
                b'\\',
                b'u',
                b'0',
                b'0',
                hex[byte as usize >> 4],
                hex[byte as usize & 15],
            ]
        }
        _ => &[byte],
    };
    let mut padded = [0; 8];
    let mut at = 0;
    while at < written.len() {
        padded[at] = written[at];
        at += 1;
    }
    (padded, written.len())
}

fn write_blocks(out: &mut Vec<u8>, texts: &[String]) {
    out.extend_from_slice(br#"{"content":["#);
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(br#"{"type":"text","text":"#);
        write_json(out, text);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
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

    #[test]
    fn the_pieces_of_an_answer_are_the_whole() {
        let pieces =
            |outcome| -> Vec<_> { tool(outcome).into_pieces(b"data: ", b"\n\n").collect() };
        let whole = |outcome| text(&tool(outcome)).into_bytes();
        let ended = |mut answer: Vec<u8>| {
            answer.extend_from_slice(b"\n\n");
            answer
        };
        let opened = || Ok(diffs::Answer::Opened);
        assert_eq!(pieces(opened()), [ended(whole(opened()))]);
        for (length, count) in [(0, 1), (1, 1), (PIECE, 1), (PIECE + 1, 2), (3 * PIECE, 3)] {
            // Every piece but the last ends within a character.
            let content = "€".repeat(length / 3) + &"\"".repeat(length % 3);
            let closed = || Ok(diffs::Answer::Closed(content.clone()));
            let pieces = pieces(closed());
            assert_eq!(pieces.len(), count, "{length}");
            assert_eq!(pieces.concat(), ended(whole(closed())), "{length}");
        }
    }

    #[test]
    fn what_is_quoted_may_be_anywhere_in_a_block() {
        for quoted in ["\"", "\\", "\n\t", "\u{1}", "\u{7f}é"] {
            for before in 0..2 * BLOCK {
                for after in [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK] {
                    let content = "a".repeat(before) + quoted + &"b".repeat(after);
                    let mut out = b"\"\\\"".to_vec();
                    quote_twice(&mut out, content.as_bytes());
                    out.extend_from_slice(b"\\\"\"");
                    let once = serde_json::to_string(&content).unwrap();
                    let twice = serde_json::to_string(&once).unwrap();
                    assert_eq!(String::from_utf8(out).unwrap(), twice);
                }
            }
        }
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
