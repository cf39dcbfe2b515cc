//! A file as it is proposed.

/// One file, which may be of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedFile {
    /// Its absolute path; no two files of a set have the same one.
    pub path: String,
    /// The whole text that it is to have; empty if it is to be deleted.
    pub content: String,
    /// True if it is to be deleted. Only Pillion's companions say so to the person.
    pub deletes: bool,
}

impl ProposedFile {
    /// A file that is to have this text.
    pub fn new(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
            deletes: false,
        }
    }

    /// A file that is to be deleted.
    pub fn deleted(path: impl Into<String>) -> Self {
        Self {
            deletes: true,
            ..Self::new(path, "")
        }
    }
}
