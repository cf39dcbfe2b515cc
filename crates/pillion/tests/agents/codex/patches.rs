//! Patches, as the real program reads and applies them. It does so alone when it is called by the name of that tool.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use pillion_testkit::{CodexRelease, each_codex};
use pillion_text::patch::{FileChange, Program, read, write};
use proptest::prelude::*;

use crate::patch_cases::{PATCHES, runner, some_text, some_update};

/// A folder in which the program's name is the tool's.
struct Tool {
    folder: tempfile::TempDir,
}

impl Tool {
    fn new(release: CodexRelease) -> Tool {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let program = release.bin().join("codex");
        symlink(program, folder.path().join("apply_patch")).expect("the folder is ours");
        fs::create_dir(folder.path().join("files")).expect("the folder is ours");
        Tool { folder }
    }

    /// Returns the files a and b after this patch, of which `before` is a's text; the program's words if it refuses.
    fn apply(&self, before: Option<&str>, patch: &str) -> Result<[Option<String>; 2], String> {
        let folder = self.folder.path().join("files");
        fs::remove_dir_all(&folder).expect("the folder is ours");
        fs::create_dir(&folder).expect("the folder is ours");
        if let Some(before) = before {
            fs::write(folder.join("a"), before).expect("the folder is ours");
        }
        let mut command = Command::new(self.folder.path().join("apply_patch"));
        let command = command.arg(patch).current_dir(&folder).env_clear();
        let output = command.env("HOME", self.folder.path()).output();
        let output = output.expect("the program runs");
        match output.status.success() {
            true => Ok(["a", "b"].map(|name| text(&folder.join(name)))),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// A patch that is written means the same to the program.
fn writes_what_was_meant(release: CodexRelease) {
    let tool = Tool::new(release);
    let cases = (some_text(), some_text(), any::<bool>());
    let (written, mut runner) = (Cell::new(0), runner());
    let result = runner.run(&cases, |(before, after, moves)| {
        let change = FileChange {
            path: "a",
            move_to: moves.then_some("b"),
            before: Some(&before),
            after: Some(&after),
        };
        let Ok(patch) = write(Program::Codex, &[change]) else {
            return Ok(());
        };
        written.set(written.get() + 1);
        let expected = match moves {
            true => [None, Some(after)],
            false => [Some(after), None],
        };
        prop_assert_eq!(tool.apply(Some(&before), &patch), Ok(expected), "{}", patch);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let written = written.get();
    assert!(written > PATCHES / 4, "{written} of {PATCHES} were written");
}

/// A patch is read as the program applies it. It may do more than is understood.
fn reads_what_is_done(release: CodexRelease) {
    let tool = Tool::new(release);
    let cases = (some_text(), some_update("a"));
    let (understood, mut runner) = (Cell::new(0), runner());
    let result = runner.run(&cases, |(before, patch)| {
        let Ok(files) = read(&patch) else {
            return Ok(());
        };
        let Ok(after) = files[0].operation.apply(Program::Codex, 2, Some(&before)) else {
            return Ok(());
        };
        understood.set(understood.get() + 1);
        let done = tool.apply(Some(&before), &patch);
        prop_assert_eq!(done, Ok([after, None]), "{}", patch);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let understood = understood.get();
    assert!(understood > 10, "{understood} of {PATCHES} were understood");
}

#[each_codex]
fn codex_applies_a_written_patch_byte_for_byte(release: CodexRelease) {
    writes_what_was_meant(release);
}

#[each_codex]
fn codex_does_what_is_read_in_a_patch(release: CodexRelease) {
    reads_what_is_done(release);
}
