//! The reviewer's own editor on a proposal: a private copy of the text, the command, and what comes
//! back. Never writes the user's file.
//!
//! Threads put away what would be lost; the review ends when all of them are done, or after two seconds.

mod command;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;

use pillion_discovery::{Environment, FileError, kept_text};
use pillion_system::spawn;
use pillion_view::Stale;

use crate::Unfinished;
use crate::app::Edit;

pub use command::EditorCommand;

/// A text that is being edited. Dropping it removes its file, on a thread: that may wait for a disk, and so may
/// all of [`Draft`], but nothing else here.
#[derive(Debug)]
pub struct Session {
    folder: Option<PathBuf>,
    draft: Arc<Draft>,
    /// Everything that has to be done before the program ends holds one of these.
    unfinished: Unfinished,
}

/// The private file, and what was in it at first.
#[derive(Debug)]
pub struct Draft {
    file: PathBuf,
    text: String,
}

impl Session {
    /// Puts `text` into a private file that is named like `path`. Waits for a disk.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(path: &Path, text: String, unfinished: Unfinished) -> Result<Self, FileError> {
        let places = kept_text::places(&Environment::current());
        let file = kept_text::keep_in(&places, path, &text)?;
        Ok(Self {
            folder: file.parent().map(Path::to_owned),
            draft: Arc::new(Draft { file, text }),
            unfinished,
        })
    }

    /// The file.
    pub fn draft(&self) -> Arc<Draft> {
        Arc::clone(&self.draft)
    }

    /// The outcome of `edit`, which was read when the editor ended with `status`.
    pub fn finish(&mut self, status: io::Result<ExitStatus>, edit: Edit) -> Edit {
        let problem = match status {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("the editor exited with {status}")),
            Err(error) => Some(format!("lost track of the editor: {error}")),
        };
        match (problem, edit) {
            (_, Edit::Lost(reason)) => Edit::Lost(self.leave(reason)),
            (None, Edit::Failed(reason)) => Edit::Kept(self.keep(&reason)),
            (None, edit) => edit,
            (Some(problem), Edit::Unchanged) => {
                Edit::Failed(format!("{problem}: the proposal is unchanged"))
            }
            (Some(problem), _) => Edit::Kept(self.keep(&problem)),
        }
    }

    /// The same for the proposal that was edited, if that is pending `now`.
    pub fn finish_for(
        &mut self,
        status: io::Result<ExitStatus>,
        edit: Edit,
        now: Result<(), Stale>,
    ) -> Edit {
        let base = || self.draft.text.clone();
        match (now, edit) {
            (Err(Stale::Replaced), Edit::Unchanged) => Edit::Late {
                base: base(),
                text: None,
            },
            (Err(Stale::Replaced), edit) => {
                let base = base();
                match self.finish(status, edit) {
                    Edit::Text(text) => Edit::Late {
                        base,
                        text: Some(text),
                    },
                    other => other,
                }
            }
            (Err(Stale::NotPending), Edit::Unchanged) => {
                Edit::Failed("the diff was closed in the meantime".to_owned())
            }
            (Err(Stale::NotPending), Edit::Lost(reason)) => Edit::Lost(self.leave(reason)),
            (Err(Stale::NotPending), _) => {
                Edit::Kept(self.keep("the diff was closed in the meantime"))
            }
            (Ok(()), edit) => self.finish(status, edit),
        }
    }

    /// Leaves the file, which is there, where it is. Answers `reason` with the place of the file.
    pub fn keep(&mut self, reason: &str) -> String {
        kept(reason, &self.stay())
    }

    /// Leaves the file where it is.
    pub fn stay(&mut self) -> PathBuf {
        self.folder = None;
        self.draft.file.clone()
    }

    /// Leaves what there may be of a file that could not be read. Answers `reason`, which names it.
    pub fn leave(&mut self, reason: String) -> String {
        self.folder = None;
        reason
    }
}

/// Says where a text is.
pub fn kept(reason: &str, file: &Path) -> String {
    format!("{reason}: your text is kept in {}", file.display())
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else {
            return;
        };
        let (unfinished, on_thread) = (self.unfinished.clone(), folder.clone());
        let remove = move || drop((fs::remove_dir_all(on_thread), unfinished));
        if spawn("remove", remove).is_err() {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

impl Draft {
    /// Starts the editor on it, at a line from 1.
    ///
    /// # Errors
    /// One sentence that names the command that did not start.
    pub fn start(&self, editor: &EditorCommand, line: usize) -> Result<Child, String> {
        let program = editor.program();
        Command::new(program)
            .args(editor.arguments(&self.file, line))
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))
    }

    /// The outcome of editing until now.
    pub fn read(&self) -> Edit {
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) => return self.lost(&error.to_string()),
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

impl Draft {
    /// Nobody knows what became of the text.
    pub fn lost(&self, why: &str) -> Edit {
        let file = self.file.display();
        Edit::Lost(format!("cannot read what you wrote in {file}: {why}"))
    }
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

#[cfg(test)]
mod tests;
