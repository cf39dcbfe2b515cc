//! Codex CLI's hooks: around patches, shell commands, which may hold patches, and turns, and `PermissionRequest` where it
//! asks the person itself. Learnt by watching the program.
//!
//! Edits, and parts that are taken out, make a new patch. Codex has no "ask": what cannot be shown is denied, because in most
//! of its modes it would be written without any question.

mod shell;

use std::path::PathBuf;

use pillion_protocol::claude::hooks;
use pillion_text::patch::Program;
use serde_json::{Map, Value};

use self::shell::Patched;
use super::claude::{self, SHELL};
use super::edit;
use super::patch::{self, Rewritten};
use crate::call::{Answer, Call, Entry, Event, HookProtocol, Scope};
use crate::change::{Changes, Files};
use crate::format::Format;
use crate::ruling::{Accepted, Ruling};

#[derive(Debug)]
pub(crate) struct Codex;

const PATCH: &str = "apply_patch";

impl HookProtocol for Codex {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        // Its fields are Claude Code's, and so are its names of events.
        claude::read(input)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        let patched = match patched(call) {
            Ok(Some(patched)) => edit::only(call, &["command"]).map(|()| patched),
            Ok(None) => return Changes::None,
            Err(why) => Err(why),
        };
        let patched = match patched {
            Ok(patched) => patched,
            Err(why) => return Changes::Unclear(why),
        };
        let folder = match (&call.folder, patched.folder.as_deref()) {
            (folder, None) => folder.clone(),
            (Some(folder), Some(below)) => Some(folder.join(below)),
            (None, Some(below)) => Some(PathBuf::from(below)).filter(|it| it.is_absolute()),
        };
        patch::changes(Program::Codex, folder.as_deref(), patched.patch, files)
    }

    /// Of a patch of one file, it is that one.
    fn scope(&self, call: &Call) -> Scope {
        let patched = match call.tool.as_str() {
            PATCH => patched(call),
            SHELL => return Scope::Anything,
            _ => return Scope::Nothing,
        };
        match patched {
            Ok(Some(it)) => patch::scope(call.folder.as_deref(), it.patch),
            _ => Scope::Anything,
        }
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (_, Ruling::Told(text)) => claude::told(call, text),
            (Event::BeforeTool, Ruling::Accepted(accepted)) => accept(call, accepted),
            (Event::BeforeTool, Ruling::Denied(why) | Ruling::Unclear(why)) => {
                Answer::json(hooks::refuse(why))
            }
            (Event::Question, Ruling::Approved) => Answer::json(hooks::approve(None)),
            _ => Answer::nothing(),
        }
    }

    fn can_write(&self, _: &str, before: Option<&str>, text: &str) -> bool {
        patch::can_write(Program::Codex, before, text)
    }

    fn shown_tools(&self) -> &'static [&'static str] {
        &[PATCH, SHELL]
    }

    fn format(&self) -> Format {
        Format::Toml
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let tools = edit::matcher(self.shown_tools());
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
    let (mut context, mut inexpressible) = (accepted.context.clone(), Vec::new());
    if !is_as_proposed {
        match rewritten(call, accepted) {
            Ok(it) => {
                input["command"] = it.patch.into();
                (context, inexpressible) = (it.context, it.inexpressible);
            }
            Err(why) => return Answer::inexpressible(hooks::refuse(&why), accepted),
        }
    }
    let output = hooks::allow(Some(input.clone()), context.as_deref());
    Answer {
        approved: approved(input),
        inexpressible,
        ..Answer::json(output)
    }
}

/// The command that writes what was accepted.
///
/// # Errors
/// A text that no patch can have as its outcome: what the model is told instead.
fn rewritten(call: &Call, accepted: &Accepted) -> Result<Rewritten, String> {
    let patched = patched(call)?.ok_or("the call applies no patch")?;
    let mut rewritten = patch::rewritten(Program::Codex, patched.patch, accepted)?;
    if call.tool == SHELL {
        rewritten.patch = patched.command(&rewritten.patch);
    }
    Ok(rewritten)
}

#[cfg(test)]
mod tests;
