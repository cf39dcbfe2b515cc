//! Claude Code's hooks: `PreToolUse`, and `PermissionRequest` where it asks the person itself. Learnt by watching the
//! program.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::edit::{self, Plain, Replacement};
use crate::call::{Answer, Call, Entry, Event, HookProtocol, take_text};
use crate::change::{Changes, Files};
use crate::ruling::{Accepted, Ruling};

/// How Claude Code's hooks work.
#[derive(Debug)]
pub(crate) struct Claude;

const BEFORE_TOOL: &str = "PreToolUse";
const QUESTION: &str = "PermissionRequest";

/// A day.
const TIMEOUT: Duration = Duration::from_secs(86_400);

/// How long it waits for an answer that needs no person.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(60);

/// What its screen says meanwhile.
const STATUS: &str = "Waiting for your review in Pillion";

impl HookProtocol for Claude {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        read(input)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        let field = |name: &str| call.input.get(name).and_then(Value::as_str);
        let path = |name: &str| {
            let path = field(name).ok_or_else(|| format!("{} has no {name}", call.tool))?;
            edit::absolute(path, call.folder.as_deref())
        };
        match call.tool.as_str() {
            "Edit" => match (path("file_path"), field("old_string"), field("new_string")) {
                (Ok(path), Some(old), Some(new)) => {
                    let is_of_all = call.input.get("replace_all").and_then(Value::as_bool);
                    let replacement = Replacement {
                        old,
                        new,
                        is_of_all: is_of_all == Some(true),
                    };
                    edit::replaced(path, replacement, files)
                }
                (Err(why), ..) => Changes::Unclear(why),
                _ => Changes::Unclear("Edit has no old_string or no new_string".to_owned()),
            },
            "Write" => match (path("file_path"), field("content")) {
                (Ok(path), Some(content)) => edit::overwritten(path, content.to_owned(), files),
                (Err(why), _) => Changes::Unclear(why),
                (_, None) => Changes::Unclear("Write has no content".to_owned()),
            },
            "NotebookEdit" => {
                Changes::Unclear("Pillion does not show changes of notebooks".to_owned())
            }
            _ => Changes::None,
        }
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (Event::BeforeTool, Ruling::Accepted(accepted)) => allow(call, accepted),
            (Event::BeforeTool, Ruling::Denied(why)) => decision("deny", why),
            (Event::BeforeTool, Ruling::Unclear(why)) => decision("ask", why),
            (Event::BeforeTool, Ruling::NobodyAsked(why)) => {
                Answer::json(json!({"systemMessage": why}))
            }
            (Event::Question, Ruling::Approved) => Answer::json(json!({"hookSpecificOutput": {
                "hookEventName": QUESTION,
                "decision": {"behavior": "allow"},
            }})),
            _ => Answer::nothing(),
        }
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let entry = |event, matcher: &str, timeout: Duration| Entry {
            event,
            item: json!({"matcher": matcher, "hooks": [{
                "type": "command",
                "command": command,
                "timeout": timeout.as_secs(),
                "statusMessage": STATUS,
            }]}),
        };
        vec![
            entry(BEFORE_TOOL, "Edit|Write|NotebookEdit", TIMEOUT),
            entry(QUESTION, "Edit|Write", QUESTION_TIMEOUT),
        ]
    }

    fn timeout(&self) -> Duration {
        TIMEOUT
    }
}

/// Reads what it sends, which Qwen Code sends, too.
pub(crate) fn read(mut input: Map<String, Value>) -> Result<Call, String> {
    let event = match take_text(&mut input, "hook_event_name")?.as_str() {
        BEFORE_TOOL => Event::BeforeTool,
        QUESTION => Event::Question,
        other => Event::Other(other.to_owned()),
    };
    let mut text = |field| take_text(&mut input, field).unwrap_or_default();
    let (session, folder, mode) = (text("session_id"), text("cwd"), text("permission_mode"));
    let is_subagent = !text("agent_id").is_empty();
    let tool = match event {
        Event::Other(_) => text("tool_name"),
        _ => take_text(&mut input, "tool_name")?,
    };
    Ok(Call {
        event,
        session,
        folder: Some(folder.into()).filter(|folder: &std::path::PathBuf| folder.is_absolute()),
        mode,
        is_subagent,
        tool,
        input: input.remove("tool_input").unwrap_or_default(),
    })
}

fn decision(decision: &str, why: &str) -> Answer {
    Answer::json(json!({"hookSpecificOutput": {
        "hookEventName": BEFORE_TOOL,
        "permissionDecision": decision,
        "permissionDecisionReason": why,
    }}))
}

/// The call with what was accepted: the whole text of the file, so that nothing else is written than what was shown, also
/// if the file has changed in the meantime.
fn allow(call: &Call, accepted: &Accepted) -> Answer {
    let mut input = call.input.clone();
    let [file] = &accepted.files[..] else {
        return decision(
            "deny",
            "the call changes one file, and several were decided",
        );
    };
    let written = file.written.as_ref().and_then(|after| after.text());
    if let (Some(fields), Some(written)) = (input.as_object_mut(), written) {
        if call.tool == "Write" {
            fields.insert("content".to_owned(), written.into());
        } else {
            let old = file.change.before.as_deref().map(Plain::of);
            let old = old.map(|old| old.text).unwrap_or_default();
            fields.insert("old_string".to_owned(), old.into());
            fields.insert("new_string".to_owned(), edit::plain(written).into());
            fields.insert("replace_all".to_owned(), false.into());
        }
    }
    let mut output = json!({
        "hookEventName": BEFORE_TOOL,
        "permissionDecision": "allow",
        "permissionDecisionReason": "accepted in Pillion",
        "updatedInput": input,
    });
    if let Some(context) = &accepted.context {
        output["additionalContext"] = context.as_str().into();
    }
    Answer {
        approved: Some((Event::Question, input)),
        ..Answer::json(json!({"hookSpecificOutput": output}))
    }
}
