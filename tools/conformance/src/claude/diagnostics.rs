//! The editor's diagnostics, as the agent gets them.

use std::time::Instant;

use pillion_protocol::claude::tools::GET_DIAGNOSTICS;
use serde_json::{Value, json};

use super::client::Client;
use super::diffs::blocks_of;
use crate::agent::Agent;
use crate::check::{checks, prompt};
use crate::files::some_texts;
use crate::rule::{Finding, Otherwise, Problem, broken, shown};
use crate::shape::{Field, fits};

checks! {
    Context:
    Must "K7-diagnostics" => answered in client,
        "`getDiagnostics` is answered with one text block that holds a JSON array",
        "The agent does not learn of problems that its edit caused.";
    Should "K7-diagnostics-prompt" => at_once in client,
        "`getDiagnostics` is answered at once",
        "The agent waits a second with each edit, and stops asking after three.";
    Must "K7-diagnostics-uri" => uris in client,
        "Diagnostics of one file have the `uri` that was asked for, or are `[]`",
        "The agent ignores those with other names, and considers the file clean.";
    Must "K7-diagnostics-shape" => shape in client,
        "Every entry is `{uri, diagnostics: [{message, severity, range}]}`, with lines counted from 0",
        "The agent shows the model the wrong lines, or none.";
}

const DIAGNOSTIC: [Field; 6] = [
    ("/message", true, Value::is_string),
    ("/severity", true, |severity| {
        // What the agent knows.
        let known = ["Error", "Warning", "Info", "Hint"];
        severity.as_str().is_some_and(|it| known.contains(&it))
    }),
    ("/range/start/line", true, Value::is_u64),
    ("/range/start/character", true, Value::is_u64),
    ("/range/end/line", true, Value::is_u64),
    ("/range/end/character", true, Value::is_u64),
];

/// The entries of an answer.
async fn entries(client: &mut Client<'_>, arguments: Value) -> Result<Vec<Value>, Problem> {
    let reply = client.call(GET_DIAGNOSTICS, arguments).await?;
    match blocks_of(&reply).as_deref() {
        Some([text]) => {
            let entries = serde_json::from_str(text);
            entries.or_broken("the block's text is not a JSON array")
        }
        _ => reply.wrong(),
    }
}

/// The same for rules about something else in it.
async fn known_entries(client: &mut Client<'_>, arguments: Value) -> Result<Vec<Value>, Problem> {
    let found = entries(client, arguments).await;
    found.map_err(|problem| problem.due_to(&["K7-diagnostics"]))
}

async fn answered(client: &mut Client<'_>) -> Finding {
    let all = entries(client, json!({})).await?;
    Ok(format!("{} files", all.len()))
}

async fn at_once(client: &mut Client<'_>) -> Finding {
    let limit = client.test.timeouts.prompt / 2;
    prompt(limit, async || {
        let started = Instant::now();
        known_entries(client, json!({})).await?;
        Ok(started.elapsed())
    })
    .await
}

async fn uris(client: &mut Client<'_>) -> Finding {
    let files = some_texts(&client.test.target.roots(), 2);
    let paths = files.into_iter().chain([client.test.names.path()]);
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
}

async fn shape(client: &mut Client<'_>) -> Finding {
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
            fits(diagnostic, &DIAGNOSTIC).map_err(Problem::Broken)?;
            count += 1;
        }
    }
    Ok(format!("{count} in {} files", entries.len()))
}
