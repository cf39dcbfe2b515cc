//! The help: what each key does, in rows of any width. No drawing.

use pillion_judge::act::{Act, Command, GROUPS};
use pillion_judge::keys::{Chord, Keys};
use pillion_text::visible::{self, wrap};
use ratatui::layout::Size;

/// The columns of the keys.
pub const KEY: usize = 14;

/// The columns of the frame and of the space within it.
pub const FRAME: u16 = 6;

/// The help needs no more columns than this.
const MAX_WIDTH: u16 = 63;

/// Other facts that are good to know.
const NOTES: [&str; 9] = [
    "· not seen yet  * new or changed  ! look closely  ✗ excluded",
    "A new  M changed  D deleted  R renamed, in lists of diffs",
    "❯ the cursor  ▌ this hunk  █ selected  ‹ › the line goes on",
    "↑ ↓ the line moved, from or to there  ⋯ folded lines",
    "a number in the colour of hits: the line has one",
    "● unseen  ✓ kept, accepted  ✎ edited  ↩ taken back",
    "The agent writes the file after you accept.",
    "Pillion writes a file only when you take something back.",
    "Key repeat and pasted text never decide.",
];

/// The advice where agents see nothing, and the command for it.
const LOST: (&str, &str) = ("An agent cannot find this window?", "pillion run claude");

/// One row of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpRow {
    /// A key, or none where the text goes on, and what it does.
    Key(String, &'static str),
    /// A note, and perhaps a command at its end.
    Note(&'static str, Option<&'static str>),
}

/// The rows in a terminal of this size, and how many of them can be seen at once.
pub fn rows(keys: &Keys, size: Size) -> (Vec<HelpRow>, u16) {
    let room = usize::from(width(size).saturating_sub(FRAME)).max(KEY + 1);
    let mut rows = Vec::new();
    for group in GROUPS {
        let shown = group.chunk_by(|one, other| one.help == other.help);
        for alike in shown.filter(|alike| !alike[0].help.is_empty()) {
            let (mut key, text) = (label(keys, alike), alike[0].help);
            let parts = wrap::rows(text, room - KEY).into_iter();
            rows.extend(parts.map(|part| HelpRow::Key(std::mem::take(&mut key), &text[part])));
        }
        rows.push(HelpRow::Note("", None));
    }
    for text in NOTES {
        let parts = wrap::rows(text, room).into_iter();
        rows.extend(parts.map(|part| HelpRow::Note(&text[part], None)));
    }
    let (text, command) = LOST;
    if text.len() + 1 + command.len() <= room {
        rows.push(HelpRow::Note(text, Some(command)));
    } else {
        let parts = wrap::rows(text, room).into_iter();
        rows.extend(parts.map(|part| HelpRow::Note(&text[part], None)));
        rows.push(HelpRow::Note("", Some(command)));
    }
    (rows, size.height.saturating_sub(2))
}

/// The keys of commands that do the like: all of them, or as many of each as there is room for.
fn label(keys: &Keys, alike: &[Command]) -> String {
    let names = |most: usize| {
        let of = |command: &Command| keys.all(command.act).iter().take(most);
        let names = alike.iter().flat_map(of).map(Chord::to_string);
        names.collect::<Vec<_>>()
    };
    if let [command] = alike
        && let Act::Digit(_) = command.act
    {
        return "1 to 9".to_owned();
    }
    let fits = |name: &String| visible::width(name) < KEY;
    let labels = [usize::MAX, 1].map(|most| names(most).join(" "));
    let first = names(1).into_iter().next().unwrap_or_default();
    labels.into_iter().find(fits).unwrap_or(first)
}

/// The columns that it takes, with its frame.
pub fn width(size: Size) -> u16 {
    size.width.min(MAX_WIDTH)
}

/// The largest number of rows by which it can be scrolled.
pub fn last_scroll(keys: &Keys, size: Size) -> u16 {
    let (rows, seen) = rows(keys, size);
    let count = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    count.saturating_sub(seen)
}

#[cfg(test)]
mod tests {
    use pillion_text::visible::width as columns;

    use super::*;

    #[test]
    fn every_mark_is_explained() {
        let (rows, _) = rows(&Keys::default(), Size::new(200, 50));
        let notes = rows.iter().filter_map(|row| match row {
            HelpRow::Note(text, _) => Some(*text),
            HelpRow::Key(..) => None,
        });
        let notes = notes.collect::<Vec<_>>().join(" ");
        let words: Vec<_> = notes.split_whitespace().collect();
        for mark in "·*!✗●✓✎↩↑↓❯▌█‹›⋯AMDR".chars() {
            assert!(words.contains(&&*mark.to_string()), "{mark}");
        }
    }

    #[test]
    fn the_help_breaks_between_words_at_any_width() {
        let keys = Keys::default();
        let all = |rows: &[HelpRow]| {
            let text = rows.iter().map(|row| match row {
                HelpRow::Key(key, text) => format!("{key} {text}"),
                HelpRow::Note(text, command) => format!("{text} {}", command.unwrap_or_default()),
            });
            let text = text.collect::<Vec<_>>().join(" ");
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let (wide, _) = rows(&keys, Size::new(200, 50));
        let is_broken = |row: &HelpRow| matches!(row, HelpRow::Key(key, _) if key.is_empty());
        assert!(!wide.iter().any(is_broken), "nothing is broken");
        for width in 40..60 {
            let size = Size::new(width, 15);
            let (rows, seen) = rows(&keys, size);
            assert_eq!(all(&rows), all(&wide), "{width}");
            let room = usize::from(width - FRAME);
            for row in &rows {
                let taken = match row {
                    HelpRow::Key(_, text) => KEY + columns(text),
                    HelpRow::Note(text, command) => {
                        columns(text) + command.map_or(0, |it| it.len() + 1)
                    }
                };
                assert!(taken <= room + 1, "{width}: {row:?}");
            }
            assert_eq!(usize::from(last_scroll(&keys, size) + seen), rows.len());
        }
    }
}
