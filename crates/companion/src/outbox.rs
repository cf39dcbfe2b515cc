//! Owns what waits to be pushed to one session: the newest context, of which only the last matters, and
//! outcomes, each of which is delivered exactly once, also when the event stream was away or broke.
//!
//! An outcome stays in flight until the stream that took it has outlived it. If the connection ends
//! before, what is known of it decides: whether the agent had read the outcome, or the next stream
//! gets it. If that cannot be known, an agent that sent a request since has read it, and to any
//! other it is delivered again: agents ignore an outcome of a diff that they have settled, and a diff
//! that they open anew withdraws it first.
//!
//! No simpler rule keeps that promise: an outcome that counted as delivered once it is sent would be lost if the agent
//! closes its stream in that moment, and one that every next stream got again would be heard twice.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pillion_protocol::held::HeldCall;
use pillion_protocol::{IdeContext, Note, Outcome, Proposer};
use pillion_system::lock;
use pillion_view::DiffId;
use tokio::sync::watch;

use crate::ids::RequestId;
use crate::stand_in::StandIn;
use crate::subagents::Question;
use crate::wire::{Arrival, Mark, Wire};

/// The time for which a connection has to outlive what it sent: by then a living agent has read it.
const DELIVERY_GRACE: Duration = Duration::from_secs(10);

/// The most mentions that wait for an agent.
const MAX_MENTIONS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Push {
    Context(Arc<IdeContext>),
    Outcome(Delivery),
    /// The person points the agent to a file, or to its lines from the first to the last, from 0.
    Mention(Mention),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) path: String,
    pub(crate) lines: Option<(u32, u32)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// The diff that was decided; none if another proposal took its place.
    pub(crate) id: Option<DiffId>,
    pub(crate) proposer: Proposer,
    pub(crate) file_path: String,
    /// The call of the agent's own that waits for it, and that it answers; without one it is a
    /// notification.
    pub(crate) tab: Option<Tab>,
    pub(crate) outcome: Outcome,
    /// True if it carries another text than the agent proposed: nobody else has that one.
    pub(crate) is_edited: bool,
    /// The notes that go with it, to a program of Pillion's.
    pub(crate) notes: Vec<Note>,
    /// The stand-in for the file's text, with which it was compared.
    pub(crate) stand_in: Option<Arc<StandIn>>,
    /// The words that the agent's model reads with it, where its answer has room for that.
    pub(crate) words: Option<String>,
}

/// A proposal of an agent that names each of them, and waits for its outcome in the call itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tab {
    pub(crate) name: String,
    pub(crate) request: RequestId,
    /// The agent's release writes an accepted text without its last line feed.
    pub(crate) drops_last_line_feed: bool,
    /// The question that it answers, if it is none of the agent's own proposals.
    pub(crate) question: Option<Arc<Question>>,
}

impl Delivery {
    /// The answer to a call for whose proposal another one came.
    pub(crate) fn rejection(
        proposer: Proposer,
        file_path: String,
        tab: Tab,
        stand_in: Option<Arc<StandIn>>,
    ) -> Self {
        Self {
            id: None,
            proposer,
            file_path,
            tab: Some(tab),
            outcome: Outcome::Rejected,
            is_edited: false,
            notes: Vec::new(),
            stand_in,
            words: None,
        }
    }

    /// Returns the call that a hook holds, whose answer it is.
    pub(crate) fn held(&self) -> Option<&HeldCall> {
        self.stand_in.as_deref()?.held()
    }

    /// Returns true if the answer itself tells the agent's model what the person has to say.
    pub(crate) fn takes_words(&self) -> bool {
        let is_question = |tab: &Tab| tab.question.is_some() && self.outcome == Outcome::Rejected;
        let tab = self.tab.as_ref();
        tab.is_some_and(|tab| self.held().is_some() || is_question(tab))
    }

    /// Returns the name by which its proposal is known in its session.
    fn name(&self) -> &str {
        self.tab.as_ref().map_or(&self.file_path, |tab| &tab.name)
    }
}

/// A session's outbox, shared by the loop that fills it and the event streams that empty it.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// Signals that there is something to take, that another stream is the newest, or that what was
    /// taken is sent.
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Queue {
    context: Option<Arc<IdeContext>>,
    outcomes: VecDeque<Delivery>,
    /// Not for an agent that is away: what is inserted into its prompt later is a surprise.
    mentions: VecDeque<Mention>,
    /// The outcomes that a stream took and that may yet be lost.
    in_flight: Vec<InFlight>,
    /// Open streams, oldest first. Only the newest takes.
    streams: Vec<u64>,
    last_stream: u64,
    is_closed: bool,
}

#[derive(Debug)]
struct InFlight {
    delivery: Delivery,
    mark: Mark,
    /// True if the agent sent a request after the system had it.
    is_answered: bool,
}

/// An open event stream's end of the outbox. Dropping it closes the stream.
#[derive(Debug)]
pub(crate) struct Stream {
    outbox: Arc<Outbox>,
    number: u64,
    /// The connection that it writes to, if that is known.
    wire: Option<Arc<Wire>>,
    /// False if those who wait for an answer take it themselves.
    takes_answers: bool,
    changed: watch::Receiver<()>,
}

impl Outbox {
    pub(crate) fn push_context(&self, context: Arc<IdeContext>) {
        self.lock().context = Some(context);
        self.changed.send_replace(());
    }

    pub(crate) fn push_outcome(&self, delivery: Delivery) {
        self.lock().outcomes.push_back(delivery);
        self.changed.send_replace(());
    }

    /// The person points the agent to something; a few that it never took are enough.
    pub(crate) fn push_mention(&self, mention: Mention) {
        let mentions = &mut self.lock().mentions;
        mentions.push_back(mention);
        if mentions.len() > MAX_MENTIONS {
            mentions.pop_front();
        }
        self.changed.send_replace(());
    }

    /// Takes back the outcomes for a proposal of this name (a path, or a tab's) that were not delivered yet, and returns the last one.
    /// Delivered later, they would settle a newer diff of the same name. One in flight is not
    /// returned: it may be there already.
    pub(crate) fn withdraw(&self, name: &str) -> Option<Delivery> {
        self.lock().withdraw(name).pop()
    }

    /// The same when a newer proposal of this name comes: calls that waited for those outcomes are answered
    /// as those whose views it takes.
    pub(crate) fn supersede(&self, name: &str) -> Option<Delivery> {
        let mut queue = self.lock();
        let mut last = None;
        for delivery in queue.withdraw(name) {
            if let Some(tab) = &delivery.tab {
                let rejection = Delivery::rejection(
                    delivery.proposer,
                    delivery.file_path.clone(),
                    tab.clone(),
                    delivery.stand_in.clone(),
                );
                queue.outcomes.push_back(rejection);
            }
            last = Some(delivery);
        }
        drop(queue);
        self.changed.send_replace(());
        last
    }

    /// Takes back what was accepted and never reached the agent: its session is over.
    pub(crate) fn take_undelivered(&self) -> Vec<Delivery> {
        let mut queue = self.lock();
        let in_flight = std::mem::take(&mut queue.in_flight);
        let outcomes = std::mem::take(&mut queue.outcomes);
        let unsent = in_flight
            .into_iter()
            .filter(|sent| sent.mark.sent_at().is_none())
            .map(|sent| sent.delivery);
        unsent
            .chain(outcomes)
            .filter(|delivery| matches!(delivery.outcome, Outcome::Accepted { .. }))
            .collect()
    }

    /// Waits until every outcome is with the system.
    pub(crate) async fn delivered(&self) {
        let mut changed = self.changed.subscribe();
        while !self.is_delivered() {
            // The sender lives here.
            let _ = changed.changed().await;
        }
    }

    /// Returns true if nothing waits to be sent.
    pub(crate) fn is_delivered(&self) -> bool {
        let queue = self.lock();
        let is_sent = |sent: &InFlight| sent.mark.sent_at().is_some();
        queue.outcomes.is_empty() && queue.in_flight.iter().all(is_sent)
    }

    pub(crate) fn note_activity(&self) {
        for sent in &mut self.lock().in_flight {
            sent.is_answered |= sent.mark.sent_at().is_some();
        }
    }

    /// Forgets what a living agent has read by now. One that was stopped has not: a text that
    /// nobody else has is kept until the agent speaks or its connection ends.
    /// Returns true if nothing is left that time alone would have forgotten.
    pub(crate) fn forget_outlived(&self, now: Instant) -> bool {
        let mut queue = self.lock();
        let mut is_done = queue.outcomes.is_empty();
        queue.in_flight.retain(|sent| {
            let sent_at = sent.mark.sent_at();
            let is_outlived = sent_at.is_some_and(|at| at + DELIVERY_GRACE <= now);
            is_done &= is_outlived;
            !is_outlived || (sent.delivery.is_edited && !sent.is_answered)
        });
        is_done
    }

    /// A connection is over: what did not arrive on it waits again, before all that came later.
    fn resolve(&self) {
        let mut queue = self.lock();
        for sent in std::mem::take(&mut queue.in_flight).into_iter().rev() {
            match sent.mark.arrival() {
                None => queue.in_flight.insert(0, sent),
                Some(Arrival::Arrived) => {}
                Some(Arrival::Unknown) if sent.is_answered => {}
                Some(Arrival::Unknown | Arrival::Lost) => {
                    queue.outcomes.push_front(sent.delivery);
                }
            }
        }
        drop(queue);
        self.changed.send_replace(());
    }

    /// Ends every stream: the session is over.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.send_replace(());
    }

    /// Opens a stream, which takes over from the ones that are open. Without a wire what it takes
    /// counts as delivered.
    pub(crate) fn stream(self: &Arc<Self>, wire: Option<Arc<Wire>>) -> Stream {
        if let Some(wire) = &wire {
            self.watch(wire);
        }
        let mut queue = self.lock();
        queue.last_stream += 1;
        let number = queue.last_stream;
        queue.streams.push(number);
        Stream {
            outbox: Arc::clone(self),
            number,
            wire,
            takes_answers: true,
            changed: self.changed.subscribe(),
        }
    }

    /// Waits for the outcome that answers this request, and takes it; none when the session is over. Without a wire it
    /// counts as delivered.
    pub(crate) async fn outcome_of(
        self: &Arc<Self>,
        request: &RequestId,
        wire: Option<Arc<Wire>>,
    ) -> Option<Delivery> {
        if let Some(wire) = &wire {
            self.watch(wire);
        }
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            {
                let mut queue = self.lock();
                if let Some(delivery) = queue.take_answer(request) {
                    self.note_sent(&mut queue, wire.as_ref(), &delivery);
                    return Some(delivery);
                }
                if queue.is_closed {
                    return None;
                }
            }
            // The sender lives here.
            let _ = changed.changed().await;
        }
    }

    /// Everything that is sent on a connection waits again if that ends too early.
    fn watch(self: &Arc<Self>, wire: &Arc<Wire>) {
        let outbox = Arc::downgrade(self);
        wire.on_end(move || {
            if let Some(outbox) = outbox.upgrade() {
                outbox.resolve();
            }
        });
    }

    /// An outcome is about to be sent on this wire.
    fn note_sent(
        self: &Arc<Self>,
        queue: &mut Queue,
        wire: Option<&Arc<Wire>>,
        delivery: &Delivery,
    ) {
        let Some(wire) = wire else { return };
        let outbox = Arc::downgrade(self);
        let mark = wire.mark(move || {
            if let Some(outbox) = outbox.upgrade() {
                outbox.changed.send_replace(());
            }
        });
        queue.in_flight.push(InFlight {
            delivery: delivery.clone(),
            mark,
            is_answered: false,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }
}

impl Queue {
    /// The outcome that answers this request.
    fn take_answer(&mut self, request: &RequestId) -> Option<Delivery> {
        let answers = |delivery: &Delivery| {
            let tab = delivery.tab.as_ref();
            tab.is_some_and(|tab| tab.request == *request)
        };
        let at = self.outcomes.iter().position(answers)?;
        self.outcomes.remove(at)
    }

    /// The oldest outcome, or the oldest that is no answer.
    fn take_outcome(&mut self, takes_answers: bool) -> Option<Delivery> {
        let mut outcomes = self.outcomes.iter();
        let at = outcomes.position(|delivery| takes_answers || delivery.tab.is_none())?;
        self.outcomes.remove(at)
    }

    fn withdraw(&mut self, name: &str) -> Vec<Delivery> {
        self.in_flight.retain(|sent| sent.delivery.name() != name);
        let outcomes = std::mem::take(&mut self.outcomes).into_iter();
        let (withdrawn, others): (Vec<_>, Vec<_>) =
            outcomes.partition(|delivery| delivery.name() == name);
        self.outcomes = others.into();
        withdrawn
    }
}

impl Stream {
    /// The same, which leaves answers to those who wait for them.
    pub(crate) fn without_answers(mut self) -> Self {
        self.takes_answers = false;
        self
    }

    /// The next thing to push, as soon as there is one; nothing when the session is over.
    pub(crate) async fn next(&mut self) -> Option<Push> {
        loop {
            self.changed.borrow_and_update();
            if let Some(push) = self.take() {
                return Some(push);
            }
            if self.outbox.lock().is_closed {
                return None;
            }
            // The sender lives in the outbox that this stream holds.
            let _ = self.changed.changed().await;
        }
    }

    fn take(&self) -> Option<Push> {
        let mut queue = self.outbox.lock();
        if queue.streams.last() != Some(&self.number) {
            return None;
        }
        if let Some(context) = queue.context.take() {
            return Some(Push::Context(context));
        }
        if let Some(mention) = queue.mentions.pop_front() {
            return Some(Push::Mention(mention));
        }
        let delivery = queue.take_outcome(self.takes_answers)?;
        let wire = self.wire.as_ref();
        self.outbox.note_sent(&mut queue, wire, &delivery);
        Some(Push::Outcome(delivery))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut queue = self.outbox.lock();
        queue.streams.retain(|open| *open != self.number);
        drop(queue);
        self.outbox.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests;
