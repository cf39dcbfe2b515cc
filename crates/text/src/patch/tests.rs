//! Patches as Codex 0.169.0 and 0.171.0 were seen to read and apply them; `crates/pillion/tests/agents/codex.rs` compares
//! with the real program.

use proptest::prelude::*;

use super::*;

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

/// The new text of a file with this text.
fn apply(before: &str, body: &str) -> Result<String, String> {
    let files = read(&patch(body)).map_err(|error| error.to_string())?;
    let [file] = &files[..] else {
        panic!("{files:?}");
    };
    let after = file
        .operation
        .apply(Program::Codex, file.line, Some(before));
    let after = after.map_err(|error| error.to_string())?;
    Ok(after.expect("it is not deleted"))
}

#[test]
fn all_kinds_of_files_are_read() {
    let body = "*** Add File: new/a.txt\n+one\n+\n*** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: d.txt\n\
                @@ fn main\n one\n\n-two\n+zwei\n*** End of File\n*** Update File: /abs/e.txt\n-x\n+y\n*** Add File: empty\n";
    let files = read(&format!("\n  *** Begin Patch\n{body}*** End Patch  \n\n")).unwrap();
    let paths: Vec<_> = files
        .iter()
        .map(|file| (file.path.as_str(), file.line))
        .collect();
    let expected = [
        ("new/a.txt", 3),
        ("b.txt", 6),
        ("c.txt", 7),
        ("/abs/e.txt", 15),
        ("empty", 18),
    ];
    assert_eq!(paths, expected);
    assert_eq!(files[0].operation, Operation::Add("one\n\n".to_owned()));
    assert_eq!(files[1].operation, Operation::Delete);
    assert_eq!(files[2].operation.move_to(), Some("d.txt"));
    assert_eq!(files[4].operation, Operation::Add(String::new()));
    let (main, lines) = ("x\nfn main\nthree\n", "one\n\ntwo\n");
    let moved = files[2]
        .operation
        .apply(Program::Codex, 7, Some(&format!("{main}{lines}")));
    assert_eq!(moved, Ok(Some(format!("{main}one\n\nzwei\n"))));
}

#[test]
fn what_is_not_understood_is_named_with_its_line() {
    let update = "*** Update File: a\n";
    for (body, line, why) in [
        (String::new(), 1, "no file is named"),
        ("\n*** Delete File: a\n".to_owned(), 2, "no file is added"),
        ("*** Delete File: a\nzz\n".to_owned(), 3, "no file is added"),
        ("*** Add File: \n+x\n".to_owned(), 2, "no file is added"),
        ("*** Add File: n\n+x\n\n".to_owned(), 4, "no file is added"),
        ("*** Begin Patch\n".to_owned(), 2, "no file is added"),
        ("*** Environment ID: x\n".to_owned(), 2, "no file is added"),
        (update.to_owned(), 3, "no lines follow"),
        (format!("{update}*** Move to: b\n"), 4, "no lines follow"),
        (format!("{update}*** Move to:  \n@@\n-x\n"), 3, "path"),
        (format!("{update}*** Move to:  b\n@@\n-x\n"), 3, "a blank"),
        (format!("{update}*** Move to: b \n@@\n-x\n"), 3, "a blank"),
        ("*** Update File:  a\n@@\n-x\n".to_owned(), 2, "a blank"),
        ("*** Add File: \u{a0}a\n+x\n".to_owned(), 2, "a blank"),
        ("*** Delete File: \ta\n".to_owned(), 2, "a blank"),
        ("*** Add File: \u{feff}a\n+x\n".to_owned(), 2, "a blank"),
        ("*** Add File: a\u{1f}\n+x\n".to_owned(), 2, "a blank"),
        (
            format!("{update}*** Move to: b\u{feff}\n@@\n-x\n"),
            3,
            "a blank",
        ),
        (format!("{update}@@\n"), 4, "begins with a blank"),
        (format!("{update}@@\n@@\n-x\n"), 4, "begins with a blank"),
        (format!("{update}@@one\n-x\n"), 3, "begins with a blank"),
        (format!("{update}@@\n-x\n+y\nzzz\n"), 6, "begins with @@"),
        (
            format!("{update}@@\n-x\n*** Other\n"),
            5,
            "no file is added",
        ),
        (format!("{update}@@\n-x\n+a\rb\n"), 5, "carriage return"),
        (
            format!("{update}@@\n-x\n{update}@@\n-y\n"),
            5,
            "a second time",
        ),
        (
            format!("{update}*** Move to: a\n@@\n-x\n"),
            2,
            "a second time",
        ),
    ] {
        let error = read(&patch(&body)).expect_err(&body);
        assert_eq!(error.line, line, "{body}: {error}");
        assert!(error.why.contains(why), "{body}: {error}");
    }
    for text in [
        "",
        "x",
        "*** Begin Patch",
        "*** Begin Patch\n*** Delete File: a\n",
    ] {
        read(text).expect_err(text);
    }
    let after = patch("*** Delete File: a\n") + "x\n";
    assert_eq!(read(&after).expect_err(&after).line, 4);
}

#[test]
fn lines_are_found_and_written_as_codex_does_it() {
    for (before, chunks, after) in [
        ("one\ntwo", "@@\n-one\n+ONE\n", "ONE\ntwo\n"),
        ("one\r\ntwo\r\n", "@@\n one\n-two\n+T\n", "one\r\nT\r\n"),
        ("one\r\ntwo\r\n", "@@\r\n-two\r\n+T\r\n", "one\r\nT\r\n"),
        // New lines get the first line's ending, all others keep theirs.
        (
            "one\r\ntwo\nthree\n",
            "@@\n two\n-three\n+T\n",
            "one\r\ntwo\nT\r\n",
        ),
        ("one\r\ntwo", "@@\n-two\n+T\n", "one\r\nT\r\n"),
        ("  one \ntwo\n", "@@\n one\n-two\n+T\n", "  one \nT\n"),
        (
            "a \u{2013} b\nx\n",
            "@@\n a - b\n-x\n+T\n",
            "a \u{2013} b\nT\n",
        ),
        ("x\nx\n", "@@\n-x\n+T\n*** End of File\n", "x\nT\n"),
        ("x\na\nx\nb\n", "@@ a\n-x\n+T\n", "x\na\nT\nb\n"),
        ("one\ntwo\n", "@@ one\n+T\n", "one\ntwo\nT\n"),
        ("one\ntwo\n", "@@\n+T\n@@\n-one\n+1\n", "1\ntwo\nT\n"),
        ("a\nb\n", "@@\n-b\n+c\n \n", "a\nc\n"),
        ("x\n", "@@\n-x\n", ""),
        ("", "@@\n+x\n", "x\n"),
        (
            "\u{feff}one\n",
            "@@\n-\u{feff}one\n+\u{feff}T\n",
            "\u{feff}T\n",
        ),
    ] {
        let applied = apply(before, &format!("*** Update File: a\n{chunks}"));
        assert_eq!(applied.as_deref(), Ok(after), "{before:?} {chunks}");
    }
}

#[test]
fn what_does_not_apply_is_an_error() {
    for (before, chunks, why) in [
        ("\u{feff}one\n", "@@\n-one\n+T\n", "line 3 of the patch"),
        (
            "a\nb\nc\n",
            "@@\n-c\n+C\n@@\n-a\n+A\n",
            "line 6 of the patch",
        ),
        ("x\nz\ny\n", "@@\n-z\n+T\n*** End of File\n", "these lines"),
        ("x\n", "@@ nope\n-x\n", "no line \"nope\""),
        ("one\rtwo\nx\n", "@@\n-x\n+T\n", "carriage return"),
        ("x\n", "@@\n-x\n+T\n@@\n-x\n*** End of File\n", "before"),
        ("b\n", "@@\n-b\n-\n+c\n+\n", "these lines"),
        ("", "@@\n-x\n", "these lines"),
    ] {
        let error = apply(before, &format!("*** Update File: a\n{chunks}")).expect_err(chunks);
        assert!(error.contains(why), "{chunks}: {error}");
    }
    for operation in ["Delete File: a\n", "Update File: a\n@@\n-x\n"] {
        let files = read(&patch(&format!("*** {operation}"))).unwrap();
        let error = files[0]
            .operation
            .apply(Program::Codex, 2, None)
            .expect_err(operation);
        assert!(error.why.contains("does not exist"), "{error}");
    }
}

fn change<'a>(before: &'a str, after: &'a str) -> FileChange<'a> {
    FileChange {
        path: "a",
        move_to: None,
        before: Some(before),
        after: Some(after),
    }
}

#[test]
fn what_the_format_cannot_express_is_not_written() {
    for (before, after) in [
        ("one\n", "two"),
        ("one", "two"),
        ("one\n", "one"),
        ("one\ntwo\n", "one\r\ntwo\n"),
        ("one\r\n", "one\r\ntwo\n"),
        ("one\n", "o\rne\n"),
        ("o\rne\n", "o\rne\ntwo\n"),
    ] {
        let other = change("x\n", "y\n");
        let written = write(Program::Codex, &[other, change(before, after)]);
        assert_eq!(written, Err(1), "{before:?} {after:?}");
    }
    for text in ["x", "x\r\n", "x\ny"] {
        let new = FileChange {
            before: None,
            ..change("", text)
        };
        assert_eq!(write(Program::Codex, &[new]), Err(0), "{text:?}");
    }
}

#[test]
fn a_written_patch_is_short_and_readable() {
    let before: String = (0..50).map(|line| format!("line {line}\n")).collect();
    let after = before.replace("line 20\n", "zwanzig\n");
    let deleted = FileChange {
        path: "gone",
        after: None,
        ..change("x", "")
    };
    let moved = FileChange {
        path: "from",
        move_to: Some("to"),
        ..change("x\r\ny\r\n", "x\r\ny\r\n")
    };
    let empty = FileChange {
        path: "no",
        move_to: Some("nowhere"),
        ..change("", "")
    };
    let written = write(
        Program::Codex,
        &[change(&before, &after), deleted, moved, empty],
    );
    let expected = "*** Begin Patch\n*** Update File: a\n@@\n line 17\n line 18\n line 19\n-line 20\n+zwanzig\n line 21\n line 22\n \
                    line 23\n*** Delete File: gone\n*** Update File: from\n*** Move to: to\n@@\n x\n y\n*** Add File: nowhere\n\
                    *** Delete File: no\n*** End Patch\n";
    assert_eq!(written.as_deref(), Ok(expected));
}

/// A text of few different lines, so that they are easily taken for each other.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a",
        "b",
        "",
        " a",
        "a ",
        "+a",
        "*** End Patch",
        "@@",
        "\u{feff}ä",
    ]);
    let ending = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    let lines = prop::collection::vec((line, ending), 0..12);
    (lines, any::<bool>(), any::<bool>()).prop_map(|(lines, is_crlf, has_last)| {
        let mut text = String::new();
        for (line, ending) in lines {
            text.push_str(line);
            text.push_str(if is_crlf { ending } else { "\n" });
        }
        match has_last {
            true => text,
            false => text + "end",
        }
    })
}

proptest! {
    #[test]
    fn a_written_patch_leads_to_the_text(before in text(), after in text(), moves: bool) {
        let wanted = FileChange { move_to: moves.then_some("b"), ..change(&before, &after) };
        let has_cr = after.contains('\r') || before.contains('\r');
        match write(Program::Codex, &[wanted]) {
            Err(_) => prop_assert!(has_cr || !after.ends_with('\n'), "{after:?}"),
            Ok(patch) => {
                let files = read(&patch).unwrap();
                let old = files[0].path == "a";
                let applied = files[0].operation.apply(Program::Codex, 1, old.then_some(before.as_str()));
                prop_assert_eq!(applied, Ok(Some(after)));
            }
        }
    }

    #[test]
    fn a_patch_of_any_bytes_is_no_panic(body in r"(\*\*\* (Add|Update|Delete) File: a\n|\*\*\* Move to: b\n|@@( a)?\n|[-+ ]?[ab]?\n|\*\*\* End of File\n|.{0,3}\r?\n){0,12}", before in text()) {
        for file in read(&patch(&body)).unwrap_or_default() {
            let _ = file.operation.apply(Program::Codex, file.line, Some(&before));
        }
    }
}

/// As opencode 1.18.33 was seen to apply a patch: line by line, with the carriage returns that it has.
#[test]
fn opencode_gets_a_patch_with_the_lines_as_they_are() {
    let write = |before, after| {
        let change = FileChange {
            before,
            after,
            ..change("", "")
        };
        write(Program::OpenCode, &[change])
    };
    for (before, after, expected) in [
        (
            Some("one\ntwo\n"),
            "one\nzwei\n",
            "*** Update File: a\n@@\n one\n-two\n+zwei\n",
        ),
        (
            Some("\u{feff}one\n"),
            "\u{feff}eins\n",
            "*** Update File: a\n@@\n-\u{feff}one\n+\u{feff}eins\n",
        ),
        (
            Some("one\ntwo"),
            "one\nzwei\n",
            "*** Update File: a\n@@\n one\n-two\n+zwei\n",
        ),
        (Some("one\r\n"), "eins\r\n", "*** Add File: a\n+eins\r\n"),
        (
            Some("one\r\ntwo\n"),
            "one\r\nzwei\n",
            "*** Add File: a\n+one\r\n+zwei\n",
        ),
        (
            Some("one\n\n"),
            "eins\n\n",
            "*** Add File: a\n+eins\n+\n+\n",
        ),
        (None, "\n", "*** Add File: a\n+\n+\n"),
        (None, "", "*** Add File: a\n"),
        (
            Some(" *** End Patch\nx\n"),
            " *** End Patch\ny\n",
            "*** Add File: a\n+ *** End Patch\n+y\n",
        ),
    ] {
        let written = write(before, Some(after));
        assert_eq!(written, Ok(patch(expected)), "{before:?} {after:?}");
    }
    assert_eq!(write(Some("x\n"), None), Ok(patch("*** Delete File: a\n")));
    assert_eq!(write(Some("x\n"), Some("y")), Err(0));
    let moved = FileChange {
        move_to: Some("b"),
        ..change("one\r\n", "eins\r\n")
    };
    let written = super::write(Program::OpenCode, &[moved]);
    assert_eq!(
        written,
        Ok(patch("*** Add File: b\n+eins\r\n*** Delete File: a\n"))
    );
}
