//! The proposals about which their agents ask in their own windows, too, each a file as long as it waits. Those of a companion that
//! was killed are left, and with them what the agents still ask about.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use pillion_system::{clock, process};
use serde::{Deserialize, Serialize};

use super::{MAX_RECORD, Store, StoreError};
use crate::log::Proposal;
use crate::turn::overlap;

const PENDING: &str = "pending";

/// The time after which nobody asks about one that is left.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A proposal that waits.
#[derive(Debug, Serialize, Deserialize)]
struct Waiting {
    /// The companion's process; none if it knows that nobody decides there any more.
    process: Option<u32>,
    at: u64,
    proposal: Proposal,
}

impl Store {
    /// A proposal waits in this process; without one, nobody decides about it any more, and its agent still asks. `id` is its
    /// number.
    pub(crate) fn keep_pending(
        &self,
        id: u64,
        process: Option<u32>,
        proposal: &Proposal,
    ) -> Result<(), StoreError> {
        let waiting = Waiting {
            process,
            at: clock::now_ms(),
            proposal: proposal.clone(),
        };
        self.write(&[PENDING], &name(id), &waiting)
    }

    /// The proposal of this number waits no more.
    pub(crate) fn drop_pending(&self, id: u64) -> Result<(), StoreError> {
        self.remove_file(&[PENDING], &name(id))
    }

    /// Takes those in these folders that were left, the oldest first, with the time at which they were proposed.
    pub(crate) fn take_left(
        &self,
        folders: &[PathBuf],
    ) -> Result<Vec<(u64, Proposal)>, StoreError> {
        let Some(folder) = self.open(&[PENDING])? else {
            return Ok(Vec::new());
        };
        let mut left = Vec::new();
        for name in folder.names()? {
            let json = folder.read(&name, MAX_RECORD)?;
            let waiting = json.and_then(|json| serde_json::from_slice::<Waiting>(&json).ok());
            let Some(waiting) = waiting.filter(|it| !it.process.is_some_and(process::is_alive))
            else {
                continue;
            };
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(waiting.at);
            let is_over = at.elapsed().is_ok_and(|age| age > MAX_AGE);
            let is_here = overlap(&waiting.proposal.roots, folders);
            if is_over || is_here {
                folder.remove(&name)?;
            }
            if is_here && !is_over {
                left.push((waiting.at, waiting.proposal));
            }
        }
        left.sort_by_key(|(at, _)| *at);
        Ok(left)
    }
}

fn name(id: u64) -> String {
    format!("{id}.json")
}
