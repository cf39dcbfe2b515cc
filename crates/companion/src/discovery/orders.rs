//! Owns the orders of the thread that writes the files. Of everything that waits only the last
//! counts, so that nothing piles up while a disk hangs.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pillion_discovery::Seat;
use pillion_discovery::unended::Ended;
use pillion_protocol::{IdeInfo, ProcessChoice};
use pillion_system::lock;

use pillion_view::Reply;

/// What there is to do. Of each kind, the last order counts.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    /// Publish these workspace roots (C2.5). Roots that cannot be published leave the old ones.
    pub(crate) roots: Option<Vec<PathBuf>>,
    /// Publish for these editors.
    pub(crate) seats: Option<Vec<Seat>>,
    /// Publish under this identity.
    pub(crate) ide: Option<IdeInfo>,
    /// Leave to a successor what the person has chosen for agents.
    pub(crate) choices: Option<Vec<ProcessChoice>>,
    /// Tell these where agents find the companion then.
    pub(crate) asking: Vec<Reply<Vec<PathBuf>>>,
    /// Take everything away, and end.
    pub(crate) remove: Option<Ended>,
}

/// Shared by those that give orders and the thread that carries them out.
#[derive(Debug, Default)]
pub(super) struct Orders {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    ordered: Ordered,
    has_orders: bool,
    /// The thread has ended.
    is_done: bool,
}

/// The thread. Dropping it signals that it has ended, for whatever reason.
#[derive(Debug)]
pub(super) struct Worker(Arc<Orders>);

impl Orders {
    pub(super) fn give(&self, order: impl FnOnce(&mut Ordered)) {
        self.change(|waiting| {
            order(&mut waiting.ordered);
            waiting.has_orders = true;
        });
    }

    pub(super) fn worker(self: &Arc<Self>) -> Worker {
        Worker(Arc::clone(self))
    }

    /// Waits for the next orders; none if there are none for so long.
    pub(super) fn next(&self, limit: Duration) -> Option<Ordered> {
        let is_idle = |waiting: &mut Waiting| !waiting.has_orders;
        let waited = self
            .changed
            .wait_timeout_while(lock(&self.waiting), limit, is_idle);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut waiting.has_orders).then(|| std::mem::take(&mut waiting.ordered))
    }

    /// Waits until the thread has ended, but not longer than `limit`; whether it has.
    pub(super) fn wait_done(&self, limit: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(lock(&self.waiting), limit, |waiting| !waiting.is_done);
        let (waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        waiting.is_done
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut lock(&self.waiting));
        self.changed.notify_all();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.change(|waiting| waiting.is_done = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_waits_while_the_disk_hangs_only_the_last_counts() {
        let orders = Orders::default();
        for root in ["/a", "/b", "/c"] {
            orders.give(|it| it.roots = Some(vec![root.into()]));
        }
        let next = || orders.next(Duration::ZERO);
        assert_eq!(next().unwrap().roots, Some(vec!["/c".into()]));
        assert!(next().is_none());
        orders.give(|it| it.roots = Some(vec!["/d".into()]));
        orders.give(|it| it.remove = Some(Ended::NotByItself));
        assert_eq!(next().unwrap().remove, Some(Ended::NotByItself));
    }

    #[test]
    fn the_end_is_waited_for_with_a_limit_and_is_seen_after_a_panic_too() {
        let orders = Arc::new(Orders::default());
        let worker = orders.worker();
        assert!(!orders.wait_done(Duration::ZERO));
        let run = move || {
            let _worker = worker;
            panic!("the thread that writes the files");
        };
        assert!(std::thread::spawn(run).join().is_err());
        assert!(orders.wait_done(Duration::ZERO));
    }
}
