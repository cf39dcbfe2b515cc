//! A text to which chunks are applied as the program does it: lines are found as loosely, and get the same line endings.
//! Copilot CLI also indents new lines as it found the old ones: what it would find only so is not understood here.

use std::ops::Range;

use super::{Chunk, Line, PatchError, Program};

/// The mark of a text's encoding, at its beginning.
const BOM: char = '\u{feff}';

/// A text in lines.
pub(super) struct Source<'a> {
    program: Program,
    /// True if the mark was before the first line. A line in a patch is found without it.
    has_bom: bool,
    lines: Vec<SourceLine<'a>>,
    /// The line ending that new lines get.
    ending: &'static str,
    /// True if the last line of the text ended.
    has_last_ending: bool,
}

struct SourceLine<'a> {
    text: &'a str,
    ending: &'static str,
}

/// The forms in which lines are compared, the strictest first.
const LOOKS: [fn(&str) -> String; 4] = [
    str::to_owned,
    |line| line.trim_end().to_owned(),
    |line| line.trim().to_owned(),
    plain,
];

impl<'a> Source<'a> {
    /// None if there is a carriage return within a line.
    pub(super) fn new(program: Program, text: &'a str) -> Option<Self> {
        let without = match program {
            Program::Codex => None,
            Program::Copilot | Program::OpenCode => text.strip_prefix(BOM),
        };
        let has_bom = without.is_some();
        let text = without.unwrap_or(text);
        let pieces = text.split_inclusive('\n');
        let lines = pieces.map(|line| {
            let (text, ending) = match line.strip_suffix('\n') {
                None => (line, ""),
                Some(text) => match text.strip_suffix('\r') {
                    None => (text, "\n"),
                    Some(text) => (text, "\r\n"),
                },
            };
            (!text.contains('\r')).then_some(SourceLine { text, ending })
        });
        let lines: Vec<SourceLine<'_>> = lines.collect::<Option<_>>()?;
        let is_crlf = match program {
            Program::Codex | Program::OpenCode => {
                lines.first().is_some_and(|line| line.ending == "\r\n")
            }
            Program::Copilot => {
                let ends = |ending| move |line: &&SourceLine<'_>| line.ending == ending;
                let first = &lines[..lines.len().min(5)];
                let count = |ending| first.iter().filter(ends(ending)).count();
                count("\r\n") > count("\n")
            }
        };
        Some(Self {
            program,
            has_bom,
            lines,
            ending: if is_crlf { "\r\n" } else { "\n" },
            has_last_ending: text.ends_with('\n'),
        })
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::from_iter(self.has_bom.then_some(BOM));
        for (at, line) in self.lines.iter().enumerate() {
            let is_last = at + 1 == self.lines.len();
            text.push_str(line.text);
            text.push_str(match self.program {
                Program::Codex | Program::OpenCode if line.ending.is_empty() => self.ending,
                Program::Codex | Program::OpenCode => line.ending,
                // An empty last line counts as the line ending of the one before it.
                Program::Copilot if is_last && (!self.has_last_ending || line.text.is_empty()) => {
                    ""
                }
                Program::Copilot => self.ending,
            });
        }
        text
    }

    /// A line of a patch as it is looked for in this text, or comes into it.
    fn plain<'b>(&self, line: &'b str) -> &'b str {
        let without = line.strip_prefix(BOM).filter(|_| self.has_bom);
        without.unwrap_or(line)
    }

    /// Applies them.
    pub(super) fn apply(&mut self, chunks: &'a [Chunk]) -> Result<(), PatchError> {
        let looks = Looks::of(self);
        let mut found = Vec::new();
        let mut from = 0;
        for chunk in chunks {
            if let Some(line) = &chunk.after {
                let why =
                    || PatchError::new(chunk.line, format!("the file has no line {line:?} there"));
                from = looks
                    .find(&[self.plain(line)], from, false)
                    .ok_or_else(why)?
                    + 1;
            }
            let mut old = chunk.old_lines();
            for line in &mut old {
                *line = self.plain(line);
            }
            let place = looks.place(chunk, &old, from);
            let place = place.ok_or_else(|| {
                let why = "the file does not have these lines there";
                match self.program {
                    Program::Codex | Program::OpenCode => PatchError::new(chunk.line, why),
                    Program::Copilot => PatchError::of_form(chunk.line, why),
                }
            })?;
            if !old.is_empty() {
                from = place.end;
            }
            found.push((place, chunk));
        }
        found.sort_by_key(|(place, _)| place.start);
        let mut old = std::mem::take(&mut self.lines).into_iter();
        let mut at = 0;
        for (place, chunk) in found {
            let Some(before) = place.start.checked_sub(at) else {
                let why = "these lines are replaced before";
                return Err(PatchError::new(chunk.line, why));
            };
            self.lines.extend(old.by_ref().take(before));
            let mut replaced = old.by_ref().take(place.len());
            for line in &chunk.lines {
                match line {
                    // The file's own line, which need not look the same.
                    Line::Kept(_) => self.lines.extend(replaced.next()),
                    Line::Removed(_) => drop(replaced.next()),
                    Line::Added(text) => {
                        let text = self.plain(text);
                        let ending = self.ending;
                        self.lines.push(SourceLine { text, ending });
                    }
                }
            }
            at = place.end;
        }
        self.lines.extend(old);
        Ok(())
    }
}

/// The lines of a text, by what they are compared by.
struct Looks(Vec<Look>);

struct Look {
    of: fn(&str) -> String,
    lines: Vec<String>,
}

impl Looks {
    fn of(source: &Source<'_>) -> Self {
        let kinds = match source.program {
            Program::Codex | Program::OpenCode => LOOKS.len(),
            Program::Copilot => 2,
        };
        let looks = LOOKS[..kinds].iter().map(|of| {
            let lines = source.lines.iter().map(|line| of(line.text));
            let lines = lines.collect();
            Look { of: *of, lines }
        });
        Self(looks.collect())
    }

    fn len(&self) -> usize {
        self.0[0].lines.len()
    }

    /// The place of the old lines of a chunk. One without any adds to the end.
    fn place(&self, chunk: &Chunk, old: &[&str], from: usize) -> Option<Range<usize>> {
        if old.is_empty() {
            return Some(self.len()..self.len());
        }
        let found = |old: &[&str]| {
            let start = self.find(old, from, chunk.is_at_end)?;
            Some(start..start + old.len())
        };
        // The empty line after the last line ending is none, before and after the change.
        let is_same = match chunk.lines.last() {
            Some(Line::Kept(_)) => true,
            _ => chunk.new_lines().last() != Some(&""),
        };
        let without_last = || match old.split_last() {
            Some((&"", before)) if !before.is_empty() && is_same => found(before),
            _ => None,
        };
        found(old).or_else(without_last)
    }

    fn find(&self, wanted: &[&str], from: usize, is_at_end: bool) -> Option<usize> {
        let last = self.len().checked_sub(wanted.len())?;
        let from = if is_at_end { last } else { from };
        self.0.iter().find_map(|look| {
            let wanted: Vec<String> = wanted.iter().map(|line| (look.of)(line)).collect();
            (from..=last).find(|&at| look.lines[at..at + wanted.len()] == wanted)
        })
    }
}

/// A line with the punctuation and blanks of a keyboard.
fn plain(line: &str) -> String {
    let plain = |character| match character {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    line.trim().chars().map(plain).collect()
}
