//! The editor's document of a proposal that it opened.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::plain::document::Document;
use crate::plain::wire::Edits;
use crate::position::Encoding;
use pillion_text::restore::is_same_content;

/// The number of its former texts that are known again.
const MAX_FORMER: usize = 64;

/// A proposal as a document of the editor.
#[derive(Debug)]
pub struct View {
    /// The text as it was opened: it shows which bytes the editor hides.
    first: String,
    document: Document,
    is_edited: bool,
    /// The texts that it had before, newest last: their hashes.
    former: VecDeque<u64>,
    /// The text of the last save, unless the edits have led there: they may still be under way.
    saved: Option<String>,
}

impl View {
    pub fn new(text: String) -> Self {
        Self {
            first: text.clone(),
            document: Document::new(text),
            is_edited: false,
            former: VecDeque::new(),
            saved: None,
        }
    }

    pub fn reopen(&mut self, text: String, proposed: &str) {
        if text == self.text() || !is_same_content(&text, proposed) {
            // The person's edits came along.
            self.is_edited |= text != self.first;
            self.document = Document::new(text);
        } else {
            let is_edited = self.is_edited;
            *self = Self::new(text);
            self.is_edited = is_edited;
        }
    }

    pub fn change(&mut self, edits: Edits, encoding: Encoding) {
        self.is_edited |= !edits.changes.is_empty();
        let before = hash(self.text());
        self.document.change(edits, encoding);
        let text = self.document.text();
        self.saved.take_if(|saved| saved == text);
        if hash(text) != before {
            if self.former.len() == MAX_FORMER {
                self.former.pop_front();
            }
            self.former.push_back(before);
        }
    }

    /// The editor saved it, perhaps before it reports the edits.
    pub fn save(&mut self, text: String) {
        // An editor may end the last line only when it saves; nobody asked it to.
        if without_last_end(&text) == without_last_end(self.text()) {
            self.saved = None;
            return;
        }
        self.saved = Some(text.clone());
        // Otherwise it was overtaken by newer edits.
        if !self.former.contains(&hash(&text)) {
            self.is_edited = true;
            self.document.save(text);
        }
    }

    /// Returns true if the last save and the edits lead to different texts: some editors send them in
    /// any order.
    pub fn is_contradicted(&self) -> bool {
        self.saved
            .as_ref()
            .is_some_and(|saved| saved != self.text())
    }

    pub fn text(&self) -> &str {
        self.document.text()
    }

    /// The text as it was opened.
    pub fn first(&self) -> &str {
        &self.first
    }

    /// The text as it was opened and as it is now, if the person edited it.
    pub fn edited(&self) -> Option<(&str, &str)> {
        self.is_edited.then(|| (self.first.as_str(), self.text()))
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn without_last_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::wire::Change;

    fn whole(text: &str) -> Edits {
        let (range, text) = (None, text.to_owned());
        vec![Change { range, text }].into()
    }

    fn opened(text: &str) -> View {
        View::new(text.to_owned())
    }

    #[test]
    fn what_was_only_looked_at_is_not_edited() {
        let mut view = opened("a\nb\n");
        view.save("a\nb\n".to_owned());
        view.save("a\nb".to_owned());
        assert_eq!(view.edited(), None);
        assert_eq!(view.text(), "a\nb\n");
    }

    #[test]
    fn edits_survive_when_it_is_opened_again() {
        let mut view = opened("a\nb\n");
        view.change(whole("a\nc\n"), Encoding::Utf16);
        view.reopen("a\nc\n".to_owned(), "a\r\nb");
        assert_eq!(view.edited(), Some(("a\nb\n", "a\nc\n")));
        view.reopen("a\nb\n".to_owned(), "a\r\nb");
        assert_eq!(view.edited(), Some(("a\nb\n", "a\nb\n")), "taken back");
    }

    #[test]
    fn other_line_ends_survive_when_it_is_opened_again() {
        let mut view = opened("a\r\nb\r\n");
        view.save("a\nb\n".to_owned());
        view.reopen("a\nb\n".to_owned(), "a\r\nb");
        assert_eq!(view.edited(), Some(("a\r\nb\r\n", "a\nb\n")));
    }

    #[test]
    fn a_save_and_edits_that_overtake_each_other_contradict_until_the_last_has_come() {
        let mut view = opened("a\n");
        view.save("a\nxyz\n".to_owned());
        assert!(!view.is_contradicted(), "it is the newest");
        view.change(whole("a\nxy\n"), Encoding::Utf16);
        assert!(view.is_contradicted());
        view.change(whole("a\nxyz\n"), Encoding::Utf16);
        assert!(!view.is_contradicted());
        // A save that comes late.
        view.save("a\nxy\n".to_owned());
        assert!(view.is_contradicted());
        assert_eq!(view.text(), "a\nxyz\n");
        view.save("a\nxyz\n".to_owned());
        assert!(!view.is_contradicted());
    }

    #[test]
    fn a_save_counts_before_its_edits_are_reported() {
        let mut view = opened("a\nb\n");
        view.save("a\nsaved\n".to_owned());
        assert_eq!(view.edited(), Some(("a\nb\n", "a\nsaved\n")));
        view.change(whole("a\nsaved\nmore\n"), Encoding::Utf16);
        assert_eq!(view.text(), "a\nsaved\nmore\n");
    }
}
