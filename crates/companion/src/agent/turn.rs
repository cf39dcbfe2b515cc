//! Owns when a turn of an agent is over, which is decided here, and only here: the agent tells it, or has given no sign of it for so
//! long as fits what it tells. A state machine without I/O: signs come in, and time.

use std::time::{Duration, Instant};

use pillion_protocol::Dialect;

/// So long after the end of a turn what was written in it may still come to be known.
pub(super) const LATE: Duration = Duration::from_secs(1);

/// The part of its turns that an agent tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tells {
    Nothing,
    Begins,
    Ends,
}

/// A turn of an agent, and the work of its subagents, which may go on in the background.
#[derive(Debug)]
pub(crate) struct Turn {
    tells: Tells,
    own: Span,
    subagents: Span,
}

/// A time in which something goes on.
#[derive(Debug, Default)]
struct Span {
    /// The time at which it is over without another sign; none if nothing goes on.
    until: Option<Instant>,
    ended: Option<Instant>,
}

impl Turn {
    /// No turn goes on, of an agent of this kind.
    pub(super) fn of(kind: Dialect) -> Self {
        let tells = match kind.announces_writes() {
            true => Tells::Begins,
            false => Tells::Nothing,
        };
        Self {
            tells,
            own: Span::default(),
            subagents: Span::default(),
        }
    }

    pub(crate) fn begins(&mut self, now: Instant) {
        self.works(false, now);
    }

    /// A hook says that a turn begins: another one will tell the end.
    pub(crate) fn begins_and_ends_are_told(&mut self, now: Instant) {
        self.tells = Tells::Ends;
        self.begins(now);
    }

    /// The agent, or a subagent of it, does something that it does in a turn only.
    pub(crate) fn works(&mut self, is_subagent: bool, now: Instant) {
        let until = now + self.tells.limit();
        let span = self.span(is_subagent);
        span.until = span.until.max(Some(until));
    }

    /// Something has changed that is the agent's work. The next sign may come as late as this.
    pub(super) fn changes(&mut self, next: Duration, now: Instant) {
        self.works(false, now);
        self.own.until = self.own.until.max(Some(now + next));
    }

    /// A turn has ended, or the work of a subagent.
    pub(crate) fn ends(&mut self, is_subagent: bool, now: Instant) {
        let ended = Some(now);
        *self.span(is_subagent) = Span { until: None, ended };
    }

    /// Returns true from the beginning of a turn to its end, if nobody has told that.
    pub(super) fn is_open(&self) -> bool {
        self.own.until.is_some()
    }

    /// Returns true if none has begun yet.
    pub(super) fn is_first(&self) -> bool {
        self.own.until.is_none() && self.own.ended.is_none()
    }

    /// Returns the time at which the turn is over without another sign, if one goes on.
    pub(super) fn over_at(&self) -> Option<Instant> {
        self.own.until
    }

    /// Returns true if what was written a moment ago counts as the agent's.
    pub(super) fn is_at_work(&self, now: Instant) -> bool {
        [&self.own, &self.subagents].into_iter().any(|span| {
            let goes_on = span.until.is_some_and(|until| now < until);
            goes_on || span.ended.is_some_and(|at| now < at + LATE)
        })
    }

    fn span(&mut self, is_subagent: bool) -> &mut Span {
        match is_subagent {
            true => &mut self.subagents,
            false => &mut self.own,
        }
    }
}

impl Tells {
    /// After so long without a sign a turn is over.
    fn limit(self) -> Duration {
        Duration::from_secs(match self {
            Self::Nothing => 30,
            // So long Claude Code lets a command run that gives no other limit.
            Self::Begins => 2 * 60,
            // Only a turn that the person broke off has no end. No command may run longer.
            Self::Ends => 10 * 60,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    #[test]
    fn what_is_written_in_a_turn_is_the_agents_and_after_it_the_persons() {
        type Begin = fn(&mut Turn, Instant);
        let begins: [(Begin, bool); 4] = [
            (|turn, now| turn.begins(now), false),
            (|turn, now| turn.begins_and_ends_are_told(now), false),
            (|turn, now| turn.works(false, now), false),
            (|turn, now| turn.works(true, now), true),
        ];
        for (begin, is_subagent) in begins {
            let (mut turn, start) = (Turn::of(Dialect::GeminiCli), Instant::now());
            assert!(!turn.is_at_work(start), "nobody works");
            begin(&mut turn, start);
            assert!(
                turn.is_at_work(start) && turn.is_at_work(start + Tells::Nothing.limit() - MOMENT)
            );
            let end = start + MOMENT;
            turn.ends(!is_subagent, end - LATE);
            assert!(turn.is_at_work(end), "the other one has ended");
            turn.ends(is_subagent, end);
            assert!(turn.is_at_work(end + LATE - MOMENT), "heard of late");
            assert!(!turn.is_at_work(end + LATE) && !turn.is_open());
        }
    }

    #[test]
    fn a_turn_whose_end_is_not_told_ends_after_its_last_sign() {
        for (kind, is_told, limit) in [
            (Dialect::GeminiCli, false, Tells::Nothing),
            (Dialect::ClaudeCode, false, Tells::Begins),
            (Dialect::ClaudeCode, true, Tells::Ends),
            (Dialect::CodexCli, true, Tells::Ends),
        ] {
            let (mut turn, start) = (Turn::of(kind), Instant::now());
            match is_told {
                true => turn.begins_and_ends_are_told(start),
                false => turn.begins(start),
            }
            let limit = limit.limit();
            let sign = start + limit - MOMENT;
            turn.works(false, sign);
            assert!(turn.is_at_work(start + limit + MOMENT), "{kind}");
            assert!(!turn.is_at_work(sign + limit), "{kind}");
            assert_eq!(turn.over_at(), Some(sign + limit), "{kind}");
        }
    }
}
