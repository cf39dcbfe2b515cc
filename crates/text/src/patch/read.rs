//! Reading a patch.

use super::{Chunk, FilePatch, Line, Operation, PatchError};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Reads a patch with all of its files. Each file is named once.
///
/// # Errors
/// The first line that is not understood.
pub fn read(patch: &str) -> Result<Vec<FilePatch>, PatchError> {
    let skipped = patch.len() - patch.trim_start().len();
    let first = patch[..skipped].matches('\n').count() + 1;
    let lines: Vec<&str> = patch.trim().split('\n').collect();
    let mut lines = Lines {
        lines: &lines,
        first,
        at: 0,
    };
    lines.expect(BEGIN)?;
    let last = lines.lines.len() - 1;
    if last == 0 || lines.lines[last].trim() != END {
        let why = format!("the last line is not \"{END}\"");
        return Err(PatchError::of_form(first + last, why));
    }
    lines.lines = &lines.lines[..last];
    let mut files = Vec::new();
    while lines.peek().is_some() {
        files.push(lines.file()?);
    }
    if files.is_empty() {
        return Err(PatchError::of_form(first, "no file is named in it"));
    }
    ensure_named_once(&files)?;
    Ok(files)
}

/// The lines of a patch, and how many of them are read.
struct Lines<'a> {
    lines: &'a [&'a str],
    /// The number of the first one.
    first: usize,
    at: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn error(&self, why: impl Into<String>) -> PatchError {
        PatchError::of_form(self.first + self.at, why)
    }

    fn expect(&mut self, marker: &str) -> Result<(), PatchError> {
        match self.peek() {
            Some(line) if line.trim() == marker => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.error(format!("this is not \"{marker}\""))),
        }
    }

    fn file(&mut self) -> Result<FilePatch, PatchError> {
        let header = self.peek().unwrap_or_default().trim();
        let line = self.first + self.at;
        let marker = [ADD, DELETE, UPDATE].into_iter();
        let mut named = marker.filter_map(|it| Some((it, header.strip_prefix(it)?)));
        let (marker, path) = named.next().unwrap_or_default();
        if path.is_empty() || path.contains(['\r', '\0']) {
            let why = "no file is added, updated or deleted here, as it has to be in this place";
            return Err(self.error(why));
        }
        self.ensure_bare(path)?;
        self.at += 1;
        let operation = match marker {
            ADD => Operation::Add(self.added()?),
            DELETE => Operation::Delete,
            _ => self.update()?,
        };
        Ok(FilePatch {
            path: path.to_owned(),
            line,
            operation,
        })
    }

    /// Refuses a path with blanks around it: some programs take them for a part of the name, and what is shown is what is written.
    /// Which characters are blanks differs between languages.
    fn ensure_bare(&self, path: &str) -> Result<(), PatchError> {
        let is_blank = |it: char| it.is_whitespace() || it.is_control() || it == '\u{feff}';
        match path.trim_matches(is_blank) == path {
            true => Ok(()),
            false => Err(self.error("there is a blank before or after the path")),
        }
    }

    /// The text of a new file. Each of its lines has a `\n`.
    fn added(&mut self) -> Result<String, PatchError> {
        let mut text = String::new();
        while let Some(line) = self.peek().and_then(|line| line.strip_prefix('+')) {
            text.push_str(&self.content(line)?);
            text.push('\n');
            self.at += 1;
        }
        Ok(text)
    }

    fn update(&mut self) -> Result<Operation, PatchError> {
        let moved = self.peek().and_then(|line| line.strip_prefix(MOVE));
        let moved = moved.map(|path| path.strip_suffix('\r').unwrap_or(path));
        if let Some(path) = moved {
            if path.trim().is_empty() {
                return Err(self.error("the path is missing"));
            }
            self.ensure_bare(path)?;
            self.at += 1;
        }
        let move_to = moved.map(str::to_owned);
        let mut chunks: Vec<Chunk> = Vec::new();
        while let Some(line) = self.peek() {
            if line.trim().is_empty() {
                self.at += 1;
            } else if line.starts_with("***") {
                break;
            } else {
                chunks.push(self.chunk(chunks.is_empty())?);
            }
        }
        if chunks.is_empty() {
            return Err(self.error("the file is updated, and no lines follow"));
        }
        Ok(Operation::Update { move_to, chunks })
    }

    fn chunk(&mut self, is_first: bool) -> Result<Chunk, PatchError> {
        let mut chunk = Chunk {
            line: self.first + self.at,
            ..Chunk::default()
        };
        let header = self.peek().unwrap_or_default().trim_end();
        let after = header.strip_prefix("@@ ");
        if header == "@@" || after.is_some() {
            chunk.after = after.map(str::to_owned);
            self.at += 1;
        } else if !is_first {
            return Err(self.error("this is no line of a change, which begins with @@"));
        }
        while let Some(line) = self.peek() {
            if line.trim_end() == END_OF_FILE {
                chunk.is_at_end = true;
                self.at += 1;
                break;
            }
            let kind = match line.trim_end_matches('\r') {
                "" => ' ',
                line => line.chars().next().unwrap_or_default(),
            };
            if !matches!(kind, ' ' | '+' | '-') {
                break;
            }
            let text = self.content(line.get(1..).unwrap_or_default())?;
            chunk.lines.push(match kind {
                '+' => Line::Added(text),
                '-' => Line::Removed(text),
                _ => Line::Kept(text),
            });
            self.at += 1;
        }
        if chunk.lines.is_empty() {
            let why = "a line of a change begins with a blank, + or -";
            return Err(self.error(why));
        }
        Ok(chunk)
    }

    /// A line of a file. Codex drops what ends it.
    fn content(&self, line: &str) -> Result<String, PatchError> {
        let text = line.trim_end_matches('\r');
        match text.contains('\r') {
            true => Err(self.error("there is a carriage return within the line")),
            false => Ok(text.to_owned()),
        }
    }
}

fn ensure_named_once(files: &[FilePatch]) -> Result<(), PatchError> {
    let mut named = Vec::new();
    for file in files {
        let moved = file.operation.move_to();
        for path in [Some(file.path.as_str()), moved].into_iter().flatten() {
            if named.contains(&path) {
                let why = format!("{path} is named a second time");
                return Err(PatchError::of_form(file.line, why));
            }
            named.push(path);
        }
    }
    Ok(())
}
