//! The calls that Copilot CLI 1.0.102 sends and the answers that it takes, as it was watched.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::*;
use crate::ruling::{Decided, Ruling};

/// Files that are there.
struct Memory(HashMap<PathBuf, Vec<u8>>);

impl Files for Memory {
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.get(path).cloned())
    }
}

fn call(tool: &str, arguments: Value) -> Call {
    let input = json!({"sessionId": "s", "timestamp": 1, "cwd": "/w", "toolName": tool, "toolArgs": arguments});
    Copilot.read(input.as_object().unwrap().clone()).unwrap()
}

fn edit(path: &str, old: &str, new: &str) -> Call {
    call(EDIT, json!({"path": path, "old_str": old, "new_str": new}))
}

/// The changes of a call, where `/w/a` has this text.
fn changes(call: &Call, text: &str) -> Changes {
    let mut files = Memory(HashMap::from([("/w/a".into(), text.as_bytes().to_vec())]));
    Copilot.changes(call, &mut files)
}

/// Returns the answer if the person accepts this text, and the text that Copilot CLI writes then.
fn accepted(call: &Call, text: &str, accepted: Option<&str>) -> (Value, Option<String>) {
    let Changes::Files(files) = changes(call, text) else {
        panic!("{:?}", changes(call, text));
    };
    let proposed = files[0].after.text().unwrap().to_owned();
    let accepted = accepted.unwrap_or(&proposed).to_owned();
    let decided = Decided {
        accepted: Some(accepted),
        before: files[0].before.clone(),
        notes: Vec::new(),
    };
    let output = Copilot
        .answer(call, &Ruling::of(files, vec![decided]))
        .output
        .unwrap();
    if output["permissionDecision"] != "allow" {
        return (output, None);
    }
    let input = output.get("modifiedArgs").unwrap_or(&call.input);
    let field = |name: &str| input[name].as_str().unwrap();
    let written = match call.tool.as_str() {
        CREATE => field("file_text").to_owned(),
        // As it does where the old text is found exactly.
        _ => {
            assert_eq!(text.matches(field("old_str")).count(), 1, "{input}");
            text.replace(field("old_str"), &with_endings_of(text, field("new_str")))
        }
    };
    (output, Some(written))
}

#[test]
fn a_call_is_read_in_each_form_and_no_other_event_is_taken_for_it() {
    let as_object = edit("a", "x", "y");
    assert_eq!(as_object.event, Event::BeforeTool);
    assert_eq!(
        (as_object.tool.as_str(), as_object.session.as_str()),
        (EDIT, "s")
    );
    let as_text = call(EDIT, as_object.input.to_string().into());
    assert_eq!(as_text, as_object);
    let patch = "*** Begin Patch\n*** End Patch\n";
    assert_eq!(call(PATCH, patch.into()).input, patch);
    let event = |input: &Value| {
        let call = Copilot.read(input.as_object().unwrap().clone()).unwrap();
        call.event
    };
    for other in [
        json!({"hookName": "permissionRequest", "toolName": "edit", "toolInput": {"file_path": "/w/a"}}),
        json!({"source": "new", "initialPrompt": "x"}),
    ] {
        assert!(matches!(event(&other), Event::Other(_)), "{other}");
    }
    let result = json!({"resultType": "success"});
    for (input, expected) in [
        (
            json!({"toolName": "edit", "toolArgs": {}, "toolResult": result}),
            Event::AfterTool,
        ),
        (
            json!({"toolName": "edit", "toolArgs": {}, "error": "No match found"}),
            Event::AfterFailure,
        ),
        (json!({"prompt": "x"}), Event::BeforeTurn),
        (
            json!({"stopReason": "end_turn", "stop_hook_active": false}),
            Event::AfterTurn,
        ),
    ] {
        assert_eq!(event(&input), expected, "{input}");
    }
    for broken in [json!({"toolName": "edit", "toolArgs": "{"}), json!({})] {
        let read = Copilot.read(broken.as_object().unwrap().clone());
        assert!(read.is_err(), "{broken}");
    }
}

#[test]
fn the_entries_are_about_these_tools_and_what_is_told_arrives() {
    let scope = |tool: &str| {
        let call = call(tool, json!({"path": "a", "command": "x"}));
        Copilot.scope(&call)
    };
    assert_eq!(scope(EDIT), Scope::File("/w/a".to_owned()));
    assert_eq!(
        (scope(SHELL), scope("view")),
        (Scope::Anything, Scope::Nothing)
    );
    let told = Copilot.answer(&edit("a", "x", "y"), &Ruling::Told("so".to_owned()));
    assert_eq!(told.output, Some(json!({"additionalContext": "so"})));
    for entry in Copilot.entries("pillion hook copilot") {
        let is_about_tools = entry.event.contains("ToolUse");
        assert_eq!(
            entry.item["matcher"].is_string(),
            is_about_tools,
            "{}",
            entry.event
        );
    }
}

#[test]
fn what_is_shown_is_what_it_writes() {
    for (text, old, new, after) in [
        ("one\ntwo\n", "two", "2", "one\n2\n"),
        ("one\r\ntwo\r\n", "one\ntwo", "1\n2", "1\r\n2\r\n"),
        ("one\r\ntwo\r\n", "one\r\ntwo", "1\r\n2", "1\r\n2\r\n"),
        ("one\r\ntwo\r\n", "two", "2\nx", "one\r\n2\r\nx\r\n"),
        ("one\r\ntwo\r\n", "\ntwo\n", "", "one"),
        (
            "\u{feff}one\r\nx\r\nend",
            "one\nx\nend",
            "1\nx\n",
            "\u{feff}1\r\nx\r\n",
        ),
        ("\u{feff}one\ntwo", "one", "1", "\u{feff}1\ntwo"),
        ("x\ny\nz\n", "y", "Y\r\nX", "x\nY\nX\nz\n"),
        // Of mixed endings, the lines that it replaces get those of most.
        ("one\r\ntwo\nend", "two", "2\nx", "one\r\n2\nx\nend"),
        ("one\r\ntwo\nend", "one\ntwo", "2\nx", "2\nx\nend"),
        (
            "one\r\ntwo\r\nthree\nend",
            "two",
            "2\nx",
            "one\r\n2\r\nx\r\nthree\nend",
        ),
        ("ä\r\nö\r\nü", "ä\nö", "", "\r\nü"),
        ("x\ny\nz\n", "x\ny\nz\n", "", ""),
    ] {
        let call = edit("a", old, new);
        let Changes::Files(files) = changes(&call, text) else {
            panic!("{text:?}: {:?}", changes(&call, text));
        };
        assert_eq!(files[0].path, "/w/a");
        assert_eq!(files[0].after.text(), Some(after), "{text:?}");
        let (output, written) = accepted(&call, text, None);
        assert_eq!(written.as_deref(), Some(after), "{text:?}: {output}");
        assert!(output.get("additionalContext").is_none());
    }
}

#[test]
fn a_call_that_cannot_work_is_told_why() {
    for (call, why) in [
        (edit("/w/a", "e", "E"), "2 times"),
        (edit("/w/a", "four", "E"), "is not in the file"),
        (edit("/w/a", "", "E"), "is empty"),
        (edit("/w/b", "x", "E"), "/w/b: it does not exist"),
        (
            call(CREATE, json!({"path": "a", "file_text": ""})),
            "/w/a: it already exists",
        ),
    ] {
        let changes = changes(&call, "one\ntwo\nthre");
        assert!(
            matches!(&changes, Changes::Invalid(said) if said.contains(why)),
            "{changes:?}"
        );
    }
    for unclear in [
        call(EDIT, json!({"path": "a", "old_str": "x"})),
        call(CREATE, json!({})),
        call(PATCH, "x".into()),
    ] {
        let changes = changes(&unclear, "");
        assert!(matches!(changes, Changes::Unclear(_)), "{changes:?}");
    }
    for other in ["bash", "view", "sql", ""] {
        assert_eq!(
            changes(&call(other, json!({"path": "a"})), ""),
            Changes::None
        );
    }
}

#[test]
fn what_was_edited_is_written_byte_for_byte_and_the_model_is_told() {
    for (text, old, accepted_text) in [
        ("one\ntwo\n", "two", "one\nzwei\ndrei\n"),
        ("one\r\ntwo\r\n", "one\ntwo", "eins\r\nzwei"),
        ("\u{feff}one\r\ntwo", "two", "\u{feff}one\r\n2\r\n"),
        ("one", "one", ""),
    ] {
        let (output, written) = accepted(&edit("a", old, "new"), text, Some(accepted_text));
        assert_eq!(written.as_deref(), Some(accepted_text), "{output}");
        assert!(
            output["additionalContext"]
                .as_str()
                .unwrap()
                .contains("edited"),
            "{output}"
        );
    }
    let new = call(CREATE, json!({"path": "b", "file_text": "x\n"}));
    let (output, written) = accepted(&new, "", Some("\u{feff}y\r\n"));
    assert_eq!(written.as_deref(), Some("\u{feff}y\r\n"));
    assert_eq!(output["modifiedArgs"]["path"], "b");
    // It would make all lines end in the same way.
    let (output, written) = accepted(
        &edit("a", "two", "2"),
        "one\r\ntwo\nend",
        Some("one\r\nzwei\nend"),
    );
    assert_eq!(written, None);
    let reason = output["permissionDecisionReason"].as_str().unwrap();
    assert_eq!(output["permissionDecision"], "deny");
    assert!(
        reason.contains("+zwei") && reason.contains("CRLF"),
        "{reason}"
    );
}

#[test]
fn nothing_is_allowed_that_nobody_has_accepted() {
    let call = edit("a", "x", "y");
    for ruling in [Ruling::Pass, Ruling::Approved] {
        assert_eq!(Copilot.answer(&call, &ruling), Answer::nothing());
    }
    for (ruling, decision) in [
        (Ruling::Denied("why".to_owned()), "deny"),
        (Ruling::Unclear("why".to_owned()), "ask"),
    ] {
        let output = Copilot.answer(&call, &ruling).output.unwrap();
        assert_eq!(
            output,
            json!({"permissionDecision": decision, "permissionDecisionReason": "why"})
        );
    }
}

/// Returns the answer if the person accepts this text, or the text that a patch makes, and the patch that is applied then.
fn accepted_patch(body: &str, text: &str, accepted: Option<&str>) -> (Value, Option<String>) {
    let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
    let call = call(PATCH, patch.into());
    let Changes::Files(files) = changes(&call, text) else {
        panic!("{:?}", changes(&call, text));
    };
    let accepted = accepted.or(files[0].after.text()).map(str::to_owned);
    let decided = Decided {
        accepted,
        before: files[0].before.clone(),
        notes: Vec::new(),
    };
    let ruling = Ruling::of(files, vec![decided]);
    let output = Copilot.answer(&call, &ruling).output.unwrap();
    let patch = output["modifiedArgs"].as_str().map(str::to_owned);
    (output, patch)
}

#[test]
fn a_patch_is_replaced_by_one_that_has_the_lines_of_the_file() {
    for (text, lines, accepted, wanted) in [
        // A blank at the end of a line, a carriage return and a mark are found without them.
        ("one \ntwo\n", "-one\n+eins\n", None, "-one \n+eins\n two\n"),
        ("one\r\ntwo", "-two\n+zwei\n", None, " one\n-two\n+zwei\n"),
        (
            "\u{feff}one\n",
            "-one\n+eins\n",
            None,
            "-\u{feff}one\n+\u{feff}eins\n",
        ),
        (
            "one\ntwo\n",
            "-one\n+eins\n",
            Some("one\nzwei\n"),
            " one\n-two\n+zwei\n",
        ),
        // An empty line ends the last one.
        ("one", "-one\n+eins\n", Some("eins\n"), "-one\n+eins\n+\n"),
    ] {
        let body = format!("*** Update File: a\n@@\n{lines}");
        let (output, patch) = accepted_patch(&body, text, accepted);
        let wanted = format!("*** Begin Patch\n*** Update File: a\n@@\n{wanted}*** End Patch\n");
        assert_eq!(patch, Some(wanted), "{text:?}: {output}");
        assert_eq!(output["permissionDecision"], "allow");
    }
}

#[test]
fn a_patch_that_cannot_be_expressed_or_applied_is_denied_or_asked_about() {
    let body = "*** Update File: a\n@@\n-two\n+zwei\n";
    for wanted in ["one\nzwei", "one\r\nzwei\n"] {
        let (output, patch) = accepted_patch(body, "one\ntwo\n", Some(wanted));
        assert_eq!(
            (output["permissionDecision"].as_str(), patch),
            (Some("deny"), None)
        );
    }
    for (body, text, why) in [
        (
            "*** Update File: a\n@@\n-  two\n+zwei\n",
            "two\n",
            "does not have these lines",
        ),
        (
            "*** Update File: a\n@@\n-three\n+zwei\n",
            "two\n",
            "does not have these lines",
        ),
        (
            "*** Update File: a\n@@\n-two\n+zwei\n",
            "one\rtwo\n",
            "carriage return",
        ),
        ("*** Something: a\n", "one\n", "no file is added"),
    ] {
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        let changes = changes(&call(PATCH, patch.into()), text);
        assert!(
            matches!(&changes, Changes::Unclear(said) if said.contains(why)),
            "{changes:?}"
        );
    }
    for (body, why) in [
        ("*** Add File: a\n+one\n", "already exists"),
        ("*** Delete File: b\n", "does not exist"),
    ] {
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        let changes = changes(&call(PATCH, patch.into()), "");
        assert!(
            matches!(&changes, Changes::Invalid(said) if said.contains(why)),
            "{changes:?}"
        );
    }
}
