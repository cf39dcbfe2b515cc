//! What a view tells its companion, without an answer.

use std::path::PathBuf;

use pillion_discovery::exact;
use pillion_protocol::{File, Note, Range};
use pillion_system::signals;
use serde::{Deserialize, Serialize};

use crate::editor::Shows;
use crate::proposal::ProposalKey;

/// News of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Tell {
    /// The editor's open files, or what is focused in it, changed: the whole list (C4.2).
    Context {
        /// The files.
        files: Vec<OpenFile>,
        /// True if the user trusts the workspace, false if they do not; none if they did not say.
        is_trusted: Option<bool>,
    },
    /// One file was saved, by the person or by an agent: only the person's are the focus.
    Saved(OpenFile),
    /// The editor's text of a file and the file are the same at this moment. By this, texts that are written while an agent works
    /// are told apart: what the person saves is theirs, and what is in the file before is not.
    Synced {
        /// The file.
        #[serde(with = "exact::path")]
        path: PathBuf,
        /// True if the person has saved it. Otherwise the editor has read it, or they begin to change what it has read.
        #[serde(rename = "saved")]
        is_saved: bool,
    },
    /// This stands in the view of a proposal, which nobody has decided about. It decides nothing, and is kept in case the view,
    /// the hub or the agent ends before somebody does.
    Draft {
        /// The proposal.
        #[serde(flatten)]
        key: ProposalKey,
        /// The text; none if the person has changed nothing.
        #[serde(rename = "content")]
        text: Option<String>,
    },
    /// The person has written these notes on a proposal, which nobody has decided about: they are kept like a [draft](Self::Draft), and
    /// an agent that is told of a rejection because all views have left reads them.
    Notes {
        /// The proposal.
        #[serde(flatten)]
        key: ProposalKey,
        /// All notes that there are now.
        notes: Vec<Note>,
    },
    /// The person has these words on a row of the list of what was written: kept like [notes](Self::Notes), and in the next list.
    RowNotes {
        /// The name of the turn or change.
        id: String,
        /// All notes that there are now.
        notes: Vec<Note>,
    },
    /// The editor's workspace roots changed (C2.5).
    Roots(#[serde(with = "exact::paths")] Vec<PathBuf>),
    /// The view shows proposals under another condition now: a page that somebody has open, or that nobody has. What is there stays.
    Shows(Shows),
    /// The editor's process is another one now: agents find the companion by it, and by its ancestors.
    Editor(u32),
    /// The view leaves: [`EditorEvent::Stopped`](crate::EditorEvent::Stopped) follows. The companion stops with the last one,
    /// and pending diffs count as rejected then (C5.7).
    Leave(Leaving),
}

/// Why a view leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Leaving {
    /// The person has closed it, or the terminal in which it was started.
    Closed,
    /// This process has sent it a signal: whose that is decides.
    Signalled(u32),
    /// Its editor has ended under it, other than by the person.
    Killed,
    /// Its editor has said that it may come again at once, as one that starts anew: what is pending waits for the next view.
    Kept,
}

impl Leaving {
    /// Why this process ends now, by the signals that it has had.
    pub fn now() -> Self {
        let sender = signals::sender().filter(|_| !signals::is_hung_up());
        sender.map_or(Self::Closed, Self::Signalled)
    }

    /// The same of a view whose editor has ended without a word: if no signal and no closed terminal has ended both, that was killed.
    pub fn without_word() -> Self {
        match Self::now() {
            Self::Closed if !signals::is_hung_up() => Self::Killed,
            why => why,
        }
    }
}

impl Tell {
    /// The open files, and whether the workspace is trusted.
    pub fn context(files: Vec<File>, is_trusted: Option<bool>) -> Self {
        let files = files.into_iter().map(OpenFile::from).collect();
        Self::Context { files, is_trusted }
    }

    /// The proposal that it is about, if it is about one.
    pub fn key_mut(&mut self) -> Option<&mut ProposalKey> {
        match self {
            Self::Draft { key, .. } | Self::Notes { key, .. } => Some(key),
            _ => None,
        }
    }

    /// Returns true if it is the person's word: of a view that an agent has started, it does not count.
    pub fn is_for_person(&self) -> bool {
        match self {
            Self::Context { .. }
            | Self::Saved(_)
            | Self::Synced { .. }
            | Self::Draft { .. }
            | Self::Notes { .. }
            | Self::RowNotes { .. } => true,
            Self::Roots(_) | Self::Shows(_) | Self::Editor(_) | Self::Leave(_) => false,
        }
    }
}

/// A file, with what agents do not get from it directly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFile {
    /// The file.
    #[serde(flatten)]
    pub file: File,
    /// The place of the selected text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Range>,
}

impl From<File> for OpenFile {
    fn from(mut file: File) -> Self {
        let selection = file.selection.take();
        Self { file, selection }
    }
}

impl From<OpenFile> for File {
    fn from(open: OpenFile) -> Self {
        Self {
            selection: open.selection,
            ..open.file
        }
    }
}
