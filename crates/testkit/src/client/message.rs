//! A companion's JSON-RPC messages, independent of their transport.

use pillion_http::{Answer, HeaderMap};
use serde_json::{Value, json};

use crate::client::error::ClientError;
use crate::client::link::MAX_MESSAGE;
use pillion_protocol::json;

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// The answer to a request of ours.
    Response {
        id: Value,
        result: Result<Value, Value>,
    },
    /// Something that happened.
    Notification { method: String, params: Value },
    /// The companion asks something of us.
    Request { id: Value, method: String },
}

/// The messages in one JSON text: one, or several of an old revision's batch. Anything else is left
/// out.
pub(crate) fn parse(text: &[u8]) -> Vec<Message> {
    match json::value(text) {
        Ok(Value::Array(batch)) => batch.into_iter().filter_map(message).collect(),
        Ok(value) => message(value).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

fn message(mut value: Value) -> Option<Message> {
    let fields = value.as_object_mut()?;
    let id = fields.remove("id").filter(|id| !id.is_null());
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Some(Message::Request { id, method }),
        (Some(Value::String(method)), None) => {
            let params = fields.remove("params").unwrap_or_default();
            Some(Message::Notification { method, params })
        }
        (Some(_), _) => None,
        (None, id) => {
            let result = match (fields.remove("result"), fields.remove("error")) {
                (_, Some(error)) => Err(error),
                (Some(result), None) => Ok(result),
                (None, None) => return None,
            };
            let id = id.unwrap_or_default();
            Some(Message::Response { id, result })
        }
    }
}

/// Waits for the result of request `id` in an answer, which may be JSON or an event stream. Anything
/// else in the stream goes to `others`.
pub(crate) async fn result(
    answer: Answer,
    id: u64,
    mut others: impl FnMut(Message) -> Result<(), ClientError>,
) -> Result<(HeaderMap, Value), ClientError> {
    let wanted = json!(id);
    let mut look = |text: &[u8]| -> Result<Option<Value>, ClientError> {
        for message in parse(text) {
            match message {
                Message::Response { id, result } if id == wanted => {
                    return result.map(Some).map_err(|error| rpc_error(&error));
                }
                Message::Response { .. } => {}
                other => others(other)?,
            }
        }
        Ok(None)
    };
    let (media_type, headers) = (answer.media_type(), answer.headers);
    let found = match media_type.as_str() {
        "text/event-stream" => {
            let mut stream = answer.body.events(MAX_MESSAGE);
            let mut found = None;
            while found.is_none()
                && let Some(events) = stream.next().await?
            {
                for event in events.iter().filter(|event| event.is_message()) {
                    found = found.or(look(event.data.as_bytes())?);
                }
            }
            found
        }
        "application/json" => look(&answer.body.up_to(MAX_MESSAGE).all().await?)?,
        _ => {
            let text = "it is neither JSON nor an event stream";
            return Err(ClientError::protocol(text.to_owned()));
        }
    };
    let missing = || ClientError::protocol("it has no result".to_owned());
    Ok((headers, found.ok_or_else(missing)?))
}

/// The text blocks in the result of a tool's call.
///
/// # Errors
/// When the tool failed.
pub(crate) fn tool_texts(tool: &str, result: &mut Value) -> Result<Vec<String>, ClientError> {
    let is_error = result["isError"] == true;
    let blocks = result.get_mut("content").and_then(Value::as_array_mut);
    let mut texts = blocks.into_iter().flatten().filter_map(|block| {
        let is_text = block["type"] == "text";
        match block.get_mut("text").map(Value::take) {
            Some(Value::String(text)) if is_text => Some(text),
            _ => None,
        }
    });
    if is_error {
        let silent = || format!("{tool} failed, and the companion does not say why");
        return Err(ClientError::Tool(texts.next().unwrap_or_else(silent)));
    }
    Ok(texts.collect())
}

pub(crate) fn rpc_error(error: &Value) -> ClientError {
    let text = match error.get("message").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => error.to_string(),
    };
    let code = error.get("code").and_then(Value::as_i64);
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    ClientError::protocol(format!("it reports the error {text:?}{code}"))
}
