//! From the files that an editor has open to those that are sent to agents (C4).

use std::cmp::Reverse;
use std::collections::HashSet;

use pillion_protocol::{File, Position};

use super::messages::{OpenFile, Range};
use crate::position::{self, Encoding};
use crate::profile::MAX_REPORTED;
use crate::uri;

/// The files to report: the active one first, then those focused last. No more than
/// [`MAX_REPORTED`], so that thousands of open files cost nothing.
pub fn files(mut open: Vec<OpenFile>, encoding: Encoding) -> Vec<File> {
    open.sort_by_key(|file| Reverse((file.is_active(), file.last_focused)));
    let mut known = HashSet::new();
    let named = open.into_iter().filter_map(|file| {
        let path = uri::to_path(&file.uri)?;
        let path = path.to_str()?;
        known
            .insert(path.to_owned())
            .then(|| file.into_reported(path.to_owned(), encoding))
    });
    named.take(MAX_REPORTED).collect()
}

impl OpenFile {
    fn is_active(&self) -> bool {
        self.active == Some(true)
    }

    fn into_reported(self, path: String, encoding: Encoding) -> File {
        if !self.is_active() {
            return File::open(path, self.last_focused);
        }
        let line_text = self.line_text.as_deref();
        let selected_text = self.selected_text.filter(|text| !text.is_empty());
        let selection = self.selection.filter(|_| selected_text.is_some());
        File {
            cursor: self
                .position
                .map(|at| position::cursor(at.line, at.character, line_text, encoding)),
            selected_text,
            selection: selection.map(|range| range.as_agents_count(encoding)),
            ..File::focused(path, self.last_focused)
        }
    }
}

impl Range {
    /// In UTF-16 units, and forwards.
    pub fn as_agents_count(&self, encoding: Encoding) -> pillion_protocol::Range {
        let place = |at: Position, line: &Option<String>| Position {
            character: position::utf16(at.character, line.as_deref(), encoding),
            ..at
        };
        let start = place(self.start, &self.start_line_text);
        let end = place(self.end, &self.end_line_text);
        pillion_protocol::Range {
            start: start.min(end),
            end: end.max(start),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use pillion_protocol::Cursor;

    use super::*;

    fn open(uri: &str, last_focused: u64) -> OpenFile {
        OpenFile {
            uri: uri.to_owned(),
            last_focused,
            active: None,
            position: None,
            line_text: None,
            selected_text: None,
            selection: None,
        }
    }

    fn active(uri: &str, last_focused: u64) -> OpenFile {
        OpenFile {
            active: Some(true),
            position: Some(Position {
                line: 0,
                character: 3,
            }),
            line_text: Some("éx".to_owned()),
            selected_text: Some("x".to_owned()),
            ..open(uri, last_focused)
        }
    }

    fn report(open: Vec<OpenFile>) -> Vec<File> {
        files(open, Encoding::Utf8)
    }

    #[test]
    fn the_active_file_comes_first_with_its_cursor_as_agents_count() {
        let files = report(vec![
            open("file:///b", 9),
            active("file:///a", 1),
            open("file:///c", 10),
        ]);
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["/a", "/c", "/b"]);
        assert_eq!(
            files[0].cursor,
            Some(Cursor {
                line: 1,
                character: 3
            })
        );
        assert_eq!(files[0].selected_text.as_deref(), Some("x"));
    }

    #[test]
    fn what_names_no_file_is_left_out() {
        let names = ["untitled:1", "term://x", "file:///%FF", "file:///a"];
        let files = report(names.into_iter().map(|uri| open(uri, 1)).collect());
        assert_eq!(files, [File::open("/a", 1)], "C4.4");
    }

    #[test]
    fn a_file_is_reported_once_and_the_active_one_first() {
        let files = report(vec![
            active("file:///a", 1),
            active("file:///b", 2),
            open("file:///b", 3),
            open("file:///%61", 4),
        ]);
        assert_eq!(files.len(), 2);
        assert!(files[0].is_focused() && files[0].path == "/b");
        // If the first of them is not on disk it is the next one's turn.
        assert!(files[1].is_focused() && files[1].path == "/a");
    }

    #[test]
    fn nothing_selected_is_no_selection() {
        let file = OpenFile {
            selected_text: Some(String::new()),
            ..active("file:///a", 1)
        };
        assert_eq!(report(vec![file])[0].selected_text, None);
    }

    #[test]
    fn a_selection_is_where_agents_count_it_and_only_where_a_text_is() {
        let at = |line, character| Position { line, character };
        let range = Range {
            start: at(1, 5),
            end: at(0, 2),
            start_line_text: Some("é😀x".to_owned()),
            end_line_text: Some("é".to_owned()),
        };
        let file = |selected_text: Option<&str>| OpenFile {
            selected_text: selected_text.map(str::to_owned),
            selection: Some(range.clone()),
            ..active("file:///a", 1)
        };
        let selection = |text| report(vec![file(text)])[0].selection;
        let found = selection(Some("x")).unwrap();
        let place = |at: Position| (at.line, at.character);
        assert_eq!((place(found.start), place(found.end)), ((0, 1), (1, 1)));
        assert_eq!(selection(None), None);
        assert_eq!(selection(Some("")), None);
    }

    #[test]
    fn of_ten_thousand_open_files_the_newest_are_reported() {
        let all = (0..10_000)
            .map(|at| open(&format!("file:///{at}"), at))
            .collect();
        let files = files(all, Encoding::Utf16);
        assert_eq!(files.len(), MAX_REPORTED);
        assert_eq!(files[0].path, "/9999");
    }
}
