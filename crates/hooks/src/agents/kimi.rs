//! Kimi Code's hooks, which have Claude Code's events and answers. A hook cannot change its calls, its model hears nothing of
//! what one adds around a tool, and no hook is waited for longer than ten minutes. Learnt by watching the program, and from its
//! sources, which are open.

use std::time::Duration;

use pillion_protocol::claude::hooks;
use serde_json::{Map, Value, json};

use super::{aliases, claude, edit, qwen};
use crate::call::{Answer, Call, Entry, Event, HookProtocol, Order, SHORT_TIMEOUT, Scope};
use crate::change::{Changes, Files};
use crate::format::Format;
use crate::ruling::Ruling;

#[derive(Debug)]
pub(crate) struct Kimi;

/// The event at which the person has stopped it: then its turn ends without another word.
const INTERRUPT: &str = "Interrupt";

/// The tools that change files.
const EDITS: [&str; 2] = [claude::EDIT, claude::WRITE];

/// The argument that has a text added to a file.
const MODE: &str = "mode";

/// The longest time limit that it takes: it skips a settings file with a longer one.
const TIMEOUT: Duration = Duration::from_secs(600);

impl HookProtocol for Kimi {
    fn read(&self, mut input: Map<String, Value>) -> Result<Call, String> {
        if let Some(prompt) = input.get_mut("prompt") {
            *prompt = words(prompt).into();
        }
        let is_interrupt = input.get("hook_event_name") == Some(&json!(INTERRUPT));
        let mut call = claude::read(input)?;
        if is_interrupt {
            call.event = Event::AfterTurn;
        }
        aliases::rename(&mut call.input);
        Ok(call)
    }

    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes {
        if !EDITS.contains(&call.tool.as_str()) {
            return Changes::None;
        }
        // It makes a slash of each backslash.
        let is_other = |path: &str| cfg!(unix) && path.contains('\\');
        edit::other_file(call, is_other).unwrap_or_else(|| changed(call, files))
    }

    fn scope(&self, call: &Call) -> Scope {
        edit::scope(call, &EDITS, claude::SHELL)
    }

    fn takes_context(&self, call: &Call) -> bool {
        call.event == Event::BeforeTurn
    }

    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer {
        match (&call.event, ruling) {
            (Event::BeforeTool, Ruling::Accepted(accepted))
                if !accepted.is_as_proposed() || accepted.context.is_some() =>
            {
                let mut whole = call.clone();
                if let Some(fields) = whole.input.as_object_mut() {
                    fields.remove(MODE);
                }
                qwen::deny_until_made(&whole, accepted)
            }
            // It has no question that a hook could ask for.
            (Event::BeforeTool, Ruling::Denied(why) | Ruling::Unclear(why)) => {
                Answer::json(hooks::refuse(why))
            }
            (Event::BeforeTurn, Ruling::Told(text)) => Answer::json(json!({"message": text})),
            _ => Answer::nothing(),
        }
    }

    /// What it has no place for, it takes for words to its model.
    fn person_field(&self) -> Option<&'static str> {
        None
    }

    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    fn order(&self) -> Order {
        Order::AllFirst
    }

    fn shown_tools(&self) -> &'static [&'static str] {
        &EDITS
    }

    fn format(&self) -> Format {
        Format::TomlList("event")
    }

    fn entries(&self, command: &str) -> Vec<Entry> {
        let tools = format!(
            "^({})$",
            edit::matcher(&[claude::EDIT, claude::WRITE, claude::SHELL])
        );
        let entry = |event, timeout: Duration, is_about_tools| {
            let timeout = timeout.as_secs();
            let mut item = json!({"event": event, "command": command, "timeout": timeout});
            if is_about_tools {
                item["matcher"] = tools.as_str().into();
            }
            Entry { event, item }
        };
        vec![
            entry(hooks::PRE_TOOL_USE, TIMEOUT, true),
            entry(hooks::POST_TOOL_USE, SHORT_TIMEOUT, true),
            entry(hooks::POST_TOOL_USE_FAILURE, SHORT_TIMEOUT, true),
            entry(hooks::USER_PROMPT_SUBMIT, SHORT_TIMEOUT, false),
            entry(hooks::STOP, SHORT_TIMEOUT, false),
            entry(INTERRUPT, SHORT_TIMEOUT, false),
        ]
    }
}

/// The words of a prompt, which is a list of parts.
fn words(prompt: &Value) -> String {
    let parts = prompt.as_array().into_iter().flatten();
    let words: Vec<_> = parts.filter_map(|part| part["text"].as_str()).collect();
    words.join(" ")
}

/// The change of one file that a call makes. A byte order mark goes with every edit.
fn changed(call: &Call, files: &mut dyn Files) -> Changes {
    if call.tool == claude::WRITE {
        return edit::one_file(call, files, &[edit::CONTENT, MODE], |before| {
            let is_added = call.input.get(MODE) == Some(&json!("append"));
            let kept = before.filter(|_| is_added).unwrap_or_default();
            Ok(Ok(format!("{kept}{}", edit::text(call, edit::CONTENT)?)))
        });
    }
    edit::part(
        call,
        files,
        edit::REPLACE_ALL,
        |before, old, new, of_all| {
            let before = before.ok_or(edit::MISSING)?;
            replaced(before, old, new, of_all)
        },
    )
}

/// Only where every line ends in CRLF are the lines of both parts without it.
fn replaced(before: &str, old: &str, new: &str, is_of_all: bool) -> Result<String, String> {
    let before = before.strip_prefix(edit::BOM).unwrap_or(before);
    let plain = before.replace("\r\n", "\n");
    let is_crlf = plain.len() < before.len()
        && !plain.contains('\r')
        && before.len() - plain.len() == plain.matches('\n').count();
    match is_crlf {
        true => edit::in_text(&plain, old, new, is_of_all)
            .map(|text| edit::plain(&text).replace('\n', "\r\n")),
        false => edit::in_text(before, old, new, is_of_all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_what_kimi_code_writes() {
        for (before, old, new, after) in [
            ("a\nb\n", "b", "c", Some("a\nc\n")),
            ("a\r\nb\r\n", "a\nb", "c\nd\ne", Some("c\r\nd\r\ne\r\n")),
            ("\u{feff}a\nb\n", "a", "c", Some("c\nb\n")),
            ("a\r\nb\n", "a\nb", "c", None),
            ("a\r\nb\n", "b", "c", Some("a\r\nc\n")),
            ("a\r\nb\n", "a\r\nb", "c", Some("c\n")),
            ("a\na\n", "a", "c", None),
        ] {
            let replaced = replaced(before, old, new, false);
            assert_eq!(replaced.ok().as_deref(), after, "{before:?}");
        }
    }
}
