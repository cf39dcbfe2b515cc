//! What is accepted is what is on the disk afterwards, byte for byte, whatever the file's encoding: Claude
//! Code shows companions a text with LF, and writes the file in its own way again.

use std::fs;

use pillion_testkit::{ClaudeRelease, Home, Turn};

use super::{Scene, ide};
use crate::companion::SOON;
use crate::review::editor;

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_writes_edited_files_in_their_own_encoding() {
    writes_edited_files_in_their_own_encoding(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_writes_edited_files_in_their_own_encoding() {
    writes_edited_files_in_their_own_encoding(ClaudeRelease::Node);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_writes_whole_files_as_accepted() {
    writes_whole_files_as_accepted(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_writes_whole_files_as_accepted() {
    writes_whole_files_as_accepted(ClaudeRelease::Node);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_writes_a_file_with_mixed_line_endings_as_it_was_shown() {
    writes_mixed_line_endings_as_shown(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_writes_a_file_with_mixed_line_endings_as_it_was_shown() {
    writes_mixed_line_endings_as_shown(ClaudeRelease::Node);
}

/// How a text becomes a file: its name, and its bytes.
type Encoding = (&'static str, fn(&str) -> Vec<u8>);

const ENCODINGS: [Encoding; 7] = [
    ("lf.txt", |text| text.into()),
    ("crlf.txt", |text| crlf(text).into()),
    ("bom.txt", |text| format!("\u{feff}{text}").into()),
    ("bom-crlf.txt", |text| {
        format!("\u{feff}{}", crlf(text)).into()
    }),
    ("no-final-newline.txt", |text| text.trim_end().into()),
    ("utf16.txt", utf16),
    ("utf16-crlf.txt", |text| utf16(&crlf(text))),
];

/// An `Edit` changes two places: one is taken out, the other edited. Then one is accepted as it is.
fn writes_edited_files_in_their_own_encoding(release: ClaudeRelease) {
    let home = Home::new();
    let edits = editor(&home, "seventeen", "siebzehn");
    let before: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let block = &before[before.find("line 4\n").expect("it is there")..];
    let block = &block[..block.find("line 18\n").expect("it is there")];
    let proposed = block
        .replace("line 4\n", "line four\n")
        .replace("line 17\n", "line seventeen\n");
    let expected = before.replace("line 17\n", "line siebzehn\n");

    let scene = Scene::with(release, home, &edits, &ide());
    for (file, encode) in ENCODINGS {
        let path = scene.home.file(file, encode(&before));
        let read = Turn::read_file(&path);
        let edit = Turn::replace(&path, block, &proposed);
        scene.propose([read, edit], &format!("{file} is edited"), file);
        scene.review.take_hunk_out();
        scene.review.edit();
        scene.review.accept(file);
        scene.claude.wait_for(&format!("{file} is edited"));
        assert_bytes(&path, &encode(&expected), file);
        scene.review.wait_idle();

        let edit = Turn::replace(&path, "line 2\n", "line two\n");
        scene.propose([edit], &format!("{file} is accepted"), file);
        scene.review.accept_shown("+ line two");
        scene.claude.wait_for(&format!("{file} is accepted"));
        let expected = expected.replace("line 2\n", "line two\n");
        assert_bytes(&path, &encode(&expected), file);
        scene.review.wait_idle();
    }
}

/// `Write` writes what it is given, also over a file with other line endings.
fn writes_whole_files_as_accepted(release: ClaudeRelease) {
    let scene = Scene::new(release);
    for (file, text) in [
        ("lf.txt", "one\ntwo\n"),
        ("crlf.txt", "one\r\ntwo\r\n"),
        ("no-final-newline.txt", "one\ntwo"),
        ("two-final-newlines.txt", "one\ntwo\n\n"),
    ] {
        let path = scene.propose_new(file, text);
        scene.review.accept(file);
        scene.claude.wait_for(&format!("{file} is done"));
        assert_bytes(&path, text.as_bytes(), file);
        scene.review.wait_idle();
    }
}

/// With the line ending that the note names: of lines that are shown as unchanged, too.
fn writes_mixed_line_endings_as_shown(release: ClaudeRelease) {
    let scene = Scene::new(release);
    let long = "x".repeat(5000);
    for (file, before, note, after) in [
        (
            "mostly-lf.txt",
            "one\r\ntwo\nthree\n".to_owned(),
            "mixes CRLF and LF line endings; the agent writes all of it with LF.",
            "one\nzwei\nthree\n".to_owned(),
        ),
        (
            "mostly-crlf.txt",
            "one\r\ntwo\nthree\r\n".to_owned(),
            "mixes CRLF and LF line endings; the agent writes all of it with CRLF.",
            "one\r\nzwei\r\nthree\r\n".to_owned(),
        ),
        (
            "long-line.txt",
            format!("{long}\r\ntwo\r\nthree\r\n"),
            "has CRLF line endings; the agent writes all of it with LF.",
            format!("{long}\nzwei\nthree\n"),
        ),
    ] {
        let path = scene.home.file(file, &before);
        let edit = Turn::replace(&path, "two", "zwei");
        let said = format!("{file} is done");
        scene.propose([Turn::read_file(&path), edit], &said, file);
        let screen = scene.review.pane().wait_for(note, SOON);
        assert!(screen.contains("+1 −1"), "{screen}");
        scene.review.accept(file);
        scene.claude.wait_for(&said);
        assert_bytes(&path, after.as_bytes(), file);
        scene.review.wait_idle();
    }
}

#[track_caller]
fn assert_bytes(path: &std::path::Path, expected: &[u8], name: &str) {
    let found = fs::read(path).expect("Claude Code has written it");
    assert_eq!(
        found.escape_ascii().to_string(),
        expected.escape_ascii().to_string(),
        "{name}"
    );
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

/// UTF-16LE with a byte order mark.
fn utf16(text: &str) -> Vec<u8> {
    let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}
