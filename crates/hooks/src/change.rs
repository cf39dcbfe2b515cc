//! The changes of a call: files, with their texts before and after.

use std::path::Path;

use pillion_protocol::held::HeldCall;

/// Reads files for the rules of this crate.
pub trait Files {
    /// Returns the bytes of a file; none if there is no such file.
    ///
    /// # Errors
    /// One sentence that says why it cannot be read.
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String>;

    /// Returns true if this is a symbolic link: who deletes it does not delete the file that is read there.
    fn is_link(&mut self, _path: &Path) -> bool {
        false
    }
}

/// The changes that a call is about to make.
#[derive(Debug, Clone, PartialEq)]
pub enum Changes {
    /// No file, as far as these hooks go: the call passes.
    None,
    /// These files, each of them once.
    Files(Vec<Change>),
    /// Possibly files, in a way that cannot be shown. One sentence says why. The agent asks the person itself, or where it
    /// cannot, the call is denied.
    Unclear(String),
    /// Nothing, because the call cannot work. One sentence tells the model why.
    Invalid(String),
}

/// One file that is to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its absolute path.
    pub path: String,
    /// Its text now, byte for byte; none if it does not exist. Of a notebook, the source of the cell.
    pub before: Option<String>,
    /// Its state after the change. A file that is moved is two changes: one is deleted, and one is new.
    pub after: After,
    /// The change of a notebook's cell, if it is one.
    pub cell: Option<HeldCall>,
}

impl Changes {
    /// Returns true if the files are as the call would make them.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Files(changes) if changes.iter().all(Change::is_nothing))
    }
}

impl Change {
    /// A change of a whole file.
    pub fn of_file(path: String, before: Option<String>, after: After) -> Self {
        Self {
            path,
            before,
            after,
            cell: None,
        }
    }

    /// Returns true if nothing would be changed. A cell may be deleted or added that has no source.
    pub fn is_nothing(&self) -> bool {
        self.cell.is_none() && self.before.as_deref() == self.after.text()
    }

    /// The text before, in a file of these bytes; none if there is no such file.
    ///
    /// # Errors
    /// One sentence, if it is not in UTF-8, or there is no such cell.
    pub fn find(&self, bytes: Option<Vec<u8>>) -> Result<Option<String>, String> {
        match (&self.cell, bytes) {
            (Some(cell), bytes) => Ok(cell.find(&bytes.unwrap_or_default())?.text),
            (None, None) => Ok(None),
            (None, Some(bytes)) => String::from_utf8(bytes)
                .map(Some)
                .map_err(|_| format!("{} is not in UTF-8", self.path)),
        }
    }
}

/// The state of a file after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// It has this text, byte for byte.
    Text(String),
    /// It is deleted.
    Deleted,
}

impl After {
    /// The text; none if the file is deleted.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Deleted => None,
        }
    }
}
