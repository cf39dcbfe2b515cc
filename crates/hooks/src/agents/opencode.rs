//! opencode, which has plugins in place of hooks: `plugin.js` starts the hook with a call that is described as Claude Code
//! describes it, with opencode's own tools and arguments, and does what the answer says. Learnt by watching the program.
//!
//! A plugin can refuse a call and change its arguments, and cannot have opencode ask. So what cannot be shown is denied. opencode
//! finds the text that an edit replaces loosely, and so the lines of a patch: what was accepted is written by a call that leaves
//! nothing to find.

use pillion_protocol::claude::hooks;
use pillion_text::patch::Program;
use serde_json::{Map, Value, json};

use super::{aliases, claude, edit, patch};
use crate::call::{Answer, Call, Entry, Event, HookProtocol, Scope};
use crate::change::{Changes, Files};
use crate::format::{Format, SOURCE};
use crate::ruling::{Accepted, Reviewed, Ruling};

#[derive(Debug)]
pub(crate) struct OpenCode;

/// The tools that change files. Models of OpenAI's have the last one alone.
const EDIT: &str = "edit";
const WRITE: &str = "write";
const PATCH: &str = "apply_patch";
const EDITS: [&str; 3] = [EDIT, WRITE, PATCH];

/// The tool for shell commands.
const SHELL: &str = "bash";

/// The argument of the tool for patches.
const PATCH_TEXT: &str = "patchText";

/// The plugin, whose two lists stand on lines of their own.
const PLUGIN: &str = include_str!("opencode/plugin.js");

impl HookProtocol for OpenCode {
    fn read(&self, input: Map<String, Value>) -> Result<Call, String> {
        let mut call = claude::read(input)?;
        aliases::rename(&mut call.input);
        Ok(call)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        match call.tool.as_str() {
            EDIT | WRITE => changed(call, files),
            PATCH => match edit::only(call, &[PATCH_TEXT])
                .and_then(|()| edit::text(call, PATCH_TEXT))
            {
                Ok(text) => patch::changes(Program::OpenCode, call.folder.as_deref(), text, files),
                Err(why) => Changes::Unclear(why),
            },
            _ => Changes::None,
        }
    }

    fn scope(&self, call: &Call) -> Scope {
        match (call.tool.as_str(), edit::text(call, PATCH_TEXT)) {
            (PATCH, Ok(text)) => patch::scope(call.folder.as_deref(), text),
            (PATCH, Err(_)) => Scope::Anything,
            _ => edit::scope(call, &[EDIT, WRITE], SHELL),
        }
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (_, Ruling::Told(text)) => claude::told(call, text),
            (Event::BeforeTool, Ruling::Accepted(accepted)) => allow(call, accepted),
            (Event::BeforeTool, Ruling::Denied(why) | Ruling::Unclear(why)) => {
                Answer::json(hooks::refuse(why))
            }
            _ => Answer::nothing(),
        }
    }

    fn finds_loosely(&self) -> bool {
        true
    }

    fn can_write(&self, tool: &str, before: Option<&str>, text: &str) -> bool {
        match (tool, before) {
            (PATCH, _) => patch::can_write(Program::OpenCode, before, text),
            (_, Some(before)) if changes_mark(tool, before, text) => false,
            (EDIT, Some(before)) => is_uniform(before, text),
            _ => true,
        }
    }

    fn shown_tools(&self) -> &'static [&'static str] {
        &EDITS
    }

    fn format(&self) -> Format {
        Format::Script
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let words = shell_words::split(command).unwrap_or_default();
        let tools = [EDIT, WRITE, PATCH, SHELL];
        let source = PLUGIN
            .replace("const HOOK = []", &format!("const HOOK = {}", json!(words)))
            .replace(
                "const TOOLS = []",
                &format!("const TOOLS = {}", json!(tools)),
            );
        let item = json!({"command": command, SOURCE: source});
        vec![Entry {
            event: "plugin",
            item,
        }]
    }
}

fn changed(call: &Call, files: &mut dyn Files) -> Changes {
    match call.tool.as_str() {
        WRITE => edit::one_file(call, files, &[edit::CONTENT], |before| {
            Ok(Ok(with_bom_of(before, edit::text(call, edit::CONTENT)?)))
        }),
        _ => edit::part(call, files, edit::REPLACE_ALL, replaced),
    }
}

/// A text as it is written in place of another: a BOM stays.
fn with_bom_of(before: Option<&str>, text: &str) -> String {
    match has_bom(before.unwrap_or_default()) && !has_bom(text) {
        true => format!("{}{text}", edit::BOM),
        false => text.to_owned(),
    }
}

fn has_bom(text: &str) -> bool {
    text.starts_with(edit::BOM)
}

/// The text of a file with a part of it replaced: in one that has any CRLF, the lines of both parts end so.
fn replaced(before: Option<&str>, old: &str, new: &str, is_of_all: bool) -> Result<String, String> {
    match before {
        None if old.is_empty() => Ok(new.to_owned()),
        None => Err(edit::MISSING.to_owned()),
        Some(_) if old.is_empty() => {
            Err("the file exists, and the text to replace is empty".to_owned())
        }
        Some(before) => {
            let part = |text| with_endings_of(before, text);
            edit::in_text(before, &part(old), &part(new), is_of_all)
        }
    }
}

fn with_endings_of(file: &str, text: &str) -> String {
    edit::ended(text, file.contains("\r\n"))
}

/// Returns true if this text has a byte order mark and the one before has none, or the other way round, and the tool keeps that.
fn changes_mark(tool: &str, before: &str, text: &str) -> bool {
    match (has_bom(before), has_bom(text)) {
        (true, false) => true,
        (false, true) => tool == EDIT,
        _ => false,
    }
}

/// Returns true if all lines of both end in the same way.
fn is_uniform(before: &str, text: &str) -> bool {
    [before, text]
        .iter()
        .all(|text| with_endings_of(before, text) == **text)
}

fn allow(call: &Call, accepted: &Accepted) -> Answer {
    let allowed = match call.tool.as_str() {
        PATCH => edit::text(call, PATCH_TEXT)
            .and_then(|text| patch::rewritten(Program::OpenCode, text, accepted))
            .map(|it| Answer {
                inexpressible: it.inexpressible,
                ..allowed(json!({PATCH_TEXT: it.patch}), it.context)
            }),
        _ => written(call, accepted)
            .map(|input| allowed(input, accepted.context.clone()))
            .map_err(|why| accepted.not_written(&why)),
    };
    allowed.unwrap_or_else(|told| Answer::inexpressible(hooks::refuse(&told), accepted))
}

fn allowed(input: Value, context: Option<String>) -> Answer {
    Answer::json(hooks::allow(Some(input), context.as_deref()))
}

/// The arguments, by opencode's names, with which an edit or a write writes what was accepted of one file.
///
/// # Errors
/// A text that it cannot write there.
fn written(call: &Call, accepted: &Accepted) -> Result<Value, String> {
    let [file @ Reviewed { change, .. }] = &accepted.files[..] else {
        return Err("the call changes one file, and several were decided".to_owned());
    };
    let path = &change.path;
    let before = change.before.as_deref();
    let written = file.text().unwrap_or_default();
    let tool = call.tool.as_str();
    if before.is_some_and(|before| changes_mark(tool, before, written)) {
        return Err(format!(
            "it adds no byte order mark to {path} and removes none"
        ));
    }
    if tool == WRITE {
        return Ok(json!({"content": written}));
    }
    let edit =
        |old: &str, new: &str| json!({"oldString": old, "newString": new, "replaceAll": false});
    let before = match before {
        None => return Ok(edit("", written)),
        Some("") => return Err(format!("{path} is empty by now")),
        Some(before) => before,
    };
    if is_uniform(before, written) {
        return Ok(edit(&edit::plain(before), &edit::plain(written)));
    }
    // The part that it replaces is there once, exactly, and so it finds no other.
    match accepted.is_as_proposed() && call.input.get(edit::REPLACE_ALL) != Some(&Value::Bool(true))
    {
        true => Ok(json!({})),
        false => Err(format!(
            "{path} has lines that end in LF and lines that end in CRLF"
        )),
    }
}

#[cfg(test)]
mod tests;
