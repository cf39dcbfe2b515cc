//! Writing a patch that has exactly this outcome, or none.

use std::ops::Range;

use super::{Program, read};
use crate::Text;
use crate::hunks::{self, Hunk};

/// The numbers of unchanged lines around a change. More only where fewer do not say which place is meant.
const CONTEXTS: [usize; 3] = [3, 20, usize::MAX];

/// The change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileChange<'a> {
    /// Its path, as it is to stand in the patch.
    pub path: &'a str,
    /// The new place, if it is moved.
    pub move_to: Option<&'a str>,
    /// Its text, if it is there.
    pub before: Option<&'a str>,
    /// The text that it is to have; none if it is to be deleted.
    pub after: Option<&'a str>,
}

/// A patch by which `program` changes these files so, byte for byte.
///
/// # Errors
/// The place of the first file whose text cannot be expressed: the format says nothing of line endings, nor of a missing
/// last one.
pub fn write(program: Program, changes: &[FileChange<'_>]) -> Result<String, usize> {
    let mut body = String::new();
    for (at, change) in changes.iter().enumerate() {
        let mut sections = change.candidates();
        let section = match program {
            Program::Codex | Program::Copilot => {
                sections.find(|section| change.is_outcome_of(section, program))
            }
            Program::OpenCode => change.for_opencode(),
        };
        body.push_str(&section.ok_or(at)?);
    }
    Ok(wrap(&body))
}

fn wrap(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

impl FileChange<'_> {
    /// The patches that may express it, the most readable first.
    fn candidates(&self) -> impl Iterator<Item = String> {
        let FileChange {
            path,
            move_to,
            before,
            after,
        } = *self;
        let added = after.map(|text| added(move_to.unwrap_or(path), text));
        let delete = || format!("*** Delete File: {path}\n");
        let whole = match (move_to, added) {
            (None, Some(added)) => added,
            (None, None) => delete(),
            (Some(_), added) => added.unwrap_or_default() + &delete(),
        };
        let ended = before.zip(after).filter(|_| move_to.is_none());
        let ended = ended.map(|(before, after)| ended_by(path, before, after));
        self.updates().chain(ended).chain([whole])
    }

    /// Those that name only the lines that change, and some around them.
    fn updates(&self) -> impl Iterator<Item = String> {
        let FileChange { path, move_to, .. } = *self;
        let texts = self.before.zip(self.after).into_iter();
        texts.flat_map(move |(before, after)| {
            CONTEXTS.map(|context| update(path, move_to, before, after, context))
        })
    }

    /// The patch by which opencode does it: an update where it is known to find and end each line as other programs do, or else the
    /// whole text, whose lines it takes as they are. None if the last line is not to end.
    fn for_opencode(&self) -> Option<String> {
        let is_plain = [self.before, self.after].into_iter().flatten().all(|text| {
            let is_marker =
                |line: &str| ["*** Begin Patch", "*** End Patch"].contains(&line.trim());
            // It loses an empty last line.
            let ends_empty = text == "\n" || text.ends_with("\n\n");
            !text.contains('\r') && !ends_empty && !text.lines().any(is_marker)
        });
        let is_exact = |section: &String| self.is_outcome_of(section, Program::OpenCode);
        let update = self.updates().find(|section| is_plain && is_exact(section));
        update.or_else(|| self.whole())
    }

    fn whole(&self) -> Option<String> {
        let FileChange {
            path,
            move_to,
            after,
            ..
        } = *self;
        let delete = format!("*** Delete File: {path}\n");
        let Some(after) = after else {
            return Some(delete);
        };
        if !after.is_empty() && !after.ends_with('\n') {
            return None;
        }
        let mut section = format!("*** Add File: {}\n", move_to.unwrap_or(path));
        for line in after.split_inclusive('\n') {
            section.push('+');
            section.push_str(line);
        }
        // Of lines that are added, it drops an empty one at the end.
        if after == "\n" || after.ends_with("\n\n") {
            section.push_str("+\n");
        }
        if move_to.is_some() {
            section.push_str(&delete);
        }
        Some(section)
    }

    /// Returns true if these lines of a patch do exactly this.
    fn is_outcome_of(&self, section: &str, program: Program) -> bool {
        let Ok(files) = read(&wrap(section)) else {
            return false;
        };
        let mut files = files.iter().map(|file| {
            let is_new = file.path != self.path;
            let before = self.before.filter(|_| !is_new);
            let after = file.operation.apply(program, file.line, before);
            (file.path.as_str(), file.operation.move_to(), after)
        });
        let first = files.next();
        let wanted = |path, move_to, after: Option<&str>| {
            Some((path, move_to, Ok(after.map(str::to_owned))))
        };
        match self.move_to {
            Some(to) if first != wanted(self.path, Some(to), self.after) => {
                first == wanted(to, None, self.after)
                    && files.next() == wanted(self.path, None, None)
                    && files.next().is_none()
            }
            moved => first == wanted(self.path, moved, self.after) && files.next().is_none(),
        }
    }
}

fn added(path: &str, text: &str) -> String {
    let mut section = format!("*** Add File: {path}\n");
    for line in text.split_inclusive('\n') {
        push(&mut section, '+', line);
    }
    section
}

/// All lines, and one more that is empty: where the last line did not end and nothing is added to it, this ends it.
fn ended_by(path: &str, before: &str, after: &str) -> String {
    let mut section = format!("*** Update File: {path}\n@@\n");
    for (kind, text) in [('-', before), ('+', after)] {
        for line in text.split_inclusive('\n') {
            push(&mut section, kind, line);
        }
    }
    push(&mut section, '+', "");
    section
}

fn update(path: &str, move_to: Option<&str>, before: &str, after: &str, context: usize) -> String {
    let mut section = format!("*** Update File: {path}\n");
    if let Some(to) = move_to {
        section.push_str(&format!("*** Move to: {to}\n"));
    }
    let (before, after) = (Text::new(before), Text::new(after));
    let mut hunks = hunks::between(&before, &after);
    if hunks.is_empty() {
        // A move needs one line at least, even though it changes none.
        let end = before.len().min(1);
        hunks.push(Hunk::new(end..end, end..end));
    }
    let around = |range: &Range<usize>| {
        range.start.saturating_sub(context)..range.end.saturating_add(context).min(before.len())
    };
    let mut hunks = hunks.iter().peekable();
    while let Some(first) = hunks.peek() {
        section.push_str("@@\n");
        let mut shown = around(&first.before);
        while let Some(hunk) = hunks.next_if(|next| around(&next.before).start <= shown.end) {
            for line in shown.start..hunk.before.start {
                push(&mut section, ' ', before.shown(line));
            }
            for line in hunk.before.clone() {
                push(&mut section, '-', before.shown(line));
            }
            for line in hunk.after.clone() {
                push(&mut section, '+', after.shown(line));
            }
            shown = hunk.before.end..around(&hunk.before).end;
        }
        for line in shown {
            push(&mut section, ' ', before.shown(line));
        }
    }
    section
}

fn push(section: &mut String, kind: char, line: &str) {
    section.push(kind);
    let line = line.strip_suffix('\n').unwrap_or(line);
    section.push_str(line.strip_suffix('\r').unwrap_or(line));
    section.push('\n');
}
