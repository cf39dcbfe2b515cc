//! What the editor has of a proposal that it opened.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::plain::document::Document;
use crate::plain::wire::Edits;
use crate::position::Encoding;
use crate::restore::is_same_content;

/// How many of its former texts are known again.
const MAX_FORMER: usize = 64;

/// A proposal as a document of the editor, once it was opened.
#[derive(Debug, Default)]
pub struct View {
    opened: Option<Opened>,
}

#[derive(Debug)]
struct Opened {
    /// The text as it was opened: it shows which bytes the editor hides.
    first: String,
    document: Document,
    is_edited: bool,
    /// Which texts it had before, newest last: their hashes.
    former: VecDeque<u64>,
    /// The text of the last save, unless the edits have led there: they may still be under way.
    saved: Option<String>,
}

impl View {
    /// The editor opened it, or opened it again.
    pub fn open(&mut self, text: String, proposed: &str) {
        let document = Document::new(text);
        match &mut self.opened {
            // The person's edits came along.
            Some(opened)
                if document.text() == opened.document.text()
                    || !is_same_content(document.text(), proposed) =>
            {
                opened.is_edited |= document.text() != opened.first;
                opened.document = document;
            }
            opened => {
                let is_edited = opened.as_ref().is_some_and(|opened| opened.is_edited);
                *opened = Some(Opened {
                    first: document.text().to_owned(),
                    document,
                    is_edited,
                    former: VecDeque::new(),
                    saved: None,
                });
            }
        }
    }

    /// The person edited it.
    pub fn change(&mut self, edits: Edits, encoding: Encoding) {
        if let Some(opened) = &mut self.opened {
            opened.is_edited |= !edits.changes.is_empty();
            let before = hash(opened.document.text());
            opened.document.change(edits, encoding);
            opened.remember(before);
        }
    }

    /// The editor saved it, perhaps before it reports the edits.
    pub fn save(&mut self, text: String) {
        let Some(opened) = &mut self.opened else {
            return;
        };
        // An editor may end the last line only when it saves; nobody asked it to.
        if without_last_end(&text) == without_last_end(opened.document.text()) {
            opened.saved = None;
            return;
        }
        opened.saved = Some(text.clone());
        // Otherwise it was overtaken by newer edits.
        if !opened.former.contains(&hash(&text)) {
            opened.is_edited = true;
            opened.document.save(text);
        }
    }

    /// Whether the last save and the edits lead to different texts: some editors send them in any order.
    pub fn is_contradicted(&self) -> bool {
        let opened = self.opened.as_ref();
        opened.is_some_and(|it| {
            it.saved
                .as_ref()
                .is_some_and(|saved| saved != it.document.text())
        })
    }

    /// The text in the editor, if it was opened.
    pub fn text(&self) -> Option<&str> {
        let opened = self.opened.as_ref()?;
        Some(opened.document.text())
    }

    /// The text as it was opened and as it is now, if the person edited it.
    pub fn edited(&self) -> Option<(&str, &str)> {
        let opened = self.opened.as_ref().filter(|opened| opened.is_edited)?;
        Some((&opened.first, opened.document.text()))
    }
}

impl Opened {
    /// Remembers the text of this hash, if it is another one now.
    fn remember(&mut self, before: u64) {
        let text = self.document.text();
        self.saved.take_if(|saved| saved == text);
        if hash(text) == before {
            return;
        }
        if self.former.len() == MAX_FORMER {
            self.former.pop_front();
        }
        self.former.push_back(before);
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
        let mut view = View::default();
        view.open(text.to_owned(), "a\r\nb");
        view
    }

    #[test]
    fn what_was_only_looked_at_is_not_edited() {
        let mut view = opened("a\nb\n");
        view.save("a\nb\n".to_owned());
        view.save("a\nb".to_owned());
        assert_eq!(view.edited(), None);
        assert_eq!(view.text(), Some("a\nb\n"));
    }

    #[test]
    fn edits_survive_when_it_is_opened_again() {
        let mut view = opened("a\nb\n");
        view.change(whole("a\nc\n"), Encoding::Utf16);
        view.open("a\nc\n".to_owned(), "a\r\nb");
        assert_eq!(view.edited(), Some(("a\nb\n", "a\nc\n")));
        view.open("a\nb\n".to_owned(), "a\r\nb");
        assert_eq!(view.edited(), Some(("a\nb\n", "a\nb\n")), "taken back");
    }

    #[test]
    fn other_line_ends_survive_when_it_is_opened_again() {
        let mut view = View::default();
        view.open("a\r\nb\r\n".to_owned(), "a\r\nb");
        view.save("a\nb\n".to_owned());
        view.open("a\nb\n".to_owned(), "a\r\nb");
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
        assert_eq!(view.text(), Some("a\nxyz\n"));
        view.save("a\nxyz\n".to_owned());
        assert!(!view.is_contradicted());
    }

    #[test]
    fn a_save_counts_before_its_edits_are_reported() {
        let mut view = opened("a\nb\n");
        view.save("a\nsaved\n".to_owned());
        assert_eq!(view.edited(), Some(("a\nb\n", "a\nsaved\n")));
        view.change(whole("a\nsaved\nmore\n"), Encoding::Utf16);
        assert_eq!(view.text(), Some("a\nsaved\nmore\n"));
    }
}
