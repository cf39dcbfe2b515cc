//! The API that Qwen Code speaks, and opencode, Copilot CLI, Kimi Code and Mistral Vibe when they are asked to: `chat/completions`, streamed and
//! not.

use axum::response::Response;
use serde_json::{Value, json};

use super::{Turn, events, json as json_body, mentions, unique_id};

/// The tool that asks the person something, Qwen Code's and opencode's; and the one of Copilot CLI that it also has where it
/// cannot ask.
const QUESTION_TOOLS: [&str; 3] = ["ask_user_question", "question", COPILOTS];

const COPILOTS: &str = "fetch_copilot_cli_documentation";

/// A tool that opencode alone has, with or without a person to ask.
const OPENCODES: &str = "webfetch";

/// One that Kimi Code alone has, and one of Mistral Vibe's.
const KIMIS: &str = "AgentSwarm";
const VIBES: &str = "run_typescript";

/// The tool of an agent that has no person to ask.
const HEADLESS_TOOL: &str = "edit";

/// The agent whose names tools have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Copilot,
    Kimi,
    OpenCode,
    Qwen,
    Vibe,
}

/// The main conversation is streamed and may ask the person something; helpers that work by
/// themselves may not. Without a terminal, it is what answers [`HEADLESS_PROMPT`](super::HEADLESS_PROMPT).
/// A guess at the next prompt comes with the main conversation's tools, but says what it is.
pub(super) fn is_main(body: &Value) -> bool {
    let messages = body["messages"].as_array().into_iter().flatten();
    let is_headless = messages
        .into_iter()
        .any(|it| mentions(it, super::HEADLESS_PROMPT))
        && tools(body).any(|name| name == HEADLESS_TOOL);
    let mut names = tools(body);
    let last = body["messages"].as_array().and_then(|all| all.last());
    body["stream"] == true
        && (is_headless
            || names.any(|name| {
                QUESTION_TOOLS.contains(&name) || [OPENCODES, KIMIS, VIBES].contains(&name)
            }))
        && !last.is_some_and(|message| mentions(message, "[SUGGESTION MODE"))
}

fn tools(body: &Value) -> impl Iterator<Item = &str> {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["function"]["name"].as_str())
}

pub(super) fn answer(body: &Value, turn: Option<Turn>) -> Response {
    let names = tools(body).find_map(|name| match name {
        COPILOTS => Some(Names::Copilot),
        OPENCODES => Some(Names::OpenCode),
        KIMIS => Some(Names::Kimi),
        VIBES => Some(Names::Vibe),
        _ => None,
    });
    let names = names.unwrap_or(Names::Qwen);
    let (message, reason) = message(turn.unwrap_or_else(|| Turn::say("ok")), names);
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
fn message(turn: Turn, names: Names) -> (Value, &'static str) {
    if let Turn::Say(text) = turn {
        return (json!({ "role": "assistant", "content": text }), "stop");
    }
    let calls = calls(turn, names).into_iter().enumerate();
    let calls: Vec<Value> = calls
        .map(|(index, function)| {
            json!({
                "index": index,
                "id": unique_id("call"),
                "type": "function",
                "function": function,
            })
        })
        .collect();
    (
        json!({ "role": "assistant", "tool_calls": calls }),
        "tool_calls",
    )
}

/// The tool calls of a turn.
fn calls(turn: Turn, names: Names) -> Vec<Value> {
    let (name, arguments) = match turn {
        Turn::Say(_) => return Vec::new(),
        Turn::AtOnce(turns) => {
            let each = turns.into_iter();
            return each.flat_map(|turn| calls(turn, names)).collect();
        }
        Turn::WriteFile { path, content } if names == Names::Copilot => {
            ("create", json!({ "path": path, "file_text": content }))
        }
        Turn::Replace { path, old, new } if names == Names::Copilot => (
            "edit",
            json!({ "path": path, "old_str": old, "new_str": new }),
        ),
        Turn::ReadFile { path } if names == Names::Copilot => ("view", json!({ "path": path })),
        Turn::WriteFile { path, content } if names == Names::OpenCode => {
            ("write", json!({ "filePath": path, "content": content }))
        }
        Turn::Replace { path, old, new } if names == Names::OpenCode => (
            "edit",
            json!({ "filePath": path, "oldString": old, "newString": new }),
        ),
        Turn::ReadFile { path } if names == Names::OpenCode => {
            ("read", json!({ "filePath": path }))
        }
        Turn::CallTool {
            name: name @ "apply_patch",
            input,
        } if names == Names::OpenCode => (name, json!({ "patchText": input })),
        Turn::WriteFile { path, content } if names == Names::Kimi => {
            ("Write", json!({ "path": path, "content": content }))
        }
        Turn::Replace { path, old, new } if names == Names::Kimi => (
            "Edit",
            json!({ "path": path, "old_string": old, "new_string": new }),
        ),
        Turn::ReadFile { path } if names == Names::Kimi => ("Read", json!({ "path": path })),
        Turn::WriteFile { path, content } if names == Names::Vibe => {
            ("write_file", json!({ "path": path, "content": content }))
        }
        Turn::ReadFile { path } if names == Names::Vibe => ("read_file", json!({ "path": path })),
        Turn::WriteFile { path, content } => (
            "write_file",
            json!({ "file_path": path, "content": content }),
        ),
        Turn::Replace { path, old, new } => (
            "edit",
            json!({ "file_path": path, "old_string": old, "new_string": new }),
        ),
        Turn::ReadFile { path } => ("read_file", json!({ "file_path": path })),
        Turn::CallTool { name, input } => (name, input),
    };
    // The input of some tools is one text.
    let arguments = match arguments {
        Value::String(text) => text,
        object => object.to_string(),
    };
    vec![json!({ "name": name, "arguments": arguments })]
}
