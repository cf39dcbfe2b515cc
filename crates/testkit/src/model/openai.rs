//! The API that Qwen Code speaks: `chat/completions`, streamed and not.

use axum::response::Response;
use serde_json::{Value, json};

use super::{Turn, events, json as json_body, mentions};

/// The main conversation is streamed and may ask the person something; helpers that work by
/// themselves may not. A guess at the next prompt comes with the main conversation's tools, but
/// says what it is.
pub(super) fn is_main(body: &Value) -> bool {
    let tools = body["tools"].as_array().into_iter().flatten();
    let last = body["messages"].as_array().and_then(|all| all.last());
    body["stream"] == true
        && tools
            .into_iter()
            .any(|tool| tool["function"]["name"] == "ask_user_question")
        && !last.is_some_and(|message| mentions(message, "[SUGGESTION MODE"))
}

pub(super) fn answer(body: &Value, turn: Option<Turn>) -> Response {
    let (message, reason) = message(turn.unwrap_or_else(|| Turn::say("ok")));
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
    let frame = |kind: &str, choices: Value, usage: Value| {
        json!({
            "id": "answer",
            "object": kind,
            "created": 1,
            "model": "fake",
            "choices": choices,
            "usage": usage,
        })
    };
    if body["stream"] != true {
        let choice = json!([{ "index": 0, "message": message, "finish_reason": reason }]);
        return json_body(&frame("chat.completion", choice, usage));
    }
    let chunk = |choices, usage| frame("chat.completion.chunk", choices, usage).to_string();
    let choice = |delta, reason| json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
    events([
        chunk(choice(message, Value::Null), Value::Null),
        chunk(choice(json!({}), json!(reason)), Value::Null),
        chunk(json!([]), usage),
        "[DONE]".to_owned(),
    ])
}

/// The assistant's message, and why it ends.
fn message(turn: Turn) -> (Value, &'static str) {
    let (name, arguments) = match turn {
        Turn::Say(text) => return (json!({ "role": "assistant", "content": text }), "stop"),
        Turn::WriteFile { path, content } => (
            "write_file",
            json!({ "file_path": path, "content": content }),
        ),
        Turn::Replace { path, old, new } => (
            "edit",
            json!({ "file_path": path, "old_string": old, "new_string": new }),
        ),
        Turn::ReadFile { path } => ("read_file", json!({ "file_path": path })),
    };
    let call = json!({
        "index": 0,
        "id": call_id(),
        "type": "function",
        "function": { "name": name, "arguments": arguments.to_string() },
    });
    (
        json!({ "role": "assistant", "tool_calls": [call] }),
        "tool_calls",
    )
}

/// Unique in this process: an agent takes a known id for a repetition.
fn call_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
