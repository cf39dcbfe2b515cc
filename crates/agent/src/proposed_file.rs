//! A file as it is proposed.

use pillion_protocol::Dialect;

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
}

impl ProposedFile {
    /// A file that is to have this text.
    pub fn new(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
            deletes: false,
            on_behalf_of: None,
        }
    }

    /// A file that is to be deleted.
    pub fn deleted(path: impl Into<String>) -> Self {
        Self {
            deletes: true,
            ..Self::new(path, "")
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
