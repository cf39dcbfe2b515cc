//! The way to a companion: where it is, how long it is waited for, and what of ours is still open
//! there.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pillion_http::{Event, Method};
use pillion_protocol::diff::CLOSE_DIFF;
use serde_json::json;

use crate::message::{NEWEST_VERSION, request};
use crate::probe::{Answer, NoAnswer, Probe, VERSION};
use crate::target::Target;

/// How long to wait for what.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For an answer, or for what is to come at once.
    pub answer: Duration,
    /// For an answer that the contract wants at once.
    pub prompt: Duration,
    /// For something that must not come.
    pub quiet: Duration,
    /// How long a silent event stream is watched.
    pub idle: Duration,
    /// After how much silence agents take a stream for dead.
    pub silence: Duration,
    /// For a file to be put back.
    pub restore: Duration,
    /// For a person, or a command in a person's place.
    pub help: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(5),
            // No editor takes longer to open a view, and no person decides as quickly.
            prompt: Duration::from_secs(2),
            quiet: Duration::from_millis(500),
            idle: Duration::from_secs(1),
            // Node's fetch gives up on a body that is silent for so long.
            silence: Duration::from_secs(300),
            // Claude Code looks for a companion for so long after its start.
            restore: Duration::from_secs(30),
            help: Duration::from_secs(60),
        }
    }
}

/// A companion, and what is open there because of us.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) target: Target,
    pub(super) timeouts: Timeouts,
    /// How many requests got no answer in time.
    unanswered: AtomicU32,
    /// Sessions and views that are to be closed whatever happens.
    left: Mutex<Vec<Record>>,
    events: Mutex<HeardEvents>,
}

/// What came on all event streams.
#[derive(Debug, Clone, Default)]
pub(super) struct HeardEvents {
    pub(super) count: usize,
    /// The first that is no JSON-RPC message, or that has an id.
    pub(super) odd: Option<Event>,
}

/// After so many unanswered requests, the companion gets less time for each.
const UNANSWERED: u32 = 4;

/// But so long, whatever happens.
const SHORTEST: Duration = Duration::from_secs(1);

/// What is to be undone of a session when a check ends early.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) id: Option<String>,
    pub(super) version: String,
    pub(super) views: Vec<String>,
}

impl Connection {
    pub(super) fn new(target: Target, timeouts: Timeouts) -> Self {
        Self {
            target,
            timeouts,
            unanswered: AtomicU32::new(0),
            left: Mutex::default(),
            events: Mutex::default(),
        }
    }

    /// Sends a request and waits for the head of its answer, with less time for who never
    /// answers.
    pub(super) async fn send(&self, probe: Probe, limit: Duration) -> Result<Answer, NoAnswer> {
        let is_known = self.unanswered.load(Ordering::Relaxed) >= UNANSWERED;
        let limit = if is_known { limit.min(SHORTEST) } else { limit };
        let started = Instant::now();
        let sent = probe.send(limit).await;
        if sent.is_err() && started.elapsed() >= limit {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        }
        sent
    }

    /// A request with the companion's token.
    pub(super) fn probe(&self, method: Method) -> Probe {
        let probe = self.stranger(method);
        match self.target.token() {
            Some(token) => probe.bearer(token.expose()),
            None => probe,
        }
    }

    /// A request without a token.
    pub(super) fn stranger(&self, method: Method) -> Probe {
        Probe::new(method, self.target.port())
    }

    /// Notes a session that is to be ended.
    pub(super) fn opened(&self, record: Record) {
        self.lock().push(record);
    }

    /// Notes the session that an answer may have opened against all expectation.
    pub(super) fn opened_by(&self, answer: &Answer) {
        if let Some(id) = answer.session() {
            self.opened(Record {
                id: Some(id),
                version: NEWEST_VERSION.to_owned(),
                views: Vec::new(),
            });
        }
    }

    /// Changes the note of a session.
    pub(super) fn note(&self, id: Option<&str>, change: impl FnOnce(&mut Record)) {
        if let Some(record) = self.lock().iter_mut().find(|it| it.id.as_deref() == id) {
            change(record);
        }
    }

    /// Forgets a session that was ended.
    pub(super) fn ended(&self, id: Option<&str>) {
        let mut left = self.lock();
        if let Some(at) = left.iter().position(|it| it.id.as_deref() == id) {
            left.remove(at);
        }
    }

    /// Closes every view and session that is left open. False when the companion did not answer: a
    /// view may be open still.
    pub(super) async fn clean_up(&self) -> bool {
        let left = std::mem::take(&mut *self.lock());
        let mut is_clean = true;
        for record in left {
            is_clean &= record.end(self).await;
        }
        is_clean
    }

    /// Notes an event, which may be no message.
    pub(super) fn heard(&self, event: Event, is_odd: bool) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.count += 1;
        if is_odd && events.odd.is_none() {
            events.odd = Some(event);
        }
    }

    /// What came so far.
    pub(super) fn events(&self) -> HeardEvents {
        let events = self.events.lock();
        events.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Record>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    /// Closes its views and ends it, as far as the companion lets itself be talked to. False when it
    /// did not answer about a view.
    pub(super) async fn end(&self, connection: &Connection) -> bool {
        let limit = connection.timeouts.answer;
        let probe = |method| {
            let probe = connection.probe(method).session(self.id.as_deref());
            probe.header(VERSION, &self.version)
        };
        let mut is_clean = true;
        for view in &self.views {
            let arguments = json!({"filePath": view, "suppressNotification": true});
            let params = json!({"name": CLOSE_DIFF, "arguments": arguments});
            let body = request("clean-up", "tools/call", params);
            let answer = connection.send(probe(Method::POST).body(body), limit).await;
            is_clean &= answer.is_ok();
        }
        if self.id.is_some() {
            let _ = connection.send(probe(Method::DELETE), limit).await;
        }
        is_clean
    }
}
