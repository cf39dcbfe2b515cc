//! Gemini CLI's hooks: around its tools and its turns. Its model hears nothing of what a hook adds before a tool runs. Learnt
//! by watching the program.

use std::iter;
use std::path::PathBuf;
use std::time::Duration;

use pillion_protocol::claude::hooks;
use serde_json::{Map, Value, json};

use super::{claude, edit};
use crate::call::{
    Answer, Call, Entry, Event, HookProtocol, Record, SHORT_TIMEOUT, Scope, TIMEOUT,
};
use crate::change::{Changes, Files};
use crate::ruling::{Accepted, Ruling};

#[derive(Debug)]
pub(crate) struct Gemini;

/// Its words in its record when the person has stopped it.
const STOPPED: &str = "Request cancelled.";

const BEFORE_TOOL: &str = "BeforeTool";
const AFTER_TOOL: &str = "AfterTool";
const BEFORE_AGENT: &str = "BeforeAgent";
const AFTER_AGENT: &str = "AfterAgent";

/// The name of an entry that is done in a moment.
const NAME: &str = "pillion";

/// The tools that change files.
const REPLACE: &str = "replace";
const WRITE: &str = "write_file";
const EDITS: [&str; 2] = [REPLACE, WRITE];

/// The tool for shell commands.
pub(crate) const SHELL: &str = "run_shell_command";

impl HookProtocol for Gemini {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        let record = record(&input, "");
        let call = claude::read_events(input, |event| match event {
            BEFORE_AGENT => Event::BeforeTurn,
            BEFORE_TOOL => Event::BeforeTool,
            AFTER_TOOL => Event::AfterTool,
            AFTER_AGENT => Event::AfterTurn,
            other => Event::Other(other.to_owned()),
        })?;
        Ok(Call { record, ..call })
    }

    fn is_stopped(&self, _call: &Call, line: &str) -> bool {
        let Some(entry) = recorded(line, STOPPED) else {
            return false;
        };
        entry["type"] == "info" && entry["content"] == STOPPED
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        if let Some(other) = edit::other_file(call, is_decoded) {
            return other;
        }
        match call.tool.as_str() {
            REPLACE => edit::replaced(call, files, "allow_multiple"),
            WRITE => edit::overwritten(call, files, with_crlf),
            _ => Changes::None,
        }
    }

    fn scope(&self, call: &Call) -> Scope {
        edit::scope(call, &EDITS, SHELL)
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (Event::BeforeTool, Ruling::Accepted(accepted)) => allow(call, accepted),
            // It has no question that a hook could ask for.
            (Event::BeforeTool, Ruling::Denied(why) | Ruling::Unclear(why)) => {
                Answer::json(json!({"decision": "deny", "reason": why}))
            }
            (Event::AfterTool, Ruling::Told(text)) => {
                Answer::json(hooks::add_context(AFTER_TOOL, text))
            }
            (Event::BeforeTurn, Ruling::Told(text)) => {
                Answer::json(hooks::add_context(BEFORE_AGENT, text))
            }
            _ => Answer::nothing(),
        }
    }

    fn finds_loosely(&self) -> bool {
        true
    }

    fn shown_tools(&self) -> &'static [&'static str] {
        &EDITS
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        entries(
            command,
            &[BEFORE_TOOL, AFTER_TOOL],
            &edit::matcher(&[REPLACE, WRITE, SHELL]),
            &[BEFORE_AGENT, AFTER_AGENT],
        )
    }
}

/// It takes an `@` from the front of a path, and a `%` with two hexadecimal digits for one byte.
fn is_decoded(path: &str) -> bool {
    let is_byte = |it: &[u8]| it[0] == b'%' && it[1..].iter().all(u8::is_ascii_hexdigit);
    path.starts_with('@') || path.as_bytes().windows(3).any(is_byte)
}

/// It writes a whole text with CRLF over any file that has CRLF somewhere.
pub(crate) fn with_crlf(before: &str, _: &str) -> bool {
    before.contains("\r\n")
}

/// The agent's record of its session, as it tells its hooks, in which it calls a call by this name.
pub(crate) fn record(input: &Map<String, Value>, call: &str) -> Option<Record> {
    let path = PathBuf::from(input.get("transcript_path")?.as_str()?);
    let call = call.to_owned();
    path.is_absolute().then_some(Record { path, call })
}

/// The entry in a line of such a record, if these words are in it.
pub(crate) fn recorded(line: &str, words: &str) -> Option<Value> {
    let line = line.contains(words).then_some(line)?;
    serde_json::from_str(line).ok()
}

/// The entries at events of these tools, the first of which asks a person, and at other events. Timeouts are in milliseconds. The agent
/// shows the name while it waits.
pub(crate) fn entries(
    command: &str,
    around_tools: &[&'static str],
    tools: &str,
    others: &[&'static str],
) -> Vec<Entry> {
    let entry = |event, timeout: Duration, name| Entry {
        event,
        item: json!({"hooks": [{
            "name": name,
            "type": "command",
            "command": command,
            "timeout": timeout.as_millis() as u64,
        }]}),
    };
    let kinds = iter::once((TIMEOUT, hooks::STATUS)).chain(iter::repeat((SHORT_TIMEOUT, NAME)));
    let around = around_tools.iter().zip(kinds).map(|(event, kind)| {
        let mut entry = entry(*event, kind.0, kind.1);
        entry.item["matcher"] = tools.into();
        entry
    });
    let others = { others.iter() }.map(|event| entry(*event, SHORT_TIMEOUT, NAME));
    around.chain(others).collect()
}

/// A call that was accepted as proposed passes as it is. Otherwise the model is told by the program that a hook changed its call.
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
