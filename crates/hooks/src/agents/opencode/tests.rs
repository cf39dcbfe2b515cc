//! The calls of opencode 1.18.33 as the plugin describes them, and what opencode was seen to write.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::*;
use crate::change::After;
use crate::ruling::Decided;

/// Files that are there.
struct Memory(HashMap<PathBuf, Vec<u8>>);

impl Files for Memory {
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.get(path).cloned())
    }
}

fn call(tool: &str, arguments: Value) -> Call {
    let input = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": tool, "tool_input": arguments,
        "tool_use_id": "c", "agent_id": "a",
    });
    OpenCode.read(input.as_object().unwrap().clone()).unwrap()
}

fn edit(old: &str, new: &str) -> Call {
    call(
        EDIT,
        json!({"filePath": "a", "oldString": old, "newString": new}),
    )
}

fn write(content: &str) -> Call {
    call(WRITE, json!({"filePath": "/w/a", "content": content}))
}

/// The changes of a call, where `/w/a` has this text, if it is there.
fn changes(call: &Call, text: Option<&str>) -> Changes {
    let file = text.map(|text| ("/w/a".into(), text.as_bytes().to_vec()));
    OpenCode.changes(call, &mut Memory(file.into_iter().collect()))
}

/// The text that a call leads to.
fn after(call: &Call, text: Option<&str>) -> Result<String, String> {
    match changes(call, text) {
        Changes::Files(files) => Ok(files[0].after.text().unwrap().to_owned()),
        Changes::Invalid(why) | Changes::Unclear(why) => Err(why),
        Changes::None => panic!("{call:?}"),
    }
}

/// The arguments that are answered if the person accepts this text, or else why it is refused.
fn accepted(call: &Call, text: Option<&str>, accepted: &str) -> Result<Value, String> {
    let Changes::Files(files) = changes(call, text) else {
        panic!("{:?}", changes(call, text));
    };
    let decided = Decided {
        accepted: Some(accepted.to_owned()),
        before: files[0].before.clone(),
        notes: Vec::new(),
    };
    let answer = OpenCode.answer(call, &Ruling::of(files, vec![decided]));
    let output = answer.output.unwrap()["hookSpecificOutput"].clone();
    match output["permissionDecision"].as_str() {
        Some("allow") => Ok(output["updatedInput"].clone()),
        _ => {
            assert_eq!(answer.inexpressible.len(), 1, "{output}");
            Err(output["permissionDecisionReason"].to_string())
        }
    }
}

#[test]
fn a_call_is_shown_as_opencode_makes_it() {
    let none = "does not exist";
    for (call, before, expected) in [
        (edit("two", "zwei"), Some("one\ntwo\n"), Ok("one\nzwei\n")),
        (
            edit("two\n", "x\ny\n"),
            Some("one\r\ntwo\r\n"),
            Ok("one\r\nx\r\ny\r\n"),
        ),
        (
            edit("two", "x\ny"),
            Some("one\r\ntwo\n"),
            Ok("one\r\nx\r\ny\n"),
        ),
        (
            edit("one", "eins"),
            Some("\u{feff}one\n"),
            Ok("\u{feff}eins\n"),
        ),
        (edit("", "new\r\n"), None, Ok("new\r\n")),
        (
            edit("", "new"),
            Some(""),
            Err("the text to replace is empty"),
        ),
        (edit("x", "y"), None, Err(none)),
        (
            edit(" two", "y"),
            Some("two\n"),
            Err("at least not exactly"),
        ),
        (edit("two", "y"), Some("two two"), Err("occurs 2 times")),
        (
            write("eins\n"),
            Some("\u{feff}one\r\n"),
            Ok("\u{feff}eins\n"),
        ),
        (write(""), None, Ok("")),
    ] {
        let shown = after(&call, before);
        match expected {
            Ok(text) => assert_eq!(shown.as_deref(), Ok(text), "{:?}", call.input),
            Err(why) => assert!(shown.as_ref().unwrap_err().contains(why), "{shown:?}"),
        }
    }
    let all = json!({"filePath": "a", "oldString": "o", "newString": "0", "replaceAll": true});
    assert_eq!(
        after(&call(EDIT, all), Some("one two")).as_deref(),
        Ok("0ne tw0")
    );
    let latin = Memory(HashMap::from([("/w/a".into(), b"\xe9".to_vec())]));
    assert!(matches!(
        OpenCode.changes(&write("x"), &mut { latin }),
        Changes::Unclear(_)
    ));
}

/// opencode makes both parts of an edit end their lines as the file's do, and keeps a BOM.
#[test]
fn what_is_answered_writes_what_was_accepted() {
    let whole = |old, new| Ok(json!({"oldString": old, "newString": new, "replaceAll": false}));
    let proposed = edit("two", "zwei");
    for (before, text, expected) in [
        (
            Some("one\ntwo"),
            "one\ndos\n",
            whole("one\ntwo", "one\ndos\n"),
        ),
        (
            Some("one\r\ntwo\r\n"),
            "1\r\ndos\r\n",
            whole("one\ntwo\n", "1\ndos\n"),
        ),
        (Some("\u{feff}two"), "\u{feff}dos", whole("two", "dos")),
        (
            Some("one\r\ntwo\r\n"),
            "one\ndos\n",
            Err("end in LF and lines that end in CRLF"),
        ),
        (
            Some("one\r\ntwo\n"),
            "one\r\ndos\n",
            Err("end in LF and lines that end in CRLF"),
        ),
        (Some("one\r\ntwo\n"), "one\r\nzwei\n", Ok(json!({}))),
        (Some("\u{feff}two"), "zwei", Err("byte order mark")),
        (Some("two"), "\u{feff}zwei", Err("byte order mark")),
    ] {
        let answered = accepted(&proposed, before, text);
        match expected {
            Ok(expected) => assert_eq!(answered, Ok(expected), "{before:?} {text:?}"),
            Err(why) => assert!(answered.as_ref().unwrap_err().contains(why), "{answered:?}"),
        }
    }
    assert_eq!(
        accepted(&edit("", "x"), None, "\u{feff}y\r\n"),
        whole("", "\u{feff}y\r\n").map_err(str::to_owned)
    );
    assert_eq!(
        accepted(&write("x"), Some("y\r\n"), "z\r\n\n"),
        Ok(json!({"content": "z\r\n\n"}))
    );
    let marked = accepted(&write("x"), Some("\u{feff}y"), "z");
    assert!(marked.unwrap_err().contains("byte order mark"));
}

#[test]
fn what_a_call_may_change_and_who_makes_it_is_read() {
    let patch = |body: &str| {
        let text = format!("*** Begin Patch\n{body}*** End Patch\n");
        call(PATCH, json!({PATCH_TEXT: text}))
    };
    let file = || Scope::File("/w/a".to_owned());
    for (call, scope) in [
        (edit("x", "y"), file()),
        (write("x"), file()),
        (patch("*** Delete File: a\n"), file()),
        (
            patch("*** Delete File: a\n*** Delete File: b\n"),
            Scope::Anything,
        ),
        (call(PATCH, json!({})), Scope::Anything),
        (call(SHELL, json!({"command": "true"})), Scope::Anything),
        (call("read", json!({"filePath": "a"})), Scope::Nothing),
    ] {
        assert_eq!(OpenCode.scope(&call), scope, "{}", call.input);
        assert_eq!(
            (call.subagent.as_deref(), call.id.as_str()),
            (Some("a"), "c")
        );
    }
    let deleted = changes(&patch("*** Delete File: a\n"), Some("x"));
    let Changes::Files(deleted) = deleted else {
        panic!("{deleted:?}");
    };
    assert_eq!(deleted[0].after, After::Deleted);
}

/// It names the hook, and the tools that are shown or recorded.
#[test]
fn the_plugin_starts_the_hook_for_these_tools() {
    let [entry] = &OpenCode.entries("'/a b/pillion' hook opencode --strict")[..] else {
        panic!("one file");
    };
    let source = entry.item[SOURCE].as_str().unwrap();
    for line in [
        r#"const HOOK = ["/a b/pillion","hook","opencode","--strict"]"#,
        r#"const TOOLS = ["edit","write","apply_patch","bash"]"#,
    ] {
        assert!(source.lines().any(|it| it == line), "{source}");
    }
    let values = Format::Script.values(source).unwrap();
    let command = &values["hooks"]["plugin"][0]["command"];
    assert_eq!(command, "'/a b/pillion' hook opencode --strict");
}
