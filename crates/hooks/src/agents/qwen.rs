//! Qwen Code's hooks, which are Claude Code's with other names of tools. A hook cannot change its calls, and its model hears
//! of an acceptance only after the tool has run. Learnt by watching the program.

use pillion_protocol::claude::hooks;
use serde_json::{Map, Value};

use super::{claude, edit, gemini};
use crate::call::{Answer, Call, Entry, Event, HookProtocol, Record, Scope};
use crate::change::{Changes, Files};
use crate::ruling::{Accepted, Ruling};

#[derive(Debug)]
pub(crate) struct Qwen;

/// The tools that change files.
const EDIT: &str = "edit";
const WRITE: &str = "write_file";
const NOTEBOOK_EDIT: &str = "notebook_edit";
const EDITS: [&str; 3] = [EDIT, WRITE, NOTEBOOK_EDIT];

/// The state of a call in its record when the person has stopped it.
const STOPPED: &str = "cancelled";

impl HookProtocol for Qwen {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        let named = input.get("tool_call_id").and_then(Value::as_str);
        let record = named.and_then(|name| gemini::record(&input, name));
        let call = Call {
            record,
            ..claude::read(input)?
        };
        // It tells each request to its model as a prompt without words, too.
        let is_prompt = call.event != Event::BeforeTurn || !call.prompt.is_empty();
        Ok(match is_prompt {
            true => call,
            false => Call {
                event: Event::Other("a request".to_owned()),
                ..call
            },
        })
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        match call.tool.as_str() {
            EDIT => edit::replaced(call, files, edit::REPLACE_ALL),
            WRITE => edit::overwritten(call, files, gemini::with_crlf),
            NOTEBOOK_EDIT => edit::cell(call, files),
            _ => Changes::None,
        }
    }

    fn scope(&self, call: &Call) -> Scope {
        edit::scope(call, &EDITS, gemini::SHELL)
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (Event::BeforeTool, Ruling::Approved) => allowed(),
            (Event::BeforeTool, Ruling::Accepted(accepted)) if accepted.is_as_proposed() => {
                Answer {
                    told_after: accepted.context.clone(),
                    ..allowed()
                }
            }
            (Event::BeforeTool, Ruling::Accepted(accepted)) => deny_until_made(call, accepted),
            (Event::BeforeTool, Ruling::Denied(why)) => Answer::json(hooks::refuse(why)),
            (Event::BeforeTool, Ruling::Unclear(why)) => Answer::json(hooks::decision("ask", why)),
            (_, Ruling::Told(text)) => claude::told(call, text),
            _ => Answer::nothing(),
        }
    }

    /// It records the end of each call.
    fn is_stopped(&self, call: &Call, line: &str) -> bool {
        let Some(Record { call, .. }) = &call.record else {
            return false;
        };
        let result = gemini::recorded(line, STOPPED).map(|entry| entry["toolCallResult"].clone());
        result.is_some_and(|it| it["callId"] == call.as_str() && it["status"] == STOPPED)
    }

    fn shown_tools(&self) -> &'static [&'static str] {
        &EDITS
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let around = [
            hooks::PRE_TOOL_USE,
            hooks::POST_TOOL_USE,
            hooks::POST_TOOL_USE_FAILURE,
        ];
        let tools = edit::matcher(&[EDIT, WRITE, NOTEBOOK_EDIT, gemini::SHELL]);
        let others = [hooks::USER_PROMPT_SUBMIT, hooks::STOP];
        gemini::entries(command, &around, &tools, &others)
    }
}

fn allowed() -> Answer {
    Answer::json(hooks::decision("allow", claude::ACCEPTED))
}

/// A change that the agent cannot make as it was accepted is to be proposed by the model itself. If it does that exactly, nobody is
/// asked again.
pub(crate) fn deny_until_made(call: &Call, accepted: &Accepted) -> Answer {
    let context = accepted.context.as_deref().unwrap_or_default();
    let why = format!(
        "{context}\nNothing is written yet: make exactly the change that was accepted, and the user is not asked again."
    );
    Answer {
        approved: Some((Event::BeforeTool, edit::rewritten(call, accepted))),
        ..Answer::json(hooks::refuse(&why))
    }
}
