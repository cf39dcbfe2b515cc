//! Messages that both profiles send and read, and the errors that answer a request.

use lsp_server::{ErrorCode, Message, Notification, RequestId, Response, ResponseError};
use pillion_discovery::version::Mismatch;
use pillion_protocol::{Range, diagnostics};
use pillion_text::visible;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// As much of a message for people as anybody reads.
const MAX_TEXT: usize = 500;

/// The kind of a message for people, with its number in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageType {
    Error = 1,
    Warning = 2,
    Info = 3,
}

/// A problem as the protocol has it: in the negotiated encoding, with the number of a kind for its severity.
pub type Diagnostic = diagnostics::Diagnostic<Range, u8>;

pub fn notification(method: &str, params: impl Serialize) -> Message {
    Notification::new(method.to_owned(), params).into()
}

pub fn answer(id: RequestId, result: Result<Value, ResponseError>) -> Message {
    let response_result = result;
    Message::Response(Response {
        id,
        response_result,
    })
}

/// Tells the person at the editor.
pub fn show(kind: MessageType, text: impl AsRef<str>) -> Message {
    let message = visible::one_line(text.as_ref());
    notification(
        "window/showMessage",
        json!({"type": kind as u8, "message": message}),
    )
}

/// Tells the person that something is of another version than this program.
pub fn mismatch(mismatch: &Mismatch) -> Message {
    show(MessageType::Warning, format!("Pillion: {mismatch}"))
}

/// Tells the editor's log.
pub fn log(kind: MessageType, text: impl AsRef<str>) -> Message {
    let message = visible::one_line(text.as_ref());
    notification(
        "window/logMessage",
        json!({"type": kind as u8, "message": message}),
    )
}

/// Tells the editor's log that a notification was ignored.
pub fn ignored(method: &str, why: &str) -> Message {
    log(MessageType::Warning, format!("{method} is ignored: {why}"))
}

pub fn diagnostics(uri: &str, diagnostics: Vec<Diagnostic>) -> Message {
    let params = json!({"uri": uri, "diagnostics": diagnostics});
    notification("textDocument/publishDiagnostics", params)
}

/// The parameters of a message.
///
/// # Errors
/// A sentence that names the field.
pub fn params<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(params).map_err(|error| {
        let (field, reason) = (error.path().to_string(), error.inner().to_string());
        let place = if field == "." { "" } else { &field };
        let separator = if place.is_empty() { "" } else { ": " };
        // The reason quotes what stands there, which may be a whole file.
        format!("{place}{separator}{}", head(&reason))
    })
}

/// Why what the person wants is not done.
pub fn failed(why: String) -> ResponseError {
    error(ErrorCode::RequestFailed, why)
}

pub fn error(code: ErrorCode, message: impl Into<String>) -> ResponseError {
    ResponseError {
        code: code as i32,
        message: message.into(),
        data: None,
    }
}

pub fn invalid(why: String) -> ResponseError {
    error(ErrorCode::InvalidParams, why)
}

pub fn unknown_method(method: &str) -> ResponseError {
    let method = head(method);
    error(
        ErrorCode::MethodNotFound,
        format!("unknown method {method}"),
    )
}

fn head(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_TEXT);
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Outer {
        #[expect(dead_code, reason = "only whether it can be read matters")]
        inner: Vec<Inner>,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Inner {
        #[expect(dead_code, reason = "only whether it can be read matters")]
        number: u32,
    }

    #[test]
    fn what_people_read_holds_no_control_characters() {
        for message in [show, log].map(|say| say(MessageType::Info, "a\x1b[2J\nb\u{202e}")) {
            let text = format!("{message:?}");
            assert!(text.contains("a␛[2J"), "{text}");
            assert!(!text.contains("\\n") && !text.contains("202e"), "{text}");
        }
    }

    #[test]
    fn an_error_names_the_field_and_quotes_no_whole_file() {
        let error = |value| params::<Outer>(value).unwrap_err();
        assert_eq!(error(json!({})), "missing field `inner`");
        assert_eq!(
            error(json!({"inner": [{}]})),
            "inner[0]: missing field `number`"
        );
        let wrong = error(json!({"inner": [{"number": "x".repeat(100_000)}]}));
        assert!(
            wrong.starts_with("inner[0].number: invalid type: string"),
            "{wrong}"
        );
        assert!(wrong.len() < 600, "{}", wrong.len());
        assert!(error(Value::Null).contains("null"));
    }
}
