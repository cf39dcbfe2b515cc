//! What the editor shows and what the person mentions, as the agent gets it.

use serde_json::Value;

use super::selection::{mention, selections};
use crate::check::checks;
use crate::claude_observation::Selections;
use crate::mentions::MENTIONED;
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, shown, unchecked};
use crate::shape::{Field, fits, is_absolute, is_in, ordered};
use crate::test_context::TestContext;

checks! {
    Context:
    Should "K7-start" => start,
        "A new client is sent the selection, once it has reported `notifications/initialized`",
        "The agent does not know what is open until the person moves the cursor.";
    Must "K7-early" => early,
        "Nothing is sent before that",
        "MCP forbids it, and the agent drops what it is not ready for.";
    Must "K7-shape" => each(well_formed),
        "`selection_changed` has the string `text` and the object `selection {start, end}`, lines and characters counted from 0",
        "The agent ignores fields of another type, and keeps the previous selection.";
    Must "K7-path" => each(absolute_path),
        "`filePath` is an absolute path, and is left out if no file is open",
        "The model is told of a file that does not exist.";
    Should "K7-change" => change,
        "A cursor movement is sent",
        "The model is told of what was selected before; each selection counts for one prompt.";
    Must "K7-moved" => moved,
        "The selection that is sent is where the cursor was moved to, lines counted from 0",
        "The agent adds 1: the model reads lines other than those selected.";
    Should "K7-debounce" => debounce,
        "Changes are debounced",
        "Every cursor movement interrupts the agent.";
    Should "K7-mention" => mention_shape,
        "`at_mentioned` has an absolute `filePath`, and `lineStart` and `lineEnd` as numbers or not at all",
        "The agent ignores a mention with lines that are null.";
    Should "K7-mention-lines" => mention_lines,
        "The lines of a mention are counted from 0",
        "The agent adds 1: the model reads lines other than those mentioned.";
}

/// The selections, if there are any.
async fn heard(test: &TestContext) -> Result<&Selections, Problem> {
    let selections = selections(test).await?;
    match selections.all().next() {
        Some(_) => Ok(selections),
        None if selections.of_cursor.place().is_ok() => {
            blocked(&["K7-start", "K7-change"], "no `selection_changed` arrived")
        }
        None => unchecked("no `selection_changed` arrived: focus a file in the editor"),
    }
}

async fn start(test: &TestContext) -> Finding {
    let selections = selections(test).await?;
    match selections.of_start.len() {
        // A companion without an open file has nothing to report.
        0 if selections.all().next().is_none() && selections.of_cursor.place().is_err() => {
            unchecked("no `selection_changed` arrived: focus a file in the editor")
        }
        0 => broken("none came"),
        count => Ok(format!("{count} came")),
    }
}

async fn early(test: &TestContext) -> Finding {
    let selections = selections(test).await?;
    match &selections.early {
        None => Ok("nothing came".to_owned()),
        Some(message) => broken(format!("received: {}", shown(message))),
    }
}

/// Every selection keeps a rule.
async fn each(test: &TestContext, look: fn(&Value) -> Result<(), String>) -> Finding {
    let selections = heard(test).await?;
    for params in selections.all() {
        look(params).map_err(Problem::Broken)?;
    }
    Ok(format!("{} selections", selections.all().count()))
}

const SELECTION: [Field; 7] = [
    ("/text", true, Value::is_string),
    ("/selection", true, Value::is_object),
    ("/selection/start/line", true, Value::is_u64),
    ("/selection/start/character", true, Value::is_u64),
    ("/selection/end/line", true, Value::is_u64),
    ("/selection/end/character", true, Value::is_u64),
    ("/selection/isEmpty", false, Value::is_boolean),
];

fn well_formed(params: &Value) -> Result<(), String> {
    fits(params, &SELECTION)?;
    ordered(&params["selection"])
}

fn absolute_path(params: &Value) -> Result<(), String> {
    fits(params, &[("/filePath", false, is_absolute)])
}

async fn change(test: &TestContext) -> Finding {
    selections(test).await?.of_cursor.moves()?.sent()
}

async fn moved(test: &TestContext) -> Finding {
    let moved = &heard(test).await?.of_cursor;
    moved.selected(well_formed, &["K7-shape"], &["K7-path"])
}

async fn debounce(test: &TestContext) -> Finding {
    heard(test).await?.of_cursor.debounced(&["K7-change"])
}

const MENTION: [Field; 3] = [
    ("/filePath", true, is_absolute),
    ("/lineStart", false, Value::is_u64),
    ("/lineEnd", false, Value::is_u64),
];

async fn mention_shape(test: &TestContext) -> Finding {
    let params = mention(test).await?.only().map_err(Problem::Broken)?;
    fits(params, &MENTION).map_err(Problem::Broken)?;
    Ok(shown(params))
}

async fn mention_lines(test: &TestContext) -> Finding {
    let mention = mention(test).await?;
    let row = &["K7-mention"];
    let params = mention.only().or_blocked(row, "the mention")?;
    let (first, last) = MENTIONED;
    fits(params, &MENTION).or_blocked(row, "the mention")?;
    let lines = ["lineStart", "lineEnd"].map(|field| &params[field]);
    if !is_in(params, &mention.file) {
        let (file, path) = (&mention.file, &params["filePath"]);
        return blocked(row, format!("{file} was mentioned, {path} arrived"));
    }
    if *lines[0] == first - 1 && *lines[1] == last - 1 {
        return Ok(format!("lines {first} to {last}"));
    }
    broken(format!(
        "lines {first} to {last} (counted from 1) were mentioned, {} to {} arrived",
        lines[0], lines[1]
    ))
}
