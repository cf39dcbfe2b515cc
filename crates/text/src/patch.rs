//! The patch format of Codex: `*** Begin Patch`, files that are added, updated, moved or deleted, `*** End Patch`. Read
//! as Codex 0.169 and 0.171 read it, and never more generously: what they might understand otherwise is an error. Copilot
//! CLI 1.0.102 and opencode 1.18.33 read the same format, and apply it in ways of their own.

mod read;
mod source;
mod write;

pub use self::read::read;
pub use self::write::{FileChange, write};

use self::source::Source;

/// The program that applies a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// New lines end as the first one does, and so does the last line. A file that is there may be added.
    Codex,
    /// All lines end as most of the first five do; whether the last one ends stays as it is, but an empty one is lost. A
    /// file that is there cannot be added.
    Copilot,
    /// Shown as Codex would apply it, but without a BOM in the first line. Lines are written with the carriage returns that the
    /// patch has, so that a whole text says what an update cannot. Every last line ends, and a file that is there may be added.
    OpenCode,
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// As it stands in the patch: relative to the folder of the call, or absolute.
    pub path: String,
    /// The line of the patch that names it, from 1.
    pub line: usize,
    /// The operation on it.
    pub operation: Operation,
}

/// The operation of a patch on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Writes this text, also over a file that is there.
    Add(String),
    /// Deletes it.
    Delete,
    /// Replaces lines.
    Update {
        /// The new place of the file, if it is moved.
        move_to: Option<String>,
        /// The replacements, in the order of the file.
        chunks: Vec<Chunk>,
    },
}

/// Lines that stand next to each other, and what takes their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The line of the patch where it begins, from 1.
    line: usize,
    /// A line that comes somewhere before it.
    after: Option<String>,
    lines: Vec<Line>,
    is_at_end: bool,
}

/// A line of a chunk, without its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Kept(String),
    Removed(String),
    Added(String),
}

/// The reason why a patch is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// The line of the patch, from 1.
    pub line: usize,
    /// The reason.
    pub why: String,
    /// True if the patch may be fine, and only its form is not understood.
    pub is_about_form: bool,
}

impl PatchError {
    fn new(line: usize, why: impl Into<String>) -> Self {
        Self {
            line,
            why: why.into(),
            is_about_form: false,
        }
    }

    fn of_form(line: usize, why: impl Into<String>) -> Self {
        Self {
            is_about_form: true,
            ..Self::new(line, why)
        }
    }
}

impl std::fmt::Display for PatchError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {} of the patch: {}", self.line, self.why)
    }
}

impl std::error::Error for PatchError {}

impl Operation {
    /// The new place of the file, if it is moved.
    pub fn move_to(&self) -> Option<&str> {
        match self {
            Operation::Update { move_to, .. } => move_to.as_deref(),
            Operation::Add(_) | Operation::Delete => None,
        }
    }

    /// The text that the file has once `program` has applied this, or that the file has to which it is moved; none if it
    /// is deleted. `before` is what it has now, if it is there.
    ///
    /// # Errors
    /// The file is missing or is not what the patch expects, or it has line endings that releases of Codex treat
    /// differently.
    pub fn apply(
        &self,
        program: Program,
        line: usize,
        before: Option<&str>,
    ) -> Result<Option<String>, PatchError> {
        let missing = || PatchError::new(line, "the file does not exist");
        match self {
            Operation::Add(_) if program == Program::Copilot && before.is_some() => {
                Err(PatchError::new(line, "the file already exists"))
            }
            Operation::Add(text) if program == Program::Copilot && text == "\n" => {
                Ok(Some(String::new()))
            }
            Operation::Add(text) => Ok(Some(text.clone())),
            Operation::Delete => before.map(|_| None).ok_or_else(missing),
            Operation::Update { chunks, .. } => {
                let before = before.ok_or_else(missing)?;
                let mut source = Source::new(program, before).ok_or_else(|| {
                    PatchError::of_form(line, "the file has a carriage return within a line")
                })?;
                source.apply(chunks)?;
                Ok(Some(source.text()))
            }
        }
    }
}

impl Chunk {
    /// The lines that must be there.
    fn old_lines(&self) -> Vec<&str> {
        let old = self.lines.iter().filter_map(|line| match line {
            Line::Kept(text) | Line::Removed(text) => Some(text.as_str()),
            Line::Added(_) => None,
        });
        old.collect()
    }

    /// The lines that come in their place.
    fn new_lines(&self) -> Vec<&str> {
        let new = self.lines.iter().filter_map(|line| match line {
            Line::Kept(text) | Line::Added(text) => Some(text.as_str()),
            Line::Removed(_) => None,
        });
        new.collect()
    }
}

#[cfg(test)]
mod tests;
