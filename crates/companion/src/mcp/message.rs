//! A JSON-RPC message as MCP has them: read from bytes, and refused with a reason.

use pillion_protocol::json;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::ids::RequestId;

/// JSON-RPC's code for a text that is no JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC's code for JSON that is not a message.
const INVALID_REQUEST: i32 = -32600;

#[derive(Debug)]
pub(crate) enum Message {
    /// Wants an answer.
    Request(Request),
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// Answers a request of ours. There are none.
    Response,
}

/// A request: what is answered, and with which id.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// The reason why bytes are not a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) code: i32,
    pub(crate) reason: String,
}

/// Every field that a message may have.
#[derive(Deserialize)]
struct Fields {
    jsonrpc: Option<Value>,
    /// Also a null is there.
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// When it is no JSON, or no single JSON-RPC 2.0 message.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(invalid("batches are not supported: send one message"));
        }
        let fields: Fields = json::of_others(bytes).map_err(|error| not_json(&error))?;
        if fields.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
            return Err(invalid("jsonrpc is not \"2.0\""));
        }
        let is_answer = fields.result.is_some() || fields.error.is_some();
        let Some(method) = fields.method else {
            return match is_answer {
                true => Ok(Self::Response),
                false => Err(invalid("it has no method, result or error")),
            };
        };
        if is_answer {
            return Err(invalid("it has both a method and a result or error"));
        }
        let params = match fields.params {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(invalid("params is not an object")),
        };
        Ok(match fields.id {
            None => Self::Notification { method, params },
            Some(id) => Self::Request(Request {
                id: RequestId::new(id)
                    .ok_or_else(|| invalid("id is neither a string nor an integer"))?,
                method,
                params,
            }),
        })
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn invalid(reason: &str) -> Malformed {
    Malformed {
        code: INVALID_REQUEST,
        reason: reason.to_owned(),
    }
}

fn not_json(error: &serde_json::Error) -> Malformed {
    let code = match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => PARSE_ERROR,
        Category::Data => INVALID_REQUEST,
    };
    Malformed {
        code,
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_single_messages_pass() {
        for good in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"","method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
            r#" {"jsonrpc":"2.0","id":1,"method":"ping","x":"\ud800"} "#,
        ] {
            assert!(Message::parse(good.as_bytes()).is_ok(), "{good}");
        }
        for (bad, code) in [
            ("", PARSE_ERROR),
            ("{", PARSE_ERROR),
            ("\u{feff}{}", PARSE_ERROR),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"} more"#,
                PARSE_ERROR,
            ),
            ("[]", INVALID_REQUEST),
            (
                r#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                INVALID_REQUEST,
            ),
            ("5", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","result":1}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#,
                INVALID_REQUEST,
            ),
        ] {
            let refused = Message::parse(bad.as_bytes()).unwrap_err();
            assert_eq!(refused.code, code, "{bad} {refused:?}");
        }
    }

    /// Reads a notification whose parameters are this JSON.
    fn params(json: &[u8]) -> Result<Map<String, Value>, Malformed> {
        let before = br#"{"jsonrpc":"2.0","method":"a","params":"#;
        match Message::parse(&[before, json, b"}"].concat())? {
            Message::Notification { params, .. } => Ok(params),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_json_allows_at_its_limits_is_read() {
        let read = |json: &str| Value::Object(params(json.as_bytes()).unwrap());
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100));
        assert_eq!(read(&deep).to_string(), deep);
        for (json, expected) in [
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
            (r#"{"a":{"b":1,"b":2}}"#, r#"{"a":{"b":2}}"#),
            (
                r#"{"a":18446744073709551615}"#,
                r#"{"a":18446744073709551615}"#,
            ),
            (
                r#"{"a":18446744073709551616}"#,
                r#"{"a":1.8446744073709552e+19}"#,
            ),
            (r#"{"a":1e-999}"#, r#"{"a":0.0}"#),
            (
                r#"{"a\ud800":"\udc00\ud83d\ude00\\"}"#,
                "{\"a\u{fffd}\":\"\u{fffd}😀\\\\\"}",
            ),
        ] {
            assert_eq!(read(json).to_string(), expected, "{json}");
        }
        let long = format!(
            "{}\\u0041\\n{}",
            "é\\\"".repeat(100_000),
            "\u{2028}".repeat(100)
        );
        let text = format!("{}A\n{}", "é\"".repeat(100_000), "\u{2028}".repeat(100));
        assert_eq!(read(&format!("{{\"a\":\"{long}\"}}"))["a"], text);
    }

    #[test]
    fn what_json_does_not_allow_is_an_error_of_parsing() {
        let deep = "[".repeat(100_000);
        let deep_objects = "{\"a\":".repeat(100_000);
        let closed = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for value in [
            deep.as_bytes(),
            deep_objects.as_bytes(),
            closed.as_bytes(),
            b"1e999",
            b"01",
            b"-",
            b"NaN",
            b"\"\n\"",
            b"\"\x1f\"",
            b"\"\\x\"",
            b"\"\\u00g0\"",
            b"\"\\ud800\xff\"",
            b"\"\xff\"",
            b"\"\xc3\"",
            b"\"\xed\xa0\x80\"",
            b"\"",
            b"'a'",
            b"[1,]",
        ] {
            let refused = params(&[b"{\"a\":", value, b"}"].concat()).unwrap_err();
            let shown = &value[..value.len().min(40)];
            assert_eq!(refused.code, PARSE_ERROR, "{}", shown.escape_ascii());
        }
        let id = r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"a"}"#;
        assert_eq!(
            Message::parse(id.as_bytes()).unwrap_err().code,
            INVALID_REQUEST
        );
    }
}
