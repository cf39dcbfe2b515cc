//! The two tools as they are announced (C5.1, C5.4).

use pillion_protocol::diff::{CLOSE_DIFF, OPEN_DIFF};
use serde_json::Value;

use crate::agent::Agent;
use crate::check::checks;
use crate::rule::{Finding, Problem, blocked, broken};
use crate::session::Session;

checks! {
    Tools:
    Must "C5.1-tool" => listed(OPEN_DIFF) in deaf_session,
        "The tool `openDiff` is listed";
    Must "C5.1-schema" => schema(OPEN_DIFF, &["filePath", "newContent"]) in deaf_session,
        "`openDiff` takes the required strings `filePath` and `newContent`";
    Must "C5.4-tool" => listed(CLOSE_DIFF) in deaf_session,
        "The tool `closeDiff` is listed";
    Must "C5.4-schema" => schema(CLOSE_DIFF, &["filePath"]) in deaf_session,
        "`closeDiff` takes the required string `filePath`";
    Should "C5.4-suppress-schema" => suppress in deaf_session,
        "The schema of `closeDiff` allows `suppressNotification`, which agents send";
}

async fn listed(session: &mut Session<'_>, name: &str) -> Finding {
    let tools = session.tools().await?;
    let count = tools.iter().filter(|tool| tool["name"] == name).count();
    match count {
        1 => Ok(format!("one of {}", tools.len())),
        0 => broken(format!("it is not among the {} tools", tools.len())),
        count => broken(format!("it is listed {count} times")),
    }
}

/// The schema of a tool's arguments.
async fn input_schema(session: &mut Session<'_>, name: &str) -> Result<Value, Problem> {
    let mut tools = session.tools().await?.into_iter();
    let tool = tools.find(|tool| tool["name"] == name);
    match tool {
        Some(tool) => Ok(tool["inputSchema"].clone()),
        None if name == OPEN_DIFF => blocked(&["C5.1-tool"], "the tool is not listed"),
        None => blocked(&["C5.4-tool"], "the tool is not listed"),
    }
}

async fn schema(session: &mut Session<'_>, name: &str, fields: &[&str]) -> Finding {
    let schema = input_schema(session, name).await?;
    if schema["type"] != "object" {
        return broken("`inputSchema.type` is not `object`");
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for field in fields {
        if schema["properties"][field]["type"] != "string" {
            return broken(format!("`{field}` is not a string property"));
        }
        if !required.iter().any(|name| name == field) {
            return broken(format!("`{field}` is not required"));
        }
    }
    let known = |name: &Value| fields.iter().any(|field| name == field);
    if let Some(other) = required.iter().find(|name| !known(name)) {
        return broken(format!(
            "{other} is required too, but agents do not send it"
        ));
    }
    Ok(fields.join(", "))
}

async fn suppress(session: &mut Session<'_>) -> Finding {
    let schema = input_schema(session, CLOSE_DIFF).await?;
    let property = &schema["properties"]["suppressNotification"];
    let is_closed = schema["additionalProperties"] == false;
    match property {
        Value::Null if is_closed => broken("the schema allows no other properties"),
        Value::Null => Ok("other properties are allowed".to_owned()),
        property if property["type"] == "boolean" => Ok("a boolean property".to_owned()),
        _ => broken("`suppressNotification` is not a boolean property"),
    }
}
