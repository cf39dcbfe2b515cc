//! A JSON-RPC message as the endpoint needs to know it: whether it is one, and whether it is a tool
//! call.

use pillion_protocol::surrogates::replace_lone_surrogates;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::error::Category;

use super::refusal::{INVALID_REQUEST, PARSE_ERROR, Refusal};
use crate::mcp::Call;

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Message {
    /// Reads a body.
    ///
    /// # Errors
    /// When it is no JSON, or no single JSON-RPC 2.0 message.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        if body.trim_ascii_start().starts_with(b"[") {
            return Err(Refusal::json_rpc(
                INVALID_REQUEST,
                "batches are not supported: send one message",
            ));
        }
        let message = match serde_json::from_slice(body) {
            Ok(message) => message,
            Err(error) => parse_without_halves(body).ok_or_else(|| not_json(&error))?,
        };
        if message.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
            return Err(Refusal::json_rpc(INVALID_REQUEST, "jsonrpc is not \"2.0\""));
        }
        if message.method.is_none() && message.result.is_none() && message.error.is_none() {
            return Err(Refusal::json_rpc(
                INVALID_REQUEST,
                "there is no method, result or error",
            ));
        }
        Ok(message)
    }

    /// Whether it asks for a new session.
    pub(super) fn is_initialize(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }

    /// The tool call that it is.
    pub(super) fn into_call(self) -> Option<Call> {
        let (Some(method), Some(id), Some(Value::Object(mut params))) =
            (self.method, self.id, self.params)
        else {
            return None;
        };
        if method != "tools/call" || !params.get("arguments").is_some_and(Value::is_object) {
            return None;
        }
        let Some(Value::Object(arguments)) = params.remove("arguments") else {
            return None;
        };
        Some(Call {
            id,
            params,
            arguments,
        })
    }
}

/// A message that only half a character keeps from being read.
fn parse_without_halves(body: &[u8]) -> Option<Message> {
    let text = str::from_utf8(body).ok()?;
    serde_json::from_str(&replace_lone_surrogates(text)).ok()
}

fn not_json(error: &serde_json::Error) -> Refusal {
    let code = match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => PARSE_ERROR,
        Category::Data => INVALID_REQUEST,
    };
    Refusal::json_rpc(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(body: &str) -> bool {
        Message::parse(body.as_bytes()).is_err()
    }

    #[test]
    fn only_single_messages_pass() {
        for good in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
        ] {
            assert!(!refused(good), "{good}");
        }
        for bad in [
            "",
            "{",
            "[]",
            r#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            "5",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"} more"#,
        ] {
            assert!(refused(bad), "{bad}");
        }
    }

    #[test]
    fn arguments_are_lifted_and_the_rest_is_kept() {
        let call = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call",
            "params": {"name": "n", "arguments": {"a": 1}, "_meta": {"progressToken": 2}}});
        let message = Message::parse(call.to_string().as_bytes());
        let call = message.unwrap().into_call().unwrap();
        let envelope: Value = serde_json::from_slice(&call.envelope()).unwrap();
        assert_eq!(Value::Object(call.arguments), json!({"a": 1}));
        assert_eq!(
            envelope,
            json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call",
                "params": {"name": "n", "_meta": {"progressToken": 2}}})
        );
    }

    #[test]
    fn other_messages_are_left_as_they_are() {
        for other in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":5}}"#,
        ] {
            let message = Message::parse(other.as_bytes()).unwrap();
            assert!(message.into_call().is_none(), "{other}");
        }
    }
}
