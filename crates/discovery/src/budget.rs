//! Owns a budget of bytes that connections share, for what is begun and not complete: a message may be as long as a file, and
//! there may be many who begin one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that all may hold together. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget {
    held: Arc<AtomicUsize>,
    most: usize,
}

/// The bytes that one connection holds. Dropping it gives them back.
#[derive(Debug)]
pub struct Share {
    bytes: usize,
    budget: Budget,
}

impl Budget {
    /// One of so many bytes.
    pub fn new(most: usize) -> Self {
        let held = Arc::default();
        Self { held, most }
    }

    /// The share of one more connection, which holds nothing yet.
    pub fn share(&self) -> Share {
        let budget = self.clone();
        Share { bytes: 0, budget }
    }

    /// Returns the number of bytes that are held.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

impl Share {
    /// Returns the number of bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// It holds so many bytes now. Returns false if that is more than there was room for, which counts all the same.
    pub fn hold(&mut self, bytes: usize) -> bool {
        let before = std::mem::replace(&mut self.bytes, bytes);
        let held = &self.budget.held;
        match bytes.checked_sub(before) {
            Some(more) => held.fetch_add(more, Ordering::Relaxed) + more <= self.budget.most,
            None => {
                held.fetch_sub(before - bytes, Ordering::Relaxed);
                true
            }
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.hold(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_hold_no_more_than_there_is_room_for() {
        let budget = Budget::new(10);
        let (mut one, mut other) = (budget.share(), budget.share());
        assert!(one.hold(7) && other.hold(3) && !other.hold(4));
        assert!(one.hold(6) && other.hold(4));
        assert_eq!(budget.held(), 10);
        drop(one);
        assert!(other.hold(10));
        assert_eq!(budget.held(), 10);
    }
}
