//! The reviewer's own editor on a proposal: a private copy of the text, the command, and what comes
//! back. Or on the file itself, which is nobody's business here. Never writes the user's file.
//!
//! Threads put away what would be lost; the review ends when all of them are done, or after two seconds.

mod command;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::SystemTime;

use pillion_discovery::{Environment, FileError, kept_text};
use pillion_system::spawn;
use pillion_view::{Stale, Stamp};

use crate::Unfinished;
use crate::app::Edit;

pub use command::EditorCommand;

/// A text that is being edited. Dropping it removes its file, unless that has a text which is nowhere else. This is done
/// on a thread: it may wait for a disk, and so may all of [`Draft`], but nothing else here.
#[derive(Debug)]
pub struct Session {
    folder: Option<PathBuf>,
    draft: Arc<Draft>,
    /// The text that was made of it, once that stands elsewhere.
    settled: Option<String>,
    /// True once the editor has ended as it should: other files that it left beside the text are of no use then.
    has_ended: bool,
    /// Everything that has to be done before the program ends holds one of these.
    unfinished: Unfinished,
}

/// The private file, and what was in it at first; of the person's own file, which is only opened, none.
#[derive(Debug)]
pub struct Draft {
    file: PathBuf,
    text: Option<String>,
    /// The stamp of the person's own file, as it was opened.
    stamp: Option<Stamp>,
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
            draft: Arc::new(Draft {
                file,
                text: Some(text),
                stamp: None,
            }),
            settled: None,
            has_ended: false,
            unfinished,
        })
    }

    /// Opens the person's own file, and leaves it alone.
    pub fn of_file(path: PathBuf, unfinished: Unfinished) -> Self {
        Self {
            folder: None,
            draft: Arc::new(Draft {
                stamp: Stamp::of(&path),
                file: path,
                text: None,
            }),
            settled: None,
            has_ended: false,
            unfinished,
        }
    }

    /// The file.
    pub fn draft(&self) -> Arc<Draft> {
        Arc::clone(&self.draft)
    }

    /// The outcome of `edit`, which was read when the editor ended with `status`.
    pub fn finish(&mut self, status: io::Result<ExitStatus>, edit: Edit) -> Edit {
        let problem = match status {
            Ok(status) if status.success() => {
                self.has_ended = true;
                None
            }
            Ok(status) => Some(format!("the editor exited with {status}")),
            Err(error) => Some(format!("lost track of the editor: {error}")),
        };
        match (problem, edit) {
            (_, Edit::Lost(reason)) => Edit::Lost(self.leave(reason)),
            (None, Edit::Failed(reason)) => Edit::Kept(self.keep(&reason)),
            (None, edit) => edit,
            (Some(problem), Edit::File(_)) => Edit::Failed(problem),
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
        let base = || self.draft.text.clone().unwrap_or_default();
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
            (Err(Stale::NotPending), Edit::Unchanged | Edit::File(_)) => {
                Edit::Failed("the diff was closed in the meantime".to_owned())
            }
            (Err(Stale::NotPending), Edit::Lost(reason)) => Edit::Lost(self.leave(reason)),
            (Err(Stale::NotPending), _) => {
                Edit::Kept(self.keep("the diff was closed in the meantime"))
            }
            (Ok(()), edit) => self.finish(status, edit),
        }
    }

    /// The text of the file stands elsewhere, too: the file may go.
    pub fn settle(&mut self, text: String) {
        self.settled = Some(text);
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
        let (draft, settled) = (Arc::clone(&self.draft), self.settled.take());
        let (unfinished, has_ended) = (self.unfinished.clone(), self.has_ended);
        let remove = move || {
            let may_go = match draft.read() {
                Edit::Unchanged => true,
                Edit::Text(text) => settled == Some(text),
                _ => false,
            };
            let _ = match (may_go, has_ended) {
                (false, _) => Ok(()),
                (true, true) => fs::remove_dir_all(folder),
                // Whatever else an editor that was killed has left there may be what was not saved.
                (true, false) => fs::remove_file(&draft.file).and_then(|()| fs::remove_dir(folder)),
            };
            drop(unfinished);
        };
        // Without a thread the file stays.
        let _ = spawn("remove", remove);
    }
}

/// Notices what is saved in a draft.
#[derive(Debug)]
pub struct Saves {
    draft: Arc<Draft>,
    /// The time and the size of the file when it was read last.
    read: Option<(Option<SystemTime>, u64)>,
}

impl Saves {
    /// Those in this draft, from its first text on.
    pub fn of(draft: Arc<Draft>) -> Self {
        Self { draft, read: None }
    }

    /// The text of the file, if that is another one than before. Waits for a disk.
    pub fn next(&mut self) -> Option<Edit> {
        let file = fs::metadata(&self.draft.file);
        // An editor that renames leaves no file there for a moment.
        let stamp = file.map(|it| (it.modified().ok(), it.len())).ok()?;
        if self.read == Some(stamp) {
            return None;
        }
        let edit = self.draft.read();
        let is_first = self.read.is_none();
        match &edit {
            Edit::Lost(_) => return None,
            _ => self.read = Some(stamp),
        }
        match edit {
            Edit::Unchanged if is_first => None,
            // A text that is no UTF-8 stays in the file.
            Edit::Text(_) | Edit::Unchanged => Some(edit),
            _ => None,
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
        let Some(before) = &self.text else {
            return Edit::File(Stamp::of(&self.file) != self.stamp);
        };
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) => return self.lost(&error.to_string()),
        };
        match String::from_utf8(bytes) {
            Err(_) => Edit::Failed("the edited text is not UTF-8".to_owned()),
            Ok(text) => {
                let text = without_added_newline(before, text);
                if text == *before {
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
