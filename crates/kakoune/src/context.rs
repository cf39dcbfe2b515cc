//! From Kakoune's reports to the files that are sent to agents (C4).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::PathBuf;

use pillion_protocol::{Cursor, File, Position, Range};

use crate::quote;

/// No more files than this are sent to agents.
const MAX_REPORTED: usize = 64;

/// The state of a client of Kakoune's, as `pillion-report` writes it: in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub session: String,
    pub client: String,
    pub pid: u32,
    /// The pane for proposals that it is; empty for the person's own.
    pub review: String,
    /// The file of the buffer that is shown, or the buffer's name.
    file: String,
    /// The proposal that the buffer is; 0 for none.
    pub view: u64,
    /// Anchor and cursor of the main selection, each line and byte, from 1.
    selection: Option<[(u32, u32); 2]>,
    /// The cursor's line up to the cursor, with the character there.
    before: String,
    /// The same for the selection's beginning.
    start: String,
    selected: String,
    pub width: u32,
    pub tmux: String,
    pub pane: String,
    pub folder: String,
    files: Vec<String>,
}

impl Report {
    /// Reads it; nothing if it is not whole.
    pub fn read(text: &str) -> Option<Self> {
        let mut words = quote::words(text.as_bytes())?;
        if words.pop()? != b"end" {
            return None;
        }
        // They are of a text.
        let words = words.into_iter().map(String::from_utf8);
        let mut words = words.filter_map(Result::ok);
        Some(Self {
            session: words.next()?,
            client: words.next()?,
            pid: words.next()?.parse().ok()?,
            review: words.next()?,
            file: words.next()?,
            view: words.next()?.parse().ok()?,
            selection: read_selection(&words.next()?),
            before: words.next()?,
            start: words.next()?,
            selected: words.next()?,
            width: words.next()?.parse().unwrap_or_default(),
            tmux: words.next()?,
            pane: words.next()?,
            folder: words.next()?,
            files: words.collect(),
        })
    }

    /// Returns true if a file is shown, and not a proposal or a buffer without one.
    pub fn is_of_file(&self) -> bool {
        self.view == 0 && self.file.starts_with('/')
    }

    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = self.files.iter().filter(|file| file.starts_with('/'));
        files.map(PathBuf::from)
    }
}

/// `LINE.COLUMN,LINE.COLUMN`.
pub fn read_selection(text: &str) -> Option<[(u32, u32); 2]> {
    let place = |text: &str| {
        let (line, column) = text.split_once('.')?;
        Some((line.parse().ok()?, column.parse().ok()?))
    };
    let (anchor, cursor) = text.split_once(',')?;
    Some([place(anchor)?, place(cursor)?])
}

/// The state that was reported so far.
#[derive(Debug, Default)]
pub struct Context {
    focused: HashMap<String, u64>,
    active: Option<File>,
    sent: Vec<File>,
}

impl Context {
    /// The files to send to agents now, if they have changed.
    pub fn update(&mut self, report: &Report, now: u64) -> Option<Vec<File>> {
        if report.is_of_file() {
            let known = self.active.as_ref().filter(|it| it.path == report.file);
            let timestamp = known.map_or(now, |it| it.timestamp);
            self.focused.insert(report.file.clone(), timestamp);
            self.active = Some(report.active(timestamp));
        }
        for file in &report.files {
            // Older than what is in focus, and from then on known.
            let opened = now.saturating_sub(1);
            self.focused.entry(file.clone()).or_insert(opened);
        }
        self.focused
            .retain(|file, _| report.files.contains(file) || *file == report.file);
        self.active
            .take_if(|it| !self.focused.contains_key(&it.path));
        let others = report.files.iter().filter(|file| file.starts_with('/'));
        let mut files: Vec<File> = others
            .filter(|file| self.active.as_ref().is_none_or(|it| it.path != **file))
            .map(|file| File::open(file, self.focused.get(file).copied().unwrap_or_default()))
            .chain(self.active.clone())
            .collect();
        files.sort_by_key(|file| Reverse((file.is_focused(), file.timestamp)));
        files.truncate(MAX_REPORTED);
        if files == self.sent {
            return None;
        }
        self.sent.clone_from(&files);
        Some(files)
    }
}

impl Report {
    fn active(&self, timestamp: u64) -> File {
        let mut file = File::focused(&self.file, timestamp);
        let Some([anchor, cursor]) = self.selection else {
            return file;
        };
        let at = Position {
            line: cursor.0.saturating_sub(1),
            character: before_last(&self.before),
        };
        file.cursor = Some(Cursor {
            line: at.line + 1,
            character: at.character + 1,
        });
        // One character is always selected: that is the cursor.
        if anchor != cursor && !self.selected.is_empty() {
            let start = Position {
                line: anchor.min(cursor).0.saturating_sub(1),
                character: before_last(&self.start),
            };
            file.selected_text = Some(self.selected.clone());
            file.selection = Some(Range::of_text(start, &self.selected));
        }
        file
    }
}

/// The UTF-16 units before the last character of a text.
fn before_last(text: &str) -> u32 {
    let last = text.chars().next_back().map_or(0, char::len_utf16);
    let length = text.encode_utf16().count() - last;
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(file: &str, view: &str, selection: &str, texts: [&str; 3], files: &[&str]) -> Report {
        let [before, start, selected] = texts;
        let fixed = [
            "s", "client0", "7", "", file, view, selection, before, start, selected, "80", "", "",
            "/f",
        ];
        let words = fixed.iter().chain(files).chain(&["end"]);
        let words: Vec<_> = words.map(|word| quote::word(word)).collect();
        Report::read(&words.join(" ")).unwrap()
    }

    #[test]
    fn the_cursor_and_the_selection_are_as_agents_count() {
        let mut context = Context::default();
        let texts = ["é😀x", "é😀", "😀x\nab"];
        let one = report("/a", "0", "1.3,1.7", texts, &["/b", "/a", "*x*"]);
        let files = context.update(&one, 5).unwrap();
        assert_eq!(files.len(), 2);
        let active = &files[0];
        let cursor = active.cursor.unwrap();
        assert_eq!((cursor.line, cursor.character), (1, 4));
        assert_eq!(active.selected_text.as_deref(), Some("😀x\nab"));
        let range = active.selection.unwrap();
        assert_eq!((range.start.line, range.start.character), (0, 1));
        assert_eq!((range.end.line, range.end.character), (1, 2));
        assert_eq!(context.update(&one, 6), None, "nothing has changed");
    }

    #[test]
    fn the_cursor_alone_is_no_selection() {
        let mut context = Context::default();
        let one = report("/a", "0", "1.3,1.3", ["abc", "abc", "c"], &["/a"]);
        assert_eq!(context.update(&one, 5).unwrap()[0].selected_text, None);
    }

    #[test]
    fn a_proposal_in_front_changes_nothing() {
        let mut context = Context::default();
        let one = report("/a", "0", "1.1,1.3", ["abc", "a", "abc"], &["/a"]);
        context.update(&one, 5);
        let view = report("*pillion-1*", "1", "1.1,1.1", ["x", "x", "x"], &["/a"]);
        assert_eq!(context.update(&view, 6), None);
        let closed = report("*scratch*", "0", "1.1,1.1", ["x", "x", "x"], &["*scratch*"]);
        assert_eq!(context.update(&closed, 7).unwrap(), []);
    }

    #[test]
    fn half_a_report_is_none() {
        for text in ["", "'a' 'end'", "'a' 'b"] {
            assert_eq!(Report::read(text), None);
        }
    }
}
