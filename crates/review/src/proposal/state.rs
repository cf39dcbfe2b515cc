//! One step in the history of a proposal: the texts that are compared, and the hunks between them.

use std::sync::Arc;

use pillion_text::readable::{self, Unreadable};
use pillion_text::{Text, endings, hunks};

use super::places::Origin;
use super::{Change, Hunk};

/// The two texts of a comparison.
#[derive(Debug)]
pub struct Texts {
    /// The file as it was read; `None` when it is not there yet.
    pub original: Option<Arc<Text>>,
    /// The file as it is compared: empty when it is not there, or cannot be shown.
    pub before: Arc<Text>,
    /// The proposed text as it is compared: empty when it cannot be shown.
    pub after: Arc<Text>,
    /// The proposed text.
    pub proposed: Arc<Text>,
    /// The line endings of the two are not compared.
    pub ignores_endings: bool,
    /// Why the file is not shown.
    pub hides_before: Option<Unreadable>,
    /// Why the proposed text is not shown.
    pub hides_after: Option<Unreadable>,
}

/// What the reviewer can change and get back.
#[derive(Debug, Clone)]
pub struct State {
    pub texts: Arc<Texts>,
    pub hunks: Arc<Vec<Hunk>>,
    /// What made it differ from the state before.
    pub change: Change,
    /// Whether the proposed text is the reviewer's own.
    pub edited: bool,
    /// Where the texts came from, unless they were the first.
    pub origin: Option<Arc<Origin>>,
}

impl Texts {
    /// What is to be compared. This reads every byte.
    pub fn new(original: Option<Arc<Text>>, proposed: Arc<Text>) -> Self {
        let hides_before = original.as_deref().and_then(readable::unreadable);
        let hides_after = readable::unreadable(&proposed);
        let shown = original.as_ref().filter(|_| hides_before.is_none());
        // A proposal is text: it came as such, or from an editor's file that was checked.
        let lf = shown
            .zip(std::str::from_utf8(proposed.bytes()).ok())
            .and_then(|(text, proposed)| endings::for_lf(text, proposed));
        let ignores_endings = lf.is_some();
        let before = match lf {
            Some(lf) => Arc::new(lf),
            None => shown.cloned().unwrap_or_default(),
        };
        let after = match hides_after {
            Some(_) => Arc::default(),
            None => Arc::clone(&proposed),
        };
        Self {
            original,
            before,
            after,
            proposed,
            ignores_endings,
            hides_before,
            hides_after,
        }
    }

    /// Whether both texts can be shown.
    pub fn are_readable(&self) -> bool {
        self.hides_before.is_none() && self.hides_after.is_none()
    }
}

impl State {
    /// Compares the texts, which may take a second.
    pub fn new(texts: Texts, change: Change) -> Self {
        let hunks = match texts.hides_after {
            Some(_) => Vec::new(),
            None => hunks::between(&texts.before, &texts.after),
        };
        Self::with_hunks(texts, hunks, change)
    }

    /// Compared already.
    pub fn with_hunks(texts: Texts, hunks: Vec<Hunk>, change: Change) -> Self {
        Self {
            texts: Arc::new(texts),
            hunks: Arc::new(hunks),
            change,
            edited: change == Change::Edited,
            origin: None,
        }
    }

    /// Exactly what would be accepted.
    pub fn text(&self) -> String {
        let Texts {
            before, proposed, ..
        } = &*self.texts;
        let mut bytes = Vec::with_capacity(proposed.bytes().len());
        let mut next = 0;
        for hunk in self.hunks.iter().filter(|hunk| hunk.out) {
            bytes.extend_from_slice(proposed.slice(next..hunk.after.start));
            bytes.extend_from_slice(before.slice(hunk.before.clone()));
            next = hunk.after.end;
        }
        bytes.extend_from_slice(proposed.slice(next..proposed.len()));
        // Invariant: every piece is whole lines of UTF-8, which whoever takes a hunk out makes sure of.
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Whether the same would be accepted, compared with the same text.
    pub fn is_like(&self, other: &Self) -> bool {
        self.hunks == other.hunks
            && self.texts.original == other.texts.original
            && self.texts.proposed == other.texts.proposed
    }
}
