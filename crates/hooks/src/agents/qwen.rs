//! Qwen Code's hooks, which are Claude Code's with other names of tools. A hook cannot change its calls, and its model hears
//! of an acceptance only after the tool has run. Learnt by watching the program.

use pillion_protocol::claude::hooks;
use serde_json::{Map, Value};

use super::{claude, edit, gemini};
use crate::call::{Answer, Call, Entry, Event, HookProtocol};
use crate::change::{Changes, Files};
use crate::ruling::{Accepted, Ruling};

/// How Qwen Code's hooks work.
#[derive(Debug)]
pub(crate) struct Qwen;

/// The tools that change files.
const EDIT: &str = "edit";
const WRITE: &str = "write_file";
const NOTEBOOK_EDIT: &str = "notebook_edit";

impl HookProtocol for Qwen {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        claude::read(input)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        match call.tool.as_str() {
            EDIT => edit::replaced(call, files, "replace_all"),
            WRITE => edit::overwritten(call, files),
            NOTEBOOK_EDIT => edit::cell(call, files),
            _ => Changes::None,
        }
    }

    fn file(&self, call: &Call) -> Option<String> {
        edit::file(call).or_else(|_| edit::notebook(call)).ok()
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
            (Event::BeforeTool, Ruling::Accepted(accepted)) => deny_until_edited(call, accepted),
            (Event::BeforeTool, Ruling::Denied(why)) => Answer::json(hooks::refuse(why)),
            (Event::BeforeTool, Ruling::Unclear(why)) => Answer::json(hooks::decision("ask", why)),
            (Event::BeforeTool, Ruling::NobodyAsked(why)) => Answer::message(why),
            (Event::AfterTool, Ruling::Told(text)) => {
                Answer::json(hooks::add_context(hooks::POST_TOOL_USE, text))
            }
            _ => Answer::nothing(),
        }
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let events = [hooks::PRE_TOOL_USE, hooks::POST_TOOL_USE];
        gemini::entries(command, events, &format!("{EDIT}|{WRITE}|{NOTEBOOK_EDIT}"))
    }
}

fn allowed() -> Answer {
    Answer::json(hooks::decision("allow", claude::ACCEPTED))
}

/// What was edited is to be proposed by the model itself. If it does that exactly, nobody is asked again.
fn deny_until_edited(call: &Call, accepted: &Accepted) -> Answer {
    let context = accepted.context.as_deref().unwrap_or_default();
    let why = format!(
        "{context}\nNothing is written yet: make exactly the change that was accepted, and the user is not asked again."
    );
    Answer {
        approved: Some((Event::BeforeTool, edit::rewritten(call, accepted))),
        ..Answer::json(hooks::refuse(&why))
    }
}
