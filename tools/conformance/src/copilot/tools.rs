//! The tools as they are announced, and those that the model calls.

use std::time::Instant;

use pillion_protocol::copilot::tools::{
    CLOSE_DIFF, GET_DIAGNOSTICS, GET_SELECTION, OPEN_DIFF, UPDATE_SESSION_NAME, listed,
};
use serde_json::json;

use crate::agent::Agent;
use crate::check::{checks, prompt};
use crate::mcp::are_listed;
use crate::rule::{Finding, Otherwise, blocked};
use crate::session::Session;
use crate::shape::takes;

checks! {
    Tools:
    Must "P4-tools" => are_listed(&[OPEN_DIFF, CLOSE_DIFF]) in deaf_session,
        "`open_diff` and `close_diff` are listed",
        "The agent shows its changes in its own window only.";
    Should "P4-model-tools" => are_listed(&[GET_DIAGNOSTICS, GET_SELECTION]) in deaf_session,
        "`get_diagnostics` and `get_selection` are listed",
        "The model does not learn of problems and selections: it is offered what is listed.";
    Should "P4-schemas" => schemas in deaf_session,
        "The schemas take what the agent sends",
        "A client that checks its arguments cannot make the call.";
    Must "P4-diagnostics" => answered(GET_DIAGNOSTICS) in deaf_session,
        "`get_diagnostics`, without arguments, is answered with one text block",
        "The model reads the text as it is, and nothing else.";
    Must "P4-selection" => answered(GET_SELECTION) in deaf_session,
        "`get_selection` is answered with one text block",
        "The model reads the text as it is, and nothing else.";
    Should "P4-prompt" => at_once in deaf_session,
        "`get_diagnostics` is answered at once",
        "The model waits.";
    Should "P4-name" => name in deaf_session,
        "`update_session_name` does not fail",
        "The agent calls it with the first prompt of each session.";
}

async fn schemas(session: &mut Session<'_>) -> Finding {
    let tools = session.tools().await?;
    let mut count = 0;
    for (name, _, wanted) in listed() {
        let Some(tool) = tools.iter().find(|tool| tool["name"] == name) else {
            // The others may be left out.
            if name == OPEN_DIFF || name == CLOSE_DIFF {
                return blocked(&["P4-tools"], format!("`{name}` is missing"));
            }
            continue;
        };
        takes(&tool["inputSchema"], &wanted, name == GET_DIAGNOSTICS)
            .or_broken(format_args!("`{name}`"))?;
        count += 1;
    }
    Ok(format!("{count} schemas"))
}

async fn answered(session: &mut Session<'_>, tool: &str) -> Finding {
    let reply = session.call(tool, json!({})).await?;
    match reply.text() {
        Some(_) if !reply.is_error() => Ok(reply.shown()),
        _ => reply.wrong(),
    }
}

async fn at_once(session: &mut Session<'_>) -> Finding {
    let limit = session.test.timeouts.prompt;
    prompt(limit, async || {
        let started = Instant::now();
        session.call(GET_DIAGNOSTICS, json!({})).await?;
        Ok(started.elapsed())
    })
    .await
}

async fn name(session: &mut Session<'_>) -> Finding {
    let reply = session
        .call(UPDATE_SESSION_NAME, json!({"name": "conformance"}))
        .await?;
    match reply.is_error() {
        true => reply.wrong(),
        false => Ok(reply.shown()),
    }
}
