//! The two tools as they are announced (C5.1, C5.4).

use pillion_protocol::diff::{CLOSE_DIFF, OPEN_DIFF};
use serde_json::{Value, json};

use crate::check::{Check, check};
use crate::probe::NoAnswer;
use crate::rule::Group::Tools;
use crate::rule::Level::{Must, Should};
use crate::rule::{Finding, Problem, blocked, broken, shown};
use crate::test_context::TestContext;

pub(super) const CHECKS: &[Check] = &[
    check(
        Tools,
        Must,
        "C5.1-tool",
        "The tool `openDiff` is listed",
        |b| Box::pin(listed(b, OPEN_DIFF)),
    ),
    check(
        Tools,
        Must,
        "C5.1-schema",
        "`openDiff` takes the required strings `filePath` and `newContent`",
        |b| Box::pin(schema(b, OPEN_DIFF, &["filePath", "newContent"])),
    ),
    check(
        Tools,
        Must,
        "C5.4-tool",
        "The tool `closeDiff` is listed",
        |b| Box::pin(listed(b, CLOSE_DIFF)),
    ),
    check(
        Tools,
        Must,
        "C5.4-schema",
        "`closeDiff` takes the required string `filePath`",
        |b| Box::pin(schema(b, CLOSE_DIFF, &["filePath"])),
    ),
    check(
        Tools,
        Should,
        "C5.4-suppress-schema",
        "The schema of `closeDiff` allows `suppressNotification`, which agents send",
        |b| Box::pin(suppress(b)),
    ),
];

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
