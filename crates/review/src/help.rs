//! The help: what each key does, in rows of any width. No drawing.

use pillion_text::visible::wrap;
use ratatui::layout::Size;

/// The columns of the keys.
pub const KEY: usize = 11;

/// The columns of the frame and of the space within it.
pub const FRAME: u16 = 6;

/// The help needs no more columns than this.
const MAX_WIDTH: u16 = 60;

/// The keys, and what each of them does.
const KEYS: [(&str, &str); 37] = [
    ("a", "accept the proposal as shown"),
    ("r", "reject it"),
    ("R", "reject, or take back, with a reason"),
    ("C", "note on the hunk, sent with your decision"),
    ("space", "exclude or include the hunk"),
    ("e", "edit the proposal in $VISUAL or $EDITOR"),
    ("z  Z", "undo the last change; redo it"),
    ("", ""),
    ("n  p", "what was not seen yet; previous hunk"),
    ("Tab  1-9", "next pending diff; that number"),
    ("f", "list of pending diffs; type to find one"),
    ("↑↓  j k", "scroll by a line"),
    ("PgUp PgDn", "scroll by a page"),
    ("Home End", "top, end (also g G)"),
    ("←→  h l", "scroll sideways; 0 and $ all the way"),
    ("/", "search all diffs: n and N go on, Esc ends"),
    (":", "go to a line by its number"),
    ("", ""),
    ("u", "unified, or side by side"),
    ("c  Enter", "20 more lines beside the hunk; all of them"),
    ("x", "unfold or fold all unchanged lines"),
    ("w", "wrap long lines, or cut them"),
    ("y  Y", "copy the hunk; the path"),
    ("M", "give the mouse to the terminal, or take it"),
    ("i", "n skips hunks of whitespace only, or not"),
    ("o", "merge with the file on disk"),
    ("s", "send your notes to the agent now"),
    ("m", "show every change, or as the agent asks"),
    ("v", "view what was written without asking"),
    ("H", "history of what you decided"),
    ("S", "list it: a keeps, r R take back, C notes"),
    ("t", "show or hide that list beside the diff"),
    ("", ""),
    ("?", "this help"),
    ("q  Ctrl-C", "quit; pending diffs are rejected"),
    ("Ctrl-Z", "suspend"),
    ("", ""),
];

/// Other facts that are good to know.
const NOTES: [&str; 6] = [
    "↑ ↓ at an edge: the line moved, from or to there",
    "● unseen  ✓ kept, accepted  ✎ edited  ↩ taken back",
    "The agent writes the file after you accept.",
    "What you take back is all that is written here.",
    "Key repeat and pasted text never decide.",
    "An unedited last line keeps its missing newline.",
];

/// The advice where agents see nothing, and the command for it.
const LOST: (&str, &str) = ("An agent cannot find this window?", "pillion run claude");

/// One row of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpRow {
    /// A key, or none where the text goes on, and what it does.
    Key(&'static str, &'static str),
    /// A note, and perhaps a command at its end.
    Note(&'static str, Option<&'static str>),
}

/// The rows in a terminal of this size, and how many of them can be seen at once.
pub fn rows(size: Size) -> (Vec<HelpRow>, u16) {
    let room = usize::from(width(size).saturating_sub(FRAME)).max(KEY + 1);
    let mut rows = Vec::new();
    for (key, text) in KEYS {
        let parts = wrap::rows(text, room - KEY).into_iter().enumerate();
        rows.extend(
            parts.map(|(at, part)| HelpRow::Key(if at == 0 { key } else { "" }, &text[part])),
        );
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

/// The columns that it takes, with its frame.
pub fn width(size: Size) -> u16 {
    size.width.min(MAX_WIDTH)
}

/// The largest number of rows by which it can be scrolled.
pub fn last_scroll(size: Size) -> u16 {
    let (rows, seen) = rows(size);
    let count = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    count.saturating_sub(seen)
}

#[cfg(test)]
mod tests {
    use pillion_text::visible::width as columns;

    use super::*;

    #[test]
    fn the_help_breaks_between_words_at_any_width() {
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
        let (wide, _) = rows(Size::new(200, 50));
        assert_eq!(
            wide.len(),
            KEYS.len() + NOTES.len() + 1,
            "nothing is broken"
        );
        for width in 40..60 {
            let size = Size::new(width, 15);
            let (rows, seen) = rows(size);
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
            assert_eq!(usize::from(last_scroll(size) + seen), rows.len());
        }
    }
}
