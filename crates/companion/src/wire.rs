//! Tracks how far the bytes of a connection have got. Bytes that the system took from us may still be lost: the
//! other end may have closed before it came, or before it read it.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use pillion_system::lock;
use pillion_system::peer::Connection;

/// The state of one connection. Shared by its socket, which reports what happens to it, and by
/// a sender that needs to know what became of what it sent.
#[derive(Default, derive_more::Debug)]
#[debug("Wire")]
pub(crate) struct Wire {
    state: Mutex<State>,
    connection: Option<Connection>,
    /// The process at the other end, if the system has told it at once.
    process: Option<u32>,
}

#[derive(Default)]
struct State {
    sent: u64,
    /// The marks on what is not sent yet, and who wants to know when it is.
    unsent: Vec<(Arc<OnceLock<Sent>>, Watcher)>,
    end: Option<End>,
    watchers: Vec<Watcher>,
}

type Watcher = Box<dyn FnOnce() + Send>;

/// The place of a mark in what was sent, and the time since when that was with the system.
#[derive(Debug, Clone, Copy)]
struct Sent {
    position: u64,
    at: Instant,
}

#[derive(Debug, Clone, Copy)]
struct End {
    /// The number of bytes that the other system has acknowledged.
    received: u64,
    /// The other end threw away what it had not read.
    is_reset: bool,
}

/// A place in what is sent on a connection.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    wire: Arc<Wire>,
    sent: Arc<OnceLock<Sent>>,
}

/// The arrival of everything before a mark when the connection ended, as far as it can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The other end had read it when it closed.
    Arrived,
    /// The other end had it when it closed, and some of what it had was unread.
    Unknown,
    /// The other end never had all of it.
    Lost,
}

impl Wire {
    pub(crate) fn new(connection: Option<Connection>) -> Self {
        Self {
            connection,
            ..Self::default()
        }
    }

    /// One over a Unix socket, whose other end this process holds.
    #[cfg(unix)]
    pub(crate) fn of_process(process: Option<u32>) -> Self {
        Self {
            process,
            ..Self::default()
        }
    }

    /// The process at the other end, if the system has told it.
    pub(crate) fn process(&self) -> Option<u32> {
        self.process
    }

    /// Its two ends, if the system has told them.
    pub(crate) fn connection(&self) -> Option<Connection> {
        self.connection
    }

    /// Marks the end of what is about to be sent: whatever is handed to the connection before it
    /// is flushed next. Then `on_sent` is called.
    pub(crate) fn mark(self: &Arc<Self>, on_sent: impl FnOnce() + Send + 'static) -> Mark {
        let sent = Arc::new(OnceLock::new());
        let unsent = (Arc::clone(&sent), Box::new(on_sent) as Watcher);
        lock(&self.state).unsent.push(unsent);
        let wire = Arc::clone(self);
        Mark { wire, sent }
    }

    /// The system took so many bytes.
    pub(crate) fn sent(&self, bytes: usize) {
        lock(&self.state).sent += bytes as u64;
    }

    /// The system took all that there was.
    pub(crate) fn flushed(&self) {
        let mut state = lock(&self.state);
        if state.unsent.is_empty() {
            return;
        }
        let (position, at) = (state.sent, Instant::now());
        let unsent = std::mem::take(&mut state.unsent);
        drop(state);
        for (mark, on_sent) in unsent {
            let _ = mark.set(Sent { position, at });
            on_sent();
        }
    }

    /// The connection is over. `unacknowledged` of the bytes that were sent never reached the other
    /// system, as far as it said.
    pub(crate) fn end(&self, unacknowledged: u64, is_reset: bool) {
        let mut state = lock(&self.state);
        state.end = Some(End {
            received: state.sent.saturating_sub(unacknowledged),
            is_reset,
        });
        let watchers = std::mem::take(&mut state.watchers);
        drop(state);
        for watcher in watchers {
            watcher();
        }
    }

    pub(crate) fn on_end(&self, watcher: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.state);
        if state.end.is_none() {
            state.watchers.push(Box::new(watcher));
        } else {
            drop(state);
            watcher();
        }
    }
}

impl Mark {
    /// Since when all before it is with the system.
    pub(crate) fn sent_at(&self) -> Option<Instant> {
        self.sent.get().map(|sent| sent.at)
    }

    /// Returns its arrival, once the connection is over.
    pub(crate) fn arrival(&self) -> Option<Arrival> {
        let end = lock(&self.wire.state).end?;
        let sent = self.sent.get();
        let has_come = sent.is_some_and(|sent| sent.position <= end.received);
        Some(match (has_come, end.is_reset) {
            (true, false) => Arrival::Arrived,
            (true, true) => Arrival::Unknown,
            (false, _) => Arrival::Lost,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wire on which two things of ten bytes each were sent.
    fn two_sent() -> (Arc<Wire>, [Mark; 2]) {
        let wire = Arc::new(Wire::default());
        let marks = [(); 2].map(|()| {
            let mark = wire.mark(|| {});
            wire.sent(10);
            wire.flushed();
            mark
        });
        (wire, marks)
    }

    fn arrivals(marks: &[Mark; 2]) -> [Option<Arrival>; 2] {
        marks.each_ref().map(Mark::arrival)
    }

    #[test]
    fn what_was_acknowledged_before_a_clean_end_has_arrived() {
        let (wire, marks) = two_sent();
        assert_eq!(arrivals(&marks), [None, None]);
        wire.end(10, false);
        assert_eq!(
            arrivals(&marks),
            [Some(Arrival::Arrived), Some(Arrival::Lost)]
        );
    }

    #[test]
    fn an_end_that_threw_away_what_was_unread_may_have_thrown_away_all() {
        let (wire, marks) = two_sent();
        wire.end(10, true);
        assert_eq!(
            arrivals(&marks),
            [Some(Arrival::Unknown), Some(Arrival::Lost)]
        );
    }

    #[test]
    fn what_never_left_is_lost() {
        let wire = Arc::new(Wire::default());
        let mark = wire.mark(|| {});
        wire.sent(5);
        assert_eq!(mark.sent_at(), None, "half of it");
        wire.end(0, false);
        assert_eq!(mark.arrival(), Some(Arrival::Lost));
    }

    #[test]
    fn whoever_watches_is_called_once_also_after_the_end() {
        let wire = Wire::default();
        let (sender, calls) = crossbeam_channel::unbounded();
        for _ in 0..2 {
            let sender = sender.clone();
            wire.on_end(move || sender.send(()).expect("the test listens"));
            wire.end(0, false);
        }
        assert_eq!(calls.try_iter().count(), 2);
    }
}
