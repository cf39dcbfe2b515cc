//! A text to which chunks are applied as Codex does it: lines are found as loosely, and get the same line endings.

use std::ops::Range;

use super::{Chunk, Line, PatchError};

/// A text in lines.
pub(super) struct Source<'a> {
    lines: Vec<SourceLine<'a>>,
    /// What new lines get: what the first line has.
    ending: &'static str,
}

struct SourceLine<'a> {
    text: &'a str,
    ending: &'static str,
}

/// What lines are compared by, the strictest first.
const LOOKS: [fn(&str) -> String; 4] = [
    str::to_owned,
    |line| line.trim_end().to_owned(),
    |line| line.trim().to_owned(),
    plain,
];

impl<'a> Source<'a> {
    /// None if there is a carriage return within a line.
    pub(super) fn new(text: &'a str) -> Option<Self> {
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
        let ending = lines.first().map_or("", |line| line.ending);
        let ending = if ending.is_empty() { "\n" } else { ending };
        Some(Self { lines, ending })
    }

    pub(super) fn text(&self) -> String {
        let pieces = self.lines.iter();
        pieces.flat_map(|line| [line.text, line.ending]).collect()
    }

    /// Applies them. The last line has a line ending then.
    pub(super) fn apply(&mut self, chunks: &'a [Chunk]) -> Result<(), PatchError> {
        let looks = LOOKS.map(|look| {
            let lines = self.lines.iter().map(|line| look(line.text));
            lines.collect::<Vec<String>>()
        });
        let mut found = Vec::new();
        let mut from = 0;
        for chunk in chunks {
            if let Some(line) = &chunk.after {
                let why =
                    || PatchError::new(chunk.line, format!("the file has no line {line:?} there"));
                from = find(&looks, &[line], from, false).ok_or_else(why)? + 1;
            }
            let place = place(&looks, chunk, from);
            let place = place.ok_or_else(|| {
                PatchError::new(chunk.line, "the file does not have these lines there")
            })?;
            if !chunk.old_lines().is_empty() {
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
                    Line::Added(text) => self.lines.push(SourceLine {
                        text,
                        ending: self.ending,
                    }),
                }
            }
            at = place.end;
        }
        self.lines.extend(old);
        for line in &mut self.lines {
            if line.ending.is_empty() {
                line.ending = self.ending;
            }
        }
        Ok(())
    }
}

/// Where the lines of a chunk are. One without any old lines adds to the end.
fn place(looks: &[Vec<String>; 4], chunk: &Chunk, from: usize) -> Option<Range<usize>> {
    let old = chunk.old_lines();
    let len = looks[0].len();
    if old.is_empty() {
        return Some(len..len);
    }
    let found = |old: &[&str]| {
        let start = find(looks, old, from, chunk.is_at_end)?;
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
    found(&old).or_else(without_last)
}

fn find(looks: &[Vec<String>; 4], wanted: &[&str], from: usize, is_at_end: bool) -> Option<usize> {
    let last = looks[0].len().checked_sub(wanted.len())?;
    let from = if is_at_end { last } else { from };
    let mut kinds = looks.iter().zip(LOOKS);
    kinds.find_map(|(lines, look)| {
        let wanted: Vec<String> = wanted.iter().map(|line| look(line)).collect();
        (from..=last).find(|&at| lines[at..at + wanted.len()] == wanted)
    })
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
