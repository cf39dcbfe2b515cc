//! Calls as Codex was seen to make them, and the answers that it was seen to understand.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::change::Change;
use crate::ruling::Decided;

/// Files in memory.
struct Disk(BTreeMap<&'static str, &'static str>);

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let text = self.0.get(path.to_str().unwrap());
        match text {
            Some(&"a folder") => Err(format!("{} is a folder", path.display())),
            Some(&"latin") => Ok(Some(vec![0xff])),
            text => Ok(text.map(|text| text.as_bytes().to_vec())),
        }
    }

    fn is_link(&mut self, path: &Path) -> bool {
        path.ends_with("link")
    }
}

fn disk() -> Disk {
    Disk(BTreeMap::from([
        ("/w/a", "one\ntwo\n"),
        ("/w/b", "x\r\ny\r\n"),
        ("/w/no-end", "one\ntwo"),
        ("/w/sub/a", "sub\n"),
        ("/w/dir", "a folder"),
        ("/w/latin", "latin"),
        ("/w/cr", "o\rne\n"),
        ("/w/link", "one\ntwo\n"),
    ]))
}

fn call(event: &str, tool: &str, command: &str) -> Call {
    let input = json!({
        "session_id": "s", "turn_id": "t", "transcript_path": null, "cwd": "/w", "hook_event_name": event,
        "model": "gpt-5.5", "permission_mode": "default", "tool_name": tool,
        "tool_input": {"command": command}, "tool_use_id": "u",
    });
    let Value::Object(input) = input else {
        unreachable!();
    };
    Codex.read(input).unwrap()
}

fn patch_of(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

fn apply(body: &str) -> Call {
    call("PreToolUse", PATCH, &patch_of(body))
}

fn files(call: &Call) -> Vec<Change> {
    match Codex.changes(call, &mut disk()) {
        Changes::Files(files) => files,
        other => panic!("{other:?}"),
    }
}

/// Returns the answer when these texts are accepted; none of those that are rejected.
fn answer(call: &Call, accepted: &[Option<&str>]) -> Answer {
    let decided = accepted.iter().zip(files(call));
    let decided = decided.map(|(accepted, change)| Decided {
        accepted: accepted.map(str::to_owned),
        before: change.before,
        notes: Vec::new(),
    });
    Codex.answer(call, &Ruling::of(files(call), decided.collect()))
}

fn output(answer: &Answer) -> &Value {
    &answer.output.as_ref().unwrap()["hookSpecificOutput"]
}

/// The text that stands there is not what would be deleted.
#[test]
fn who_deletes_a_link_is_not_shown() {
    let changes = |body: &str| Codex.changes(&apply(body), &mut disk());
    let moved = "*** Update File: link\n*** Move to: other\n@@\n-two\n+zwei\n";
    for body in ["*** Delete File: link\n", moved] {
        let expected = "Pillion cannot show this patch: it deletes /w/link, a symbolic link";
        assert_eq!(
            changes(body),
            Changes::Unclear(expected.to_owned()),
            "{body}"
        );
    }
    let through = changes("*** Update File: link\n@@\n-two\n+zwei\n");
    assert!(matches!(through, Changes::Files(_)), "{through:?}");
}

const ALL: &str = "*** Update File: a\n@@\n-two\n+zwei\n*** Add File: new\n+fresh\n*** Delete File: b\n\
                   *** Update File: sub/a\n*** Move to: sub/b\n@@\n-sub\n+SUB\n";

#[test]
fn all_files_of_a_patch_are_shown() {
    let shown = files(&apply(ALL));
    let shown: Vec<_> = shown
        .iter()
        .map(|file| {
            (
                file.path.as_str(),
                file.before.as_deref(),
                file.after.text(),
            )
        })
        .collect();
    let expected = [
        ("/w/a", Some("one\ntwo\n"), Some("one\nzwei\n")),
        ("/w/new", None, Some("fresh\n")),
        ("/w/b", Some("x\r\ny\r\n"), None),
        ("/w/sub/a", Some("sub\n"), None),
        ("/w/sub/b", None, Some("SUB\n")),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn a_patch_in_a_command_is_shown_and_rewritten_there() {
    let patch = patch_of("*** Update File: a\n@@\n-sub\n+SUB\n");
    let command = format!("cd sub && apply_patch <<'EOF'\n{patch}EOF");
    let call = call("PreToolUse", SHELL, &command);
    assert_eq!(files(&call)[0].path, "/w/sub/a");
    let answer = answer(&call, &[Some("mine\n")]);
    let written = output(&answer)["updatedInput"]["command"].as_str().unwrap();
    let expected = patch_of("*** Update File: a\n@@\n-sub\n+mine\n");
    assert_eq!(
        written,
        format!("cd 'sub' && apply_patch <<'PATCH'\n{expected}PATCH\n")
    );
}

#[test]
fn what_changes_no_file_by_a_patch_passes() {
    for (tool, command) in [
        (SHELL, "cargo test"),
        ("Read", "x"),
        ("mcp__x__y", "apply_patch"),
    ] {
        let call = call("PreToolUse", tool, command);
        assert_eq!(Codex.changes(&call, &mut disk()), Changes::None);
    }
}

#[test]
fn what_cannot_be_shown_is_denied_with_its_reason() {
    for (body, why) in [
        ("*** Frob File: a\n", "line 2 of the patch"),
        ("*** Update File: dir\n@@\n-x\n", "is a folder"),
        ("*** Delete File: latin\n", "not in UTF-8"),
        ("*** Update File: cr\n@@\n-x\n", "carriage return"),
        (
            "*** Delete File: a\n*** Add File: sub/../a\n",
            "/w/sub/../a is named twice",
        ),
    ] {
        let call = apply(body);
        let Changes::Unclear(unclear) = Codex.changes(&call, &mut disk()) else {
            panic!("{body}");
        };
        assert!(unclear.contains(why), "{body}: {unclear}");
        let answer = Codex.answer(&call, &Ruling::Unclear(unclear.clone()));
        assert_eq!(output(&answer)["permissionDecision"], "deny");
        assert_eq!(output(&answer)["permissionDecisionReason"], unclear);
    }
    for (body, why) in [
        (
            "*** Update File: a\n@@\n-three\n",
            "does not have these lines",
        ),
        ("*** Update File: gone\n@@\n-three\n", "does not exist"),
        ("*** Delete File: gone\n", "does not exist"),
    ] {
        let Changes::Invalid(invalid) = Codex.changes(&apply(body), &mut disk()) else {
            panic!("{body}");
        };
        assert!(
            invalid.contains(why) && invalid.contains("/w/"),
            "{invalid}"
        );
    }
    let folderless = Call {
        folder: None,
        ..apply("*** Delete File: a\n")
    };
    let unclear = Codex.changes(&folderless, &mut disk());
    assert!(matches!(unclear, Changes::Unclear(why) if why.contains("not absolute")));
}

#[test]
fn a_patch_that_is_accepted_as_it_is_passes_and_its_question_is_answered() {
    let call = apply(ALL);
    let texts = [
        Some("one\nzwei\n"),
        Some("fresh\n"),
        Some(""),
        Some(""),
        Some("SUB\n"),
    ];
    let answer = answer(&call, &texts);
    let approved = Some((Event::Question, call.input.clone()));
    assert_eq!(
        answer,
        Answer {
            approved,
            ..Answer::nothing()
        }
    );
    let question = self::call("PermissionRequest", PATCH, &patch_of(ALL));
    assert_eq!(
        (question.event.clone(), &question.input),
        (Event::Question, &call.input)
    );
    let allowed = Codex.answer(&question, &Ruling::Approved);
    assert_eq!(output(&allowed)["decision"]["behavior"], "allow");
    assert_eq!(Codex.answer(&question, &Ruling::Pass), Answer::nothing());
}

#[test]
fn what_was_edited_or_rejected_makes_another_patch() {
    for (accepted, body) in [
        (
            [Some("one\n2\n"), None, None, None, None],
            "*** Update File: a\n@@\n one\n-two\n+2\n",
        ),
        (
            [None, Some("fresh\n"), Some(""), None, Some("SUB\n")],
            "*** Add File: new\n+fresh\n*** Delete File: b\n*** Add File: sub/b\n+SUB\n",
        ),
        (
            [None, None, Some("x\r\n"), Some(""), Some("mine\n")],
            "*** Update File: b\n@@\n x\n-y\n*** Update File: sub/a\n*** Move to: sub/b\n@@\n-sub\n+mine\n",
        ),
        (
            [None, None, None, Some(""), None],
            "*** Delete File: sub/a\n",
        ),
    ] {
        let answer = answer(&apply(ALL), &accepted);
        let output = output(&answer);
        let input = &output["updatedInput"];
        assert_eq!(input["command"], patch_of(body).as_str());
        assert_eq!(output["permissionDecision"], "allow");
        assert!(
            output["additionalContext"]
                .as_str()
                .unwrap()
                .contains("The user")
        );
        assert_eq!(answer.approved, Some((Event::Question, input.clone())));
    }
}

#[test]
fn all_rejected_is_denied() {
    let answer = answer(&apply(ALL), &[None; 5]);
    assert_eq!(output(&answer)["permissionDecision"], "deny");
    assert_eq!(answer.approved, None);
}

/// Nothing else is written than what the person has accepted.
#[test]
fn a_text_that_no_patch_can_have_is_denied_with_what_is_wanted() {
    for (body, accepted, diff) in [
        (
            "*** Update File: a\n@@\n-two\n+zwei\n",
            "one\n2",
            "+2\n\\ No newline",
        ),
        ("*** Add File: new\n+x\n", "x\r\n", "+x\r\n"),
        (
            "*** Update File: no-end\n@@\n-two\n+2\n",
            "one\nzwei",
            "+zwei\n",
        ),
    ] {
        let answer = answer(&apply(body), &[Some(accepted)]);
        let output = output(&answer);
        assert_eq!(output["permissionDecision"], "deny", "{body}");
        let why = output["permissionDecisionReason"].as_str().unwrap();
        assert!(
            why.starts_with("Nothing was written to ") && why.contains(diff),
            "{why}"
        );
        assert_eq!(answer.approved, None);
    }
}

/// The others of the patch are.
#[test]
fn what_no_patch_can_express_is_left_out_of_it_and_told() {
    let body = "*** Add File: b\n+x\n*** Update File: a\n@@\n-two\n+zwei\n*** Add File: new\n+x\n";
    for (accepted, left_out, kept) in [
        ([Some("y"), Some("one\n2\n"), None], &["/w/b"][..], "/w/a"),
        (
            [Some("x\n"), Some("one\n2"), Some("x\n")],
            &["/w/a"],
            "/w/b",
        ),
        (
            [Some("y"), Some("one\n2"), Some("x\n")],
            &["/w/b", "/w/a"],
            "/w/new",
        ),
    ] {
        let answer = answer(&apply(body), &accepted);
        let output = output(&answer);
        assert_eq!(output["permissionDecision"], "allow", "{output}");
        assert_eq!(answer.inexpressible, left_out);
        let patch = output["updatedInput"]["command"].as_str().unwrap();
        let told = output["additionalContext"].as_str().unwrap();
        for path in left_out {
            let sentence = format!("Nothing was written to {path}: ");
            assert_eq!(told.matches(&sentence).count(), 1, "{told}");
            assert_eq!(
                told.matches(&format!("your change to {path} before"))
                    .count(),
                1,
                "{told}"
            );
            let name = path.trim_start_matches("/w/");
            assert!(!patch.contains(&format!("File: {name}\n")), "{patch}");
        }
        let name = kept.trim_start_matches("/w/");
        assert!(patch.contains(&format!("File: {name}\n")), "{patch}");
        assert!(
            !told.contains(&format!("Nothing was written to {kept}")),
            "{told}"
        );
    }
}
