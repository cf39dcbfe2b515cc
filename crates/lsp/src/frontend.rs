//! The frontend end as the companion reaches it: hands everything to the loop.

use crossbeam_channel::{Receiver, Sender, unbounded};
use pillion_companion::{CloseReason, Diff, DiffId, Editor, LostOutcome, Reply, Status};

/// What the companion asks or tells.
#[derive(Debug)]
pub enum Event {
    /// Show a proposal.
    Open(Diff, Reply<()>),
    /// Take a view away.
    Close(DiffId, CloseReason, Reply<String>),
    /// Agents came or went, or what they are shown changed.
    Status(Status),
    /// What the person accepted never reached its agent. May come after [`Event::Stopped`].
    Lost(LostOutcome),
    /// The companion has stopped.
    Stopped,
}

/// The companion's end.
#[derive(Debug, Clone)]
pub struct FrontendHandle {
    events: Sender<Event>,
}

/// The two ends.
pub fn channel() -> (FrontendHandle, Receiver<Event>) {
    let (events, receiver) = unbounded();
    (FrontendHandle { events }, receiver)
}

impl FrontendHandle {
    fn send(&self, event: Event) {
        // If the loop has ended, dropping a reply says so.
        let _ = self.events.send(event);
    }
}

impl Editor for FrontendHandle {
    fn open_diff(&mut self, diff: Diff, shown: Reply<()>) {
        self.send(Event::Open(diff, shown));
    }

    fn close_diff(&mut self, id: DiffId, reason: CloseReason, closed: Reply<String>) {
        self.send(Event::Close(id, reason, closed));
    }

    fn status_changed(&mut self, status: Status) {
        self.send(Event::Status(status));
    }

    fn outcome_lost(&mut self, lost: LostOutcome) {
        self.send(Event::Lost(lost));
    }

    fn stopped(&mut self) {
        self.send(Event::Stopped);
    }
}
