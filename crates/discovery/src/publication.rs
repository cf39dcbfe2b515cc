//! The discovery files of one companion: published, maintained and removed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use pillion_protocol::dialect::{Base, Place};
use pillion_protocol::discovery::{Publisher, RootError, join_roots};
use pillion_protocol::{Dialect, DiscoveryFile, IdeInfo};

use crate::environment::Environment;
use crate::liveness;
use crate::private_file::{FileError, Folder};
use crate::tokens::Tokens;
use crate::warning::Warning;
use pillion_system::process;

/// No discovery file of anybody's is as long. Longer ones are not read.
pub(crate) const MAX_FILE: u64 = 64 * 1024;

/// What is published to agents.
#[derive(Debug, Clone)]
pub struct Announcement {
    /// The editor: the process that the companion serves, and whose ancestors agents look for. It
    /// must live and be this user's, or Qwen Code deletes its lock file.
    pub editor_pid: u32,
    /// The companion itself, which may be the editor's child or the editor.
    pub companion_pid: u32,
    /// Where the companion listens already (C6.1).
    pub port: u16,
    /// The workspace roots, absolute (C2.5).
    pub roots: Vec<PathBuf>,
    /// The editor's identity.
    pub ide: IdeInfo,
    /// A token per dialect (C3.1).
    pub tokens: Tokens,
}

/// The discovery files of one companion. Dropping it removes them (C6.2).
#[derive(Debug)]
pub struct Publication {
    announcement: Announcement,
    workspace_path: String,
    shelves: Vec<Shelf>,
    warnings: Vec<Warning>,
}

/// One directory that agents look at.
#[derive(Debug)]
struct Shelf {
    base: PathBuf,
    folder: &'static [&'static str],
    directory: PathBuf,
    /// What says where that is.
    variable: &'static str,
    files: Vec<Entry>,
}

/// One file on a shelf.
#[derive(Debug)]
struct Entry {
    dialect: Dialect,
    name: String,
    is_published: bool,
}

impl Publication {
    /// Writes the files of every dialect, in every place, for the editor and every ancestor of it
    /// above process 1 (C2.1 to C2.5). A place that cannot be served becomes a warning.
    ///
    /// # Errors
    /// When a root cannot be written into a discovery file. Then nothing was written.
    pub fn publish(
        environment: &Environment,
        announcement: Announcement,
    ) -> Result<Self, RootError> {
        let workspace_path = join_roots(&announcement.roots)?;
        let mut publication = Self {
            shelves: shelves(environment, &announcement),
            announcement,
            workspace_path,
            warnings: Vec::new(),
        };
        publication.settle();
        Ok(publication)
    }

    /// The files that agents find now.
    pub fn files(&self) -> Vec<PathBuf> {
        let paths = |shelf: &Shelf| {
            let published = shelf.files.iter().filter(|entry| entry.is_published);
            let paths = published.map(|entry| shelf.directory.join(&entry.name));
            paths.collect::<Vec<_>>()
        };
        self.shelves.iter().flat_map(paths).collect()
    }

    /// The places that could not be served, one warning per directory.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The announcement as it stands.
    pub fn announcement(&self) -> &Announcement {
        &self.announcement
    }

    /// Rewrites every file for other workspace roots (C2.5).
    ///
    /// # Errors
    /// When a root cannot be written into a discovery file. Then everything stays as it was.
    pub fn set_roots(&mut self, roots: Vec<PathBuf>) -> Result<(), RootError> {
        self.workspace_path = join_roots(&roots)?;
        self.announcement.roots = roots;
        self.settle();
        Ok(())
    }

    /// Puts back what an agent or a cleaner deleted, changed or made readable for others, tries again what failed before, and
    /// takes names that another companion has given up. Returns the files that it wrote.
    pub fn restore(&mut self) -> Vec<PathBuf> {
        self.settle()
    }

    /// Removes the files and returns them: those that are still ours, not one that a successor put
    /// in their place. Directories stay, for others may use them.
    pub fn remove(mut self) -> Vec<PathBuf> {
        self.take_away()
    }

    /// Makes everything as it should be. Returns the files that had to be written.
    fn settle(&mut self) -> Vec<PathBuf> {
        self.warnings.clear();
        let contents = Dialect::ALL.map(|dialect| (dialect, self.content(dialect)));
        let mut written = Vec::new();
        // One dial for each port: a companion that does not answer may have all of our names.
        let mut listening = HashMap::new();
        let mut listens = |port| {
            *listening
                .entry(port)
                .or_insert_with(|| liveness::listens(port))
        };
        for shelf in &mut self.shelves {
            let folder = match Folder::create(&shelf.base, shelf.folder) {
                Ok(folder) => folder,
                Err(error) => {
                    self.warnings.push(shelf.failed(error));
                    continue;
                }
            };
            let mut failure = None;
            for entry in &mut shelf.files {
                let own = contents
                    .iter()
                    .find(|(dialect, _)| *dialect == entry.dialect);
                let Some((_, content)) = own else { continue };
                let settled = entry.settle(&folder, content, &self.announcement, &mut listens);
                entry.is_published = matches!(settled, Ok(Settled::AsItWas | Settled::Written));
                match settled {
                    Ok(Settled::Written) => written.push(folder.path().join(&entry.name)),
                    Ok(_) => {}
                    Err(error) => {
                        failure.get_or_insert(error);
                    }
                }
            }
            if let Some(error) = failure {
                self.warnings.push(shelf.warning(error));
            }
        }
        written
    }

    fn take_away(&mut self) -> Vec<PathBuf> {
        let mut removed = Vec::new();
        for shelf in &mut self.shelves {
            let Ok(Some(folder)) = Folder::open(&shelf.base, shelf.folder) else {
                continue;
            };
            for entry in &mut shelf.files {
                let found = folder.read(&entry.name, MAX_FILE).ok().flatten();
                let is_ours = found
                    .and_then(|content| parse(&content))
                    .is_some_and(|file| self.announcement.wrote(&file, entry.dialect));
                if is_ours && folder.remove(&entry.name).is_ok() {
                    removed.push(folder.path().join(&entry.name));
                }
                entry.is_published = false;
            }
        }
        removed
    }

    /// The bytes of a dialect's files (C2.4).
    fn content(&self, dialect: Dialect) -> Vec<u8> {
        let announcement = &self.announcement;
        let file = DiscoveryFile {
            port: announcement.port,
            workspace_path: self.workspace_path.clone(),
            auth_token: Some(announcement.tokens.get(dialect).clone()),
            ide_info: Some(announcement.ide.clone()),
            ppid: Some(announcement.editor_pid),
            ide_name: Some(announcement.ide.display_name.clone()),
            pillion: Some(Publisher {
                pid: announcement.companion_pid,
            }),
        };
        serde_json::to_vec(&file).expect("a discovery file holds strings and numbers only")
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        self.take_away();
    }
}

impl Announcement {
    /// Whether `file` is one of ours. Nobody else knows the token.
    fn wrote(&self, file: &DiscoveryFile, dialect: Dialect) -> bool {
        let own = self.tokens.get(dialect);
        let presented = file.auth_token.as_ref();
        presented.is_some_and(|token| own.matches(token.expose().as_bytes()))
    }
}

impl Shelf {
    /// The warning that nothing on this shelf could be published.
    fn failed(&mut self, error: FileError) -> Warning {
        for entry in &mut self.files {
            entry.is_published = false;
        }
        self.warning(error)
    }

    fn warning(&self, error: FileError) -> Warning {
        let looks_here =
            |dialect: &Dialect| self.files.iter().any(|entry| entry.dialect == *dialect);
        Warning {
            directory: self.directory.clone(),
            variable: self.variable,
            agents: Dialect::ALL.into_iter().filter(looks_here).collect(),
            error,
        }
    }
}

/// What became of a file.
enum Settled {
    AsItWas,
    Written,
    /// Another companion that lives has the name: two may have one parent.
    LeftAlone,
}

impl Entry {
    fn settle(
        &self,
        folder: &Folder,
        content: &[u8],
        announcement: &Announcement,
        mut listens: impl FnMut(u16) -> bool,
    ) -> Result<Settled, FileError> {
        let found = match folder.read(&self.name, MAX_FILE) {
            // No discovery file: replaced below, if it may be.
            Err(FileError::TooLong { .. } | FileError::NotAFile(_)) => None,
            found => found?,
        };
        if let Some(found) = found {
            if found == content && folder.is_private(&self.name) {
                return Ok(Settled::AsItWas);
            }
            let other = parse(&found).filter(|file| file.port != announcement.port);
            if other.is_some_and(|file| listens(file.port)) {
                return Ok(Settled::LeftAlone);
            }
        }
        folder.write(&self.name, content)?;
        Ok(Settled::Written)
    }
}

pub(crate) fn parse(content: &[u8]) -> Option<DiscoveryFile> {
    serde_json::from_slice(content).ok()
}

/// What a person sets to move a place elsewhere.
fn variable(base: Base) -> &'static str {
    match base {
        Base::TmpDir => "TMPDIR",
        Base::QwenHome => "QWEN_HOME",
    }
}

/// Every file that some release of some agent may look for, by directory.
fn shelves(environment: &Environment, announcement: &Announcement) -> Vec<Shelf> {
    let mut pids = vec![announcement.editor_pid];
    pids.extend(process::ancestors(announcement.editor_pid));
    let mut shelves: Vec<Shelf> = Vec::new();
    // A pid may equal a port, and `PREFIX-PID` then `PREFIX-PORT`.
    let mut seen = HashSet::new();
    for dialect in Dialect::ALL {
        for place in dialect.places() {
            let directory = environment.directory(place);
            for name in names(place, &pids, announcement.port) {
                if !seen.insert(directory.join(&name)) {
                    continue;
                }
                let entry = Entry {
                    dialect,
                    name,
                    is_published: false,
                };
                match shelves
                    .iter_mut()
                    .find(|shelf| shelf.directory == directory)
                {
                    Some(shelf) => shelf.files.push(entry),
                    None => shelves.push(Shelf {
                        base: environment.base(place.base),
                        folder: place.folder,
                        directory: directory.clone(),
                        variable: variable(place.base),
                        files: vec![entry],
                    }),
                }
            }
        }
    }
    shelves
}

fn names(place: &Place, pids: &[u32], port: u16) -> Vec<String> {
    let pids = if place.name.holds_pid() {
        pids
    } else {
        &pids[..1]
    };
    pids.iter().map(|pid| place.name.of(*pid, port)).collect()
}
