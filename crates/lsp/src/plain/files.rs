//! The open files and what is focused in them, as far as a plain client lets it be known: by what
//! it opens and saves, and by the places that it asks about.

use std::path::{Path, PathBuf};

use pillion_protocol::File;
use unicode_segmentation::UnicodeSegmentation;

use crate::plain::document::Document;
use crate::plain::wire::{DocumentEvent, Edits, Position, Range};
use crate::position::Encoding;
use crate::profile::MAX_REPORTED;

/// Changes that follow each other within this time are one: as a person types, or as an editor reads a file.
const TYPING_MS: u64 = 500;

/// The files that are open in the editor.
#[derive(Debug, Default)]
pub struct Files {
    encoding: Encoding,
    /// The editor's cursor lies on a character, which it takes for a selection.
    has_block_cursor: bool,
    /// The one that was focused last at the end.
    open: Vec<OpenFile>,
    /// When a file was focused last. Never goes back, as a clock may.
    newest_ms: u64,
}

#[derive(Debug)]
struct OpenFile {
    document: Document,
    changed_ms: u64,
    is_edited: bool,
    /// The state that is reported of it. It counts as focused: the first one that is on disk is the active one.
    reported: File,
}

impl Files {
    /// No files. With `has_block_cursor`, a range of one character is the cursor.
    pub fn new(encoding: Encoding, has_block_cursor: bool) -> Self {
        Self {
            encoding,
            has_block_cursor,
            ..Self::default()
        }
    }

    /// The editor does something with a file. Returns true if there is something to report.
    pub fn document_event(&mut self, path: PathBuf, event: DocumentEvent, now_ms: u64) -> bool {
        match event {
            DocumentEvent::Opened { text, .. } => self.open(path, text, now_ms),
            DocumentEvent::Changed(edits) => return self.change(&path, edits),
            DocumentEvent::Saved(text) => self.save(&path, text, now_ms),
            DocumentEvent::Closed => self.close(&path),
        }
        true
    }

    /// Notes that a file changes in the editor. Returns true if the editor may have read it anew: it does so in one piece, and
    /// never while the person types.
    pub fn may_be_read(&mut self, path: &Path, now_ms: u64) -> bool {
        let Some(at) = self.position(path) else {
            return false;
        };
        let changed_ms = std::mem::replace(&mut self.open[at].changed_ms, now_ms);
        now_ms.saturating_sub(changed_ms) >= TYPING_MS
    }

    /// A file was opened, and so focused.
    fn open(&mut self, path: PathBuf, text: String, now_ms: u64) {
        self.close(&path);
        self.open.push(OpenFile {
            document: Document::new(text),
            changed_ms: 0,
            is_edited: false,
            // The path comes from a URI, so it is UTF-8.
            reported: File::focused(path.to_string_lossy(), now_ms),
        });
        self.focus(&path, now_ms);
    }

    /// A file was edited. What was selected before is not selected any more.
    fn change(&mut self, path: &Path, edits: Edits) -> bool {
        let Some(at) = self.position(path) else {
            return false;
        };
        let file = &mut self.open[at];
        file.document.change(edits, self.encoding);
        file.is_edited = true;
        file.reported.selected_text = None;
        file.reported.selection.take().is_some()
    }

    /// A file was saved, and so focused. The editor's text wins.
    fn save(&mut self, path: &Path, text: Option<String>, now_ms: u64) {
        let Some(file) = self.focus(path, now_ms) else {
            return;
        };
        file.is_edited = false;
        if let Some(text) = text {
            file.document.save(text);
        }
    }

    fn close(&mut self, path: &Path) {
        if let Some(at) = self.position(path) {
            self.open.remove(at);
        }
    }

    /// This is selected, or the cursor is there if it is empty.
    pub fn select(&mut self, path: &Path, range: Range, now_ms: u64) {
        let (encoding, has_block_cursor) = (self.encoding, self.has_block_cursor);
        let Some(file) = self.focus(path, now_ms) else {
            return;
        };
        let text = file.document.slice(range, encoding);
        let is_cursor = has_block_cursor && text.graphemes(true).take(2).count() == 1;
        let is_selected = !text.is_empty() && !is_cursor;
        let place = file.document.range(range, encoding);
        let end = if is_selected {
            range.end.max(range.start)
        } else {
            range.start
        };
        file.reported.selected_text = is_selected.then(|| text.to_owned());
        file.reported.selection = is_selected.then_some(place);
        file.reported.cursor = Some(file.document.cursor(end, encoding));
    }

    /// The cursor is there. Editors that ask about it while there is a selection do not mention that: it stays as long
    /// as the cursor is at one of its ends.
    pub fn visit(&mut self, path: &Path, at: Position, now_ms: u64) {
        let encoding = self.encoding;
        let Some(file) = self.focus(path, now_ms) else {
            return;
        };
        let range = Range { start: at, end: at };
        let place = file.document.range(range, encoding).start;
        let selection = &mut file.reported.selection;
        let left = selection.take_if(|it| place != it.start && place != it.end);
        if left.is_some() {
            file.reported.selected_text = None;
        }
        file.reported.cursor = Some(file.document.cursor(at, encoding));
    }

    /// The files to report, newest first.
    pub fn report(&self) -> Vec<File> {
        let newest = self.open.iter().rev().take(MAX_REPORTED);
        newest.map(|file| file.reported.clone()).collect()
    }

    pub fn text(&self, path: &Path) -> Option<&str> {
        let at = self.position(path)?;
        Some(self.open[at].document.text())
    }

    /// Returns true if a file is open, and was edited since it was opened or saved.
    pub fn is_edited(&self, path: &Path) -> bool {
        self.position(path)
            .is_some_and(|at| self.open[at].is_edited)
    }

    fn position(&self, path: &Path) -> Option<usize> {
        let path = path.to_str()?;
        let mut open = self.open.iter();
        open.rposition(|file| file.reported.path == path)
    }

    fn focus(&mut self, path: &Path, now_ms: u64) -> Option<&mut OpenFile> {
        let at = self.position(path)?;
        self.open[at..].rotate_left(1);
        self.newest_ms = self.newest_ms.max(now_ms);
        let file = self.open.last_mut()?;
        file.reported.timestamp = self.newest_ms;
        Some(file)
    }
}

#[cfg(test)]
mod tests {
    use pillion_protocol::IdeContext;

    use super::*;
    use crate::plain::wire::Change;

    fn files() -> Files {
        let mut files = Files::new(Encoding::Utf16, false);
        files.open("/a".into(), "one\ntwo\n".to_owned(), 1);
        files.open("/b".into(), "é😀x\n".to_owned(), 1);
        files
    }

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn range(start: Position, end: Position) -> Range {
        Range { start, end }
    }

    #[test]
    fn a_file_may_be_read_anew_but_not_while_the_person_types() {
        let mut files = files();
        let path = Path::new("/a");
        let typed = [1000, 1100, 1500, 1900, 2500];
        let may_be = typed.map(|now_ms| files.may_be_read(path, now_ms));
        assert_eq!(may_be, [true, false, false, false, true]);
        assert!(files.may_be_read(Path::new("/b"), 2500), "each by itself");
        assert!(!files.may_be_read(Path::new("/c"), 2500), "it is not open");
    }

    fn active(files: &Files) -> File {
        files.report().remove(0)
    }

    fn cursor(file: &File) -> (u32, u32) {
        let cursor = file.cursor.unwrap();
        (cursor.line, cursor.character)
    }

    #[test]
    fn what_was_opened_saved_or_asked_about_last_comes_first() {
        let mut files = files();
        let order = |files: &Files| {
            let paths = files.report();
            paths.into_iter().map(|file| file.path).collect::<String>()
        };
        assert_eq!(order(&files), "/b/a");
        files.save(Path::new("/a"), None, 1);
        assert_eq!(order(&files), "/a/b");
        files.select(Path::new("/b"), range(at(0, 3), at(0, 3)), 2);
        assert_eq!(order(&files), "/b/a");
        assert_eq!(cursor(&active(&files)), (1, 4));
        files.close(Path::new("/b"));
        assert_eq!(order(&files), "/a");
        files.select(Path::new("/never-opened"), range(at(0, 0), at(0, 0)), 3);
        assert_eq!(order(&files), "/a");
    }

    #[test]
    fn a_selection_lasts_until_a_place_without_one_or_an_edit() {
        let mut files = files();
        let path = Path::new("/b");
        files.select(path, range(at(0, 1), at(0, 4)), 2);
        assert_eq!(active(&files).selected_text.as_deref(), Some("😀x"));
        assert_eq!(cursor(&active(&files)), (1, 5));
        files.select(path, range(at(0, 1), at(0, 1)), 2);
        assert_eq!(active(&files).selected_text, None);
        files.select(path, range(at(0, 4), at(0, 1)), 2);
        assert_eq!(active(&files).selected_text.as_deref(), Some("😀x"));
        let insert = Change {
            range: None,
            text: "y".to_owned(),
        };
        assert!(files.change(path, vec![insert].into()));
        assert_eq!(active(&files).selected_text, None);
    }

    #[test]
    fn a_selection_lasts_while_the_cursor_is_at_one_of_its_ends() {
        let mut files = files();
        let path = Path::new("/a");
        files.select(path, range(at(0, 1), at(1, 2)), 2);
        for (place, expected) in [(at(1, 2), (2, 3)), (at(0, 1), (1, 2))] {
            files.visit(path, place, 2);
            let selected = active(&files).selected_text;
            assert_eq!(selected.as_deref(), Some("ne\ntw"));
            assert_eq!(cursor(&active(&files)), expected);
        }
        for place in [at(1, 1), at(0, 0), at(1, 3), at(2, 0)] {
            files.select(path, range(at(0, 1), at(1, 2)), 2);
            files.visit(path, place, 2);
            assert_eq!(active(&files).selected_text, None, "{place:?}");
        }
    }

    #[test]
    fn text_and_range_of_a_selection_belong_together() {
        let mut files = Files::new(Encoding::Utf8, false);
        files.open("/a".into(), "é😀x\r\nend".to_owned(), 1);
        let mut selected = |start, end| {
            files.select(Path::new("/a"), range(start, end), 2);
            let file = active(&files);
            let found = file.selection;
            let place = |at: pillion_protocol::Position| (at.line, at.character);
            found.map(|range| {
                (
                    file.selected_text.unwrap(),
                    place(range.start),
                    place(range.end),
                )
            })
        };
        let two = |text: &str, start, end| Some((text.to_owned(), start, end));
        assert_eq!(selected(at(0, 2), at(0, 6)), two("😀", (0, 1), (0, 3)));
        assert_eq!(selected(at(1, 2), at(0, 6)), two("x\r\nen", (0, 3), (1, 2)));
        assert_eq!(selected(at(1, 0), at(9, 9)), two("end", (1, 0), (1, 3)));
        assert_eq!(selected(at(1, 0), at(1, 0)), None);
    }

    #[test]
    fn a_selection_stays_with_its_file() {
        let mut files = files();
        files.select(Path::new("/a"), range(at(0, 0), at(1, 0)), 2);
        files.save(Path::new("/b"), None, 3);
        let told = IdeContext::for_agents(files.report(), None);
        let told = told.files();
        assert_eq!(told[0].path, "/b");
        assert_eq!((&told[1].selected_text, told[1].cursor), (&None, None));
    }

    #[test]
    fn a_block_cursor_selects_nothing() {
        for character in ["é", "e\u{301}", "👩\u{200d}🔬", "\r\n"] {
            let mut files = Files::new(Encoding::Utf8, true);
            files.open("/a".into(), format!("{character}x\n"), 1);
            let end = match character {
                "\r\n" => at(1, 0),
                _ => at(0, u32::try_from(character.len()).unwrap()),
            };
            files.select(Path::new("/a"), range(at(0, 0), end), 2);
            assert_eq!(active(&files).selected_text, None, "{character:?}");
            assert_eq!(cursor(&active(&files)), (1, 1));
        }
    }

    #[test]
    fn of_ten_thousand_open_files_the_newest_are_reported() {
        let mut files = Files::new(Encoding::Utf16, false);
        for number in 0..10_000 {
            files.open(format!("/{number}").into(), String::new(), 1);
        }
        let report = files.report();
        assert_eq!(report.len(), MAX_REPORTED);
        assert_eq!(report[0].path, "/9999");
    }

    #[test]
    fn the_text_of_a_save_wins_until_the_edit_that_comes_late() {
        let mut files = files();
        let path = Path::new("/a");
        files.save(path, Some("zero\none\ntwo\n".to_owned()), 2);
        files.select(path, range(at(0, 0), at(0, 4)), 2);
        assert_eq!(active(&files).selected_text.as_deref(), Some("zero"));
        let late = Change {
            range: Some(range(at(0, 0), at(0, 0))),
            text: "zero\n".to_owned(),
        };
        files.change(path, vec![late].into());
        files.select(path, range(at(1, 0), at(1, 3)), 2);
        assert_eq!(active(&files).selected_text.as_deref(), Some("one"));
    }
}
