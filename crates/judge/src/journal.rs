//! Tells the companion what the reviewer has made of pending diffs, a moment after it became something else: whatever ends
//! the review, the companion or the agent, it can be offered again. It decides nothing.

use std::collections::HashMap;
use std::ops::Deref;
use std::time::{Duration, Instant};

use pillion_protocol::Note;
use pillion_view::{DiffId, ProposalKey, Proposed};

use crate::judged::Judged;

/// The time from a change until it is told: several often follow each other.
const PAUSE: Duration = Duration::from_millis(200);

/// The last report about each diff.
#[derive(Debug, Default)]
pub struct Journal {
    told: HashMap<DiffId, Told>,
    /// The notes that were told of each diff.
    notes: HashMap<DiffId, Vec<Note>>,
    /// Those that were told of rows of the list.
    row_notes: HashMap<String, Vec<Note>>,
    due: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
struct Told {
    revision: u32,
    /// As the proposal counts.
    changes: u64,
    /// True if there was something to tell.
    is_something: bool,
}

impl Journal {
    /// The time at which it wants to be asked.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// The drafts to tell now; none of a diff is that the reviewer has changed nothing any more.
    pub fn look(
        &mut self,
        views: &[impl Deref<Target = Judged>],
        now: Instant,
    ) -> Vec<(ProposalKey, Option<String>)> {
        self.told
            .retain(|id, _| views.iter().any(|view| view.diff.id == *id));
        let views = views.iter().map(|view| &**view);
        let other: Vec<_> = views.filter(|view| self.is_other(view)).collect();
        if other.is_empty() {
            self.due = None;
            return Vec::new();
        }
        if now < *self.due.get_or_insert(now + PAUSE) {
            return Vec::new();
        }
        self.due = None;
        other
            .into_iter()
            .filter_map(|view| {
                let draft = view.proposal.draft();
                let told = Told {
                    revision: view.diff.revision,
                    changes: view.proposal.changes(),
                    is_something: draft.is_some(),
                };
                let is_something = told.is_something;
                let former = self.told.insert(view.diff.id, told);
                let was_something = former.is_some_and(|it| it.is_something);
                (is_something || was_something).then(|| (view.key(), draft))
            })
            .collect()
    }

    /// The notes to tell now, of diffs that have others than were told.
    pub fn notes<V: Deref<Target = Judged>>(
        &mut self,
        views: &[V],
        words_on: impl Fn(&V) -> Vec<Note>,
    ) -> Vec<(ProposalKey, Vec<Note>)> {
        self.notes
            .retain(|id, _| views.iter().any(|view| view.diff.id == *id));
        let news = views.iter().filter_map(|view| {
            let notes = words_on(view);
            let told = self.notes.entry(view.diff.id).or_default();
            if *told == notes {
                return None;
            }
            told.clone_from(&notes);
            Some((view.key(), notes))
        });
        news.collect()
    }

    /// The notes to tell now of rows of the list that have others than were told; none of a row is that they are told or deleted.
    pub fn row_notes(&mut self, now: HashMap<String, Vec<Note>>) -> Vec<(String, Vec<Note>)> {
        let told = std::mem::replace(&mut self.row_notes, now);
        let now = &self.row_notes;
        let gone = { told.keys() }.filter(|id| !now.contains_key(*id));
        let gone = gone.map(|id| (id.clone(), Vec::new()));
        let other = now
            .iter()
            .filter(|(id, notes)| told.get(*id) != Some(*notes));
        let other = other.map(|(id, notes)| (id.clone(), notes.clone()));
        gone.chain(other).collect()
    }

    /// Something else may have been told of a diff meanwhile than what stands in its view: that is told again.
    pub fn tell_again(&mut self, key: ProposalKey) {
        let told = Told {
            revision: key.revision,
            changes: u64::MAX,
            is_something: true,
        };
        self.told.insert(key.id, told);
    }

    /// Returns true if something else may be told of it than before.
    fn is_other(&self, view: &Judged) -> bool {
        let told = self.told.get(&view.diff.id);
        !view.is_comparing()
            && told.is_none_or(|told| {
                told.revision != view.diff.revision || told.changes != view.proposal.changes()
            })
    }
}
