//! The API that Gemini CLI speaks: `models/NAME:generateContent`, streamed and not, `countTokens`.

use axum::response::Response;
use serde_json::{Map, Value, json};

use super::{Turn, events, json as json_body};

/// The main conversation is streamed and has tools, `write_file` among them; side questions
/// (which model to use, who speaks next) have none.
pub(super) fn is_main(path: &str, body: &Value) -> bool {
    path.ends_with(":streamGenerateContent")
        && functions(body).any(|function| function["name"] == "write_file")
}

pub(super) fn answer(path: &str, body: &Value, turn: Option<Turn>) -> Response {
    if path.ends_with(":countTokens") {
        return json_body(&json!({ "totalTokens": 10 }));
    }
    let parts = match turn {
        Some(turn) => parts(turn),
        None => vec![json!({ "text": side_answer(body) })],
    };
    let answer = json!({
        "candidates": [{
            "content": { "role": "model", "parts": parts },
            "finishReason": "STOP",
            "index": 0,
        }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
    });
    if path.ends_with(":streamGenerateContent") {
        events([answer.to_string()])
    } else {
        json_body(&answer)
    }
}

fn functions(body: &Value) -> impl Iterator<Item = &Value> {
    body["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["functionDeclarations"].as_array())
        .flatten()
}

fn parts(turn: Turn) -> Vec<Value> {
    let (name, args) = match turn {
        Turn::Say(text) => return vec![json!({ "text": text })],
        Turn::AtOnce(turns) => return turns.into_iter().flat_map(parts).collect(),
        Turn::WriteFile { path, content } => (
            "write_file",
            json!({ "file_path": path, "content": content }),
        ),
        Turn::Replace { path, old, new } => (
            "replace",
            json!({
                "file_path": path,
                "instruction": "Change it.",
                "old_string": old,
                "new_string": new,
            }),
        ),
        Turn::ReadFile { path } => ("read_file", json!({ "file_path": path })),
        Turn::CallTool { name, input } => (name, input),
    };
    vec![json!({ "functionCall": { "name": name, "args": args } })]
}

/// A side question often wants JSON of a certain shape, and is asked again and again until it
/// gets it.
fn side_answer(body: &Value) -> String {
    let config = &body["generationConfig"];
    ["responseJsonSchema", "responseSchema"]
        .iter()
        .find_map(|name| config.get(name))
        .map_or_else(|| "ok".to_owned(), |schema| instance(schema).to_string())
}

/// The plainest value that the schema allows.
fn instance(schema: &Value) -> Value {
    if let Some(choices) = schema["enum"].as_array() {
        // "Who speaks next?" must never be the model: it would go on by itself.
        let user = choices.iter().find(|choice| *choice == "user");
        return user.or(choices.first()).cloned().unwrap_or_default();
    }
    match schema["type"].as_str().map(str::to_lowercase).as_deref() {
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let fields: Map<String, Value> = fields
                .map(|(name, schema)| (name.clone(), instance(schema)))
                .collect();
            fields.into()
        }
        Some("array") => json!([]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        _ => json!("ok"),
    }
}
