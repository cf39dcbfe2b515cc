//! The changes that each agent's hook makes of its calls, and its answers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pillion_protocol::claude::hooks;
use pillion_protocol::{Dialect, Note};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::claude::Claude;
use super::codex::Codex;
use super::copilot::Copilot;
use super::edit::{self, Plain, plain};
use super::gemini::Gemini;
use super::kimi::Kimi;
use super::opencode::OpenCode;
use super::qwen::Qwen;
use super::vibe::Vibe;
use crate::call::{Answer, Call, Event, HookProtocol, Scope, TIMEOUT};
use crate::change::{After, Change, Changes, Files};
use crate::ruling::{Decided, Ruling};

/// Files in memory.
struct Memory(HashMap<PathBuf, Vec<u8>>);

impl Files for Memory {
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.get(path).cloned())
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other} is no object"),
    }
}

fn call(protocol: &dyn HookProtocol, event: &str, tool: &str, input: Value) -> Call {
    let all = json!({
        "hook_event_name": event, "session_id": "s", "cwd": "/w", "prompt": "go", "tool_name": tool,
        "tool_input": input,
    });
    protocol.read(object(all)).unwrap()
}

/// The only change of a call, where the file `/w/a` has this text.
fn change(protocol: &dyn HookProtocol, call: &Call, text: &str) -> Change {
    let mut files = Memory(HashMap::from([("/w/a".into(), text.into())]));
    match protocol.changes(call, &mut files) {
        Changes::Files(mut changes) => changes.remove(0),
        other => panic!("{other:?}"),
    }
}

/// Returns the answer when this is accepted.
fn accepted(protocol: &dyn HookProtocol, call: &Call, change: Change, text: &str) -> Answer {
    let decided = Decided {
        accepted: Some(text.to_owned()),
        before: change.before.clone(),
        notes: vec![Note::on_all("so")],
    };
    protocol.answer(call, &Ruling::of(vec![change], vec![decided]))
}

#[test]
fn an_edit_is_shown_as_it_will_be_written() {
    for (before, old, new, after) in [
        ("a\nb\n", "b", "c", "a\nc\n"),
        ("a\r\nb\r\n", "b\n", "c\nd\n", "a\r\nc\r\nd\r\n"),
        ("\u{feff}a\r\nb", "a\nb", "c\n", "\u{feff}c\r\n"),
        // All of it gets the line endings of most of it.
        ("a\r\nb\nc\n", "b", "d", "a\nd\nc\n"),
        ("", "", "a\n", "a\n"),
    ] {
        for (protocol, tool) in [(&Claude as &dyn HookProtocol, "Edit"), (&Qwen, "edit")] {
            let input = json!({"file_path": "a", "old_string": old, "new_string": new});
            let call = call(protocol, "PreToolUse", tool, input);
            let after = After::Text(after.to_owned());
            let expected = Change::of_file("/w/a".to_owned(), Some(before.to_owned()), after);
            assert_eq!(change(protocol, &call, before), expected);
        }
    }
}

/// What a person reads before they accept is what the answer says afterwards.
#[test]
fn a_tool_can_write_what_its_hook_answers_with() {
    let edit = json!({"file_path": "a", "old_string": "a", "new_string": "b"});
    let write = json!({"file_path": "a", "content": "b\n"});
    let patch = "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch\n";
    let of_vibe = json!({"file_path": "a", "old_string": "a", "new_string": "b"});
    let of_opencode = json!({"filePath": "a", "oldString": "a", "newString": "b"});
    let calls: [(&dyn HookProtocol, Call); 8] = [
        (&Claude, call(&Claude, "PreToolUse", "Edit", edit.clone())),
        (
            &Codex,
            call(
                &Codex,
                "PreToolUse",
                "apply_patch",
                json!({"command": patch}),
            ),
        ),
        (&Copilot, {
            let args = json!({"path": "a", "old_str": "a", "new_str": "b"});
            let input =
                json!({"sessionId": "s", "cwd": "/w", "toolName": "edit", "toolArgs": args});
            Copilot.read(object(input)).unwrap()
        }),
        (&Copilot, {
            let input = json!({"sessionId": "s", "cwd": "/w", "toolName": "apply_patch", "toolArgs": patch});
            Copilot.read(object(input)).unwrap()
        }),
        (
            &OpenCode,
            call(&OpenCode, "PreToolUse", "edit", of_opencode),
        ),
        (
            &OpenCode,
            call(&OpenCode, "PreToolUse", "write", write.clone()),
        ),
        (
            &OpenCode,
            call(
                &OpenCode,
                "PreToolUse",
                "apply_patch",
                json!({"patchText": patch}),
            ),
        ),
        (&Vibe, call(&Vibe, "pre_tool", "edit", of_vibe)),
    ];
    let mut told = [0, 0];
    for (protocol, call) in calls {
        for before in ["a\nx\n", "a\r\nx\r\n", "a\nx", "a\r\nx\n", "\u{feff}a\nx\n"] {
            for text in [
                "m\nx\n",
                "m\r\nx\r\n",
                "m\nx",
                "m\nx\r\n",
                "\u{feff}m\nx\n",
                "m",
            ] {
                let after = After::Text("b\n".to_owned());
                let change = Change::of_file("/w/a".to_owned(), Some(before.to_owned()), after);
                let answer = accepted(protocol, &call, change, text);
                let is_written = answer.inexpressible.is_empty();
                let can_write = protocol.can_write(&call.tool, Some(before), text);
                assert_eq!(can_write, is_written, "{call:?} {before:?} {text:?}");
                told[usize::from(can_write)] += 1;
            }
        }
    }
    assert!(told[0] > 20 && told[1] > 20, "{told:?}");
}

/// A notebook whose cells have these sources, and the ids `a`, `b`, and so on.
fn notebook(sources: &[&str]) -> String {
    let cells = ["a", "b", "c"].iter().zip(sources);
    let cells = cells.map(|(id, source)| json!({"id": id, "source": [source]}));
    json!({"cells": cells.collect::<Value>()}).to_string()
}

#[test]
fn the_source_of_a_cell_is_shown_and_what_is_accepted_of_it_is_written() {
    let notebook = notebook(&["one", "two"]);
    for (more, before, proposed) in [
        (json!({"cell_id": "b", "new_source": "zwei"}), "two", "zwei"),
        (
            json!({"cell_id": "a", "new_source": "new", "edit_mode": "insert"}),
            "",
            "new",
        ),
        (json!({"cell_id": "b", "edit_mode": "delete"}), "two", ""),
    ] {
        let mut input = json!({"notebook_path": "a"});
        let fields = input.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let call = call(&Claude, "PreToolUse", "NotebookEdit", input.clone());
        let change = change(&Claude, &call, &notebook);
        assert_eq!(change.path, "/w/a");
        assert_eq!(change.before.as_deref(), Some(before));
        assert_eq!(change.after, After::Text(proposed.to_owned()));
        assert!(!change.is_nothing());
        let rewritten = |text: &str| {
            let answer = accepted(&Claude, &call, change.clone(), text);
            answer.output.unwrap()["hookSpecificOutput"].take()
        };
        assert_eq!(rewritten(proposed)["updatedInput"], input, "as it is");
        let edited = rewritten("mine");
        assert_eq!(edited["updatedInput"]["new_source"], "mine");
        assert_ne!(edited["updatedInput"]["edit_mode"], "delete");
        let told = edited["additionalContext"].as_str().unwrap();
        assert!(told.contains("+mine"), "{told}");
        // Qwen Code cannot be given another text.
        let call = Call {
            tool: "notebook_edit".to_owned(),
            ..call.clone()
        };
        let denied = accepted(&Qwen, &call, change.clone(), "mine");
        let (event, approved) = denied.approved.unwrap();
        assert_eq!(event, Event::BeforeTool);
        assert_eq!(approved, edited["updatedInput"]);
    }
}

#[test]
fn a_cell_that_cannot_be_shown_is_left_to_the_agent() {
    for (input, text, why) in [
        (
            json!({"new_source": "x"}),
            notebook(&[]),
            "has no notebook_path",
        ),
        (
            json!({"notebook_path": "a"}),
            notebook(&[]),
            "is not understood",
        ),
        (
            json!({"notebook_path": "a", "new_source": "x", "cell_id": "z"}),
            notebook(&["one"]),
            "has no cell \"z\"",
        ),
        (
            json!({"notebook_path": "a", "new_source": "x", "cell_id": "a"}),
            "no notebook".to_owned(),
            "is not a notebook",
        ),
    ] {
        let mut files = Memory(HashMap::from([("/w/a".into(), text.into())]));
        for (protocol, tool) in [
            (&Claude as &dyn HookProtocol, "NotebookEdit"),
            (&Qwen, "notebook_edit"),
        ] {
            let call = call(protocol, "PreToolUse", tool, input.clone());
            match protocol.changes(&call, &mut files) {
                Changes::Unclear(said) => assert!(said.contains(why), "{said}"),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn every_occurrence_is_replaced_if_that_is_meant() {
    for (protocol, event, tool, of_all) in [
        (
            &Claude as &dyn HookProtocol,
            "PreToolUse",
            "Edit",
            "replace_all",
        ),
        (&Qwen, "PreToolUse", "edit", "replace_all"),
        (&Gemini, "BeforeTool", "replace", "allow_multiple"),
    ] {
        let input =
            json!({"file_path": "/w/a", "old_string": "a", "new_string": "b", of_all: true});
        let call = call(protocol, event, tool, input);
        let after = change(protocol, &call, "a a\n").after;
        assert_eq!(after, After::Text("b b\n".to_owned()));
    }
}

/// The tools that change files, with arguments that are enough for them.
fn calls() -> Vec<(&'static dyn HookProtocol, &'static str, Value)> {
    let edit = json!({"file_path": "/w/a", "old_string": "a", "new_string": "b"});
    let write = json!({"file_path": "/w/a", "content": "b"});
    let patch = "*** Begin Patch\n*** Update File: /w/a\n@@\n-a\n+b\n*** End Patch\n";
    let copilots = json!({"path": "/w/a", "old_str": "a", "new_str": "b"});
    let opencodes = json!({"filePath": "/w/a", "oldString": "a", "newString": "b"});
    vec![
        (&Claude, "Edit", edit.clone()),
        (&Claude, "Write", write.clone()),
        (&Qwen, "edit", edit.clone()),
        (&Qwen, "write_file", write.clone()),
        (&Gemini, "replace", edit.clone()),
        (&Gemini, "write_file", write.clone()),
        (&Copilot, "edit", copilots),
        (
            &Copilot,
            "create",
            json!({"path": "/w/new", "file_text": "b"}),
        ),
        (&Codex, "apply_patch", json!({"command": patch})),
        (
            &Codex,
            "Bash",
            json!({"command": format!("apply_patch <<'EOF'\n{patch}EOF\n")}),
        ),
        (&OpenCode, "edit", opencodes),
        (
            &OpenCode,
            "write",
            json!({"filePath": "/w/a", "content": "b"}),
        ),
        (&OpenCode, "apply_patch", json!({"patchText": patch})),
        (
            &Kimi,
            "Edit",
            json!({"path": "/w/a", "old_string": "a", "new_string": "b"}),
        ),
        (
            &Kimi,
            "Write",
            json!({"path": "/w/a", "content": "b", "mode": "append"}),
        ),
        (&Vibe, "file_system.search_replace", edit.clone()),
        (&Vibe, "file_system.write_file", write.clone()),
    ]
}

#[test]
fn what_a_call_changes_by_an_argument_that_is_not_known_is_not_shown() {
    for (protocol, tool, input) in calls() {
        for (more, is_shown) in [
            (json!({}), true),
            (json!({"encoding": null}), true),
            (
                json!({"instruction": "x", "modified_by_user": true, "wait_for_previous": true}),
                true,
            ),
            (json!({"encoding": "latin1"}), false),
            (json!({"append": false}), false),
            (json!({"file_path": "/w/b", "filePath": "/w/a"}), false),
            (json!({"edits": [], "insert_line": 3}), false),
            (json!({"workdir": "/etc"}), false),
        ] {
            let mut input = input.clone();
            let fields = input.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            let event = match tool {
                "replace" => "BeforeTool",
                _ if tool.starts_with("file_system") => "pre_tool",
                _ => "PreToolUse",
            };
            let call = call(protocol, event, tool, input);
            let mut files = Memory(HashMap::from([("/w/a".into(), "a\n".into())]));
            match protocol.changes(&call, &mut files) {
                Changes::Files(_) => assert!(is_shown, "{tool}: {more}"),
                Changes::Unclear(why) => {
                    assert!(!is_shown, "{tool}: {more}: {why}");
                    let name = more.as_object().unwrap().keys().next().unwrap();
                    assert!(why.contains(name) || name.starts_with("file"), "{why}");
                }
                other => panic!("{tool}: {more}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_new_file_has_no_text_before() {
    for (protocol, event, tool) in [
        (&Claude as &dyn HookProtocol, "PreToolUse", "Write"),
        (&Qwen, "PreToolUse", "write_file"),
        (&Gemini, "BeforeTool", "write_file"),
    ] {
        let input = json!({"file_path": "/w/new", "content": "x\r\n"});
        let call = call(protocol, event, tool, input);
        let change = change(protocol, &call, "");
        assert_eq!(
            (change.before, change.after),
            (None, After::Text("x\r\n".to_owned()))
        );
    }
}

/// Claude Code is answered with what was shown; the others write so by themselves.
#[test]
fn a_whole_text_over_crlf_is_shown_as_it_will_be_written() {
    let agents = [
        (&Claude as &dyn HookProtocol, "PreToolUse", "Write"),
        (&Qwen, "PreToolUse", "write_file"),
        (&Gemini, "BeforeTool", "write_file"),
    ];
    let (mixed, more_lf) = ("a\r\nb\r\nc\n", "a\r\nb\nc\n");
    for (before, content, expected) in [
        ("a\r\nb\r\n", "a\nB\n", ["a\r\nB\r\n"; 3]),
        (mixed, "a\r\nB\n", ["a\r\nB\r\n"; 3]),
        (more_lf, "a\nB\n", ["a\nB\n", "a\r\nB\r\n", "a\r\nB\r\n"]),
        (
            "a\r\nb\r\n",
            "a\nb\n",
            ["a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n"],
        ),
        ("a\nb\n", "a\nB\n", ["a\nB\n"; 3]),
    ] {
        for ((protocol, event, tool), expected) in agents.into_iter().zip(expected) {
            let input = json!({"file_path": "/w/a", "content": content});
            let call = call(protocol, event, tool, input);
            let change = change(protocol, &call, before);
            assert_eq!(change.after.text(), Some(expected), "{tool} {before:?}");
            if tool == "Write" {
                let output = accepted(protocol, &call, change, expected).output.unwrap();
                let written = &output["hookSpecificOutput"]["updatedInput"]["content"];
                assert_eq!(written, expected, "{before:?}");
            }
        }
    }
}

#[test]
fn claude_code_gets_the_whole_text_and_the_words_for_its_model() {
    let input =
        json!({"file_path": "/w/a", "old_string": "b", "new_string": "c", "replace_all": true});
    let call = call(&Claude, "PreToolUse", "Edit", input);
    let change = change(&Claude, &call, "a\r\nb\r\n");
    let answer = accepted(&Claude, &call, change, "a\r\nd\r\n");
    let output = &answer.output.unwrap()["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "allow");
    let input = json!({
        "file_path": "/w/a", "old_string": "a\nb\n", "new_string": "a\nd\n", "replace_all": false,
    });
    assert_eq!(output["updatedInput"], input);
    let context = output["additionalContext"].as_str().unwrap();
    assert!(
        context.contains("+d") && context.ends_with("says: so"),
        "{context}"
    );
    assert_eq!(answer.approved, Some((Event::Question, input)));
}

#[test]
fn gemini_cli_gets_the_whole_text_only_if_it_was_edited() {
    let input = json!({
        "file_path": "/w/a", "old_string": "b", "new_string": "c", "instruction": "x", "allow_multiple": true,
    });
    let call = call(&Gemini, "BeforeTool", "replace", input);
    let change = change(&Gemini, &call, "a\nb\n");
    let answer = accepted(&Gemini, &call, change.clone(), "a\nc\n");
    assert_eq!(answer.output, Some(json!({"decision": "allow"})));
    assert!(answer.told_after.unwrap().ends_with("says: so"));
    let answer = accepted(&Gemini, &call, change, "a\nd\n");
    let output = &answer.output.unwrap()["hookSpecificOutput"];
    let input = json!({
        "file_path": "/w/a", "old_string": "a\nb\n", "new_string": "a\nd\n", "instruction": "x",
    });
    assert_eq!(output["tool_input"], input);
    assert!(answer.told_after.unwrap().contains("+d"));
}

#[test]
fn qwen_code_is_denied_what_was_edited_and_may_then_make_exactly_that() {
    let input = json!({"file_path": "/w/a", "old_string": "b", "new_string": "c"});
    let call = call(&Qwen, "PreToolUse", "edit", input);
    let change = change(&Qwen, &call, "a\nb\n");
    let decision = |answer: &Answer| {
        let output = answer.output.as_ref().unwrap();
        output["hookSpecificOutput"]["permissionDecision"].clone()
    };
    let answer = accepted(&Qwen, &call, change.clone(), "a\nc\n");
    assert_eq!((decision(&answer), answer.approved), (json!("allow"), None));
    let answer = accepted(&Qwen, &call, change, "a\nd\n");
    assert_eq!(decision(&answer), "deny");
    let input = json!({"file_path": "/w/a", "old_string": "a\nb\n", "new_string": "a\nd\n"});
    assert_eq!(answer.approved, Some((Event::BeforeTool, input)));
}

#[test]
fn what_was_decided_is_told_when_the_tool_has_run() {
    let told = Ruling::Told("so".to_owned());
    for (protocol, event, tool) in [
        (&Gemini as &dyn HookProtocol, "AfterTool", "replace"),
        (&Qwen, "PostToolUse", "edit"),
    ] {
        let call = call(protocol, event, tool, json!({"file_path": "a"}));
        assert_eq!(protocol.scope(&call), Scope::File("/w/a".to_owned()));
        let output = protocol.answer(&call, &told).output.unwrap();
        assert_eq!(output["hookSpecificOutput"]["additionalContext"], "so");
        assert_eq!(output["hookSpecificOutput"]["hookEventName"], event);
    }
}

#[test]
fn a_call_passes_if_its_answer_says_nothing_else() {
    let rulings = [
        (Ruling::Pass, true),
        (Ruling::Denied("why".to_owned()), false),
        (Ruling::Unclear("why".to_owned()), false),
    ];
    for protocol in Dialect::ALL.into_iter().map(crate::of) {
        let all = json!({
            "hook_event_name": "PreToolUse", "tool_name": "x", "toolName": "x", "toolArgs": {},
        });
        let mut call = protocol.read(object(all)).unwrap();
        call.event = Event::BeforeTool;
        for (ruling, expected) in &rulings {
            assert_eq!(
                protocol.answer(&call, ruling).lets_pass(),
                *expected,
                "{ruling:?}"
            );
        }
        assert!(!protocol.block("why".to_owned()).lets_pass());
        let told = Answer::nothing().with_message(protocol.person_field(), "why");
        assert!(told.lets_pass());
    }
    // Nothing is written of what Qwen Code has to propose again.
    let input = json!({"file_path": "a", "old_string": "b", "new_string": "c"});
    let call = call(&Qwen, "PreToolUse", "edit", input);
    let change = change(&Qwen, &call, "a\nb\n");
    let answer = accepted(&Qwen, &call, change.clone(), "a\nd\n");
    assert!(!answer.lets_pass());
    assert!(accepted(&Qwen, &call, change, "a\nc\n").lets_pass());
}

/// In its mode bypassPermissions, Claude Code asks nobody about the files that it protects itself, such as `.zshrc`.
#[test]
fn what_cannot_be_shown_is_denied_where_claude_code_does_not_ask() {
    for (mode, expected) in [
        ("default", "ask"),
        ("acceptEdits", "ask"),
        ("bypassPermissions", "deny"),
    ] {
        let mut call = call(&Claude, "PreToolUse", "Edit", json!({"file_path": "a"}));
        call.mode = mode.to_owned();
        let answer = Claude.answer(&call, &Ruling::Unclear("why".to_owned()));
        let said = &answer.output.unwrap()["hookSpecificOutput"];
        assert_eq!(said["permissionDecision"], expected, "{mode}");
        let why = said["permissionDecisionReason"].as_str().unwrap();
        assert!(why.contains("why"), "{mode}: {why}");
    }
}

#[test]
fn what_a_call_may_change_is_a_file_or_anything_or_nothing() {
    let file = Scope::File("/w/a".to_owned());
    let patch = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    let [one, moved] =
        ["", "*** Move to: b\n"].map(|to| patch(&format!("*** Update File: a\n{to}@@\n-x\n+y\n")));
    let two = patch("*** Delete File: a\n*** Delete File: b\n");
    let [path, notebook] = ["file_path", "notebook_path"].map(|name| json!({name: "a"}));
    let command = |text: &str| json!({"command": text});
    for (protocol, tool, input, expected) in [
        (
            &Claude as &dyn HookProtocol,
            "Edit",
            path.clone(),
            file.clone(),
        ),
        (&Claude, "NotebookEdit", notebook, file.clone()),
        (&Claude, "Edit", json!({}), Scope::Anything),
        (&Claude, "Bash", command("x"), Scope::Anything),
        (&Claude, "Read", path.clone(), Scope::Nothing),
        (&Codex, "apply_patch", command(&one), file.clone()),
        (&Codex, "apply_patch", command(&moved), Scope::Anything),
        (&Codex, "apply_patch", command(&two), Scope::Anything),
        (&Codex, "apply_patch", command("x"), Scope::Anything),
        (&Codex, "Bash", command("x"), Scope::Anything),
        (&Gemini, "replace", path.clone(), file.clone()),
        (&Gemini, "run_shell_command", command("x"), Scope::Anything),
        (&Qwen, "write_file", path, file),
        (&Qwen, "run_shell_command", command("x"), Scope::Anything),
    ] {
        let call = call(protocol, "x", tool, input);
        assert_eq!(protocol.scope(&call), expected, "{tool}");
    }
}

/// The agents that have no name for a call send the same tool and arguments before and after it.
#[test]
fn a_call_is_known_again_when_it_has_run() {
    let input = |command: &str| json!({"command": command});
    let key = |event: &str, command: &str| {
        let call = call(&Gemini, event, "run_shell_command", input(command));
        call.key(&Gemini.scope(&call))
    };
    assert_eq!(key("BeforeTool", "x"), key("AfterTool", "x"));
    assert_ne!(key("BeforeTool", "x"), key("AfterTool", "y"));
    let edit = |event: &str, text: &str| {
        let input = json!({"file_path": "a", "old_string": text});
        let call = call(&Gemini, event, "replace", input);
        call.key(&Gemini.scope(&call))
    };
    // A hook may have changed what is written.
    assert_eq!(edit("BeforeTool", "x"), edit("AfterTool", "y"));
    let named = Call {
        id: "call_1".to_owned(),
        ..call(&Codex, "PreToolUse", "Bash", input("x"))
    };
    assert_eq!(named.key(&Scope::Anything), "call_1");
}

/// Qwen Code calls the hook for prompts with each request to its model, too.
#[test]
fn a_request_without_a_prompt_begins_no_turn() {
    for (protocol, prompt, is_turn) in [
        (&Qwen as &dyn HookProtocol, "go", true),
        (&Qwen, "", false),
        (&Claude, "", true),
    ] {
        let all = json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt});
        let call = protocol.read(object(all)).unwrap();
        assert_eq!(call.event == Event::BeforeTurn, is_turn, "{prompt:?}");
    }
}

/// An answer that denies or asks always says so by the event that it is for.
#[test]
fn a_call_is_denied_at_the_event_before_a_tool_and_at_no_other() {
    let denied = Ruling::Denied("no".to_owned());
    for (protocol, before, others) in [
        (
            &Claude as &dyn HookProtocol,
            "PreToolUse",
            ["PermissionRequest", "Stop"],
        ),
        (&Qwen, "PreToolUse", ["PostToolUse", "Stop"]),
        (&Gemini, "BeforeTool", ["AfterTool", "AfterAgent"]),
    ] {
        let answer = |event| protocol.answer(&call(protocol, event, "x", json!({})), &denied);
        assert!(
            answer(before)
                .output
                .unwrap()
                .to_string()
                .contains("\"no\"")
        );
        for other in others {
            assert_eq!(answer(other), Answer::nothing());
        }
    }
}

/// The settings have an entry for each event that is understood, and the agent waits longer than the hook.
#[test]
fn each_event_of_the_entries_is_understood() {
    for protocol in [&Claude as &dyn HookProtocol, &Codex, &Gemini, &Qwen] {
        let entries = protocol.entries("'/a b/pillion' hook x");
        let mut events: Vec<_> = entries.iter().map(|entry| entry.event).collect();
        events.dedup();
        assert_eq!(events.len(), entries.len(), "one of ours at each event");
        for entry in entries {
            let call = call(protocol, entry.event, "x", json!({}));
            assert!(!matches!(call.event, Event::Other(_)), "{}", entry.event);
            let hook = &entry.item["hooks"][0];
            assert_eq!(hook["command"], "'/a b/pillion' hook x");
            let is_first = call.event == Event::BeforeTool;
            let timeout = hook["timeout"].as_u64().unwrap();
            let day = TIMEOUT.as_secs();
            assert_eq!(timeout == day || timeout == day * 1000, is_first);
        }
    }
}

proptest! {
    /// Whatever the file and the accepted text are: what is answered writes it, with the file's own line endings and BOM.
    #[test]
    fn what_is_answered_writes_what_was_accepted(
        before in "\u{feff}?([ab]{0,2}(\r\n|\n)){0,4}[ab]{0,2}", text in "([abc]{0,2}\n){0,4}[abc]{0,2}",
    ) {
        let file = Plain::of(&before);
        let text = file.written(&text);
        let input = json!({"file_path": "/w/a", "old_string": "", "new_string": "x"});
        let call = call(&Claude, "PreToolUse", "Edit", input);
        let after = After::Text("x".to_owned());
        let change = Change::of_file("/w/a".to_owned(), Some(before.clone()), after);
        let answer = accepted(&Claude, &call, change, &text);
        let Some((event, input)) = answer.approved else {
            prop_assert_eq!(text, before);
            return Ok(());
        };
        let again = Call { event, input, ..call };
        let mut files = Memory(HashMap::from([("/w/a".into(), before.clone().into_bytes())]));
        match Claude.changes(&again, &mut files) {
            Changes::Files(changes) => {
                prop_assert_eq!(changes[0].after.text(), Some(text.as_str()));
            }
            // The same text with other line endings: nothing is written.
            other => {
                prop_assert!(plain(&before) == plain(&text), "{:?}", other);
            }
        }
    }

    #[test]
    fn no_input_is_a_panic(event in "PreToolUse|BeforeTool|x", tool in "Edit|edit|Write|replace|create|apply_patch|Bash", text in any::<String>(), number: u64) {
        for value in [json!(text), json!(number), json!({"file_path": text, "old_string": text, "new_string": number}),
            json!({"path": text, "old_str": text, "new_str": number, "command": text})] {
            let all = json!({
                "hook_event_name": event, "cwd": value, "tool_name": tool, "tool_input": value,
                "toolName": tool, "toolArgs": value,
            });
            for protocol in Dialect::ALL.into_iter().map(crate::of) {
                if let Ok(call) = protocol.read(object(all.clone())) {
                    let _ = protocol.changes(&call, &mut Memory(HashMap::new()));
                    let _ = call.key(&protocol.scope(&call));
                    let _ = protocol.answer(&call, &Ruling::Pass);
                }
            }
        }
    }
}

/// Of the one that decodes the path of a call, and the one that makes a slash of each backslash: both write another file than the one
/// that would be shown.
#[test]
fn a_path_that_an_agent_reads_as_another_is_not_shown() {
    let paths = [
        ("/w/a", true, true),
        ("/w/a b", true, true),
        ("/w/100%", true, true),
        ("/w/%zz", true, true),
        ("/w/@a", true, true),
        ("/w/a%2etxt", false, true),
        ("n%20x", false, true),
        ("@a", false, true),
        ("@/w/a", false, true),
        #[cfg(unix)]
        (".git\\hooks\\pre-commit", true, false),
        #[cfg(unix)]
        ("/w/sub\\a.txt", true, false),
    ];
    for (path, for_gemini, for_kimi) in paths {
        let agents: [(&dyn HookProtocol, _, _, _, _); 2] = [
            (
                &Gemini,
                "BeforeTool",
                ["write_file", "replace"],
                "file_path",
                for_gemini,
            ),
            (&Kimi, "PreToolUse", ["Write", "Edit"], "path", for_kimi),
        ];
        for (protocol, event, [write, edit], key, is_shown) in agents {
            for (tool, input) in [
                (write, json!({key: path, "content": "x"})),
                (
                    edit,
                    json!({key: path, "old_string": "a", "new_string": "x"}),
                ),
            ] {
                let call = call(protocol, event, tool, input);
                // Whatever file it is, the text is in it.
                let file = edit::file(&call).unwrap();
                let texts = HashMap::from([(file.into(), "a".into())]);
                let changes = protocol.changes(&call, &mut Memory(texts));
                let is_unclear = matches!(changes, Changes::Unclear(_));
                assert_eq!(!is_unclear, is_shown, "{tool} {path}: {changes:?}");
            }
        }
    }
}

/// Lines of the records of Gemini CLI and Qwen Code, as they were seen when a person pressed Esc while a hook waited.
#[test]
fn what_an_agent_records_says_that_a_call_is_stopped() {
    let read = |protocol: &dyn HookProtocol, event: &str, more: Value| {
        let mut input = object(json!({
            "hook_event_name": event, "session_id": "s", "cwd": "/w", "tool_name": "edit", "tool_input": {},
        }));
        input.extend(object(more));
        protocol.read(input).unwrap()
    };
    let (gemini, qwen): (&dyn HookProtocol, &dyn HookProtocol) = (&Gemini, &Qwen);
    let call = read(gemini, "BeforeTool", json!({"transcript_path": "/r"}));
    for (line, is_stopped) in [
        (
            r#"{"id":"1","type":"info","content":"Request cancelled."}"#,
            true,
        ),
        (
            r#"{"id":"1","type":"user","content":"Request cancelled."}"#,
            false,
        ),
        (
            r#"{"id":"1","type":"info","content":"Request cancelled. Not."}"#,
            false,
        ),
        (r#"{"$set":{"lastUpdated":"x"}}"#, false),
        ("Request cancelled.", false),
    ] {
        assert_eq!(gemini.is_stopped(&call, line), is_stopped, "{line}");
    }
    let named = json!({"transcript_path": "/r", "tool_call_id": "call_3"});
    let call = read(qwen, "PreToolUse", named);
    for (line, is_stopped) in [
        (
            r#"{"type":"tool_result","toolCallResult":{"callId":"call_3","status":"cancelled"}}"#,
            true,
        ),
        (
            r#"{"type":"tool_result","toolCallResult":{"callId":"call_4","status":"cancelled"}}"#,
            false,
        ),
        (
            r#"{"type":"tool_result","toolCallResult":{"callId":"call_3","status":"success"}}"#,
            false,
        ),
        (r#"{"type":"user","message":"call_3 cancelled"}"#, false),
    ] {
        assert_eq!(qwen.is_stopped(&call, line), is_stopped, "{line}");
    }
    for (protocol, event, more) in [
        (gemini, "BeforeTool", json!({})),
        (gemini, "BeforeTool", json!({"transcript_path": "r"})),
        (qwen, "PreToolUse", json!({"transcript_path": "/r"})),
        (
            qwen,
            "PreToolUse",
            json!({"transcript_path": "", "tool_call_id": "c"}),
        ),
    ] {
        assert_eq!(read(protocol, event, more.clone()).record, None, "{more}");
    }
}

/// It is all that these agents show meanwhile.
#[test]
fn the_entry_that_waits_for_a_person_says_so_where_an_agent_shows_its_name() {
    for agent in [Dialect::GeminiCli, Dialect::QwenCode] {
        let entries = crate::of(agent).entries("x");
        let names: Vec<_> = { entries.iter() }
            .map(|it| &it.item["hooks"][0]["name"])
            .collect();
        assert_eq!(names[0], hooks::STATUS, "{agent}");
        assert!(names[1..].iter().all(|it| **it == "pillion"), "{names:?}");
    }
}
