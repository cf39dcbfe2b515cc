//! The agents that are connected and whose hooks have told nothing: when the folders are looked at for them, and when a turn
//! of theirs is over. It is decided here, and only here, whether an agent is one of them.
//!
//! A look costs time in proportion to the files, so that each has a reason: the system tells that something has changed. Where
//! it does not tell that, an editor that has read a file and an agent that does something are reasons, and so is the clock.
//! Looks keep a distance that grows with what they cost, and with files that change all the time. A state machine without I/O:
//! reasons, looks and time come in.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pillion_changes::recorder::Glance;
use pillion_protocol::Dialect;

use crate::sessions::SessionId;

/// The time that a look waits for its reason to be over, and for editors to say what their people have saved.
const DELAY: Duration = Duration::from_millis(500);

/// The distance between two looks, at least, and in times of what a look costs.
const MIN_DISTANCE: Duration = Duration::from_secs(1);
const COSTS: u32 = 20;

/// It doubles up to this while the same files change all the time.
const MAX_DISTANCE: Duration = Duration::from_secs(10);

/// By the clock, the distance is this at least, and in times of what a look costs.
const MIN_CLOCK: Duration = Duration::from_secs(5);
const CLOCK_COSTS: u32 = 100;

/// After so long without a change the turn of an agent is over.
const QUIET: Duration = Duration::from_secs(30);

/// The same of an agent that tells when the next one begins: it may wait so long for a command.
const QUIET_IF_TOLD: Duration = Duration::from_secs(2 * 60);

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The folders are to be looked at.
    Look,
    /// The same, and if nothing has changed, the turn of this session is over.
    End(SessionId),
}

/// The agents, and the looks.
#[derive(Debug, Default)]
pub(crate) struct Unhooked {
    sessions: HashMap<SessionId, Session>,
    /// The number of looks that go on.
    looks: usize,
    /// The time at which the last look was over.
    looked: Option<Instant>,
    /// The time at which the next one is due.
    due: Option<Instant>,
    /// The shortest time from a look to the next one.
    distance: Duration,
    /// True if the system tells when something changes.
    is_watched: bool,
}

#[derive(Debug)]
struct Session {
    agent: Dialect,
    /// True once its hooks have told something: then it is recorded by what they tell.
    is_hooked: bool,
    /// The time at which its turn is over, if nothing changes until then; none if no turn goes on.
    ends: Option<Instant>,
}

impl Unhooked {
    /// An agent listens. Returns true if it is one of these from now on.
    pub(crate) fn connected(&mut self, session: &SessionId, agent: Dialect) -> bool {
        if self.sessions.contains_key(session) {
            return false;
        }
        let new = Session {
            agent,
            is_hooked: false,
            ends: None,
        };
        self.sessions.insert(session.clone(), new);
        self.looks += 1;
        true
    }

    /// Hooks of this session have told something. Returns true if it was one of these until now.
    pub(crate) fn is_hooked(&mut self, session: &SessionId) -> bool {
        let Some(session) = self.sessions.get_mut(session) else {
            return false;
        };
        session.ends = None;
        let was_hooked = std::mem::replace(&mut session.is_hooked, true);
        self.rest();
        !was_hooked
    }

    /// Those of this kind that are still here.
    pub(crate) fn of_kind(&self, agent: Dialect) -> Vec<SessionId> {
        let sessions = self.sessions.iter();
        let of_kind = sessions.filter(|(_, it)| !it.is_hooked && it.agent == agent);
        of_kind.map(|(session, _)| session.clone()).collect()
    }

    /// Returns true if it is one of these.
    pub(crate) fn has(&self, session: &SessionId) -> bool {
        self.sessions.get(session).is_some_and(|it| !it.is_hooked)
    }

    /// An agent begins a turn, which ends the one before. Returns true if it is one of these, and is looked for.
    pub(crate) fn begins(&mut self, session: &SessionId) -> bool {
        let session = self.sessions.get_mut(session);
        let Some(session) = session.filter(|it| !it.is_hooked) else {
            return false;
        };
        session.ends = None;
        self.looks += 1;
        true
    }

    /// An editor has read or written a file, or an agent is about to: something may have changed, unless the system tells that.
    pub(crate) fn may_have_stirred(&mut self, now: Instant) {
        if !self.is_watched {
            self.stirred(now);
        }
    }

    /// Something has changed.
    pub(crate) fn stirred(&mut self, now: Instant) {
        if !self.sessions.values().any(|it| !it.is_hooked) {
            return;
        }
        let earliest = self.looked.map_or(now, |looked| looked + self.distance);
        let due = (now + DELAY).max(earliest);
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
    }

    /// An agent has done something. Returns true if it is one of these.
    pub(crate) fn is_heard(&mut self, session: &SessionId, now: Instant) -> bool {
        let has = self.has(session);
        if has {
            // What it does now is worth a look, whatever else changes all the time.
            self.distance = self.distance.min(MIN_DISTANCE);
            self.may_have_stirred(now);
        }
        has
    }

    /// A look is over. `sessions` are those in whose turns something has changed.
    pub(crate) fn glanced(&mut self, glance: &Glance, sessions: &[SessionId], now: Instant) {
        self.looks = self.looks.saturating_sub(1);
        self.looked = Some(now);
        self.is_watched = glance.is_watched;
        let cost = (glance.took * COSTS).max(MIN_DISTANCE);
        self.distance = match glance.is_news || sessions.is_empty() {
            true => cost,
            false => (self.distance * 2).min(MAX_DISTANCE).max(cost),
        };
        for session in sessions {
            let session = self.sessions.get_mut(session);
            if let Some(session) = session.filter(|it| !it.is_hooked) {
                let quiet = match session.agent.announces_writes() {
                    true => QUIET_IF_TOLD,
                    false => QUIET,
                };
                // The next look comes before that.
                session.ends = Some(now + quiet.max(self.distance * 2));
            }
        }
        if !glance.is_watched {
            let clock = (glance.took * CLOCK_COSTS).max(MIN_CLOCK);
            let due = now + clock;
            self.due = Some(self.due.map_or(due, |before| before.min(due)));
        }
        self.rest();
    }

    /// A session is over.
    pub(crate) fn forget(&mut self, session: &SessionId) {
        self.sessions.remove(session);
        self.rest();
    }

    /// Nothing is looked for any more if none of these is left.
    fn rest(&mut self) {
        if !self.sessions.values().any(|it| !it.is_hooked) {
            self.due = None;
        }
    }

    /// Returns the time at which [`elapse`](Self::elapse) wants to be called. A disk that does not answer is not asked again.
    pub(crate) fn due(&self) -> Option<Instant> {
        let ends = self.sessions.values().filter_map(|it| it.ends);
        let due = ends.chain(self.due).min();
        due.filter(|_| self.looks == 0)
    }

    /// Returns what is to be done by now.
    pub(crate) fn elapse(&mut self, now: Instant) -> Option<Step> {
        if self.looks > 0 {
            return None;
        }
        let mut sessions = self.sessions.iter_mut();
        let over = sessions.find(|(_, it)| it.ends.is_some_and(|ends| ends <= now));
        let step = match over {
            Some((session, it)) => {
                it.ends = None;
                Step::End(session.clone())
            }
            None if self.due.is_some_and(|due| due <= now) => Step::Look,
            None => return None,
        };
        self.looks += 1;
        self.due = None;
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    fn id(name: &str) -> SessionId {
        name.into()
    }

    fn glance(took: Duration, is_watched: bool, is_news: bool) -> Glance {
        Glance {
            took,
            is_watched,
            sessions: Vec::new(),
            is_news,
        }
    }

    /// A look that was cheap, in folders that are watched.
    fn cheap() -> Glance {
        glance(MOMENT, true, true)
    }

    /// With one of these, which was looked for.
    fn with(agent: Dialect, start: Instant) -> Unhooked {
        let mut unhooked = Unhooked::default();
        assert!(unhooked.connected(&id("a"), agent));
        unhooked.glanced(&cheap(), &[], start);
        unhooked
    }

    #[test]
    fn while_nothing_happens_nothing_is_due() {
        for agent in [Dialect::OpenCode, Dialect::ClaudeCode, Dialect::GeminiCli] {
            let unhooked = with(agent, Instant::now());
            assert_eq!(unhooked.due(), None);
        }
    }

    #[test]
    fn each_reason_leads_to_one_look() {
        type Reason = fn(&mut Unhooked, Instant);
        let reasons: [Reason; 2] = [
            |it, now| it.stirred(now),
            |it, now| {
                for _ in 0..3 {
                    it.stirred(now);
                }
            },
        ];
        for reason in reasons {
            let start = Instant::now();
            let mut unhooked = with(Dialect::OpenCode, start);
            let now = start + MIN_DISTANCE;
            reason(&mut unhooked, now);
            assert_eq!(unhooked.due(), Some(now + DELAY));
            assert_eq!(unhooked.elapse(now + DELAY - MOMENT), None);
            assert_eq!(unhooked.elapse(now + DELAY), Some(Step::Look));
            // Nothing else while it goes on, as long as a disk may need.
            unhooked.stirred(now + DELAY);
            assert_eq!(unhooked.due(), None);
            assert_eq!(unhooked.elapse(now + DELAY * 1000), None);
            // What came meanwhile is looked for afterwards.
            unhooked.glanced(&cheap(), &[], now + DELAY);
            let due = unhooked.due().unwrap();
            assert!(due >= now + DELAY + DELAY);
            assert_eq!(unhooked.elapse(due), Some(Step::Look));
            unhooked.glanced(&cheap(), &[], due);
            assert_eq!(unhooked.due(), None);
        }
    }

    #[test]
    fn looks_keep_a_distance_that_grows_with_their_cost() {
        for (took, distance) in [
            (MOMENT, MIN_DISTANCE),
            (Duration::from_millis(120), Duration::from_millis(2400)),
            (Duration::from_secs(1), Duration::from_secs(20)),
        ] {
            let start = Instant::now();
            let mut unhooked = with(Dialect::OpenCode, start);
            unhooked.glanced(&glance(took, true, true), &[], start);
            unhooked.stirred(start);
            assert_eq!(unhooked.due(), Some(start + distance), "{took:?}");
        }
    }

    #[test]
    fn a_file_that_changes_all_the_time_is_looked_at_less_and_less() {
        let mut now = Instant::now();
        let mut unhooked = with(Dialect::OpenCode, now);
        let mut distance = MIN_DISTANCE;
        for round in 0..10 {
            unhooked.stirred(now);
            let due = unhooked.due().unwrap();
            assert_eq!(due, now + distance, "{round}");
            // The turn is not over before that.
            assert_eq!(unhooked.elapse(due), Some(Step::Look), "{round}");
            now = due;
            unhooked.glanced(&glance(MOMENT, true, round == 0), &[id("a")], now);
            if round > 0 {
                distance = (distance * 2).min(MAX_DISTANCE);
            }
        }
        assert_eq!(distance, MAX_DISTANCE);
        // What the agent does is worth a look.
        unhooked.is_heard(&id("a"), now);
        unhooked.stirred(now);
        assert_eq!(unhooked.due(), Some(now + MIN_DISTANCE));
    }

    #[test]
    fn what_editors_and_agents_do_is_a_reason_where_the_system_tells_nothing() {
        type Reason = fn(&mut Unhooked, Instant);
        let reasons: [Reason; 2] = [
            |it, now| it.may_have_stirred(now),
            |it, now| assert!(it.is_heard(&id("a"), now)),
        ];
        for reason in reasons {
            for is_watched in [true, false] {
                let start = Instant::now();
                let mut unhooked = with(Dialect::GeminiCli, start);
                unhooked.glanced(&glance(MOMENT, is_watched, true), &[], start);
                reason(&mut unhooked, start + MIN_DISTANCE);
                let expected = (!is_watched).then_some(start + MIN_DISTANCE + DELAY);
                assert_eq!(unhooked.due(), expected);
            }
        }
    }

    #[test]
    fn where_the_system_tells_nothing_the_clock_does() {
        for (took, clock) in [
            (MOMENT, MIN_CLOCK),
            (Duration::from_millis(120), Duration::from_secs(12)),
            (Duration::from_secs(1), Duration::from_secs(100)),
        ] {
            let start = Instant::now();
            let mut unhooked = with(Dialect::OpenCode, start);
            unhooked.glanced(&glance(took, false, false), &[], start);
            assert_eq!(unhooked.due(), Some(start + clock), "{took:?}");
            assert_eq!(unhooked.elapse(start + clock), Some(Step::Look));
        }
    }

    #[test]
    fn a_turn_is_over_when_nothing_has_changed_for_a_while() {
        for (agent, quiet) in [
            (Dialect::OpenCode, QUIET),
            (Dialect::GeminiCli, QUIET),
            (Dialect::ClaudeCode, QUIET_IF_TOLD),
        ] {
            let start = Instant::now();
            let mut unhooked = with(agent, start);
            unhooked.glanced(&cheap(), &[id("a")], start);
            assert_eq!(unhooked.due(), Some(start + quiet), "{agent}");
            // Something changes in time.
            let later = start + quiet - MOMENT;
            unhooked.glanced(&cheap(), &[id("a")], later);
            assert_eq!(unhooked.elapse(start + quiet), None, "{agent}");
            let over = later + quiet;
            assert_eq!(unhooked.elapse(over), Some(Step::End(id("a"))), "{agent}");
            unhooked.glanced(&cheap(), &[], over);
            assert_eq!(unhooked.due(), None, "{agent}");
        }
    }

    #[test]
    fn a_turn_that_the_agent_ends_itself_is_not_ended_again() {
        let start = Instant::now();
        let mut unhooked = with(Dialect::ClaudeCode, start);
        unhooked.glanced(&cheap(), &[id("a")], start);
        assert!(unhooked.begins(&id("a")));
        unhooked.glanced(&cheap(), &[], start);
        assert_eq!(unhooked.due(), None);
        assert!(!unhooked.begins(&id("b")), "nobody knows it");
    }

    #[test]
    fn an_agent_whose_hooks_have_spoken_is_none_of_these_for_good() {
        let start = Instant::now();
        let mut unhooked = with(Dialect::GeminiCli, start);
        unhooked.connected(&id("b"), Dialect::ClaudeCode);
        unhooked.glanced(&cheap(), &[id("a"), id("b")], start);
        assert_eq!(unhooked.of_kind(Dialect::GeminiCli), [id("a")]);
        assert!(unhooked.is_hooked(&id("a")));
        assert!(!unhooked.is_hooked(&id("a")), "it was hooked");
        assert!(!unhooked.has(&id("a")) && unhooked.has(&id("b")));
        assert!(unhooked.of_kind(Dialect::GeminiCli).is_empty());
        assert!(!unhooked.begins(&id("a")) && !unhooked.is_heard(&id("a"), start));
        assert!(
            !unhooked.connected(&id("a"), Dialect::GeminiCli),
            "its stream opens again"
        );
        // The other one's turn goes on.
        assert_eq!(unhooked.due(), Some(start + QUIET_IF_TOLD));
        unhooked.forget(&id("b"));
        unhooked.stirred(start);
        assert_eq!(unhooked.due(), None, "nobody is left");
    }
}
