//! The accepted text is what is on the disk afterwards, byte for byte, whatever the file's encoding: Claude
//! Code shows companions a text with LF, and writes the file in its own way again. What becomes of each encoding is told
//! from the bytes alone, which `line_endings` in the companion tests; here, three real files of every run, and each in
//! `--all`, are what Claude Code itself makes of them.

use pillion_testkit::{ClaudeRelease, Home, Turn};

use super::run::run_in;
use super::{Scene, ide};
use crate::companion::SOON;
use crate::review::editor;
use crate::shared_encodings::{ENCODINGS, Encoding, assert_bytes};

/// CRLF, a mark, and more than a byte for each character.
fn three() -> impl Iterator<Item = Encoding> {
    let kinds = ["crlf", "bom", "utf16-crlf"];
    { ENCODINGS.into_iter() }.filter(move |(kind, _)| kinds.contains(kind))
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_writes_three_edited_files_in_their_own_encoding() {
    writes_edited_files_in_their_own_encoding(ClaudeRelease::Native, three());
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_writes_over_three_files_what_was_shown_or_a_note_says() {
    let release = ClaudeRelease::Native;
    overwrites_files_as_was_shown_or_noted(&Scene::new(release), release, three());
}

/// Its hook has named the tool, so that what is shown is what is written.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_writes_over_a_file_with_crlf_as_was_shown() {
    let scene = run_in("acceptEdits");
    let file = "crlf.txt";
    let path = scene.home.file(file, "one\r\ntwo\r\n");
    let write = Turn::write_file(&path, "one\nzwei\n");
    scene.propose([Turn::read_file(&path), write], "it is written", file);
    let screen = scene.review.pane().wait_for("zwei", SOON);
    assert!(
        screen.contains("+1 −1") && !screen.contains("a Write"),
        "{screen}"
    );
    scene.review.accept(file);
    scene.claude.wait_for("it is written");
    assert_bytes(&path, b"one\r\nzwei\r\n");
    scene.review.wait_idle();
    let edit = Turn::replace(&path, "zwei", "deux");
    scene.propose([edit], "it is edited", file);
    scene.review.accept_shown("+ deux");
    scene.claude.wait_for("it is edited");
    assert_bytes(&path, b"one\r\ndeux\r\n");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_writes_edited_files_in_their_own_encoding() {
    writes_edited_files_in_their_own_encoding(ClaudeRelease::Native, ENCODINGS);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_writes_edited_files_in_their_own_encoding() {
    writes_edited_files_in_their_own_encoding(ClaudeRelease::Node, ENCODINGS);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_writes_what_is_accepted_byte_for_byte_or_as_a_note_says() {
    writes_what_is_accepted(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_writes_what_is_accepted_byte_for_byte_or_as_a_note_says() {
    writes_what_is_accepted(ClaudeRelease::Node);
}

fn writes_what_is_accepted(release: ClaudeRelease) {
    let scene = Scene::new(release);
    writes_whole_files_as_accepted(&scene);
    overwrites_files_as_was_shown_or_noted(&scene, release, ENCODINGS);
    writes_mixed_line_endings_as_shown(&scene);
}

/// An `Edit` changes two places: one is taken out, the other edited. Then one is accepted as it is.
fn writes_edited_files_in_their_own_encoding(
    release: ClaudeRelease,
    encodings: impl IntoIterator<Item = Encoding>,
) {
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
    for (kind, encode) in encodings {
        let file = &format!("{kind}.txt");
        let path = scene.home.file(file, encode(&before));
        let read = Turn::read_file(&path);
        let edit = Turn::replace(&path, block, &proposed);
        scene.propose([read, edit], &format!("{file} is edited"), file);
        scene.review.take_hunk_out();
        scene.review.edit();
        scene.review.accept(file);
        scene.claude.wait_for(&format!("{file} is edited"));
        assert_bytes(&path, &encode(&expected));
        scene.review.wait_idle();

        let edit = Turn::replace(&path, "line 2\n", "line two\n");
        scene.propose([edit], &format!("{file} is accepted"), file);
        scene.review.accept_shown("+ line two");
        scene.claude.wait_for(&format!("{file} is accepted"));
        let expected = expected.replace("line 2\n", "line two\n");
        assert_bytes(&path, &encode(&expected));
        scene.review.wait_idle();
    }
}

/// `Write` writes what it is given, also over a file with other line endings.
fn writes_whole_files_as_accepted(scene: &Scene) {
    for (file, text) in [
        ("lf-new.txt", "one\ntwo\n"),
        ("crlf-new.txt", "one\r\ntwo\r\n"),
        ("no-final-newline-new.txt", "one\ntwo"),
        ("two-final-newlines-new.txt", "one\ntwo\n\n"),
    ] {
        let path = scene.propose_new(file, text);
        scene.review.accept(file);
        scene.claude.wait_for(&format!("{file} is done"));
        assert_bytes(&path, text.as_bytes());
        scene.review.wait_idle();
    }
}

/// `Write` over a file, with LF as models write it. That it is no `Edit` shows where the file has a BOM;
/// elsewhere a note says what it may do.
fn overwrites_files_as_was_shown_or_noted(
    scene: &Scene,
    release: ClaudeRelease,
    encodings: impl IntoIterator<Item = Encoding>,
) {
    const CRLF: &str =
        "has CRLF line endings: an Edit keeps them, a Write accepted unchanged gets LF.";
    const LOSS: &str = "A Write by this release of the agent loses the last newline.";
    let does_lose = release == ClaudeRelease::Node;
    let (before, after) = ("one\ntwo\n", "one\nzwei\n");
    for (kind, encode) in encodings {
        let file = &format!("{kind}.txt");
        let path = scene.home.file(file, encode(before));
        let write = Turn::write_file(&path, after);
        let said = format!("{file} is done");
        scene.propose([Turn::read_file(&path), write], &said, file);
        let screen = scene.review.pane().wait_for("zwei", SOON);
        let (is_crlf, is_ended) = (kind == "crlf", kind != "no-final-newline");
        let has_bom = kind.contains("bom") || kind.contains("utf16");
        let loses = does_lose && is_ended && !has_bom;
        // It may be longer than the screen is wide.
        let note = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(note.contains(CRLF), is_crlf, "{screen}");
        assert_eq!(note.contains(LOSS), loses, "{screen}");
        scene.review.accept(file);
        scene.claude.wait_for(&said);
        let expected = match (kind, loses) {
            ("lf" | "crlf", true) => after.trim_end().into(),
            ("crlf" | "no-final-newline", _) => after.into(),
            _ => encode(after),
        };
        assert_bytes(&path, &expected);
        scene.review.wait_idle();
    }
}

/// With the line ending that the note names: of lines that are shown as unchanged, too.
fn writes_mixed_line_endings_as_shown(scene: &Scene) {
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
            "mixes CRLF and LF line endings; the agent writes all of it with CRLF, a Write accepted unchanged with LF.",
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
        assert_bytes(&path, after.as_bytes());
        scene.review.wait_idle();
    }
}
