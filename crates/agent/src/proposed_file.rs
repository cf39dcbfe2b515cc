//! A file as it is proposed.

use pillion_protocol::Dialect;
use pillion_protocol::diff::written::Written;
use pillion_protocol::held::HeldCall;

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
    /// The text to compare with, if it is written already: then the content is what the file has. Only Pillion's companions
    /// know that.
    pub written: Option<Written>,
    /// The change of a notebook's cell, of whose source the text is. Only for Pillion's companions: others would take the text
    /// for the whole notebook's.
    pub cell: Option<HeldCall>,
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
            cell: None,
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
    pub fn written(path: impl Into<String>, content: impl Into<String>, written: Written) -> Self {
        Self {
            written: Some(written),
            ..Self::new(path, content)
        }
    }

    /// The source that this cell of a notebook is to have.
    pub fn cell(path: impl Into<String>, cell: HeldCall) -> Self {
        let source = cell.proposed().to_owned();
        Self {
            cell: Some(cell),
            ..Self::new(path, source)
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
