//! The workspaces in which a companion is, or was and has not ended by itself: whoever finds none there is not to conclude that
//! nobody is.
//!
//! Each workspace has a note, a private file in the state folder. The companion that comes after one that was killed takes the
//! note over as it is, so that there is no moment without it, and one that ends by itself removes it: a folder is expected to be
//! served until a companion that serves it has ended so. A machine that was started again has no companions of before.

use std::path::{Path, PathBuf};

use pillion_protocol::discovery::Namespaces;
use pillion_system::process;
use pillion_text::fingerprint;
use serde::{Deserialize, Serialize};

use crate::discovery_files::MAX_FILE;
use crate::environment::Environment;
use crate::exact;
use crate::namespaces;
use crate::private_file::{FileError, Folder};
use crate::real_path::depth_in;
use crate::state_dir;

const EXTENSION: &str = ".served";

/// That of the mark beside a note: somebody has waited for that companion, and nobody came.
const AWAITED: &str = ".awaited";

/// The note of a companion of this process. Dropping it leaves it.
#[derive(Debug)]
pub struct Unended {
    note: Note,
    directory: PathBuf,
    /// True if it took over the note of one that has not ended by itself until then.
    comes_after_another: bool,
}

/// The end of a companion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The person has ended it, with their last editor or review.
    ByPerson,
    /// Something else has, such as an agent's own view: whoever was killed before is expected as if this one had not been there.
    ByStranger,
    /// It was ended under the person's editors or reviews, or these were killed.
    NotByItself,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// The companion's process.
    pid: u32,
    port: u16,
    #[serde(with = "exact::paths")]
    roots: Vec<PathBuf>,
    /// Where it runs, if the system tells.
    namespaces: Option<Namespaces>,
}

impl Unended {
    /// Notes that a companion of this process is there.
    ///
    /// # Errors
    /// When no state directory can be used; this is what was wrong with the last.
    pub fn note(
        environment: &Environment,
        roots: &[PathBuf],
        port: u16,
    ) -> Result<Self, FileError> {
        let note = Note {
            pid: std::process::id(),
            port,
            roots: roots.to_vec(),
            namespaces: namespaces::here(),
        };
        let (directory, comes_after_another) = state_dir::first_usable(environment, |directory| {
            let former = state_dir::open(directory).and_then(|it| read(&it, &note.name()));
            note.write(directory)?;
            Ok((directory.to_owned(), former.is_some()))
        })?;
        Ok(Self {
            note,
            directory,
            comes_after_another,
        })
    }

    /// Notes other workspace roots.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_roots(&mut self, roots: &[PathBuf]) -> Result<(), FileError> {
        let former = self.note.clone();
        self.note.roots = roots.to_vec();
        self.note.write(&self.directory)?;
        if former.name() != self.note.name() {
            former.remove(&self.directory);
        }
        Ok(())
    }

    /// The companion ends. If the person has ended it, whoever was killed in its folders before is not expected there any more.
    pub fn end(self, ended: Ended) {
        match ended {
            Ended::ByPerson => self.end_all(),
            Ended::ByStranger if !self.comes_after_another => self.note.remove(&self.directory),
            Ended::ByStranger | Ended::NotByItself => {}
        }
    }

    fn end_all(self) {
        let Some(folder) = state_dir::open(&self.directory) else {
            return;
        };
        for mut note in notes(&folder) {
            if note == self.note {
                note.remove(&self.directory);
            } else if note.is_over() {
                let is_elsewhere = |root: &PathBuf| depth_in(&self.note.roots, root).is_none();
                let left = { note.roots.iter() }.filter(|it| is_elsewhere(it));
                let left: Vec<_> = left.cloned().collect();
                if left.len() < note.roots.len() {
                    note.remove(&self.directory);
                    note.roots = left;
                    note.leave(&self.directory);
                }
            }
        }
    }
}

/// The workspace roots of a companion that serves this folder or file and has not ended by itself: it runs, it was killed, or it
/// starts or ends in this moment. None if there is none.
pub fn roots_around(environment: &Environment, path: &Path) -> Option<Vec<PathBuf>> {
    find(environment, |note| depth_in(&note.roots, path).is_some())
}

/// The same of one on this port.
pub fn roots_on(environment: &Environment, port: u16) -> Option<Vec<PathBuf>> {
    find(environment, |note| note.port == port)
}

fn find(environment: &Environment, is_meant: impl Fn(&Note) -> bool) -> Option<Vec<PathBuf>> {
    let here = namespaces::here();
    let directories = environment.state_dirs().into_iter();
    let mut folders = directories.filter_map(|directory| state_dir::open(&directory));
    folders.find_map(|folder| {
        let mut notes = notes(&folder).into_iter();
        let found = notes.find(|note| note.namespaces == here && is_meant(note));
        found.map(|note| note.roots)
    })
}

/// Notes that nobody has come in the place of the companion with these roots, which was killed, although somebody has waited for it.
pub fn note_awaited(environment: &Environment, roots: &[PathBuf]) {
    each_of(environment, roots, |directory, note| {
        // The next one is waited for in vain once more.
        let _ = state_dir::write(directory, &note.mark(), note.pid.to_string().as_bytes());
    });
}

/// Returns true if that is noted: whoever was killed long ago is not waited for by each who needs it.
pub fn was_awaited(environment: &Environment, roots: &[PathBuf]) -> bool {
    let mut is_marked = false;
    each_of(environment, roots, |directory, note| {
        let mark =
            state_dir::open(directory).and_then(|it| it.read(&note.mark(), MAX_FILE).ok()?);
        is_marked |= mark.is_some_and(|it| it == note.pid.to_string().as_bytes());
    });
    is_marked
}

fn each_of(environment: &Environment, roots: &[PathBuf], mut each: impl FnMut(&Path, &Note)) {
    let here = namespaces::here();
    for directory in environment.state_dirs() {
        let notes = state_dir::open(&directory).map_or_else(Vec::new, |it| notes(&it));
        let its = notes
            .iter()
            .filter(|it| it.namespaces == here && it.roots == roots);
        its.for_each(|it| each(&directory, it));
    }
}

fn notes(folder: &Folder) -> Vec<Note> {
    let names = folder.names().unwrap_or_default().into_iter();
    let names = names.filter(|name| name.ends_with(EXTENSION));
    names.filter_map(|name| read(folder, &name)).collect()
}

fn read(folder: &Folder, name: &str) -> Option<Note> {
    let content = folder.read(name, MAX_FILE).ok().flatten()?;
    serde_json::from_slice(&content).ok()
}

impl Note {
    /// Returns true if its companion was killed.
    fn is_over(&self) -> bool {
        !process::is_alive(self.pid)
    }

    /// The same for all companions of one workspace in one part of the machine; one without a workspace has a note of its own.
    fn name(&self) -> String {
        let place = self.namespaces.as_ref().map(|it| (it.pid, it.net));
        let mut roots = self.roots.clone();
        roots.sort();
        let key = match roots.is_empty() {
            true => format!("{place:?} {}", self.port),
            false => format!("{place:?} {roots:?}"),
        };
        format!("{}{EXTENSION}", &fingerprint::hash(key.as_bytes())[..16])
    }

    /// The name of the mark beside it.
    fn mark(&self) -> String {
        self.name().replace(EXTENSION, AWAITED)
    }

    fn write(&self, directory: &Path) -> Result<(), FileError> {
        let content = serde_json::to_vec(self).expect("strings and numbers only");
        state_dir::write(directory, &self.name(), &content)
    }

    /// Has companions expected in the folders that are left, unless there are none, or a companion of their own has noted them.
    fn leave(&self, directory: &Path) {
        let is_noted = || {
            let noted = state_dir::open(directory).map(|folder| notes(&folder));
            noted.is_some_and(|noted| noted.iter().any(|it| it.name() == self.name()))
        };
        if !self.roots.is_empty() && !is_noted() {
            let _ = self.write(directory);
        }
    }

    /// Removes it, unless it is another companion's by now.
    fn remove(&self, directory: &Path) {
        if let Some(folder) = state_dir::open(directory) {
            let _ = folder.remove(&self.name());
            let _ = folder.remove(&self.mark());
        }
    }
}
