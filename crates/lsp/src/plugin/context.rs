//! From the files that an editor has open to those that agents are told of (C4).

use std::cmp::Reverse;
use std::path::Path;

use pillion_protocol::File;
use pillion_protocol::context::MAX_FILES;

use super::messages::OpenFile;
use crate::position::{self, Encoding};
use crate::uri;

/// The files to report: those that `is_file` calls regular files (C4.4), the active one first, then
/// those focused last. No more are looked at than agents are told of, so that thousands of open
/// files cost nothing.
pub fn files(
    mut open: Vec<OpenFile>,
    encoding: Encoding,
    is_file: impl Fn(&Path) -> bool,
) -> Vec<File> {
    open.sort_by_key(|file| Reverse((file.is_active(), file.last_focused)));
    let mut files: Vec<File> = Vec::with_capacity(MAX_FILES);
    for file in open {
        if files.len() == MAX_FILES {
            break;
        }
        let path = uri::to_path(&file.uri).and_then(|path| path.to_str().map(str::to_owned));
        let Some(path) = path else { continue };
        let is_known = files.iter().any(|known| known.path == path);
        if is_known || !is_file(Path::new(&path)) {
            continue;
        }
        let is_first = !files.iter().any(File::is_focused);
        files.push(file.into_reported(path, is_first, encoding));
    }
    files
}

impl OpenFile {
    fn is_active(&self) -> bool {
        self.active == Some(true)
    }

    fn into_reported(self, path: String, may_be_active: bool, encoding: Encoding) -> File {
        if !may_be_active || !self.is_active() {
            return File::open(path, self.last_focused);
        }
        let line_text = self.line_text.as_deref();
        File {
            cursor: self
                .position
                .map(|at| position::cursor(at.line, at.character, line_text, encoding)),
            selected_text: self.selected_text.filter(|text| !text.is_empty()),
            ..File::focused(path, self.last_focused)
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::Cell;

    use pillion_protocol::Cursor;

    use super::*;
    use crate::plugin::messages::Position;

    fn open(uri: &str, last_focused: u64) -> OpenFile {
        OpenFile {
            uri: uri.to_owned(),
            last_focused,
            active: None,
            position: None,
            line_text: None,
            selected_text: None,
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
        files(open, Encoding::Utf8, |path| !path.ends_with("gone"))
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
    fn what_is_no_regular_file_is_left_out_and_the_next_one_comes_in() {
        let names = [
            "file:///gone",
            "untitled:1",
            "term://x",
            "file:///%FF",
            "file:///a",
        ];
        let files = report(names.into_iter().map(|uri| open(uri, 1)).collect());
        assert_eq!(files, [File::open("/a", 1)], "C4.4");
    }

    #[test]
    fn a_file_is_told_once_and_one_file_is_active() {
        let files = report(vec![
            active("file:///a", 1),
            active("file:///b", 2),
            open("file:///b", 3),
            open("file:///%61", 4),
        ]);
        assert_eq!(files.len(), 2);
        assert!(files[0].is_focused() && files[0].path == "/b");
        assert_eq!(files[1], File::open("/a", 1));
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
    fn ten_thousand_open_files_are_not_looked_at() {
        let looks = Cell::new(0);
        let all = (0..10_000)
            .map(|at| open(&format!("file:///{at}"), at))
            .collect();
        let files = files(all, Encoding::Utf16, |_| {
            looks.set(looks.get() + 1);
            true
        });
        assert_eq!((files.len(), looks.get()), (MAX_FILES, MAX_FILES));
        assert_eq!(files[0].path, "/9999");
    }
}
