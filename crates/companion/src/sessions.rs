//! The agents that are connected (C1.4), and what waits to be pushed to them: the one owner of sessions and their
//! outboxes. A session comes with `initialize`, stays as long as its event stream is open, however
//! idle, and is gone for good a while after it closed, because agents leave without a word.
//!
//! Shared by the transports, which open sessions and end them, and the loop, which forgets them. A
//! state machine: time comes in, no I/O.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pillion_protocol::Dialect;
use pillion_system::lock;

use crate::numbers::Numbers;
use crate::outbox::Outbox;
use crate::wire::Wire;

/// The time for which a session without an event stream and without a request is kept.
pub(crate) const RECONNECT_GRACE: Duration = Duration::from_secs(30);

/// The most sessions of one agent that may be open.
pub(crate) const MAX_SESSIONS: usize = 256;

pub(crate) type SessionId = Arc<str>;

/// Every session. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sessions {
    table: Arc<Mutex<Table>>,
    /// True if diffs are shown, which agents ask when they connect.
    shows_diffs: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Table {
    /// The numbers that agents get.
    numbers: Numbers,
    sessions: HashMap<SessionId, Session>,
    opened: u64,
}

#[derive(Debug)]
struct Session {
    agent: Dialect,
    /// Counts up, so that agents can be listed in the order in which they came.
    order: u64,
    /// Tells it from all other agents, also from those that were here before.
    number: u64,
    streams: usize,
    last_active: Instant,
    outbox: Arc<Outbox>,
    /// The connection of its latest event stream, or else of its first request.
    wire: Option<Arc<Wire>>,
    /// Its process, as it says.
    process: Option<u32>,
    /// True if the processes that its process starts are the person's, not the agent's.
    plays_the_person: bool,
    /// The release writes an accepted text without its last line feed.
    drops_last_line_feed: bool,
    /// The agent ended it; the loop has yet to forget it.
    is_ended: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Listening {
    pub(crate) session: SessionId,
    pub(crate) agent: Dialect,
    /// The number of the agent, which no other one gets.
    pub(crate) number: u64,
}

impl Listening {
    /// Returns the name that people know it by: with its number where several of its kind are there.
    pub(crate) fn name(&self, all: &[Self]) -> String {
        let name = self.agent.display_name();
        match all.iter().filter(|other| other.agent == self.agent).count() {
            0 | 1 => name.to_owned(),
            _ => format!("{name} {}", self.number),
        }
    }
}

/// An agent has [`MAX_SESSIONS`] open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManySessions;

impl Sessions {
    /// None yet. New ones get these numbers.
    pub(crate) fn new(numbers: Numbers) -> Self {
        let sessions = Self::default();
        sessions.lock().numbers = numbers;
        sessions
    }

    pub(crate) fn numbers(&self) -> Numbers {
        self.lock().numbers.clone()
    }

    /// The end: what is left of the numbers is for the next companion. A connection may hold the sessions for longer.
    pub(crate) fn give_numbers_back(&self) {
        self.lock().numbers = Numbers::default();
    }

    /// Notes whether any front end shows diffs.
    pub(crate) fn set_shows_diffs(&self, shows_diffs: bool) {
        self.shows_diffs.store(shows_diffs, Ordering::Relaxed);
    }

    /// Returns true if any front end shows diffs.
    pub(crate) fn shows_diffs(&self) -> bool {
        self.shows_diffs.load(Ordering::Relaxed)
    }

    /// Opens a session.
    ///
    /// # Errors
    /// When the agent has too many.
    pub(crate) fn open(
        &self,
        id: SessionId,
        agent: Dialect,
        now: Instant,
    ) -> Result<(), TooManySessions> {
        let mut table = self.lock();
        if table.of(agent).filter(|session| !session.is_ended).count() >= MAX_SESSIONS {
            return Err(TooManySessions);
        }
        table.opened += 1;
        let session = Session {
            agent,
            order: table.opened,
            number: table.numbers.give(),
            streams: 0,
            last_active: now,
            outbox: Arc::default(),
            wire: None,
            process: None,
            plays_the_person: false,
            drops_last_line_feed: false,
            is_ended: false,
        };
        table.sessions.insert(id, session);
        Ok(())
    }

    /// Notes the connection of the first request, or of an event stream. Returns the agent whose processes hold it.
    pub(crate) fn note_wire(&self, id: &SessionId, wire: &Arc<Wire>) -> Option<Dialect> {
        self.of(id, |it| {
            it.wire = Some(Arc::clone(wire));
            (!it.plays_the_person).then_some(it.agent)
        })?
    }

    /// Returns true if no connection of a session was noted yet.
    pub(crate) fn is_without_wire(&self, id: &SessionId) -> bool {
        self.of(id, |it| it.wire.is_none()).unwrap_or_default()
    }

    /// Notes which process the agent says that it is.
    pub(crate) fn note_process(&self, id: &SessionId, pid: u32) {
        self.of(id, |it| it.process = Some(pid));
    }

    /// Notes that what the agent's process starts is the person's.
    pub(crate) fn plays_the_person(&self, id: &SessionId) {
        self.of(id, |it| it.plays_the_person = true);
    }

    /// The connection of a session that was noted last.
    pub(crate) fn wire(&self, id: &SessionId) -> Option<Arc<Wire>> {
        self.of(id, |it| it.wire.clone())?
    }

    /// The session of an agent that says that it is one of these processes, the nearest first.
    pub(crate) fn of_process(&self, processes: &[u32]) -> Option<(SessionId, Dialect)> {
        let table = self.lock();
        let is = |session: &Session, pid| session.process == Some(pid) && !session.is_ended;
        processes.iter().find_map(|pid| {
            let mut sessions = table.sessions.iter();
            let (id, session) = sessions.find(|(_, session)| is(session, *pid))?;
            Some((Arc::clone(id), session.agent))
        })
    }

    /// The process of a session, as its agent says.
    pub(crate) fn process(&self, id: &SessionId) -> Option<u32> {
        self.of(id, |it| it.process)?
    }

    /// Notes that the release writes an accepted text without its last line feed.
    pub(crate) fn drops_last_line_feed(&self, id: &SessionId) {
        self.of(id, |it| it.drops_last_line_feed = true);
    }

    pub(crate) fn does_drop_last_line_feed(&self, id: &SessionId) -> bool {
        self.of(id, |it| it.drops_last_line_feed)
            .unwrap_or_default()
    }

    /// The id of the session of this name, if it is open and this agent's.
    pub(crate) fn find(&self, name: &str, agent: Dialect) -> Option<SessionId> {
        let table = self.lock();
        let (id, session) = table.sessions.get_key_value(name)?;
        (session.agent == agent && !session.is_ended).then(|| Arc::clone(id))
    }

    /// A request of the session arrived.
    pub(crate) fn note_activity(&self, id: &SessionId, now: Instant) {
        self.of(id, |it| {
            it.last_active = now;
            it.outbox.note_activity();
        });
    }

    /// An event stream of the session opened; nothing if the session is gone.
    pub(crate) fn stream_opened(&self, id: &SessionId) -> Option<Arc<Outbox>> {
        self.of(id, |it| {
            it.streams += 1;
            Arc::clone(&it.outbox)
        })
    }

    pub(crate) fn stream_closed(&self, id: &SessionId, now: Instant) {
        self.of(id, |it| {
            it.streams = it.streams.saturating_sub(1);
            it.last_active = now;
        });
    }

    /// The agent ends its session: its streams end, and no request finds it. The loop forgets it.
    pub(crate) fn end(&self, id: &SessionId) {
        self.of(id, |it| {
            it.is_ended = true;
            it.outbox.close();
        });
    }

    /// Forgets a session; whether there was one.
    pub(crate) fn forget(&self, id: &SessionId) -> bool {
        let session = self.lock().sessions.remove(id);
        session.map(|it| it.outbox.close()).is_some()
    }

    /// All that there are, also those that ended.
    pub(crate) fn ids(&self) -> Vec<SessionId> {
        self.lock().sessions.keys().cloned().collect()
    }

    pub(crate) fn agent(&self, id: &SessionId) -> Option<Dialect> {
        self.of(id, |it| it.agent)
    }

    /// Returns a session's number, which no other one gets.
    pub(crate) fn number(&self, id: &SessionId) -> Option<u64> {
        self.of(id, |it| it.number)
    }

    pub(crate) fn outbox(&self, id: &SessionId) -> Option<Arc<Outbox>> {
        self.of(id, |it| Arc::clone(&it.outbox))
    }

    pub(crate) fn outboxes(&self) -> Vec<Arc<Outbox>> {
        let table = self.lock();
        let sessions = table.sessions.values();
        sessions
            .map(|session| Arc::clone(&session.outbox))
            .collect()
    }

    /// The agents that listen, in the order in which they came.
    pub(crate) fn connected(&self) -> Vec<Dialect> {
        let listening = self.listening().into_iter();
        listening.map(|it| it.agent).collect()
    }

    /// The same with their sessions.
    pub(crate) fn listening(&self) -> Vec<Listening> {
        let table = self.lock();
        let sessions = table.sessions.iter();
        let mut listening: Vec<_> = sessions
            .filter(|(_, session)| session.streams > 0)
            .collect();
        listening.sort_by_key(|(_, session)| session.order);
        let listening = listening.into_iter();
        listening
            .map(|(id, session)| Listening {
                session: Arc::clone(id),
                agent: session.agent,
                number: session.number,
            })
            .collect()
    }

    /// The agents of this kind that do not listen: they may not come back.
    pub(crate) fn away(&self, kind: Dialect) -> Vec<SessionId> {
        let table = self.lock();
        let away = table.away().map(|(id, _)| id);
        let is_its = |id: &&SessionId| table.sessions.get(*id).is_some_and(|it| it.agent == kind);
        away.filter(is_its).map(Arc::clone).collect()
    }

    /// The agent of this kind that was last active, of those that listen.
    pub(crate) fn latest(
        &self,
        is_wanted: impl Fn(Dialect) -> bool,
    ) -> Option<(SessionId, Dialect)> {
        let table = self.lock();
        let listening = table.sessions.iter().filter(|(_, session)| {
            session.streams > 0 && !session.is_ended && is_wanted(session.agent)
        });
        let latest = listening.max_by_key(|(_, session)| (session.last_active, session.order));
        latest.map(|(id, session)| (Arc::clone(id), session.agent))
    }

    /// Returns the time at which [`Sessions::expired`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.lock().away().map(|(_, gone_at)| gone_at).min()
    }

    /// The sessions that are gone for good by now.
    pub(crate) fn expired(&self, now: Instant) -> Vec<SessionId> {
        let table = self.lock();
        let expired = table.away().filter(|(_, gone_at)| *gone_at <= now);
        expired.map(|(id, _)| Arc::clone(id)).collect()
    }

    /// Does this with a session, if there is one.
    fn of<T>(&self, id: &SessionId, act: impl FnOnce(&mut Session) -> T) -> Option<T> {
        self.lock().sessions.get_mut(id).map(act)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }
}

impl Table {
    fn of(&self, agent: Dialect) -> impl Iterator<Item = &Session> {
        let sessions = self.sessions.values();
        sessions.filter(move |session| session.agent == agent)
    }

    fn away(&self) -> impl Iterator<Item = (&SessionId, Instant)> {
        let away = self.sessions.iter();
        away.filter(|(_, session)| session.streams == 0)
            .map(|(id, session)| (id, session.last_active + RECONNECT_GRACE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> SessionId {
        name.into()
    }

    #[test]
    fn a_session_with_a_stream_stays_for_hours() {
        let (sessions, start) = (Sessions::new(Numbers::from_one()), Instant::now());
        sessions.open(id("a"), Dialect::GeminiCli, start).unwrap();
        sessions.stream_opened(&id("a"));
        assert_eq!(sessions.due(), None);
        assert!(sessions.expired(start + RECONNECT_GRACE * 1000).is_empty());
    }

    #[test]
    fn a_session_whose_stream_closed_goes_unless_it_comes_back() {
        let (sessions, start) = (Sessions::new(Numbers::from_one()), Instant::now());
        sessions.open(id("a"), Dialect::GeminiCli, start).unwrap();
        sessions.stream_opened(&id("a"));
        sessions.stream_closed(&id("a"), start + RECONNECT_GRACE);
        assert_eq!(sessions.due(), Some(start + RECONNECT_GRACE * 2));
        sessions.stream_opened(&id("a"));
        assert_eq!(sessions.due(), None);
        sessions.stream_closed(&id("a"), start + RECONNECT_GRACE * 3);
        assert!(
            sessions
                .expired(start + RECONNECT_GRACE * 4 - MILLISECOND)
                .is_empty()
        );
        assert_eq!(sessions.expired(start + RECONNECT_GRACE * 4), [id("a")]);
    }

    #[test]
    fn an_agent_has_a_number_that_stays_and_that_no_other_one_gets() {
        let (sessions, now) = (Sessions::new(Numbers::from_one()), Instant::now());
        for (name, agent) in [
            ("a", Dialect::GeminiCli),
            ("b", Dialect::GeminiCli),
            ("c", Dialect::QwenCode),
        ] {
            sessions.open(id(name), agent, now).unwrap();
        }
        let number = |name| sessions.number(&id(name));
        assert_eq!(["a", "b", "c"].map(number), [1, 2, 3].map(Some));
        sessions.forget(&id("a"));
        assert_eq!(number("b"), Some(2));
        sessions.open(id("d"), Dialect::GeminiCli, now).unwrap();
        assert_eq!(number("d"), Some(4));
        sessions.open(id("e"), Dialect::GeminiCli, now).unwrap();
        assert_eq!(number("e"), Some(5));
    }

    #[test]
    fn requests_keep_a_session_without_a_stream() {
        let (sessions, start) = (Sessions::new(Numbers::from_one()), Instant::now());
        sessions.open(id("a"), Dialect::QwenCode, start).unwrap();
        sessions.note_activity(&id("a"), start + RECONNECT_GRACE);
        assert_eq!(sessions.due(), Some(start + RECONNECT_GRACE * 2));
    }

    #[test]
    fn a_second_stream_does_not_hide_that_the_first_is_open() {
        let (sessions, start) = (Sessions::new(Numbers::from_one()), Instant::now());
        sessions.open(id("a"), Dialect::GeminiCli, start).unwrap();
        sessions.stream_opened(&id("a"));
        sessions.stream_opened(&id("a"));
        sessions.stream_closed(&id("a"), start);
        assert_eq!(sessions.due(), None);
        assert_eq!(sessions.connected(), [Dialect::GeminiCli]);
    }

    #[test]
    fn agents_are_listed_in_the_order_in_which_they_came() {
        let (sessions, start) = (Sessions::new(Numbers::from_one()), Instant::now());
        for (name, agent) in [("x", Dialect::QwenCode), ("b", Dialect::GeminiCli)] {
            sessions.open(id(name), agent, start).unwrap();
            sessions.stream_opened(&id(name));
        }
        sessions
            .open(id("silent"), Dialect::GeminiCli, start)
            .unwrap();
        let connected = sessions.connected();
        assert_eq!(connected, [Dialect::QwenCode, Dialect::GeminiCli]);
        assert!(sessions.forget(&id("x")) && !sessions.forget(&id("x")));
    }

    const MILLISECOND: Duration = Duration::from_millis(1);
}
