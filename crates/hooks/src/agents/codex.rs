//! Codex CLI's hooks: `PreToolUse` for patches, also for those in a shell command, and `PermissionRequest` where it asks
//! the person itself. Learnt by watching the program.
//!
//! What is edited, or taken out, makes a new patch. Codex has no "ask": what cannot be shown is denied, because in most
//! of its modes it would be written without any question.

mod shell;

use std::path::PathBuf;

use pillion_protocol::claude::hooks;
use pillion_text::patch::Program;
use serde_json::{Map, Value};

use self::shell::Patched;
use super::{claude, patch};
use crate::call::{Answer, Call, Entry, Event, HookProtocol};
use crate::change::{Changes, Files};
use crate::ruling::{Accepted, Ruling};

/// How Codex's hooks work.
#[derive(Debug)]
pub(crate) struct Codex;

/// The tool for patches.
const PATCH: &str = "apply_patch";

/// The tool for shell commands.
const SHELL: &str = "Bash";

impl HookProtocol for Codex {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        // Its fields are Claude Code's, and so are its names of events.
        claude::read(input)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        let patched = match patched(call) {
            Ok(Some(patched)) => patched,
            Ok(None) => return Changes::None,
            Err(why) => return Changes::Unclear(why),
        };
        let folder = match (&call.folder, patched.folder.as_deref()) {
            (folder, None) => folder.clone(),
            (Some(folder), Some(below)) => Some(folder.join(below)),
            (None, Some(below)) => Some(PathBuf::from(below)).filter(|it| it.is_absolute()),
        };
        patch::changes(Program::Codex, folder.as_deref(), patched.patch, files)
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (Event::BeforeTool, Ruling::Accepted(accepted)) => accept(call, accepted),
            (Event::BeforeTool, Ruling::Denied(why) | Ruling::Unclear(why)) => {
                Answer::json(hooks::refuse(why))
            }
            (Event::BeforeTool, Ruling::NobodyAsked(why)) => Answer::message(why),
            (Event::Question, Ruling::Approved) => Answer::json(hooks::approve()),
            _ => Answer::nothing(),
        }
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let tools = format!("{PATCH}|{SHELL}");
        claude::entries(command, &tools, &tools)
    }
}

/// The patch that a call applies, if it applies one.
///
/// # Errors
/// A command that may apply one in a way that is not understood.
fn patched(call: &Call) -> Result<Option<Patched<'_>>, String> {
    let command = call.input.get("command").and_then(Value::as_str);
    let missing = || format!("{} has no command", call.tool);
    match call.tool.as_str() {
        PATCH => Ok(Some(Patched {
            folder: None,
            patch: command.ok_or_else(missing)?,
        })),
        SHELL => shell::patched(command.ok_or_else(missing)?),
        _ => Ok(None),
    }
}

/// Lets the patch pass, or another one in its place.
fn accept(call: &Call, accepted: &Accepted) -> Answer {
    let approved = |input: Value| Some((Event::Question, input));
    let is_as_proposed = accepted.is_as_proposed();
    if is_as_proposed && accepted.context.is_none() {
        // To allow it alone would count as an error.
        return Answer {
            approved: approved(call.input.clone()),
            ..Answer::nothing()
        };
    }
    let mut input = call.input.clone();
    if !is_as_proposed {
        match rewritten(call, accepted) {
            Ok(command) => input["command"] = command.into(),
            Err(why) => {
                return Answer {
                    is_inexpressible: true,
                    ..Answer::json(hooks::refuse(&why))
                };
            }
        }
    }
    let output = hooks::allow(Some(input.clone()), accepted.context.as_deref());
    Answer {
        approved: approved(input),
        ..Answer::json(output)
    }
}

/// The command that writes what was accepted.
///
/// # Errors
/// A text that no patch can have as its outcome: what the model is told instead.
fn rewritten(call: &Call, accepted: &Accepted) -> Result<String, String> {
    let patched = patched(call)?.ok_or("the call applies no patch")?;
    let patch = patch::rewritten(Program::Codex, patched.patch, accepted)?;
    Ok(match call.tool.as_str() {
        SHELL => patched.command(&patch),
        _ => patch,
    })
}

#[cfg(test)]
mod tests;
