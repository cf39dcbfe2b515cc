//! The editor's state and the person's mentions, as the agent gets them.

use serde_json::Value;

use super::selection::{mention, selections};
use crate::check::checks;
use crate::observation::Selections;
use crate::rule::{Finding, Problem};
use crate::shape::{Field, fits, is_absolute, ordered};
use crate::test_context::TestContext;

checks! {
    Context:
    Should "P7-start" => start,
        "A new session is sent the selection",
        "The agent does not show what is open until the person moves the cursor.";
    Must "P7-shape" => each(well_formed),
        "`selection_changed` has the strings `text`, `filePath` and `fileUrl`, and `selection {start, end, isEmpty}`, lines and characters counted from 0",
        "The agent ignores one that lacks a field, and keeps the previous selection.";
    Must "P7-path" => each(absolute_path),
        "`filePath` is an absolute path, or empty if no file is open",
        "The agent shows, and tells the model of, a file that does not exist.";
    Should "P7-change" => change,
        "A cursor movement is sent",
        "The agent adds what was selected before to each prompt.";
    Must "P7-moved" => moved,
        "The selection that is sent is where the cursor was moved to, lines counted from 0",
        "The agent adds 1: the model reads of lines other than those selected.";
    Should "P7-debounce" => debounce,
        "Changes are debounced",
        "The agent draws its status line again with every cursor movement.";
    Should "P7-mention" => mention_shape,
        "`add_file_reference` has an absolute `filePath`, and `selection` with `start` and `end`, or null",
        "Nothing appears in the agent's prompt.";
    Should "P7-mention-lines" => mention_lines,
        "The lines of a mention are counted from 0",
        "The agent adds 1: the model is told of lines other than those mentioned.";
}

/// The selections, if there are any.
async fn received(test: &TestContext) -> Result<&Selections, Problem> {
    selections(test).await?.received(&["P7-start", "P7-change"])
}

async fn start(test: &TestContext) -> Finding {
    selections(test).await?.at_start()
}

/// Every selection keeps a rule.
async fn each(test: &TestContext, look: fn(&Value) -> Result<(), String>) -> Finding {
    received(test).await?.each(look)
}

const SELECTION: [Field; 9] = [
    ("/text", true, Value::is_string),
    ("/filePath", true, Value::is_string),
    ("/fileUrl", true, Value::is_string),
    ("/selection", true, Value::is_object),
    ("/selection/start/line", true, Value::is_u64),
    ("/selection/start/character", true, Value::is_u64),
    ("/selection/end/line", true, Value::is_u64),
    ("/selection/end/character", true, Value::is_u64),
    ("/selection/isEmpty", true, Value::is_boolean),
];

fn well_formed(params: &Value) -> Result<(), String> {
    fits(params, &SELECTION)?;
    ordered(&params["selection"])
}

fn absolute_path(params: &Value) -> Result<(), String> {
    let is_path = |path: &Value| path == "" || is_absolute(path);
    fits(params, &[("/filePath", false, is_path)])
}

async fn change(test: &TestContext) -> Finding {
    selections(test).await?.of_cursor.moves()?.sent()
}

async fn moved(test: &TestContext) -> Finding {
    let moved = &received(test).await?.of_cursor;
    moved.selected(well_formed, &["P7-shape"], &["P7-path"])
}

async fn debounce(test: &TestContext) -> Finding {
    received(test).await?.of_cursor.debounced(&["P7-change"])
}

const MENTION: [Field; 3] = [
    ("/filePath", true, is_absolute),
    ("/selection/start/line", false, Value::is_u64),
    ("/selection/end/line", false, Value::is_u64),
];

async fn mention_shape(test: &TestContext) -> Finding {
    mention(test).await?.well_formed(&MENTION)
}

async fn mention_lines(test: &TestContext) -> Finding {
    let lines = ["/selection/start/line", "/selection/end/line"];
    let mention = mention(test).await?;
    mention.lines_from_0(&["P7-mention"], &MENTION, lines)
}
