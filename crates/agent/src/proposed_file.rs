//! A file as it is proposed.

use pillion_protocol::Dialect;
use pillion_protocol::diff::written::Written;

/// One file, which may be of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedFile {
    /// Its absolute path; no two files of a set have the same one.
    pub path: String,
    /// The whole text that it is to have; empty if it is to be deleted.
    pub content: String,
    /// True if it is to be deleted. Only Pillion's companions say so to the person.
    pub deletes: bool,
    /// The agent whose change it is, if not the proposer's own. Only Pillion's companions name it to the person.
    pub on_behalf_of: Option<Dialect>,
    /// What it is compared with, if it is written already: then the content is what the file has. Only Pillion's companions
    /// know that.
    pub written: Option<Written>,
}

impl ProposedFile {
    /// A file that is to have this text.
    pub fn new(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
            deletes: false,
            on_behalf_of: None,
            written: None,
        }
    }

    /// A file that is to be deleted.
    pub fn deleted(path: impl Into<String>) -> Self {
        Self {
            deletes: true,
            ..Self::new(path, "")
        }
    }

    /// A file that has this text already, beside the one that it had before.
    pub fn written(
        path: impl Into<String>,
        content: impl Into<String>,
        before: Option<String>,
    ) -> Self {
        Self {
            written: Some(Written { before }),
            ..Self::new(path, content)
        }
    }

    /// The same file, as a change of this agent.
    #[must_use]
    pub fn on_behalf_of(self, agent: Dialect) -> Self {
        Self {
            on_behalf_of: Some(agent),
            ..self
        }
    }
}
