//! Mistral Vibe's hooks, whose events and answers are its own. No hook runs when a prompt is sent: a turn begins with its first
//! call. Learnt by watching the program, and from its manual.

use std::time::Duration;

use pillion_text::endings::LineEnding;
use serde_json::{Map, Value, json};

use super::{claude, edit};
use crate::call::{Answer, Call, Entry, Event, HookProtocol, Order, SHORT_TIMEOUT, Scope, TIMEOUT};
use crate::change::{Changes, Files};
use crate::format::Format;
use crate::ruling::{Accepted, Reviewed, Ruling};

#[derive(Debug)]
pub(crate) struct Vibe;

const BEFORE_TOOL: &str = "pre_tool";
const AFTER_TOOL: &str = "post_tool";
const AFTER_TURN: &str = "post_agent";

/// The tools that change files.
const EDIT: &str = "file_system.search_replace";
const WRITE: &str = "file_system.write_file";
const EDITS: [&str; 2] = [EDIT, WRITE];

/// The tool for shell commands, and the one for those that run on beside it.
const SHELL: &str = "file_system.bash";
const PROCESS: &str = "process.start";

impl HookProtocol for Vibe {
    fn read(&self, mut input: Map<String, Value>) -> Result<Call, String> {
        let parent = input.remove("parent_session_id");
        let parent = parent.as_ref().and_then(Value::as_str).map(str::to_owned);
        let has_failed = input.get("tool_status") == Some(&json!("failure"));
        let mut call = claude::read_events(input, |event| match event {
            BEFORE_TOOL => Event::BeforeTool,
            AFTER_TOOL if has_failed => Event::AfterFailure,
            AFTER_TOOL => Event::AfterTool,
            AFTER_TURN if parent.is_none() => Event::AfterTurn,
            other => Event::Other(other.to_owned()),
        })?;
        if let Some(parent) = parent {
            call.subagent = Some(std::mem::replace(&mut call.session, parent));
        }
        Ok(call)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        match EDITS.contains(&call.tool.as_str()) {
            true => changed(call, files),
            false => Changes::None,
        }
    }

    fn scope(&self, call: &Call) -> Scope {
        match call.tool.as_str() {
            PROCESS => Scope::Anything,
            _ => edit::scope(call, &EDITS, SHELL),
        }
    }

    fn takes_context(&self, call: &Call) -> bool {
        matches!(call.event, Event::AfterTool | Event::AfterFailure)
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (Event::BeforeTool, Ruling::Accepted(accepted)) => allow(call, accepted),
            // It has no question that a hook could ask for.
            (Event::BeforeTool, Ruling::Denied(why) | Ruling::Unclear(why)) => deny(why),
            (Event::AfterTool | Event::AfterFailure, Ruling::Told(text)) => {
                Answer::json(json!({"hook_specific_output": {"additional_context": text}}))
            }
            _ => Answer::nothing(),
        }
    }

    fn person_field(&self) -> Option<&'static str> {
        Some("system_message")
    }

    /// With an exit code, it would be a failure of the hook.
    fn block(&self, why: String) -> Answer {
        deny(&why)
    }

    fn can_write(&self, _: &str, before: Option<&str>, text: &str) -> bool {
        let is_of = |before: &str| {
            let keeps_mark = before.starts_with(edit::BOM) == text.starts_with(edit::BOM);
            keeps_mark && ended_as(before, text) == text
        };
        before.is_none_or(is_of)
    }

    fn order(&self) -> Order {
        Order::AtOnce
    }

    fn shown_tools(&self) -> &'static [&'static str] {
        &EDITS
    }

    fn format(&self) -> Format {
        Format::TomlList("type")
    }

    /// It makes no call whose `strict` hook fails.
    fn entries(&self, command: &str) -> Vec<Entry> {
        let tools = edit::matcher(&[EDIT, WRITE, SHELL, PROCESS]).replace('.', r"\.");
        let entry = |event, timeout: Duration, tools: Option<&str>| {
            let mut item = json!({
                "name": format!("pillion-{event}"),
                "type": event,
                "command": command,
                "timeout": timeout.as_secs(),
            });
            if let Some(tools) = tools {
                item["match"] = format!("re:{tools}").into();
                item["strict"] = (event == BEFORE_TOOL).into();
            }
            Entry { event, item }
        };
        vec![
            entry(BEFORE_TOOL, TIMEOUT, Some(&tools)),
            entry(AFTER_TOOL, SHORT_TIMEOUT, Some(&tools)),
            entry(AFTER_TURN, SHORT_TIMEOUT, None),
        ]
    }
}

fn changed(call: &Call, files: &mut dyn Files) -> Changes {
    let known = match call.tool.as_str() {
        WRITE => &[edit::CONTENT][..],
        _ => &edit::OF_PART,
    };
    edit::one_file(call, files, known, |before| {
        written(call, &call.input, before)
    })
}

/// The text that the call's tool writes with these arguments in place of another. Every line ends as most lines of that one do.
///
/// # Errors
/// The argument that is missing; and why the tool writes nothing.
fn written(
    call: &Call,
    input: &Value,
    before: Option<&str>,
) -> Result<Result<String, String>, String> {
    let call = &Call {
        input: input.clone(),
        ..call.clone()
    };
    if call.tool == WRITE {
        let content = edit::text(call, edit::CONTENT)?;
        return Ok(Ok(match before {
            None => content.to_owned(),
            Some(before) => ended_as(before, content),
        }));
    }
    let Some(before) = before else {
        return Ok(Err(edit::MISSING.to_owned()));
    };
    let [old, new] = [edit::OLD, edit::NEW].map(|name| edit::text(call, name));
    let [old, new] = [old?, new?].map(|part| part.replace("\r\n", "\n"));
    let is_of_all = call.input.get(edit::REPLACE_ALL) == Some(&Value::Bool(true));
    let mark = match before.starts_with(edit::BOM) {
        true => "\u{feff}",
        false => "",
    };
    let replaced = edit::in_text(&edit::plain(before), &old, &new, is_of_all);
    Ok(replaced.map(|text| format!("{mark}{}", ended_as(before, &text))))
}

fn ended_as(file: &str, text: &str) -> String {
    let (lf, crlf) = LineEnding::count(file.as_bytes());
    edit::ended(text, crlf > 0 && crlf >= lf)
}

fn deny(why: &str) -> Answer {
    Answer::json(json!({"decision": "deny", "reason": why}))
}

/// The call with what was accepted; as it is, if that is what was proposed: another call of the same answer may change the file
/// before.
fn allow(call: &Call, accepted: &Accepted) -> Answer {
    let mut output = json!({"decision": "allow"});
    if !accepted.is_as_proposed() {
        let mut input = edit::rewritten(call, accepted);
        if call.tool == EDIT {
            input[edit::REPLACE_ALL] = false.into();
        }
        let file = accepted.files.first();
        let before = file.and_then(|file| file.change.before.as_deref());
        let text = file.and_then(Reviewed::text);
        if written(call, &input, before)
            .ok()
            .and_then(Result::ok)
            .as_deref()
            != text
        {
            let why = "Mistral Vibe cannot write this text there: it ends all lines of a file in the same way, edits only what \
                is there, and adds or removes no byte order mark";
            let Answer { output, .. } = deny(&accepted.not_written(why));
            return Answer::inexpressible(output.unwrap_or_default(), accepted);
        }
        output["hook_specific_output"] = json!({"tool_input": input});
    }
    Answer {
        told_after: accepted.context.clone(),
        ..Answer::json(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, input: Value) -> Call {
        let all = json!({
            "hook_event_name": BEFORE_TOOL, "session_id": "s", "parent_session_id": null, "cwd": "/w",
            "tool_name": tool, "tool_call_id": "c", "tool_input": input,
        });
        Vibe.read(all.as_object().unwrap().clone()).unwrap()
    }

    #[test]
    fn a_change_is_what_mistral_vibe_writes() {
        let edit = |old, new| {
            (
                EDIT,
                json!({"file_path": "a", "old_string": old, "new_string": new}),
            )
        };
        let write = |content| (WRITE, json!({"file_path": "a", "content": content}));
        for ((tool, input), before, after) in [
            (edit("b", "c"), Some("a\nb\n"), Some("a\nc\n")),
            (edit("a\nb", "c\nd"), Some("a\r\nb\r\n"), Some("c\r\nd\r\n")),
            (
                edit("a\r\nb", "c\r\nd"),
                Some("a\r\nb\nc\n"),
                Some("c\nd\nc\n"),
            ),
            // As many of both.
            (edit("a", "c"), Some("a\r\nb\n"), Some("c\r\nb\r\n")),
            (edit("a", "c"), Some("\u{feff}a\n"), Some("\u{feff}c\n")),
            (edit("x", "c"), Some("a\n"), None),
            (edit("a", "c"), None, None),
            (write("x\n"), Some("\u{feff}a\r\n"), Some("x\r\n")),
            (write("x\r\ny\n"), Some("a\n"), Some("x\ny\n")),
            (write("x\r\ny\n"), None, Some("x\r\ny\n")),
        ] {
            let written = written(&call(tool, input.clone()), &input, before).unwrap();
            assert_eq!(written.ok().as_deref(), after, "{tool} {input} {before:?}");
        }
    }

    #[test]
    fn a_subagents_calls_are_its_sessions_and_its_end_ends_no_turn() {
        let read = |event: &str, parent: Value| {
            let all = json!({
                "hook_event_name": event, "session_id": "own", "parent_session_id": parent, "tool_name": SHELL,
            });
            Vibe.read(all.as_object().unwrap().clone()).unwrap()
        };
        let call = read(BEFORE_TOOL, json!("main"));
        assert_eq!(
            (call.session.as_str(), call.subagent.as_deref()),
            ("main", Some("own"))
        );
        assert_eq!(read(AFTER_TURN, Value::Null).event, Event::AfterTurn);
        assert_eq!(
            read(AFTER_TURN, json!("main")).event,
            Event::Other(AFTER_TURN.to_owned())
        );
    }
}
