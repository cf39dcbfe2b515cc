//! The two tools as they are announced (C5.1, C5.4).

use pillion_protocol::diff::{CLOSE_DIFF, OPEN_DIFF};
use serde_json::{Value, json};

use crate::check::checks;
use crate::probe::NoAnswer;
use crate::rule::{Finding, Problem, blocked, broken, shown};
use crate::test_context::TestContext;

checks! {
    Tools:
    Must "C5.1-tool" => listed(OPEN_DIFF),
        "The tool `openDiff` is listed";
    Must "C5.1-schema" => schema(OPEN_DIFF, &["filePath", "newContent"]),
        "`openDiff` takes the required strings `filePath` and `newContent`";
    Must "C5.4-tool" => listed(CLOSE_DIFF),
        "The tool `closeDiff` is listed";
    Must "C5.4-schema" => schema(CLOSE_DIFF, &["filePath"]),
        "`closeDiff` takes the required string `filePath`";
    Should "C5.4-suppress-schema" => suppress,
        "The schema of `closeDiff` allows `suppressNotification`, which agents send";
}

async fn tools(test: &TestContext) -> Result<Vec<Value>, Problem> {
    let session = test.deaf_session().await?;
    let reply = session.ask("tools/list", json!({})).await;
    let reply =
        reply.map_err(|NoAnswer { why, .. }| Problem::Broken(format!("tools/list: {why}")))?;
    match reply.pointer("/result/tools") {
        Some(Value::Array(tools)) => Ok(tools.clone()),
        _ => broken(format!("tools/list is answered with {}", shown(&reply))),
    }
}

async fn listed(test: &TestContext, name: &str) -> Finding {
    let tools = tools(test).await?;
    let count = tools.iter().filter(|tool| tool["name"] == name).count();
    match count {
        1 => Ok(format!("one of {}", tools.len())),
        0 => broken(format!("it is not among the {} tools", tools.len())),
        count => broken(format!("it is listed {count} times")),
    }
}

/// The schema of a tool's arguments.
async fn input_schema(test: &TestContext, name: &str) -> Result<Value, Problem> {
    let tools = tools(test).await?;
    let tool = tools.into_iter().find(|tool| tool["name"] == name);
    match tool {
        Some(tool) => Ok(tool["inputSchema"].clone()),
        None if name == OPEN_DIFF => blocked(&["C5.1-tool"], "the tool is not listed"),
        None => blocked(&["C5.4-tool"], "the tool is not listed"),
    }
}

async fn schema(test: &TestContext, name: &str, fields: &[&str]) -> Finding {
    let schema = input_schema(test, name).await?;
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

async fn suppress(test: &TestContext) -> Finding {
    let schema = input_schema(test, CLOSE_DIFF).await?;
    let property = &schema["properties"]["suppressNotification"];
    let is_closed = schema["additionalProperties"] == false;
    match property {
        Value::Null if is_closed => broken("the schema allows no other properties"),
        Value::Null => Ok("other properties are allowed".to_owned()),
        property if property["type"] == "boolean" => Ok("a boolean property".to_owned()),
        _ => broken("`suppressNotification` is not a boolean property"),
    }
}
