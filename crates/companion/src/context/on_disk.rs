//! Owns the paths that are known to be files, as results of checks come back: in any order, late, or never.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use pillion_protocol::File;

use crate::disk::CHECK_TIMEOUT;

#[derive(Debug, Default)]
pub(super) struct OnDisk {
    facts: HashMap<String, Fact>,
    /// Counts up whenever everything has to be checked again.
    round: u64,
}

#[derive(Debug, Default)]
struct Fact {
    is_file: bool,
    /// Since which round that is known.
    known: Option<u64>,
    asked: Option<Asked>,
}

/// A check that is in progress.
#[derive(Debug)]
struct Asked {
    round: u64,
    /// From then on it delays nothing.
    deadline: Instant,
}

/// The checks that are still missing.
#[derive(Debug, Default)]
pub(super) struct Missing {
    /// The paths of which no check is running yet.
    pub(super) check: Vec<String>,
    /// The time at which to go on without what does not answer; nothing if nothing is missing.
    pub(super) due: Option<Instant>,
}

impl OnDisk {
    /// Looks for the first `wanted` files that are there. Paths that are no longer asked about are
    /// forgotten.
    pub(super) fn find(&mut self, files: &[File], wanted: usize, now: Instant) -> Missing {
        let paths: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        self.facts
            .retain(|path, fact| fact.asked.is_some() || paths.contains(path.as_str()));
        let mut missing = Missing::default();
        let mut found = 0;
        for file in files {
            if found == wanted {
                break;
            }
            let fact = self.facts.entry(file.path.clone()).or_default();
            if fact.known != Some(self.round) {
                let asked = fact.asked.get_or_insert_with(|| {
                    missing.check.push(file.path.clone());
                    Asked {
                        round: self.round,
                        deadline: now + CHECK_TIMEOUT,
                    }
                });
                if now < asked.deadline {
                    let due = missing.due.unwrap_or(asked.deadline);
                    missing.due = Some(due.min(asked.deadline));
                    // It may be there: no more are checked than are needed.
                    found += 1;
                    continue;
                }
            }
            found += usize::from(fact.is_file);
        }
        missing
    }

    /// Takes what was seen of a file, if anything was. Returns true if that is news.
    pub(super) fn checked(&mut self, path: &str, is_file: Option<bool>) -> bool {
        let Some(fact) = self.facts.get_mut(path) else {
            return false;
        };
        let Some(asked) = fact.asked.take() else {
            return false;
        };
        // Without an answer it counts as before, and is not asked about again in this round.
        fact.known = Some(if is_file.is_some() {
            asked.round
        } else {
            self.round
        });
        let before = fact.is_file;
        fact.is_file = is_file.unwrap_or(before);
        fact.is_file != before
    }

    /// Returns true if a path is a file, as far as anybody knows.
    pub(super) fn has(&self, path: &str) -> bool {
        self.facts.get(path).is_some_and(|fact| fact.is_file)
    }

    /// The known facts may not be true any more.
    pub(super) fn outdate(&mut self) {
        self.round += 1;
    }
}
