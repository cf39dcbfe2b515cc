//! The editor's state and the person's mentions, as the agent gets them.

use serde_json::Value;

use super::selection::{heard, mention, selections};
use crate::check::checks;
use crate::observation::Selections;
use crate::rule::{Finding, Problem, broken, shown};
use crate::shape::{Field, fits, is_absolute, ordered};
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
async fn received(test: &TestContext) -> Result<&Selections, Problem> {
    selections(test).await?.received(&["K7-start", "K7-change"])
}

async fn start(test: &TestContext) -> Finding {
    selections(test).await?.at_start()
}

async fn early(test: &TestContext) -> Finding {
    match &heard(test).await?.early {
        None => Ok("nothing came".to_owned()),
        Some(message) => broken(format!("received: {}", shown(message))),
    }
}

/// Every selection keeps a rule.
async fn each(test: &TestContext, look: fn(&Value) -> Result<(), String>) -> Finding {
    received(test).await?.each(look)
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
    let moved = &received(test).await?.of_cursor;
    moved.selected(well_formed, &["K7-shape"], &["K7-path"])
}

async fn debounce(test: &TestContext) -> Finding {
    received(test).await?.of_cursor.debounced(&["K7-change"])
}

const MENTION: [Field; 3] = [
    ("/filePath", true, is_absolute),
    ("/lineStart", false, Value::is_u64),
    ("/lineEnd", false, Value::is_u64),
];

async fn mention_shape(test: &TestContext) -> Finding {
    mention(test).await?.well_formed(&MENTION)
}

async fn mention_lines(test: &TestContext) -> Finding {
    let lines = ["/lineStart", "/lineEnd"];
    let mention = mention(test).await?;
    mention.lines_from_0(&["K7-mention"], &MENTION, lines)
}
