//! The API that Claude Code speaks: Anthropic's `v1/messages`, streamed and not, `count_tokens`.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{Turn, json as json_body, unique_id};

/// The main conversation is streamed and may write files; side questions (a title) have no tools.
pub(super) fn is_main(path: &str, body: &Value) -> bool {
    let tools = body["tools"].as_array().into_iter().flatten();
    path.ends_with("/messages")
        && body["stream"] == true
        && tools.into_iter().any(|tool| tool["name"] == "Write")
}

pub(super) fn answer(path: &str, body: &Value, turn: Option<Turn>) -> Response {
    if path.ends_with("/count_tokens") {
        return json_body(&json!({ "input_tokens": 10 }));
    }
    let blocks = blocks(turn.unwrap_or_else(|| Turn::say("ok")));
    let calls_tools = blocks.iter().any(|block| block["type"] == "tool_use");
    let reason = if calls_tools { "tool_use" } else { "end_turn" };
    let mut message = json!({
        "id": unique_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    if body["stream"] != true {
        message["content"] = blocks.into();
        message["stop_reason"] = reason.into();
        return json_body(&message);
    }
    let start = json!({ "type": "message_start", "message": message });
    let content = blocks.iter().enumerate().flat_map(|(at, it)| block(at, it));
    let end = [
        json!({
            "type": "message_delta",
            "delta": { "stop_reason": reason, "stop_sequence": null },
            "usage": { "output_tokens": 1 },
        }),
        json!({ "type": "message_stop" }),
    ];
    named_events([start].into_iter().chain(content).chain(end))
}

/// The content blocks of an answer, whole.
fn blocks(turn: Turn) -> Vec<Value> {
    let (name, input) = match turn {
        Turn::Say(text) => return vec![json!({ "type": "text", "text": text })],
        Turn::AtOnce(turns) => return turns.into_iter().flat_map(blocks).collect(),
        Turn::WriteFile { path, content } => {
            ("Write", json!({ "file_path": path, "content": content }))
        }
        Turn::Replace { path, old, new } => (
            "Edit",
            json!({ "file_path": path, "old_string": old, "new_string": new }),
        ),
        Turn::ReadFile { path } => ("Read", json!({ "file_path": path })),
        Turn::CallTool { name, input } => (name, input),
    };
    let id = unique_id("toolu");
    vec![json!({ "type": "tool_use", "id": id, "name": name, "input": input })]
}

/// Stands for half a character in what the model has a tool write.
pub const HALF: char = '\u{f8ff}';

/// The events by which a block is streamed: it starts empty, and one delta fills it.
fn block(index: usize, block: &Value) -> [Value; 3] {
    let (field, empty, delta) = if block["type"] == "text" {
        let delta = json!({ "type": "text_delta", "text": block["text"] });
        ("text", json!(""), delta)
    } else {
        // JSON may hold what no text of ours can.
        let input = block["input"].to_string().replace(HALF, r"\ud800");
        let delta = json!({ "type": "input_json_delta", "partial_json": input });
        ("input", json!({}), delta)
    };
    let mut start = block.clone();
    start[field] = empty;
    [
        json!({ "type": "content_block_start", "index": index, "content_block": start }),
        json!({ "type": "content_block_delta", "index": index, "delta": delta }),
        json!({ "type": "content_block_stop", "index": index }),
    ]
}

/// An event stream in which each event's name is its type.
fn named_events(events: impl Iterator<Item = Value>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    let body: String = events
        .map(|event| {
            let name = event["type"].as_str().unwrap_or_default();
            format!("event: {name}\ndata: {event}\n\n")
        })
        .collect();
    (kind, body).into_response()
}
