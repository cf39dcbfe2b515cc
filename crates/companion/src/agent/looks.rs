//! The agents that are connected and whose hooks have told nothing: when the folders are looked at for them, also at the end of a
//! turn. It is decided here, and only here, whether an agent is one of them.
//!
//! A look costs time in proportion to the files, so that each has a reason: the system tells that something has changed. Where
//! it does not tell that, an editor that has read a file and an agent that does something are reasons, and so is the clock.
//! Looks keep a distance that grows with what they cost, and with files that change all the time. A state machine without I/O:
//! reasons, looks and time come in.

use std::time::{Duration, Instant};

use pillion_changes::recorder::Glance;
use pillion_protocol::Dialect;

use super::{Agent, Agents};
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    /// At the folders.
    Now,
    /// The same, and if nothing has changed, the turn of this session is over.
    AtEnd(SessionId),
}

#[derive(Debug, Default)]
pub(super) struct Looks {
    /// The number of looks that go on.
    going_on: usize,
    /// The time at which the last look was over.
    looked: Option<Instant>,
    /// The time at which the next one is due.
    due: Option<Instant>,
    /// The shortest time from a look to the next one.
    distance: Duration,
    /// True if the system tells when something changes.
    is_watched: bool,
}

/// The way in which the changes of an agent are found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Not yet in any.
    #[default]
    Unknown,
    ByLooks {
        /// True if something has changed in its turn.
        has_changed: bool,
    },
    ByHooks,
}

/// What the recorder hears of an agent whose changes are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// It is one of these.
    Attend,
    Begins,
    /// It does something.
    Heard,
    /// It is one no more, in the middle of a turn or before its first.
    Left,
    HadNoTurn,
}

impl Agents {
    pub(crate) fn looked_for_of(&self, kind: Dialect) -> Vec<SessionId> {
        let agents = self.agents.iter();
        let of_kind = agents.filter(|(_, it)| it.is_looked_for() && it.kind == kind);
        of_kind.map(|(session, _)| session.clone()).collect()
    }

    /// An editor has read or written a file, or an agent is about to: something may have changed, unless the system tells that.
    pub(crate) fn may_have_stirred(&mut self, now: Instant) {
        if !self.looks.is_watched {
            self.stirred(now);
        }
    }

    /// Something has changed.
    pub(crate) fn stirred(&mut self, now: Instant) {
        if !self.are_looked_for() {
            return;
        }
        let looks = &mut self.looks;
        let earliest = looks.looked.map_or(now, |looked| looked + looks.distance);
        looks.is_due((now + DELAY).max(earliest));
    }

    /// Follows from what an agent has done, if it is looked for: it has begun, or does something now.
    pub(super) fn note_looked_for(&mut self, record: Record, now: Instant) {
        match record {
            Record::Attend | Record::Begins => self.looks.going_on += 1,
            Record::Heard => {
                // What it does now is worth a look, whatever else changes all the time.
                self.looks.distance = self.looks.distance.min(MIN_DISTANCE);
                self.may_have_stirred(now);
            }
            Record::Left | Record::HadNoTurn => {}
        }
    }

    /// A look is over. `sessions` are those in whose turns something has changed.
    pub(crate) fn looked(&mut self, glance: &Glance, sessions: &[SessionId], now: Instant) {
        let looks = &mut self.looks;
        looks.going_on = looks.going_on.saturating_sub(1);
        looks.looked = Some(now);
        looks.is_watched = glance.is_watched;
        let cost = (glance.took * COSTS).max(MIN_DISTANCE);
        looks.distance = match glance.is_news || sessions.is_empty() {
            true => cost,
            false => (looks.distance * 2).min(MAX_DISTANCE).max(cost),
        };
        for session in sessions {
            let agent = self.agents.get_mut(session);
            if let Some(agent) = agent.filter(|it| it.is_looked_for()) {
                agent.found = Found::ByLooks { has_changed: true };
                agent.turn.changes(looks.distance * 2, now);
            }
        }
        if !glance.is_watched {
            let clock = (glance.took * CLOCK_COSTS).max(MIN_CLOCK);
            looks.is_due(now + clock);
        }
    }

    /// Returns true if there is an agent for which the folders are looked at.
    fn are_looked_for(&self) -> bool {
        self.agents.values().any(Agent::is_looked_for)
    }

    /// Returns the time at which [`next_look`](Self::next_look) wants to be called. A disk that does not answer is not asked again.
    pub(super) fn look_due(&self) -> Option<Instant> {
        let over = self.agents.values().filter_map(Agent::quiet_at);
        let due = over.chain(self.looks.due).min();
        due.filter(|_| self.looks.going_on == 0 && self.are_looked_for())
    }

    /// Returns the look that is to be taken by now.
    pub(crate) fn next_look(&mut self, now: Instant) -> Option<Look> {
        if self.look_due().is_none_or(|due| now < due) {
            return None;
        }
        let looks = &mut self.looks;
        let mut agents = self.agents.iter_mut();
        let quiet = agents.find(|(_, it)| it.quiet_at().is_some_and(|at| at <= now));
        let look = match quiet {
            Some((session, agent)) => {
                agent.found = Found::ByLooks { has_changed: false };
                agent.turn.ends(false, now);
                Look::AtEnd(session.clone())
            }
            None => Look::Now,
        };
        looks.going_on += 1;
        looks.due = None;
        Some(look)
    }
}

impl Agent {
    pub(crate) fn is_looked_for(&self) -> bool {
        matches!(self.found, Found::ByLooks { .. })
    }

    /// Returns true if nothing tells when it works, and it asks about nothing: what is written at any time may be its.
    pub(super) fn may_always_be_at_work(&self) -> bool {
        let is_silent = self.kind.opens_session() && !self.kind.proposes();
        is_silent && self.found != Found::ByHooks
    }

    /// The time at which the turn is over in which something has changed, if nothing else does.
    fn quiet_at(&self) -> Option<Instant> {
        let has_changed = self.found == Found::ByLooks { has_changed: true };
        self.turn.over_at().filter(|_| has_changed)
    }
}

impl Looks {
    /// A look is due at this time, if not before.
    fn is_due(&mut self, due: Instant) {
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
    }
}

#[cfg(test)]
mod tests {
    use pillion_view::ask::WorkStep;

    use super::super::{Effect, Signal};
    use super::*;
    use crate::agents::ToolCall;

    const MOMENT: Duration = Duration::from_millis(1);

    /// After so long a turn is over, of an agent that tells when one begins, and of another.
    const TOLD: Duration = Duration::from_secs(2 * 60);
    const UNTOLD: Duration = Duration::from_secs(30);

    fn id(name: &str) -> SessionId {
        name.into()
    }

    /// The agent of this name does this. Returns what the recorder hears.
    fn step(agents: &mut Agents, name: &str, signal: Signal<'_>, now: Instant) -> Vec<Record> {
        let effects = agents.step(&id(name), signal, now).into_iter();
        let records = effects.filter_map(|effect| match effect {
            Effect::Record(record) => Some(record),
            _ => None,
        });
        records.collect()
    }

    const DOES: Signal<'static> = Signal::Calls(&ToolCall::Told);
    const BEGINS: Signal<'static> = Signal::Calls(&ToolCall::CloseAll);

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
    fn with(agent: Dialect, start: Instant) -> Agents {
        let mut agents = Agents::default();
        agents.connected(&id("a"), agent);
        let records = step(&mut agents, "a", Signal::Listens, start);
        assert_eq!(records, [Record::Attend]);
        agents.looked(&cheap(), &[], start);
        agents
    }

    #[test]
    fn while_nothing_happens_nothing_is_due() {
        for agent in [Dialect::OpenCode, Dialect::ClaudeCode, Dialect::GeminiCli] {
            let agents = with(agent, Instant::now());
            assert_eq!(agents.look_due(), None);
        }
    }

    #[test]
    fn each_reason_leads_to_one_look() {
        type Reason = fn(&mut Agents, Instant);
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
            let mut agents = with(Dialect::OpenCode, start);
            let now = start + MIN_DISTANCE;
            reason(&mut agents, now);
            assert_eq!(agents.look_due(), Some(now + DELAY));
            assert_eq!(agents.next_look(now + DELAY - MOMENT), None);
            assert_eq!(agents.next_look(now + DELAY), Some(Look::Now));
            // Nothing else while it goes on, as long as a disk may need.
            agents.stirred(now + DELAY);
            assert_eq!(agents.look_due(), None);
            assert_eq!(agents.next_look(now + DELAY * 1000), None);
            // What came meanwhile is looked for afterwards.
            agents.looked(&cheap(), &[], now + DELAY);
            let due = agents.look_due().unwrap();
            assert!(due >= now + DELAY + DELAY);
            assert_eq!(agents.next_look(due), Some(Look::Now));
            agents.looked(&cheap(), &[], due);
            assert_eq!(agents.look_due(), None);
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
            let mut agents = with(Dialect::OpenCode, start);
            agents.looked(&glance(took, true, true), &[], start);
            agents.stirred(start);
            assert_eq!(agents.look_due(), Some(start + distance), "{took:?}");
        }
    }

    #[test]
    fn a_file_that_changes_all_the_time_is_looked_at_less_and_less() {
        let mut now = Instant::now();
        let mut agents = with(Dialect::OpenCode, now);
        let mut distance = MIN_DISTANCE;
        for round in 0..10 {
            agents.stirred(now);
            let due = agents.look_due().unwrap();
            assert_eq!(due, now + distance, "{round}");
            // The turn is not over before that.
            assert_eq!(agents.next_look(due), Some(Look::Now), "{round}");
            now = due;
            agents.looked(&glance(MOMENT, true, round == 0), &[id("a")], now);
            if round > 0 {
                distance = (distance * 2).min(MAX_DISTANCE);
            }
        }
        assert_eq!(distance, MAX_DISTANCE);
        // What the agent does is worth a look.
        step(&mut agents, "a", DOES, now);
        agents.stirred(now);
        assert_eq!(agents.look_due(), Some(now + MIN_DISTANCE));
    }

    #[test]
    fn what_editors_and_agents_do_is_a_reason_where_the_system_tells_nothing() {
        type Reason = fn(&mut Agents, Instant);
        let reasons: [Reason; 2] = [
            |it, now| it.may_have_stirred(now),
            |it, now| assert_eq!(step(it, "a", DOES, now), [Record::Heard]),
        ];
        for reason in reasons {
            for is_watched in [true, false] {
                let start = Instant::now();
                let mut agents = with(Dialect::GeminiCli, start);
                agents.looked(&glance(MOMENT, is_watched, true), &[], start);
                reason(&mut agents, start + MIN_DISTANCE);
                let expected = (!is_watched).then_some(start + MIN_DISTANCE + DELAY);
                assert_eq!(agents.look_due(), expected);
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
            let mut agents = with(Dialect::OpenCode, start);
            agents.looked(&glance(took, false, false), &[], start);
            assert_eq!(agents.look_due(), Some(start + clock), "{took:?}");
            assert_eq!(agents.next_look(start + clock), Some(Look::Now));
        }
    }

    #[test]
    fn a_turn_is_over_when_nothing_has_changed_for_a_while() {
        for (agent, quiet) in [
            (Dialect::OpenCode, UNTOLD),
            (Dialect::GeminiCli, UNTOLD),
            (Dialect::ClaudeCode, TOLD),
        ] {
            let start = Instant::now();
            let mut agents = with(agent, start);
            agents.looked(&cheap(), &[id("a")], start);
            assert_eq!(agents.look_due(), Some(start + quiet), "{agent}");
            // Something changes in time.
            let later = start + quiet - MOMENT;
            agents.looked(&cheap(), &[id("a")], later);
            assert_eq!(agents.next_look(start + quiet), None, "{agent}");
            let over = later + quiet;
            assert_eq!(
                agents.next_look(over),
                Some(Look::AtEnd(id("a"))),
                "{agent}"
            );
            agents.looked(&cheap(), &[], over);
            assert_eq!(agents.look_due(), None, "{agent}");
        }
    }

    #[test]
    fn a_turn_that_the_agent_ends_itself_is_not_ended_again() {
        let start = Instant::now();
        let mut agents = with(Dialect::ClaudeCode, start);
        agents.looked(&cheap(), &[id("a")], start);
        let records = step(&mut agents, "a", BEGINS, start);
        assert_eq!(records, [Record::Heard, Record::Begins]);
        agents.looked(&cheap(), &[], start);
        assert_eq!(agents.look_due(), None);
        assert_eq!(step(&mut agents, "b", BEGINS, start), [], "nobody knows it");
    }

    #[test]
    fn an_agent_whose_hooks_have_spoken_is_none_of_these_for_good() {
        let start = Instant::now();
        let mut agents = with(Dialect::GeminiCli, start);
        agents.connected(&id("b"), Dialect::ClaudeCode);
        step(&mut agents, "b", Signal::Listens, start);
        agents.looked(&cheap(), &[id("a"), id("b")], start);
        assert_eq!(agents.looked_for_of(Dialect::GeminiCli), [id("a")]);
        for expected in [&[Record::Left][..], &[]] {
            let ends = Signal::Takes(&WorkStep::TurnEnds, false);
            assert_eq!(step(&mut agents, "a", ends, start), expected);
        }
        assert!(agents.looked_for_of(Dialect::GeminiCli).is_empty());
        for signal in [DOES, BEGINS, Signal::Listens, Signal::IsHooked(true)] {
            assert_eq!(step(&mut agents, "a", signal, start), []);
        }
        // The other one's turn goes on.
        assert_eq!(agents.look_due(), Some(start + TOLD));
        agents.remove(&id("b"), start);
        agents.stirred(start);
        assert_eq!(agents.look_due(), None, "nobody is left");
    }
}
