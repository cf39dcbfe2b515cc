//! The decisions and texts that wait until a file of a proposal was read: an editor that synchronises no edits may have
//! saved some.
//!
//! A decision waits for that, for two seconds at most, and no other is accepted in that time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use lsp_server::RequestId;
use pillion_view::decision::Seen;
use pillion_view::{Diff, Proposed, Reply};

use crate::disk::{Job, READ_TIMEOUT, Saved};
use crate::plain::proposal::Proposal;
use pillion_text::restore::is_same_content;

/// The action to take with the text.
#[derive(Debug)]
pub enum Then {
    /// The person accepts it, with this request, and has seen so much of it.
    Accept(RequestId, Seen),
    /// A command accepts it.
    Settle(Reply<String>),
    /// The view is gone already, and its text is wanted.
    Close(Reply<String>),
    /// Somebody wants to know it.
    Tell(Reply<String>),
}

/// The proposals that are read.
#[derive(Debug, Default)]
pub struct Reads {
    under_way: BTreeMap<u64, Read>,
    last_number: u64,
}

#[derive(Debug)]
pub struct Read {
    pub then: Then,
    pub diff: Arc<Diff>,
    path: PathBuf,
    deadline: Instant,
}

impl Reads {
    /// The job that reads a proposal, if it was written, and its number.
    pub fn start(&mut self, proposal: &Proposal, then: Then, now: Instant) -> Option<(u64, Job)> {
        let read = Read {
            then,
            diff: Arc::clone(&proposal.diff),
            path: proposal.path.clone()?,
            deadline: now + READ_TIMEOUT,
        };
        self.last_number += 1;
        let (key, number) = (proposal.key(), self.last_number);
        self.under_way.insert(number, read);
        Some((number, Job::Read { key, number }))
    }

    /// The read with this number, if anybody still waits for it.
    pub fn finish(&mut self, number: u64) -> Option<Read> {
        self.under_way.remove(&number)
    }

    pub fn due(&self) -> Option<Instant> {
        self.under_way.values().map(|read| read.deadline).min()
    }

    /// Those that took too long.
    pub fn late(&self, now: Instant) -> Vec<u64> {
        let late = self.under_way.iter();
        let late = late.filter(|(_, read)| read.deadline <= now);
        late.map(|(number, _)| *number).collect()
    }
}

impl Read {
    /// The text that would be accepted, of what was `saved`; nothing came if that took too long.
    pub fn text(&self, saved: Option<Saved>) -> Result<String, String> {
        let (path, proposed) = (self.path.display(), &self.diff.proposed);
        let silent =
            || format!("cannot read {path}: its disk did not respond within {READ_TIMEOUT:?}");
        let Some(saved) = saved.ok_or_else(silent)?? else {
            return Ok(proposed.to_string());
        };
        match String::from_utf8(saved) {
            Ok(saved) if is_same_content(&saved, proposed) => Ok(proposed.to_string()),
            Ok(saved) => Ok(saved),
            Err(_) => Err(format!("{path} was not saved as UTF-8")),
        }
    }
}
