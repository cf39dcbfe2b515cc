//! An open file, as Pillion's own processes tell each other.

use pillion_protocol::{File, Range};
use serde::{Deserialize, Serialize};

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
