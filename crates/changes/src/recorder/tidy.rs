//! Texts and turns in the store that nothing needs any more go; those that are needed and gone are copied again.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::time::{Duration, Instant, SystemTime};

use super::Recorder;
use crate::state::Hash;
use crate::table::Table;
use crate::turn::Change;

/// Texts that no file has any more are looked at once there are so many bytes of them: 32 MiB.
const MAX_DROPPED: u64 = 32 << 20;

/// Old turns and texts are looked for no more often.
const TIDY: Duration = Duration::from_secs(10 * 60);

impl Recorder {
    /// Removes what is old, unless that was done a short while ago. If that fails, a turn begins and ends nevertheless.
    pub(super) fn tidy_now_and_then(&mut self) {
        if self.tidied.is_some_and(|tidied| tidied.elapsed() < TIDY) {
            return;
        }
        self.tidied = Some(Instant::now());
        // Only of old texts it is asked, and there may be none.
        let needed = LazyCell::new(|| self.needed());
        let is_needed = |hash: &Hash| needed.contains(hash) || self.journal.needs(hash);
        if let Err(error) = self.store.tidy(SystemTime::now(), is_needed) {
            tracing::warn!(%error, "what is old is not removed");
        }
    }

    /// The texts that files may come to need, and those of changes that are in no turn yet.
    pub(super) fn needed(&self) -> HashSet<&Hash> {
        let tables = self.tables.iter().chain([&self.outside]);
        let read = self.read.iter().map(|(_, it)| it);
        let found = read.flat_map(|it| [it.before.text(), it.after.text()]);
        let changes = self.turns().flat_map(|it| &it.changes);
        tables
            .flat_map(Table::texts)
            .chain(found.flatten())
            .chain(changes.flat_map(Change::texts))
            .collect()
    }

    /// Removes texts that nothing needs any more: a file that changes all the time would fill the store with each of its texts.
    pub(super) fn remove_dropped(&mut self) {
        let dropped: u64 = self.tables.iter().map(Table::dropped).sum();
        if dropped < MAX_DROPPED {
            return;
        }
        let texts = self.tables.iter_mut().flat_map(Table::take_dropped);
        let mut texts: HashSet<Hash> = texts.collect();
        let needed = self.needed();
        texts.retain(|it| !needed.contains(it) && !self.journal.needs(it));
        if let Err(error) = self.store.remove(&texts) {
            tracing::debug!(%error, "texts that nothing needs stay");
        }
    }

    /// If texts were removed from the store that are needed, they are copied again.
    pub(super) fn see_removed(&mut self) {
        let removed = self.store.removed();
        if removed == self.removed {
            return;
        }
        match self.store.text_names() {
            Ok(left) => {
                let tables = self.tables.iter_mut().chain([&mut self.outside]);
                tables.for_each(|it| it.copy_missing(&left));
                self.removed = removed;
            }
            Err(error) => tracing::debug!(%error, "which texts are left is not known"),
        }
    }
}
