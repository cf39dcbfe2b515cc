//! Connections that have not presented a token: few at a time, and the newest have precedence, so
//! that no number of silent ones keeps out a client that has one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use pillion_system::lock;
use tokio::task::AbortHandle;

/// The most that there may be, if that leaves enough descriptors for the others.
const MAX_UNAUTHENTICATED: usize = 256;

/// The part of all descriptors that they may take.
const SHARE: u64 = 4;

/// Those that have not.
#[derive(Debug)]
pub struct Unauthenticated {
    limit: usize,
    /// Oldest first.
    connections: Mutex<BTreeMap<u64, AbortHandle>>,
    last: AtomicU64,
}

/// One connection's entry, for as long as it lives.
#[derive(Debug)]
pub struct Admission {
    number: u64,
    is_admitted: AtomicBool,
    unauthenticated: Arc<Unauthenticated>,
}

impl Unauthenticated {
    /// As many as the system has descriptors for.
    pub fn new() -> Arc<Self> {
        Self::with_limit(limit_for(descriptors()))
    }

    /// So many at most.
    pub fn with_limit(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            connections: Mutex::default(),
            last: AtomicU64::new(0),
        })
    }

    /// The task that serves an unauthenticated connection. If there are too many now, the oldest has to go.
    pub fn add(&self, number: u64, task: AbortHandle) {
        let mut connections = lock(&self.connections);
        connections.insert(number, task);
        if connections.len() > self.limit {
            evict_oldest(&mut connections);
        }
    }

    /// Ends the connection that has been silent for longest.
    pub fn evict_oldest(&self) {
        evict_oldest(&mut lock(&self.connections));
    }
}

impl Admission {
    /// One more connection, which is to be added.
    pub fn new(unauthenticated: &Arc<Unauthenticated>) -> Self {
        Self {
            number: unauthenticated.last.fetch_add(1, Ordering::Relaxed),
            is_admitted: AtomicBool::new(false),
            unauthenticated: Arc::clone(unauthenticated),
        }
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns true once it has presented a token.
    pub fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }

    /// It presented a token: it may stay for as long as it likes.
    pub fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
        lock(&self.unauthenticated.connections).remove(&self.number);
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        lock(&self.unauthenticated.connections).remove(&self.number);
    }
}

fn evict_oldest(connections: &mut BTreeMap<u64, AbortHandle>) {
    if let Some((_, task)) = connections.pop_first() {
        task.abort();
    }
}

fn limit_for(descriptors: Option<u64>) -> usize {
    let share = descriptors.map(|all| usize::try_from(all / SHARE).unwrap_or(usize::MAX));
    share.map_or(MAX_UNAUTHENTICATED, |share| {
        share.clamp(1, MAX_UNAUTHENTICATED)
    })
}

/// Returns the number of files that this process may have open.
#[cfg(unix)]
fn descriptors() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current
}

#[cfg(not(unix))]
fn descriptors() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_goes_when_there_are_too_many() {
        let unauthenticated = Unauthenticated::with_limit(2);
        let mut tasks = Vec::new();
        for is_known in [true, false, false, false] {
            let admission = Admission::new(&unauthenticated);
            let task = tokio::spawn(std::future::pending::<()>());
            unauthenticated.add(admission.number(), task.abort_handle());
            if is_known {
                admission.admit();
            }
            tasks.push((admission, task));
        }
        let (_, oldest) = tasks.remove(1);
        assert!(oldest.await.unwrap_err().is_cancelled());
        assert!(tasks.iter().all(|(_, task)| !task.is_finished()));
    }

    #[tokio::test]
    async fn agents_that_left_are_not_counted() {
        let unauthenticated = Unauthenticated::with_limit(1);
        let staying = tokio::spawn(std::future::pending::<()>());
        let kept = Admission::new(&unauthenticated);
        for _ in 0..3 {
            let leaving = Admission::new(&unauthenticated);
            drop(leaving);
        }
        unauthenticated.add(kept.number(), staying.abort_handle());
        tokio::task::yield_now().await;
        assert!(!staying.is_finished());
    }

    #[test]
    fn a_process_with_few_descriptors_keeps_most_for_those_with_a_token() {
        assert_eq!(limit_for(Some(256)), 64);
        assert_eq!(limit_for(Some(1 << 20)), MAX_UNAUTHENTICATED);
        assert_eq!(limit_for(Some(3)), 1);
        assert_eq!(limit_for(None), MAX_UNAUTHENTICATED);
    }
}
