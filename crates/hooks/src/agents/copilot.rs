//! Copilot CLI's hooks around its tools and its turns. Learnt by watching the program.
//!
//! It names no event, but each has fields of its own. If a hook allows a call, the person is not asked
//! again, unless there is a hook for `permissionRequest`, too; so there is none of ours. The hooks of all calls of one answer
//! run before the first of these calls does.
//!
//! It finds the lines of a patch loosely, and indents new ones as it found the old ones. So a patch that was accepted is
//! replaced by one whose lines are exactly those of the file: nothing else is written than what was shown.

use std::ops::Range;
use std::time::Duration;

use pillion_text::patch::Program;
use serde_json::{Map, Value, json};

use super::{claude, edit, patch};
use crate::call::{
    Answer, Call, Entry, Event, HookProtocol, Order, SHORT_TIMEOUT, Scope, TIMEOUT, take_text,
};
use crate::change::{Changes, Files};
use crate::ruling::{Accepted, Ruling};

#[derive(Debug)]
pub(crate) struct Copilot;

const BEFORE_TOOL: &str = "preToolUse";

/// The tools that change files. Models of OpenAI's have the last one alone.
const EDIT: &str = "edit";
const CREATE: &str = "create";
const PATCH: &str = "apply_patch";

/// The tool for shell commands.
const SHELL: &str = "bash";

impl HookProtocol for Copilot {
    fn read(&self, mut input: Map<String, Value>) -> Result<Call, String> {
        if input.contains_key("hook_event_name") {
            return of_claudes_hook(input);
        }
        let event = event(&input)?;
        let mut text = |field| take_text(&mut input, field).unwrap_or_default();
        let (session, folder, tool) = (text("sessionId"), text("cwd"), text("toolName"));
        let prompt = text("prompt");
        let mut arguments = input.remove("toolArgs").unwrap_or_default();
        // A patch is a text. All other arguments are an object, or, in older releases, the text of one.
        if let (Value::String(text), false) = (&arguments, tool == PATCH) {
            arguments = pillion_protocol::json::of_others(text.as_bytes())
                .map_err(|_| "toolArgs is not JSON".to_owned())?;
        }
        Ok(Call {
            event,
            session,
            folder: Some(folder.into()).filter(|folder: &std::path::PathBuf| folder.is_absolute()),
            mode: String::new(),
            tool,
            input: arguments,
            id: String::new(),
            subagent: None,
            prompt,
            record: None,
        })
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        match call.tool.as_str() {
            EDIT | CREATE => changed(call, files).unwrap_or_else(Changes::Unclear),
            PATCH => match patch_of(call) {
                Ok(text) => patch::changes(Program::Copilot, call.folder.as_deref(), text, files),
                Err(why) => Changes::Unclear(why),
            },
            _ => Changes::None,
        }
    }

    fn scope(&self, call: &Call) -> Scope {
        let path = || edit::absolute(edit::text(call, "path")?, call.folder.as_deref());
        match call.tool.as_str() {
            EDIT | CREATE => path().map_or(Scope::Anything, Scope::File),
            PATCH => patch_of(call).map_or(Scope::Anything, |text| {
                patch::scope(call.folder.as_deref(), text)
            }),
            SHELL => Scope::Anything,
            _ => Scope::Nothing,
        }
    }

    fn takes_context(&self, call: &Call) -> bool {
        matches!(
            call.event,
            Event::BeforeTurn | Event::AfterTool | Event::AfterFailure
        )
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match ruling {
            Ruling::Told(text) => Answer::json(json!({"additionalContext": text})),
            Ruling::Accepted(accepted) => allow(call, accepted),
            Ruling::Denied(why) => Answer::json(decision("deny", why)),
            // Where it can ask nobody, it refuses the call.
            Ruling::Unclear(why) => Answer::json(decision("ask", why)),
            Ruling::Pass | Ruling::Approved => Answer::nothing(),
        }
    }

    fn person_field(&self) -> Option<&'static str> {
        None
    }

    /// It obeys an exit code, too, but hears no reason then.
    fn block(&self, why: String) -> Answer {
        Answer::json(decision("deny", &why))
    }

    fn finds_loosely(&self) -> bool {
        true
    }

    fn can_write(&self, tool: &str, before: Option<&str>, text: &str) -> bool {
        match (tool, before) {
            (PATCH, _) => patch::can_write(Program::Copilot, before, text),
            (EDIT, Some(before)) => with_endings_of(before, text) == text,
            _ => true,
        }
    }

    fn order(&self) -> Order {
        Order::AllFirst
    }

    fn shown_tools(&self) -> &'static [&'static str] {
        &[EDIT, CREATE, PATCH]
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let tools = edit::matcher(&[EDIT, CREATE, PATCH, SHELL]);
        let entry = |event, timeout: Duration, is_about_tools| {
            let mut item = json!({
                "type": "command",
                "bash": command,
                "timeoutSec": timeout.as_secs(),
            });
            if is_about_tools {
                item["matcher"] = tools.as_str().into();
            }
            Entry { event, item }
        };
        vec![
            entry(BEFORE_TOOL, TIMEOUT, true),
            entry("postToolUse", SHORT_TIMEOUT, true),
            entry("postToolUseFailure", SHORT_TIMEOUT, true),
            entry("userPromptSubmitted", SHORT_TIMEOUT, false),
            entry("agentStop", SHORT_TIMEOUT, false),
        ]
    }
}

/// A call of a hook that is Claude Code's, whose settings in a project it reads, too: with Claude Code's events and names of
/// tools, and its own arguments. It takes its own answers there.
///
/// # Errors
/// As of [`claude::read`].
fn of_claudes_hook(input: Map<String, Value>) -> Result<Call, String> {
    let mut call = claude::read(input)?;
    let own = match call.tool.as_str() {
        claude::EDIT if call.input.is_string() => PATCH,
        claude::EDIT => EDIT,
        claude::WRITE => CREATE,
        claude::SHELL => SHELL,
        _ => return Ok(call),
    };
    call.tool = own.to_owned();
    Ok(call)
}

/// The event at which it sends these fields.
///
/// # Errors
/// If it is none that is known.
fn event(input: &Map<String, Value>) -> Result<Event, String> {
    let has = |field: &str| input.contains_key(field);
    Ok(match has("toolName") {
        true if has("hookName") => Event::Other("another".to_owned()),
        true if has("toolResult") => Event::AfterTool,
        true if has("error") => Event::AfterFailure,
        true => Event::BeforeTool,
        false if has("initialPrompt") => Event::Other("a new session".to_owned()),
        false if has("prompt") => Event::BeforeTurn,
        false if has("stopReason") => Event::AfterTurn,
        false => return Err("toolName is missing".to_owned()),
    })
}

fn patch_of(call: &Call) -> Result<&str, String> {
    let patch = call.input.as_str();
    patch.ok_or_else(|| format!("the input of {PATCH} is no text"))
}

/// The change of one file that a call makes.
///
/// # Errors
/// The reason why it cannot be shown.
fn changed(call: &Call, files: &mut dyn Files) -> Result<Changes, String> {
    let known: &[&str] = match call.tool.as_str() {
        CREATE => &["path", "file_text"],
        _ => &["path", "old_str", "new_str"],
    };
    edit::only(call, known)?;
    let field = |name: &str| edit::text(call, name);
    let path = edit::absolute(field("path")?, call.folder.as_deref())?;
    let before = edit::before(&path, files)?;
    let after = match (call.tool.as_str(), &before) {
        (CREATE, None) => Ok(field("file_text")?.to_owned()),
        (CREATE, Some(_)) => Err("it already exists".to_owned()),
        (_, None) => Err(edit::MISSING.to_owned()),
        (_, Some(before)) => replaced(before, field("old_str")?, field("new_str")?),
    };
    Ok(edit::of_one(path, before, after))
}

/// Returns the text with a part of it replaced: the lines of the new part end as most of the file's do.
fn replaced(before: &str, old: &str, new: &str) -> Result<String, String> {
    let place = place(before, old)?;
    let new = with_endings_of(before, new);
    Ok([&before[..place.start], &new, &before[place.end..]].concat())
}

/// Returns the place of the text to replace, however its lines end.
fn place(before: &str, old: &str) -> Result<Range<usize>, String> {
    if old.is_empty() {
        return Err("the text to replace is empty".to_owned());
    }
    let at_once = |text: &str, old: &str| match text.matches(old).count() {
        0 => Ok(None),
        1 => Ok(text.find(old).map(|start| start..start + old.len())),
        count => Err(format!(
            "the text to replace occurs {count} times in the file"
        )),
    };
    if let Some(place) = at_once(before, old)? {
        return Ok(place);
    }
    let plain = before.replace("\r\n", "\n");
    let place = at_once(&plain, &old.replace("\r\n", "\n"))?;
    let place = place.ok_or(edit::NOT_EXACT)?;
    // The places of the text without CR, in the one with them.
    let bytes = before.as_bytes();
    let is_kept = |at: &usize| !bytes[*at..].starts_with(b"\r\n");
    let mut places = (0..bytes.len()).filter(is_kept);
    let mut nth = |count: usize| places.nth(count).unwrap_or(bytes.len());
    let start = nth(place.start);
    let end = match place.len() {
        1 => start + 1,
        length => nth(length - 2) + 1,
    };
    let is_cut = bytes[..start].ends_with(b"\r") && bytes[start..].starts_with(b"\n");
    Ok(start - usize::from(is_cut)..end)
}

/// A text with the line endings that most lines of the file have.
fn with_endings_of(file: &str, text: &str) -> String {
    let (lf, crlf) = pillion_text::endings::LineEnding::count(file.as_bytes());
    edit::ended(text, crlf > lf)
}

fn decision(decision: &str, why: &str) -> Value {
    json!({"permissionDecision": decision, "permissionDecisionReason": why})
}

/// Lets the call pass, with other arguments if there are any.
fn allowed(arguments: Option<Value>, context: Option<String>) -> Answer {
    let mut output = json!({"permissionDecision": "allow"});
    if let Some(arguments) = arguments {
        output["modifiedArgs"] = arguments;
    }
    if let Some(context) = context {
        output["additionalContext"] = context.into();
    }
    Answer::json(output)
}

fn allow_patch(call: &Call, accepted: &Accepted) -> Answer {
    let rewritten =
        patch_of(call).and_then(|text| patch::rewritten(Program::Copilot, text, accepted));
    match rewritten {
        Ok(it) => Answer {
            inexpressible: it.inexpressible,
            ..allowed(Some(it.patch.into()), it.context)
        },
        Err(why) => Answer::inexpressible(decision("deny", &why), accepted),
    }
}

/// The call with what was accepted. If that is not what was proposed, it replaces the whole text of the file, so that nothing
/// else is written than what was shown.
fn allow(call: &Call, accepted: &Accepted) -> Answer {
    if call.tool == PATCH {
        return allow_patch(call, accepted);
    }
    let inexpressible =
        |why: &str| Answer::inexpressible(decision("deny", &accepted.not_written(why)), accepted);
    let [file] = &accepted.files[..] else {
        let why = "the call changes one file, and several were decided";
        return Answer::json(decision("deny", why));
    };
    let path = &file.change.path;
    let before = file.change.before.as_deref().unwrap_or_default();
    let written = file.text().unwrap_or_default();
    let proposed = call.input.get("old_str").and_then(Value::as_str);
    let mut changed = Vec::new();
    match (accepted.is_as_proposed(), proposed) {
        (true, None) => {}
        // What it finds only by guessing at line endings, it replaces together with a BOM.
        (true, Some(old)) => {
            if let (false, Ok(place)) = (before.contains(old), place(before, old)) {
                changed.push(("old_str", &before[place]));
            }
        }
        // It creates nothing in place of a file, and edits no text that is empty or not there.
        (false, None) if file.change.before.is_some() => {
            return inexpressible(&format!("{path} exists by now"));
        }
        (false, Some(_)) if before.is_empty() => {
            return inexpressible(&format!("{path} is empty or deleted by now"));
        }
        (false, None) => changed.push(("file_text", written)),
        (false, Some(_)) if !Copilot.can_write(EDIT, Some(before), written) => {
            let why = format!("{path} has lines that end in LF and lines that end in CRLF");
            return inexpressible(&why);
        }
        (false, Some(_)) => changed.extend([("old_str", before), ("new_str", written)]),
    }
    let arguments = (!changed.is_empty()).then(|| {
        let mut input = call.input.as_object().cloned().unwrap_or_default();
        let changed = changed.into_iter();
        input.extend(changed.map(|(name, text)| (name.to_owned(), text.into())));
        input.into()
    });
    allowed(arguments, accepted.context.clone())
}

#[cfg(test)]
mod tests;
