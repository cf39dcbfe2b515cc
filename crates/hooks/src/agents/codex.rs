//! Codex CLI's hooks: around patches, shell commands, which may hold patches, and turns, and `PermissionRequest` where it
//! asks the person itself. Learnt by watching the program.
//!
//! What is edited, or taken out, makes a new patch. Codex has no "ask": what cannot be shown is denied, because in most
//! of its modes it would be written without any question.

mod shell;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pillion_protocol::claude::hooks;
use pillion_protocol::{path, remarks};
use pillion_text::patch::{self, FileChange, FilePatch};
use pillion_text::unified::unified;
use serde_json::{Map, Value};

use self::shell::Patched;
use super::claude::{self, SHELL};
use super::edit;
use crate::call::{Answer, Call, Entry, Event, HookProtocol, Scope};
use crate::change::{After, Change, Changes, Files};
use crate::ruling::{Accepted, Reviewed, Ruling};

/// How Codex's hooks work.
#[derive(Debug)]
pub(crate) struct Codex;

/// The tool for patches.
const PATCH: &str = "apply_patch";

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
        changes(call, &patched, files).unwrap_or_else(|changes| changes)
    }

    /// Of a patch of one file, it is that one.
    fn scope(&self, call: &Call) -> Scope {
        let patched = match call.tool.as_str() {
            PATCH => patched(call),
            SHELL => return Scope::Anything,
            _ => return Scope::Nothing,
        };
        let files = patched
            .ok()
            .flatten()
            .and_then(|it| patch::read(it.patch).ok());
        match files.as_deref() {
            Some([file]) if file.operation.move_to().is_none() => {
                let path = edit::absolute(&file.path, call.folder.as_deref());
                path.map_or(Scope::Anything, Scope::File)
            }
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
            (Event::BeforeTool, Ruling::NobodyAsked(why)) => Answer::message(why),
            (Event::Question, Ruling::Approved) => Answer::json(hooks::approve()),
            _ => Answer::nothing(),
        }
    }

    fn shown_tools(&self) -> &'static [&'static str] {
        &[PATCH, SHELL]
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

/// What a patch does. What cannot be shown or cannot work is the error.
fn changes(call: &Call, patched: &Patched<'_>, files: &mut dyn Files) -> Result<Changes, Changes> {
    let unclear = |why: String| Changes::Unclear(format!("Pillion cannot show this patch: {why}"));
    let folder = match (&call.folder, patched.folder.as_deref()) {
        (folder, None) => folder.clone(),
        (Some(folder), Some(below)) => Some(folder.join(below)),
        (None, Some(below)) => Some(PathBuf::from(below)).filter(|it| it.is_absolute()),
    };
    let patch = patch::read(patched.patch).map_err(|error| unclear(error.to_string()))?;
    let (mut changes, mut named) = (Vec::new(), BTreeSet::new());
    let absolute = |path: &str| edit::absolute(path, folder.as_deref()).map_err(unclear);
    for FilePatch {
        path,
        line,
        operation,
    } in &patch
    {
        let path = absolute(path)?;
        let before = edit::before(&path, files).map_err(unclear)?;
        let after = operation.apply(*line, before.as_deref());
        let after = after.map_err(|error| match error.is_about_form {
            true => unclear(format!("{path}, {error}")),
            false => Changes::Invalid(format!("The patch cannot be applied to {path}, {error}")),
        })?;
        if let Some(to) = operation.move_to() {
            changes.push(Change::of_file(path, before, After::Deleted));
            let path = absolute(to)?;
            let before = edit::before(&path, files).map_err(unclear)?;
            let after = After::Text(after.unwrap_or_default());
            changes.push(Change::of_file(path, before, after));
        } else {
            let after = after.map_or(After::Deleted, After::Text);
            changes.push(Change::of_file(path, before, after));
        }
    }
    for change in &changes {
        if !named.insert(path::absolute(Path::new("/"), Path::new(&change.path))) {
            return Err(unclear(format!("{} is named twice", change.path)));
        }
    }
    Ok(Changes::Files(changes))
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
    let patch = patch::read(patched.patch).map_err(|error| error.to_string())?;
    let mut files = accepted.files.iter();
    let mut wanted = Vec::new();
    for FilePatch {
        path, operation, ..
    } in &patch
    {
        let mut next = || files.next().ok_or("a file of the patch was not decided");
        let here = (path.as_str(), next()?);
        match operation.move_to() {
            None => wanted.extend(only(here)),
            Some(to) => wanted.extend(moved(here, (to, next()?))),
        }
    }
    let changes: Vec<FileChange<'_>> = wanted.iter().map(|(change, _)| *change).collect();
    let patch = patch::write(&changes).map_err(|at| {
        let (change, file) = wanted[at];
        let before = change.before.unwrap_or_default();
        let diff = unified(before, change.after.unwrap_or_default());
        let told = remarks::inexpressible(&file.change.path, &diff);
        let context = accepted.context.iter().cloned();
        [told]
            .into_iter()
            .chain(context)
            .collect::<Vec<_>>()
            .join("\n")
    })?;
    Ok(match call.tool.as_str() {
        SHELL => patched.command(&patch),
        _ => patch,
    })
}

/// A file that the person has decided about, and its path in the patch.
type Decided<'a> = (&'a str, &'a Reviewed);

/// What becomes of a file, if it is to change.
fn only<'a>((path, file): Decided<'a>) -> Option<(FileChange<'a>, &'a Reviewed)> {
    let written = file.written.as_ref()?;
    let change = FileChange {
        path,
        move_to: None,
        before: file.change.before.as_deref(),
        after: written.text(),
    };
    Some((change, file))
}

/// What becomes of a file that is to be moved: it is moved only if both sides of it were accepted.
fn moved<'a>(
    from: Decided<'a>,
    to: Decided<'a>,
) -> impl Iterator<Item = (FileChange<'a>, &'a Reviewed)> {
    let is_left = from.1.written == Some(After::Deleted);
    let text = to.1.written.as_ref().and_then(After::text);
    let whole = text.filter(|_| is_left).map(|text| {
        let change = FileChange {
            path: from.0,
            move_to: Some(to.0),
            before: from.1.change.before.as_deref(),
            after: Some(text),
        };
        (change, to.1)
    });
    let parts = match whole {
        Some(_) => [None, None],
        None => [only(from), only(to)],
    };
    whole.into_iter().chain(parts.into_iter().flatten())
}

#[cfg(test)]
mod tests;
