//! The private folder that this program and its Kakoune share: 0700, of this process, gone with it.

use std::path::{Path, PathBuf};

use pillion_discovery::private_file::Folder;
use pillion_discovery::process_dir::{Place, ProcessDir};
use pillion_discovery::{Environment, FileError};
use pillion_view::{Diff, DiffId, ProposalKey, Proposed};

use crate::removed::Removed;

const NAME: &str = "kakoune";

/// The folder for what Kakoune says.
pub const INBOX: &str = "in";

/// The number of texts out of which something was taken that are there at a time: Kakoune reads one a little later than it
/// is written.
const MAX_TAKEN: u64 = 16;

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub struct Files {
    _dir: ProcessDir,
    path: PathBuf,
    inbox: Folder,
    out: Folder,
}

/// The name of the file with what the buffer of a proposal is to hold.
pub fn kept_name(key: ProposalKey) -> String {
    format!("{}-{}-kept", key.id, key.revision)
}

impl Files {
    /// Makes it where it can be made, and takes away what dead processes left.
    pub fn new(environment: &Environment) -> Result<Self, FileError> {
        let dir = ProcessDir::new(environment, NAME);
        let both = |place: &Place| Ok((place.create(INBOX)?, place.create("out")?));
        let (inbox, out) = dir.put(both)?;
        let path = out.path().parent().unwrap_or(out.path()).to_owned();
        Ok(Self {
            _dir: dir,
            path,
            inbox,
            out,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn inbox(&self) -> &Folder {
        &self.inbox
    }

    /// Writes down what Kakoune is to show of a proposal. The file with the text.
    pub fn put(&self, diff: &Diff, held: &str, removed: &Removed) -> Result<PathBuf, FileError> {
        let ProposalKey { id, revision } = diff.key();
        let stem = format!("{id}-{revision}");
        for (number, text) in removed.texts.iter().enumerate() {
            self.out
                .write(&format!("{stem}-{number}"), text.as_bytes())?;
        }
        let index = removed.index.as_bytes();
        self.out.write(&format!("{stem}-index"), index)?;
        let original = diff.original.text.as_deref().unwrap_or_default();
        self.out.write(&format!("{stem}-original"), original)?;
        let name = format!("{stem}-text");
        self.out.write(&name, held.as_bytes())?;
        Ok(self.out.path().join(name))
    }

    /// Writes down what the buffer of a proposal is to hold of a text of the person's.
    pub fn put_kept(&self, key: ProposalKey, held: &str) -> Result<(), FileError> {
        self.out.write(&kept_name(key), held.as_bytes())
    }

    /// Writes down what the buffer of a file is to hold.
    pub fn put_taken(&self, number: u64, held: &str) -> Result<(), FileError> {
        self.out
            .write(&format!("taken-{number}"), held.as_bytes())?;
        if let Some(former) = number.checked_sub(MAX_TAKEN) {
            let _ = self.out.remove(&format!("taken-{former}"));
        }
        Ok(())
    }

    /// Removes what was written for a proposal, of every revision.
    pub fn remove(&self, id: DiffId) {
        let stem = format!("{id}-");
        for name in self.out.names().unwrap_or_default() {
            if name.starts_with(&stem) {
                let _ = self.out.remove(&name);
            }
        }
    }

    /// For `:pillion-status`.
    pub fn put_status(&self, text: &str) {
        let _ = self.out.write("status", text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_which_something_was_taken_wait_to_be_read_and_do_not_pile_up() {
        let place = tempfile::tempdir().unwrap();
        let place = [("XDG_RUNTIME_DIR", place.path().to_owned())];
        let files = Files::new(&Environment::from_pairs(place)).unwrap();
        for number in 1..=40 {
            files.put_taken(number, &format!("{number}\n")).unwrap();
        }
        let mut texts = files.out.names().unwrap();
        texts.retain(|name| name.starts_with("taken-"));
        texts.sort();
        let expected: Vec<_> = (25..=40).map(|number| format!("taken-{number}")).collect();
        assert_eq!(texts, expected);
    }
}
