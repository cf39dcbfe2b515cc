//! Gemini CLI's hooks: `BeforeTool`, and `AfterTool`, because its model hears nothing of what a hook adds before. Learnt by
//! watching the program.

use std::time::Duration;

use pillion_protocol::claude::hooks;
use serde_json::{Map, Value, json};

use super::{claude, edit};
use crate::call::{Answer, Call, Entry, Event, HookProtocol, SHORT_TIMEOUT, TIMEOUT};
use crate::change::{Changes, Files};
use crate::ruling::{Accepted, Ruling};

/// How Gemini CLI's hooks work.
#[derive(Debug)]
pub(crate) struct Gemini;

const BEFORE_TOOL: &str = "BeforeTool";
const AFTER_TOOL: &str = "AfterTool";

/// The tools that change files.
const REPLACE: &str = "replace";
const WRITE: &str = "write_file";

impl HookProtocol for Gemini {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        claude::read_events(input, |event| match event {
            BEFORE_TOOL => Event::BeforeTool,
            AFTER_TOOL => Event::AfterTool,
            other => Event::Other(other.to_owned()),
        })
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        match call.tool.as_str() {
            REPLACE => edit::replaced(call, files, "allow_multiple"),
            WRITE => edit::overwritten(call, files),
            _ => Changes::None,
        }
    }

    fn file(&self, call: &Call) -> Option<String> {
        edit::file(call).ok()
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (Event::BeforeTool, Ruling::Accepted(accepted)) => allow(call, accepted),
            // It has no question that a hook could ask for.
            (Event::BeforeTool, Ruling::Denied(why) | Ruling::Unclear(why)) => {
                Answer::json(json!({"decision": "deny", "reason": why}))
            }
            (Event::BeforeTool, Ruling::NobodyAsked(why)) => Answer::message(why),
            (Event::AfterTool, Ruling::Told(text)) => {
                Answer::json(hooks::add_context(AFTER_TOOL, text))
            }
            _ => Answer::nothing(),
        }
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        entries(
            command,
            [BEFORE_TOOL, AFTER_TOOL],
            &format!("{REPLACE}|{WRITE}"),
        )
    }
}

/// The entries before and after these tools: timeouts are in milliseconds.
pub(crate) fn entries(command: &str, events: [&'static str; 2], matcher: &str) -> Vec<Entry> {
    let timeouts = [TIMEOUT, SHORT_TIMEOUT];
    let entry = |(event, timeout): (&'static str, Duration)| Entry {
        event,
        item: json!({"matcher": matcher, "hooks": [{
            "name": "pillion",
            "type": "command",
            "command": command,
            "timeout": timeout.as_millis() as u64,
        }]}),
    };
    events.into_iter().zip(timeouts).map(entry).collect()
}

/// What was accepted as proposed passes as it is. Otherwise the model is told by the program that a hook changed its call.
fn allow(call: &Call, accepted: &Accepted) -> Answer {
    let answer = match accepted.is_as_proposed() {
        true => Answer::json(json!({"decision": "allow"})),
        false => {
            let mut input = edit::rewritten(call, accepted);
            if let Some(fields) = input.as_object_mut() {
                fields.remove("allow_multiple");
            }
            Answer::json(json!({
                "decision": "allow",
                "hookSpecificOutput": {"hookEventName": BEFORE_TOOL, "tool_input": input},
            }))
        }
    };
    Answer {
        told_after: accepted.context.clone(),
        ..answer
    }
}
