//! The reviewer's texts for pending diffs. Each text stays in its private file from the moment that the editor
//! closes until its diff is decided: whatever ends the review before does not take it along.

use std::collections::HashMap;
use std::path::PathBuf;

use pillion_view::DiffId;

use crate::edit::{self, Session};

/// The newest text of each diff.
#[derive(Debug, Default)]
pub struct Drafts(HashMap<DiffId, Kept>);

#[derive(Debug)]
struct Kept {
    session: Session,
    text: String,
    /// It was said where it is: nobody removes it any more.
    is_said: bool,
}

impl Drafts {
    /// The editor has closed with this text, which is in the session's file.
    pub fn put(&mut self, id: DiffId, mut session: Session, text: String) {
        session.settle(text.clone());
        let kept = Kept {
            session,
            text,
            is_said: false,
        };
        self.0.insert(id, kept);
    }

    /// The file that has just this text. It is the reviewer's from now on.
    pub fn claim(&mut self, id: DiffId, text: &str) -> Option<PathBuf> {
        let kept = self.0.get_mut(&id).filter(|kept| kept.text == text)?;
        kept.is_said = true;
        Some(kept.session.stay())
    }

    /// An older text than the one that is to be kept: it goes when that is in a file.
    pub fn take(&mut self, id: DiffId) -> Option<Session> {
        let kept = self.0.remove(&id)?;
        (!kept.is_said).then_some(kept.session)
    }

    /// Removes the texts of all other diffs: they are decided.
    pub fn retain(&mut self, is_pending: impl Fn(DiffId) -> bool) {
        self.0.retain(|id, _| is_pending(*id));
    }

    /// The review ends before these were decided. Answers where they are.
    pub fn leave(&mut self) -> Vec<String> {
        let left = self.0.drain().filter(|(_, kept)| !kept.is_said);
        left.map(|(_, mut kept)| {
            let file = kept.session.stay();
            edit::kept("the review ended before you decided", &file)
        })
        .collect()
    }
}
