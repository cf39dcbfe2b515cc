//! Claude Code's hooks: around its tools and its turns, and `PermissionRequest` where it asks the person itself. Learnt by
//! watching the program.

use std::path::PathBuf;
use std::time::Duration;

use pillion_protocol::Dialect;
use pillion_protocol::claude::hooks;
use pillion_text::endings::LineEnding;
use serde_json::{Map, Value, json};

use super::edit;
use crate::call::{
    Answer, Call, Entry, Event, HookProtocol, SHORT_TIMEOUT, Scope, TIMEOUT, take_text,
};
use crate::change::{Changes, Files};
use crate::format::Format;
use crate::ruling::{Accepted, Reviewed, Ruling};

#[derive(Debug)]
pub(crate) struct Claude;

/// The reason why a call is allowed, for the person.
pub(crate) const ACCEPTED: &str = "accepted in Pillion";

/// The tools that change files.
pub(crate) const EDIT: &str = "Edit";
pub(crate) const WRITE: &str = "Write";
const NOTEBOOK_EDIT: &str = "NotebookEdit";
const EDITS: [&str; 3] = [EDIT, WRITE, NOTEBOOK_EDIT];

/// The tool for shell commands.
pub(crate) const SHELL: &str = "Bash";

impl HookProtocol for Claude {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        read(input)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        match call.tool.as_str() {
            EDIT => edit::replaced(call, files, edit::REPLACE_ALL),
            WRITE => edit::overwritten(call, files, with_crlf),
            NOTEBOOK_EDIT => edit::cell(call, files),
            _ => Changes::None,
        }
    }

    fn scope(&self, call: &Call) -> Scope {
        edit::scope(call, &EDITS, SHELL)
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (_, Ruling::Told(text)) => told(call, text),
            (Event::BeforeTool, Ruling::Accepted(accepted)) => allow(call, accepted),
            (Event::BeforeTool, Ruling::Denied(why)) => Answer::json(hooks::refuse(why)),
            (Event::BeforeTool, Ruling::Unclear(why)) => {
                let refused = format!("Pillion cannot show this change to the user ({why})");
                Answer::json(hooks::ask_in(&call.mode, why, &refused))
            }
            (Event::Question, Ruling::Approved) => Answer::json(hooks::approve(None)),
            (Event::Question, Ruling::Accepted(accepted)) => {
                Answer::json(hooks::approve(Some(input(call, accepted))))
            }
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

    fn shown_tools(&self) -> &'static [&'static str] {
        &EDITS
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let tools = edit::matcher(&[EDIT, WRITE, NOTEBOOK_EDIT, SHELL]);
        let mut entries = entries(command, &tools, &edit::matcher(&[EDIT, WRITE]));
        entries.push(after(command, hooks::POST_TOOL_USE_FAILURE, Some(&tools)));
        entries
    }

    fn format(&self) -> Format {
        Format::PlainJson(Dialect::ClaudeCode.display_name())
    }

    fn after_install(&self) -> &'static [&'static str] {
        &["Claude Code reads its settings while it runs: its next change is shown to you already."]
    }
}

/// It writes a whole text as it is answered: the file keeps its CRLF, as by an edit. Nobody answers where nothing else changes, and
/// it writes its own text then.
fn with_crlf(before: &str, content: &str) -> bool {
    let is_crlf = LineEnding::written(before.as_bytes()) == LineEnding::CrLf;
    is_crlf && edit::plain(before) != edit::plain(content)
}

/// The entries around the tools of the first matcher and around turns, and where it asks about the tools of the second.
pub(crate) fn entries(command: &str, tools: &str, asked: &str) -> Vec<Entry> {
    let entry = |event, matcher: &str, timeout: Duration| Entry {
        event,
        item: json!({"matcher": matcher, "hooks": [{
            "type": "command",
            "command": command,
            "timeout": timeout.as_secs(),
            "statusMessage": hooks::STATUS,
        }]}),
    };
    vec![
        entry(hooks::PRE_TOOL_USE, tools, TIMEOUT),
        entry(hooks::PERMISSION_REQUEST, asked, SHORT_TIMEOUT),
        after(command, hooks::POST_TOOL_USE, Some(tools)),
        after(command, hooks::USER_PROMPT_SUBMIT, None),
        after(command, hooks::STOP, None),
    ]
}

/// The entry at an event that asks nobody.
fn after(command: &str, event: &'static str, matcher: Option<&str>) -> Entry {
    let mut item = json!({"hooks": [{
        "type": "command",
        "command": command,
        "timeout": SHORT_TIMEOUT.as_secs(),
    }]});
    if let Some(matcher) = matcher {
        item["matcher"] = matcher.into();
    }
    Entry { event, item }
}

/// The answer that tells the model this: with the prompt, or after a tool's result.
pub(crate) fn told(call: &Call, text: &str) -> Answer {
    let event = match call.event {
        Event::BeforeTurn => hooks::USER_PROMPT_SUBMIT,
        Event::AfterTool => hooks::POST_TOOL_USE,
        _ => return Answer::nothing(),
    };
    Answer::json(hooks::add_context(event, text))
}

/// Reads what it sends, which Codex CLI and Qwen Code send, too.
pub(crate) fn read(input: Map<String, Value>) -> Result<Call, String> {
    read_events(input, |event| match event {
        hooks::USER_PROMPT_SUBMIT => Event::BeforeTurn,
        hooks::PRE_TOOL_USE => Event::BeforeTool,
        hooks::PERMISSION_REQUEST => Event::Question,
        hooks::POST_TOOL_USE => Event::AfterTool,
        hooks::POST_TOOL_USE_FAILURE => Event::AfterFailure,
        hooks::STOP => Event::AfterTurn,
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
    let ids = [text("tool_use_id"), text("tool_call_id")];
    let id = ids.into_iter().find(|id| !id.is_empty());
    let prompt = text("prompt");
    let subagent = Some(text("agent_id")).filter(|agent| !agent.is_empty());
    let tool = match event {
        Event::BeforeTool | Event::Question | Event::AfterTool | Event::AfterFailure => {
            take_text(&mut input, "tool_name")?
        }
        _ => text("tool_name"),
    };
    Ok(Call {
        event,
        session,
        folder: Some(PathBuf::from(folder)).filter(|folder| folder.is_absolute()),
        mode,
        tool,
        input: input.remove("tool_input").unwrap_or_default(),
        id: id.unwrap_or_default(),
        subagent,
        prompt,
        record: None,
    })
}

/// The call with what was accepted, also if that is what it would write anyway: see [`edit::rewritten`].
fn allow(call: &Call, accepted: &Accepted) -> Answer {
    // It replaces as a whole only what it has read.
    let is_newer = |file: &Reviewed| file.has_changed && file.change.before.is_some();
    if call.tool == WRITE && accepted.files.iter().any(is_newer) {
        let why = "Claude Code writes over no file that has changed since it was read";
        return Answer::inexpressible(hooks::refuse(&accepted.not_written(why)), accepted);
    }
    let input = input(call, accepted);
    let mut output = hooks::allow(Some(input.clone()), accepted.context.as_deref());
    output["hookSpecificOutput"]["permissionDecisionReason"] = ACCEPTED.into();
    Answer {
        approved: Some((Event::Question, input)),
        ..Answer::json(output)
    }
}

fn input(call: &Call, accepted: &Accepted) -> Value {
    let mut input = edit::rewritten(call, accepted);
    if call.tool == EDIT {
        input[edit::REPLACE_ALL] = false.into();
    }
    input
}
