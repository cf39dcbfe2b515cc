//! Which agents are here (C1.4): sessions come with `initialize`, stay as long as their event
//! stream is open, however idle, and are gone for good a while after it closed, because agents
//! leave without a word. A state machine: time comes in, no I/O.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_protocol::Dialect;

/// How long a session without an event stream and without a request is kept.
pub(crate) const RECONNECT_GRACE: Duration = Duration::from_secs(30);

/// An MCP session's id.
pub(crate) type SessionId = Arc<str>;

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    sessions: HashMap<SessionId, Session>,
    opened: u64,
}

#[derive(Debug)]
struct Session {
    agent: Dialect,
    /// Counts up, so that agents can be listed in the order in which they came.
    order: u64,
    /// Tells the agents of one kind that are here from each other, from 1.
    number: u32,
    streams: usize,
    last_heard: Instant,
}

impl Sessions {
    pub(crate) fn open(&mut self, id: SessionId, agent: Dialect, now: Instant) {
        self.opened += 1;
        let session = Session {
            agent,
            order: self.opened,
            number: self.free_number(agent),
            streams: 0,
            last_heard: now,
        };
        self.sessions.insert(id, session);
    }

    /// A request of the session arrived.
    pub(crate) fn heard(&mut self, id: &SessionId, now: Instant) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.last_heard = now;
        }
    }

    pub(crate) fn stream_opened(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.streams += 1;
        }
    }

    pub(crate) fn stream_closed(&mut self, id: &SessionId, now: Instant) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.streams = session.streams.saturating_sub(1);
            session.last_heard = now;
        }
    }

    /// Forgets a session; whether there was one.
    pub(crate) fn close(&mut self, id: &SessionId) -> bool {
        self.sessions.remove(id).is_some()
    }

    pub(crate) fn agent(&self, id: &SessionId) -> Option<Dialect> {
        self.sessions.get(id).map(|session| session.agent)
    }

    /// Which of the agents of its kind a session is, from 1.
    pub(crate) fn number(&self, id: &SessionId) -> u32 {
        self.sessions.get(id).map_or(1, |session| session.number)
    }

    /// The smallest number that no agent of this kind has.
    fn free_number(&self, agent: Dialect) -> u32 {
        let sessions = self.sessions.values();
        let taken: HashSet<_> = sessions
            .filter(|session| session.agent == agent)
            .map(|session| session.number)
            .collect();
        (1..).find(|number| !taken.contains(number)).unwrap_or(1)
    }

    /// The agents that listen, in the order in which they came.
    pub(crate) fn connected(&self) -> Vec<Dialect> {
        let mut connected: Vec<_> = self
            .sessions
            .values()
            .filter(|session| session.streams > 0)
            .collect();
        connected.sort_by_key(|session| session.order);
        connected.iter().map(|session| session.agent).collect()
    }

    /// When [`Sessions::expired`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.away().map(|(_, gone_at)| gone_at).min()
    }

    /// The sessions that are gone for good by now.
    pub(crate) fn expired(&self, now: Instant) -> Vec<SessionId> {
        self.away()
            .filter(|(_, gone_at)| *gone_at <= now)
            .map(|(id, _)| Arc::clone(id))
            .collect()
    }

    fn away(&self) -> impl Iterator<Item = (&SessionId, Instant)> {
        self.sessions
            .iter()
            .filter(|(_, session)| session.streams == 0)
            .map(|(id, session)| (id, session.last_heard + RECONNECT_GRACE))
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
        let (mut sessions, start) = (Sessions::default(), Instant::now());
        sessions.open(id("a"), Dialect::GeminiCli, start);
        sessions.stream_opened(&id("a"));
        assert_eq!(sessions.due(), None);
        assert!(sessions.expired(start + RECONNECT_GRACE * 1000).is_empty());
    }

    #[test]
    fn a_session_whose_stream_closed_goes_unless_it_comes_back() {
        let (mut sessions, start) = (Sessions::default(), Instant::now());
        sessions.open(id("a"), Dialect::GeminiCli, start);
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
    fn agents_of_one_kind_have_numbers_that_stay() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        for (name, agent) in [
            ("a", Dialect::GeminiCli),
            ("b", Dialect::GeminiCli),
            ("c", Dialect::QwenCode),
        ] {
            sessions.open(id(name), agent, now);
        }
        let numbers = |sessions: &Sessions| ["a", "b", "c"].map(|name| sessions.number(&id(name)));
        assert_eq!(numbers(&sessions), [1, 2, 1]);
        sessions.close(&id("a"));
        assert_eq!(sessions.number(&id("b")), 2);
        sessions.open(id("d"), Dialect::GeminiCli, now);
        assert_eq!(sessions.number(&id("d")), 1);
        sessions.open(id("e"), Dialect::GeminiCli, now);
        assert_eq!(sessions.number(&id("e")), 3);
    }

    #[test]
    fn requests_keep_a_session_without_a_stream() {
        let (mut sessions, start) = (Sessions::default(), Instant::now());
        sessions.open(id("a"), Dialect::QwenCode, start);
        sessions.heard(&id("a"), start + RECONNECT_GRACE);
        assert_eq!(sessions.due(), Some(start + RECONNECT_GRACE * 2));
    }

    #[test]
    fn a_second_stream_does_not_hide_that_the_first_is_open() {
        let (mut sessions, start) = (Sessions::default(), Instant::now());
        sessions.open(id("a"), Dialect::GeminiCli, start);
        sessions.stream_opened(&id("a"));
        sessions.stream_opened(&id("a"));
        sessions.stream_closed(&id("a"), start);
        assert_eq!(sessions.due(), None);
        assert_eq!(sessions.connected(), [Dialect::GeminiCli]);
    }

    #[test]
    fn agents_are_listed_in_the_order_in_which_they_came() {
        let (mut sessions, start) = (Sessions::default(), Instant::now());
        for (name, agent) in [("x", Dialect::QwenCode), ("b", Dialect::GeminiCli)] {
            sessions.open(id(name), agent, start);
            sessions.stream_opened(&id(name));
        }
        sessions.open(id("silent"), Dialect::GeminiCli, start);
        let connected = sessions.connected();
        assert_eq!(connected, [Dialect::QwenCode, Dialect::GeminiCli]);
        assert!(sessions.close(&id("x")) && !sessions.close(&id("x")));
    }

    const MILLISECOND: Duration = Duration::from_millis(1);
}
