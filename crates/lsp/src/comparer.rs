//! Compares proposals with their files, on threads: a long comparison holds up neither the editor nor an agent.
//!
//! A proposal is written and shown with the result, which is waited for up to two seconds. Once it was edited, only
//! the newest comparison counts.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::Sender;
use pillion_protocol::Position;
use pillion_system::spawn;
use pillion_text::hunks::{self, Hunk};
use pillion_text::{Text, counted, endings, visible};
use pillion_view::Diff;

use crate::disk::Done;
use crate::message::{Diagnostic, MessageType};
use crate::position::Encoding;
use pillion_text::restore::restore;

/// A proposal, as an editor shows it, to be compared with its file.
#[derive(Debug)]
pub struct Comparison {
    /// Its number in [`Done::Compared`].
    pub number: u64,
    pub diff: Arc<Diff>,
    pub encoding: Encoding,
    /// The text that the editor has, if it has opened it.
    pub shown: Option<String>,
    /// The text as the editor opened it, if the person has edited it since.
    pub opened: Option<String>,
}

/// Compares on a thread of its own: another proposal does not wait for this one.
pub fn start(comparison: Comparison, done: Sender<Done>) -> io::Result<()> {
    let run = move || {
        let start = Instant::now();
        let diagnostics = comparison.run();
        let _ = done.send(Done::Compared {
            number: comparison.number,
            diagnostics,
            cost: start.elapsed(),
        });
    };
    spawn("compare", run)
}

impl Comparison {
    /// The notes about the proposal and its hunks, where the editor shows them.
    fn run(&self) -> Vec<Diagnostic> {
        let diff = &self.diff;
        let edited = self.opened.as_deref().zip(self.shown.as_deref());
        let edited = edited.map(|(opened, now)| restore(&diff.proposed, opened, now));
        let text = edited.as_deref().unwrap_or(&diff.proposed);
        let shown = self.shown.as_deref().unwrap_or(text);
        let original = diff.original.text.as_deref();
        let mut notes = diff.notes.clone();
        // Of a new file only the gate knows: the agent's question may be answered in place of its proposal.
        if original.is_some()
            && diff
                .proposer
                .is(|agent| agent.takes_for_rejection(original, text))
        {
            let agent = diff.proposer.display_name();
            notes.push(format!(
                "{agent} treats this as a rejection and changes nothing."
            ));
        }
        let mut found = at_top(&notes, shown, self.encoding);
        found.extend(between(original, text, shown, self.encoding));
        found
    }
}

/// Nobody reads more lines than this in a message.
const MAX_LINES: usize = 200;

/// Lines are cut behind as many columns.
const MAX_COLUMNS: usize = 500;

/// More diagnostics than this slow an editor down.
const MAX_HUNKS: usize = 1000;

/// One diagnostic for each hunk between `original`, the file on disk, and `text`, which the editor
/// has open as `shown`: where it is in the proposal, and the lines that it takes away.
fn between(
    original: Option<&[u8]>,
    text: &str,
    shown: &str,
    encoding: Encoding,
) -> Vec<Diagnostic> {
    let shown: Vec<&str> = shown.split('\n').collect();
    let is_binary = original.is_some_and(|bytes| bytes.contains(&0));
    let before = original.map(|bytes| endings::comparable(Text::new(bytes), text));
    let Some(before) = before else {
        let all = lines(0..shown.len(), &shown, encoding);
        return vec![diagnostic(all, "A new file.".to_owned())];
    };
    let after = Text::new(text);
    let found = hunks::between(&before, &after);
    let shown_hunks = found.iter().take(MAX_HUNKS).enumerate();
    let diagnostics = shown_hunks.map(|(at, hunk)| {
        let range = lines(hunk.after.clone(), &shown, encoding);
        let mut message = if is_binary {
            "The file on disk is binary: the removed lines cannot be shown.".to_owned()
        } else {
            message(hunk, &before)
        };
        if at + 1 == MAX_HUNKS && found.len() > MAX_HUNKS {
            let left = found.len() - MAX_HUNKS;
            message.push_str(&format!("\n… and {left} more changes below"));
        }
        diagnostic(range, message)
    });
    diagnostics.collect()
}

/// Notes for the person about the text that the agent will write, at the first line of the proposal.
fn at_top(notes: &[String], shown: &str, encoding: Encoding) -> Vec<Diagnostic> {
    let first: Vec<&str> = shown.split('\n').take(1).collect();
    let place = lines(0..1, &first, encoding);
    let safe = notes.iter().map(|note| visible::one_line(note));
    safe.map(|note| Diagnostic {
        severity: MessageType::Warning as u8,
        ..diagnostic(place, note)
    })
    .collect()
}

/// The lines that a hunk takes away, safe to be drawn.
fn message(hunk: &Hunk, before: &Text) -> String {
    let removed = hunk.before.len();
    if removed == 0 {
        return format!("{}.", counted(hunk.after.len(), "new line"));
    }
    let shown = hunk.before.clone().take(MAX_LINES).map(|line| {
        let line = before.shown(line);
        let line = line.trim_end_matches(['\r', '\n']);
        let cut: String = line.chars().take(MAX_COLUMNS).collect();
        let mark = if cut.len() < line.len() { "…" } else { "" };
        format!("{}{mark}", safe(&cut))
    });
    let mut lines: Vec<String> = shown.collect();
    if removed > MAX_LINES {
        lines.push(format!("… and {} more lines", removed - MAX_LINES));
    }
    let text = lines.join("\n");
    if text.trim().is_empty() {
        // Editors show nothing for an empty message.
        return format!("{}.", counted(removed, "empty line"));
    }
    text
}

/// Nothing that a file holds may control the terminal that an editor draws in; tabs stay.
fn safe(line: &str) -> String {
    let parts: Vec<_> = line.split('\t').map(visible::one_line).collect();
    parts.join("\t")
}

/// The whole of these lines; where there are none, the place between two lines.
fn lines(lines: Range<usize>, shown: &[&str], encoding: Encoding) -> pillion_protocol::Range {
    let last = shown.len().saturating_sub(1);
    let end_of = |line: usize| {
        let text = shown.get(line).copied().unwrap_or_default();
        position(line, encoding.length(text.trim_end_matches('\r')))
    };
    let start = match lines.start {
        line if line > last => end_of(last),
        line => position(line, 0),
    };
    let end = match lines.end.checked_sub(1) {
        Some(line) if !lines.is_empty() => end_of(line.min(last)),
        _ => start,
    };
    pillion_protocol::Range { start, end }
}

fn position(line: usize, character: usize) -> Position {
    let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
    Position {
        line: number(line),
        character: number(character),
    }
}

fn diagnostic(range: pillion_protocol::Range, message: String) -> Diagnostic {
    Diagnostic {
        range,
        severity: MessageType::Info as u8,
        source: Some("pillion".to_owned()),
        message,
        code: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = ((u32, u32), (u32, u32), String);

    fn found(original: Option<&[u8]>, text: &str, encoding: Encoding) -> Vec<Found> {
        let place = |position: Position| (position.line, position.character);
        between(original, text, text, encoding)
            .into_iter()
            .map(|diagnostic| {
                let range = diagnostic.range;
                (place(range.start), place(range.end), diagnostic.message)
            })
            .collect()
    }

    #[test]
    fn a_hunk_is_where_it_is_in_the_proposal_and_shows_what_it_removes() {
        let before = "a\nb\nc\nd\ne\nf\ng\n".as_bytes();
        let after = "a\n😀\nc\nd\nf\nnew\ng\n";
        let hunks = [
            ((1, 0), (1, 2), "b".to_owned()),
            ((4, 0), (4, 0), "e".to_owned()),
            ((5, 0), (5, 3), "1 new line.".to_owned()),
        ];
        assert_eq!(found(Some(before), after, Encoding::Utf16), hunks);
        assert_eq!(found(Some(before), after, Encoding::Utf8)[0].1, (1, 4));
    }

    #[test]
    fn a_deletion_at_the_end_is_at_the_end() {
        let gone = |text| found(Some(b"a\nb\nc\n"), text, Encoding::Utf16);
        assert_eq!(gone("a\n"), [((1, 0), (1, 0), "b\nc".to_owned())]);
        assert_eq!(gone(""), [((0, 0), (0, 0), "a\nb\nc".to_owned())]);
        let unended = found(Some(b"a\n\n"), "a\n", Encoding::Utf16);
        assert_eq!(unended[0].2, "1 empty line.");
    }

    #[test]
    fn a_new_file_is_one_hunk() {
        let new = found(None, "a\nbc", Encoding::Utf16);
        assert_eq!(new, [((0, 0), (1, 2), "A new file.".to_owned())]);
    }

    #[test]
    fn what_is_no_text_is_shown_harmlessly() {
        let lossy = found(Some(b"a\xff\x1b[2J\tb\n"), "x\n", Encoding::Utf16);
        assert_eq!(lossy[0].2, "a\u{fffd}␛[2J\tb");
        let binary = found(Some(b"\x7fELF\0\0\n\n"), "x\n", Encoding::Utf16);
        assert!(binary[0].2.contains("binary"), "{binary:?}");
    }

    #[test]
    fn line_ends_that_an_agent_does_not_mean_are_no_hunks() {
        assert_eq!(
            found(Some(b"a\r\nb\r\n"), "a\nc\n", Encoding::Utf16).len(),
            1
        );
        let shown = between(Some(b"a\nb\n"), "a\nc\r\n", "a\nc\r\n", Encoding::Utf16);
        assert_eq!(shown[0].range.end.character, 1);
    }

    #[test]
    fn notes_are_warnings_at_the_first_line() {
        let all = ["One.".to_owned(), "Two\x1b.".to_owned()];
        let found = at_top(&all, "é\nb\n", Encoding::Utf8);
        let said: Vec<_> = found.iter().map(|one| one.message.clone()).collect();
        assert_eq!(said, ["One.", "Two␛."]);
        assert!(
            found
                .iter()
                .all(|one| one.severity == MessageType::Warning as u8)
        );
        assert_eq!(
            (found[0].range.start, found[0].range.end),
            (position(0, 0), position(0, 2))
        );
    }

    #[test]
    fn messages_and_their_number_are_bounded() {
        let before = format!("{}\n", "é".repeat(10_000)).repeat(1000);
        let one = found(Some(before.as_bytes()), "x\n", Encoding::Utf16);
        assert!(
            one[0].2.len() < MAX_LINES * (MAX_COLUMNS * 2 + 8),
            "{}",
            one[0].2.len()
        );
        assert!(one[0].2.ends_with("… and 800 more lines"));
        let before = "a\nsame\n".repeat(2000);
        let after = "b\nsame\n".repeat(2000);
        let many = found(Some(before.as_bytes()), &after, Encoding::Utf16);
        assert_eq!(many.len(), MAX_HUNKS);
        assert!(many[999].2.ends_with("… and 1000 more changes below"));
    }
}
