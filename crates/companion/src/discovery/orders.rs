//! Owns the orders of the thread that writes the files. Of everything that waits only the last
//! counts, so that nothing piles up while a disk hangs.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pillion_discovery::Seat;
use pillion_discovery::unended::Ended;
use pillion_protocol::{IdeInfo, ProcessChoice};
use pillion_system::lock;

use pillion_view::Reply;

/// One thing to do.
#[derive(Debug)]
pub(crate) enum Order {
    /// Publish these workspace roots (C2.5). Roots that cannot be published leave the old ones.
    SetRoots(Vec<PathBuf>),
    /// Publish for these editors.
    SetSeats(Vec<Seat>),
    /// Publish under this identity.
    SetIde(IdeInfo),
    /// Leave to a successor what the person has chosen for agents.
    SetChoices(Vec<ProcessChoice>),
    /// Tell these where agents find the companion now.
    Tell(Vec<Reply<Vec<PathBuf>>>),
    /// Nothing was ordered for a while: restore deleted files.
    Restore,
    /// Take everything away, and end.
    Remove(Ended),
}

/// Shared by those that give orders and the thread that carries them out.
#[derive(Debug, Default)]
pub(super) struct Orders {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    roots: Option<Vec<PathBuf>>,
    seats: Option<Vec<Seat>>,
    ide: Option<IdeInfo>,
    choices: Option<Vec<ProcessChoice>>,
    asking: Vec<Reply<Vec<PathBuf>>>,
    /// As the first order says.
    remove: Option<Ended>,
    /// The thread has ended.
    is_done: bool,
}

/// The thread. Dropping it signals that it has ended, for whatever reason.
#[derive(Debug)]
pub(super) struct Worker(Arc<Orders>);

impl Orders {
    pub(super) fn give(&self, order: Order) {
        self.change(|waiting| match order {
            Order::SetRoots(roots) => waiting.roots = Some(roots),
            Order::SetSeats(seats) => waiting.seats = Some(seats),
            Order::SetIde(ide) => waiting.ide = Some(ide),
            Order::SetChoices(choices) => waiting.choices = Some(choices),
            Order::Tell(asking) => waiting.asking.extend(asking),
            // Comes by itself.
            Order::Restore => {}
            Order::Remove(ended) => {
                waiting.remove.get_or_insert(ended);
            }
        });
    }

    pub(super) fn ask(&self, files: Reply<Vec<PathBuf>>) {
        self.give(Order::Tell(vec![files]));
    }

    pub(super) fn worker(self: &Arc<Self>) -> Worker {
        Worker(Arc::clone(self))
    }

    /// Waits for the next order, but not longer than `limit`.
    pub(super) fn next(&self, limit: Duration) -> Order {
        let until = Instant::now() + limit;
        let mut waiting = lock(&self.waiting);
        loop {
            if let Some(ended) = waiting.remove {
                return Order::Remove(ended);
            }
            if let Some(roots) = waiting.roots.take() {
                return Order::SetRoots(roots);
            }
            if let Some(seats) = waiting.seats.take() {
                return Order::SetSeats(seats);
            }
            if let Some(ide) = waiting.ide.take() {
                return Order::SetIde(ide);
            }
            if let Some(choices) = waiting.choices.take() {
                return Order::SetChoices(choices);
            }
            if !waiting.asking.is_empty() {
                return Order::Tell(std::mem::take(&mut waiting.asking));
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Order::Restore;
            }
            let changed = self.changed.wait_timeout(waiting, rest);
            (waiting, _) = changed.unwrap_or_else(PoisonError::into_inner);
        }
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
            orders.give(Order::SetRoots(vec![root.into()]));
        }
        let next = || orders.next(Duration::ZERO);
        assert!(matches!(next(), Order::SetRoots(roots) if roots == [PathBuf::from("/c")]));
        assert!(matches!(next(), Order::Restore));
        orders.give(Order::SetRoots(vec!["/d".into()]));
        orders.give(Order::Remove(Ended::NotByItself));
        orders.give(Order::Remove(Ended::ByPerson));
        assert!(
            matches!(next(), Order::Remove(Ended::NotByItself)),
            "nothing is published any more"
        );
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
