//! Claude Code's hooks: `PreToolUse`, and `PermissionRequest` where it asks the person itself. Learnt by watching the
//! program.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::edit;
use crate::call::{Answer, Call, Entry, Event, HookProtocol, take_text};
use crate::change::{Changes, Files};
use crate::ruling::{Accepted, Ruling};

/// How Claude Code's hooks work.
#[derive(Debug)]
pub(crate) struct Claude;

pub(crate) const BEFORE_TOOL: &str = "PreToolUse";
pub(crate) const AFTER_TOOL: &str = "PostToolUse";
const QUESTION: &str = "PermissionRequest";

/// The tools that change files.
const EDIT: &str = "Edit";
const WRITE: &str = "Write";
const NOTEBOOK_EDIT: &str = "NotebookEdit";

/// How long the agent waits for a person: a day.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(86_400);

/// How long it waits for an answer that needs no person.
pub(crate) const SHORT_TIMEOUT: Duration = Duration::from_secs(60);

/// What its screen says meanwhile.
const STATUS: &str = "Waiting for your review in Pillion";

impl HookProtocol for Claude {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        read(input)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        match call.tool.as_str() {
            EDIT => edit::replaced(call, files, "replace_all"),
            WRITE => edit::overwritten(call, files),
            NOTEBOOK_EDIT => {
                Changes::Unclear("Pillion does not show changes to notebooks".to_owned())
            }
            _ => Changes::None,
        }
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (Event::BeforeTool, Ruling::Accepted(accepted)) => allow(call, accepted),
            (Event::BeforeTool, Ruling::Denied(why)) => decision("deny", why),
            (Event::BeforeTool, Ruling::Unclear(why)) => decision("ask", why),
            (Event::BeforeTool, Ruling::NobodyAsked(why)) => Answer::message(why),
            (Event::Question, Ruling::Approved) => Answer::json(json!({"hookSpecificOutput": {
                "hookEventName": QUESTION,
                "decision": {"behavior": "allow"},
            }})),
            _ => Answer::nothing(),
        }
    }

    /// While it plans, it asks also about what a hook allows.
    fn shows_itself(&self, call: &Call) -> bool {
        call.mode == "plan"
    }

    fn pid_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_PID")
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let entry = |event, tools: &[&str], timeout: Duration| Entry {
            event,
            item: json!({"matcher": tools.join("|"), "hooks": [{
                "type": "command",
                "command": command,
                "timeout": timeout.as_secs(),
                "statusMessage": STATUS,
            }]}),
        };
        vec![
            entry(BEFORE_TOOL, &[EDIT, WRITE, NOTEBOOK_EDIT], TIMEOUT),
            entry(QUESTION, &[EDIT, WRITE], SHORT_TIMEOUT),
        ]
    }

    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    fn after_install(&self) -> &'static [&'static str] {
        &["Claude Code reads its settings while it runs: its next change is shown to you already."]
    }
}

/// Reads what it sends, which Qwen Code sends, too.
pub(crate) fn read(input: Map<String, Value>) -> Result<Call, String> {
    read_events(input, |event| match event {
        BEFORE_TOOL => Event::BeforeTool,
        QUESTION => Event::Question,
        AFTER_TOOL => Event::AfterTool,
        other => Event::Other(other.to_owned()),
    })
}

/// The same with other names of events.
pub(crate) fn read_events(
    mut input: Map<String, Value>,
    event: impl FnOnce(&str) -> Event,
) -> Result<Call, String> {
    let event = event(&take_text(&mut input, "hook_event_name")?);
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
        folder: Some(PathBuf::from(folder)).filter(|folder| folder.is_absolute()),
        mode,
        is_subagent,
        tool,
        input: input.remove("tool_input").unwrap_or_default(),
    })
}

/// The answer before a tool runs.
pub(crate) fn decision(decision: &str, why: &str) -> Answer {
    Answer::json(json!({"hookSpecificOutput": {
        "hookEventName": BEFORE_TOOL,
        "permissionDecision": decision,
        "permissionDecisionReason": why,
    }}))
}

/// The call with what was accepted, also if that is what it would write anyway: see [`edit::rewritten`].
fn allow(call: &Call, accepted: &Accepted) -> Answer {
    let mut input = edit::rewritten(call, accepted);
    if call.tool == EDIT {
        input["replace_all"] = false.into();
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
