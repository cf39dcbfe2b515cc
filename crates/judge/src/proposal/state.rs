//! One step in the history of a proposal: two texts, and the hunks between them.

use std::sync::Arc;

use pillion_text::{Text, hunks};

use super::places::Origin;
use super::texts::Texts;
use super::{Change, Hunk};

/// The part of a proposal that the reviewer can change and get back.
#[derive(Debug, Clone)]
pub struct State {
    pub texts: Arc<Texts>,
    pub hunks: Arc<Vec<Hunk>>,
    /// The change that made it differ from the state before.
    pub change: Change,
    /// True if the proposed text is the reviewer's own.
    pub edited: bool,
    /// The agent's last text, before the reviewer changed anything.
    pub agents: Arc<Text>,
    /// The texts that these came from, unless they were the first.
    pub origin: Option<Arc<Origin>>,
}

impl State {
    /// Compares the texts, which may take a second.
    pub fn new(texts: Texts, change: Change) -> Self {
        let hunks = match texts.hides_after {
            true => Vec::new(),
            false => hunks::between(&texts.before, &texts.after),
        };
        Self::with_hunks(texts, hunks, change)
    }

    /// Compared already.
    pub fn with_hunks(texts: Texts, hunks: Vec<Hunk>, change: Change) -> Self {
        Self {
            agents: Arc::clone(&texts.proposed),
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
        let bytes = hunks::accepted(before, proposed, &self.hunks);
        // Invariant: every piece is whole lines of UTF-8, which the code that takes a hunk out ensures.
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Returns true if the same would be accepted, compared with the same text.
    pub fn is_like(&self, other: &Self) -> bool {
        self.hunks == other.hunks
            && self.texts.original == other.texts.original
            && self.texts.proposed == other.texts.proposed
    }
}
