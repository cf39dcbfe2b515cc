//! A person's request to take back changes that an agent has written, in the buffer of the file.

use std::ops::Range;
use std::path::PathBuf;

/// The changes that the person wants to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taking {
    /// Counts them, within the session.
    pub number: u64,
    /// The client in which they asked for it.
    pub client: String,
    /// The file.
    pub path: PathBuf,
    /// True if the buffer has changes that are not saved.
    pub is_modified: bool,
    /// The state of the buffer.
    pub timestamp: u64,
    /// The text that saving would write.
    pub content: String,
    /// The selected lines, from 0; none if the whole file is meant.
    pub lines: Option<Range<usize>>,
    /// What they typed after the command: a change, words to the agent, or both.
    pub typed: String,
}
