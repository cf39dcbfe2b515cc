//! The reviewer's own editor on a proposal: a private copy of the text, the command, and what comes
//! back. Never writes the user's file.

mod command;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

use pillion_companion::Stale;
use pillion_discovery::kept_text::{self, file_name};
use pillion_discovery::{Environment, FileError};
use tempfile::TempDir;

use crate::app::Edit;

pub use command::EditorCommand;

/// A text that is being edited.
#[derive(Debug)]
pub struct Session {
    folder: TempDir,
    file: PathBuf,
    text: String,
}

impl Session {
    /// Puts `text` into a private file that is named like `path`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(path: &Path, text: String) -> io::Result<Self> {
        let folder = private_folder()?;
        let file = folder.path().join(file_name(path));
        write_private(&file, &text)?;
        Ok(Self { folder, file, text })
    }

    /// Starts the editor on it, at a line from 1.
    ///
    /// # Errors
    /// One sentence that says which command did not start.
    pub fn start(&self, editor: &EditorCommand, line: usize) -> Result<Child, String> {
        let program = editor.program();
        Command::new(program)
            .args(editor.arguments(&self.file, line))
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))
    }

    /// The text as it was last saved, if it is text and differs.
    pub fn saved(&self) -> Option<String> {
        match self.outcome() {
            Edit::Text(text) => Some(text),
            Edit::Unchanged | Edit::Failed(_) | Edit::Kept(_) | Edit::Outdated(_) => None,
        }
    }

    /// What came of it when the editor ended with `status`.
    pub fn finish(self, status: io::Result<ExitStatus>) -> Edit {
        let outcome = self.outcome();
        let problem = match status {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("the editor exited with {status}")),
            Err(error) => Some(format!("the editor was lost: {error}")),
        };
        match (problem, outcome) {
            (None, Edit::Failed(reason)) => Edit::Kept(self.keep(&reason)),
            (None, outcome) => outcome,
            (Some(problem), Edit::Unchanged) => {
                Edit::Failed(format!("{problem}: the proposal is unchanged"))
            }
            (Some(problem), _) => Edit::Kept(self.keep(&problem)),
        }
    }

    /// What came of it for the proposal that was edited, if that is pending `now`. The text belongs to that one
    /// only: nobody has seen what came later.
    pub fn finish_for(self, status: io::Result<ExitStatus>, now: Result<(), Stale>) -> Edit {
        let is_changed = !matches!(self.outcome(), Edit::Unchanged);
        match now {
            Ok(()) => self.finish(status),
            Err(Stale::Replaced) => {
                let keep = || self.keep("a newer proposal arrived while you edited");
                Edit::Outdated(is_changed.then(keep))
            }
            Err(Stale::NotPending) if is_changed => {
                Edit::Kept(self.keep("the diff was closed in the meantime"))
            }
            Err(Stale::NotPending) => {
                Edit::Failed("the diff was closed in the meantime".to_owned())
            }
        }
    }

    /// Leaves the file where it is. Answers `reason` with the place of the file.
    pub fn keep(self, reason: &str) -> String {
        let _ = self.folder.keep();
        format!("{reason}: your text is kept in {}", self.file.display())
    }

    fn outcome(&self) -> Edit {
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) => return Edit::Failed(format!("cannot read the edited text: {error}")),
        };
        match String::from_utf8(bytes) {
            Err(_) => Edit::Failed("the edited text is not UTF-8".to_owned()),
            Ok(text) => {
                let text = without_added_newline(&self.text, text);
                if text == self.text {
                    Edit::Unchanged
                } else {
                    Edit::Text(text)
                }
            }
        }
    }
}

/// Puts a text that would be lost into a private file. Answers the file.
///
/// # Errors
/// When it cannot be written.
pub fn keep(path: &Path, text: &str) -> Result<PathBuf, FileError> {
    kept_text::keep(&Environment::current().tmpdir(), path, text)
}

/// Most editors end the last line when they save. If the text had no newline there and the last
/// line is as it was, that newline is the editor's, not the reviewer's.
fn without_added_newline(before: &str, mut after: String) -> String {
    let last = |text: &str| text.rsplit('\n').next().unwrap_or_default().to_owned();
    let ends_bare = !before.is_empty() && !before.ends_with('\n');
    if ends_bare
        && let Some(cut) = after.strip_suffix('\n')
        && last(cut) == last(before)
    {
        after.truncate(cut.len());
    } else if before.is_empty() && after == "\n" {
        after.clear();
    }
    after
}

fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("pillion-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(file)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests;
