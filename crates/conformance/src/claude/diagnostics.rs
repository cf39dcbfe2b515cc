//! What the editor knows to be wrong.

use std::time::Instant;

use pillion_protocol::claude::tools::GET_DIAGNOSTICS;
use serde_json::{Value, json};

use super::client::{Client, with_client};
use super::diffs::blocks_of;
use crate::check::checks;
use crate::rule::{Finding, Problem, blocked, broken, shown};
use crate::test_context::TestContext;

checks! {
    Context:
    Must "K7-diagnostics" => answered,
        "`getDiagnostics` is answered with one text block that holds a JSON array",
        "The agent does not learn of problems that its edit caused.";
    Should "K7-diagnostics-prompt" => prompt,
        "`getDiagnostics` is answered at once",
        "The agent waits a second with each edit, and stops asking after three.";
    Must "K7-diagnostics-uri" => uris,
        "Diagnostics of one file have the `uri` that was asked for, or are `[]`",
        "The agent ignores those with other names, and considers the file clean.";
    Must "K7-diagnostics-shape" => shape,
        "Every entry is `{uri, diagnostics: [{message, severity, range}]}`, with lines counted from 0",
        "The agent shows the model the wrong lines, or none.";
}

/// What the agent knows.
const SEVERITIES: [&str; 4] = ["Error", "Warning", "Info", "Hint"];

/// How often it is asked to see whether it answers at once: a machine may be busy.
const CALLS: usize = 3;

/// The entries of an answer.
async fn entries(client: &mut Client<'_>, arguments: Value) -> Result<Vec<Value>, Problem> {
    let reply = client.call(GET_DIAGNOSTICS, arguments).await?;
    let Some([text]) = blocks_of(&reply).and_then(|blocks| <[&str; 1]>::try_from(blocks).ok())
    else {
        return broken(format!("it is answered with {}", reply.shown()));
    };
    match serde_json::from_str(text) {
        Ok(Value::Array(entries)) => Ok(entries),
        Ok(other) => broken(format!("the block's text is {}", shown(&other))),
        Err(error) => broken(format!("the block's text is not JSON: {error}")),
    }
}

/// The same for rules about something else in it.
async fn known_entries(client: &mut Client<'_>, arguments: Value) -> Result<Vec<Value>, Problem> {
    let found = entries(client, arguments).await;
    found.or_else(|problem| match problem {
        Problem::Broken(why) => blocked(&["K7-diagnostics"], why),
        other => Err(other),
    })
}

async fn answered(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let all = entries(client, json!({})).await?;
        Ok(format!("{} files", all.len()))
    })
    .await
}

async fn prompt(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let mut quickest = None;
        for _ in 0..CALLS {
            let started = Instant::now();
            known_entries(client, json!({})).await?;
            let took = started.elapsed();
            let so_far = quickest.map_or(took, |quickest| took.min(quickest));
            quickest = Some(so_far);
            if so_far < test.connection.timeouts.prompt / 2 {
                return Ok(format!("{so_far:.0?}"));
            }
        }
        let quickest = quickest.unwrap_or_default();
        broken(format!(
            "the quickest of {CALLS} answers took {quickest:.1?}"
        ))
    })
    .await
}

async fn uris(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let files = crate::files::some_texts(&test.connection.target.roots(), 2);
        let paths = files.into_iter().chain([test.names.path()]);
        let mut count = 0;
        for path in paths {
            let uri = format!("file://{path}");
            for entry in known_entries(client, json!({"uri": uri})).await? {
                if entry["uri"] != *uri {
                    return broken(format!("{uri} was requested, {} arrived", entry["uri"]));
                }
                count += 1;
            }
        }
        Ok(format!("{count} files"))
    })
    .await
}

async fn shape(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let entries = known_entries(client, json!({})).await?;
        let mut count = 0;
        for entry in &entries {
            let Some(list) = entry["diagnostics"].as_array() else {
                return broken(format!("an entry is {}", shown(entry)));
            };
            if !entry["uri"].as_str().is_some_and(|uri| uri.contains(':')) {
                return broken(format!("a `uri` is {}", shown(&entry["uri"])));
            }
            for diagnostic in list {
                well_formed(diagnostic).map_err(Problem::Broken)?;
                count += 1;
            }
        }
        Ok(format!("{count} in {} files", entries.len()))
    })
    .await
}

fn well_formed(diagnostic: &Value) -> Result<(), String> {
    let wrong = |what: &str, value: &Value| Err(format!("`{what}` is {}", shown(value)));
    if !diagnostic["message"].is_string() {
        return wrong("message", &diagnostic["message"]);
    }
    let severity = diagnostic["severity"].as_str();
    if !severity.is_some_and(|severity| SEVERITIES.contains(&severity)) {
        return wrong("severity", &diagnostic["severity"]);
    }
    for end in ["start", "end"] {
        let place = &diagnostic["range"][end];
        if !place["line"].is_u64() || !place["character"].is_u64() {
            return wrong(&format!("range.{end}"), place);
        }
    }
    Ok(())
}
