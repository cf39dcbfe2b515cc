//! Owns what a person chooses for all agents in a view, by a key or a command of whatever editor.

use pillion_protocol::ReviewChoice;

use crate::ask::{Ask, GetReview, Refused, SendNotes, SetReview};
use crate::editor::Chosen;
use crate::handle::Handle;
use crate::reply::Reply;

/// What a person chooses for all agents by a key or a command of a view, and reads a sentence about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// When they ask before they change files; without a choice the person only wants to know it.
    Review(Option<ReviewChoice>),
    /// They get the notes that wait for them.
    SendNotes,
}

impl Choice {
    /// The choice by the name of a view's command, whatever stands before it, and the word that was typed behind it.
    ///
    /// # Errors
    /// When there is no such word.
    pub fn named(command: &str, word: Option<&str>) -> Result<Self, String> {
        match command.rsplit(['/', '.']).next() {
            Some(SendNotes::METHOD) => Ok(Self::SendNotes),
            _ => Ok(Self::Review(word.map(ReviewChoice::named).transpose()?)),
        }
    }

    /// Asks the companion for it.
    pub fn ask(self, companion: &Handle, reply: Reply<Chosen, Refused>) {
        let number = None;
        match self {
            Self::Review(Some(choice)) => companion.ask(SetReview { choice, number }, reply),
            Self::Review(None) => companion.ask(GetReview { number }, reply),
            Self::SendNotes => companion.ask(SendNotes::default(), reply),
        }
    }
}
