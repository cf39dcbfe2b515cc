//! The API that Codex CLI speaks: `responses`, streamed.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{Turn, unique_id};

/// A model that gets one tool, which runs JavaScript in which all others are functions.
const RUNS_CODE: &str = "gpt-6-sol";

/// The prefix of the names of tools that it calls directly also where it runs code.
const COLLABORATION: &str = "collaboration.";

/// A title for the session is asked for as JSON.
pub(super) fn is_main(body: &Value) -> bool {
    body["text"]["format"].is_null()
}

/// Returns true if another agent has sent this message.
pub(super) fn is_told(body: &Value, message: &str) -> bool {
    let items = body["input"].as_array().into_iter().flatten();
    let mut messages = items.filter(|item| item["type"] == "agent_message");
    messages.any(|item| super::mentions(item, message))
}

pub(super) fn answer(body: &Value, turn: Option<Turn>) -> Response {
    let runs_code = body["model"] == RUNS_CODE;
    let turn = turn.unwrap_or_else(|| Turn::say(r#"{"title":"a test"}"#));
    let output = items(turn, runs_code);
    let response = json!({
        "id": unique_id("response"),
        "object": "response",
        "status": "in_progress",
        "model": body["model"],
        "output": [],
    });
    let mut done = response.clone();
    done["status"] = json!("completed");
    done["output"] = json!(output);
    done["usage"] = json!({
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens_details": { "reasoning_tokens": 0 },
    });
    let mut events = vec![json!({ "type": "response.created", "response": response })];
    for (index, item) in output.iter().enumerate() {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            events.push(json!({ "type": kind, "output_index": index, "item": item }));
        }
    }
    events.push(json!({ "type": "response.completed", "response": done }));
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = json!(number);
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, numbered.collect::<String>()).into_response()
}

fn items(turn: Turn, runs_code: bool) -> Vec<Value> {
    if let Turn::CallTool { name, input } = &turn
        && let Some(name) = name.strip_prefix(COLLABORATION)
    {
        return vec![json!({
            "id": unique_id("item"),
            "call_id": unique_id("call"),
            "type": "function_call",
            "namespace": "collaboration",
            "name": name,
            "status": "completed",
            "arguments": input.to_string(),
        })];
    }
    let (name, input) = match turn {
        Turn::Say(text) => {
            return vec![json!({
                "id": unique_id("message"),
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }],
            })];
        }
        Turn::AtOnce(turns) => {
            let each = turns.into_iter();
            return each.flat_map(|turn| items(turn, runs_code)).collect();
        }
        Turn::WriteFile { path, content } => {
            let lines = content.lines().map(|line| format!("+{line}\n"));
            let lines: String = lines.collect();
            let body = format!("*** Add File: {}\n{lines}", path.display());
            return items(Turn::patch(&body), runs_code);
        }
        Turn::Replace { path, old, new } => {
            let path = path.display();
            let body = format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n");
            return items(Turn::patch(&body), runs_code);
        }
        Turn::ReadFile { path } => {
            let command = format!("cat '{}'", path.display());
            ("exec_command", json!({ "cmd": command }))
        }
        Turn::CallTool { name, input } => (name, input),
    };
    let call = |kind: &str, name: &str, field: &str, input: String| {
        let mut item = json!({
            "id": unique_id("item"),
            "call_id": unique_id("call"),
            "type": kind,
            "name": name,
            "status": "completed",
        });
        item[field] = json!(input);
        item
    };
    if runs_code {
        let code =
            format!("const result = await tools.{name}({input}); text(JSON.stringify(result));");
        let mut item = call("custom_tool_call", "exec", "input", code);
        item["namespace"] = json!("functions");
        return vec![item];
    }
    vec![match input {
        Value::String(text) => call("custom_tool_call", name, "input", text),
        input => call("function_call", name, "arguments", input.to_string()),
    }]
}
