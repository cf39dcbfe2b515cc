//! When a proposal is put in front of a person who may be at something: once they pause. A state machine; whether they
//! are busy after all, Kakoune knows.

use std::time::{Duration, Instant};

/// Somebody who presses no key for so long is not about to press the next one of a command.
pub const PAUSE: Duration = Duration::from_millis(400);

/// The display of a proposal, held back until the person pauses.
#[derive(Debug, Default)]
pub struct Offer {
    is_wanted: bool,
    /// When they were last found idle: then their last key was a moment before.
    idle: Option<Instant>,
    due: Option<Instant>,
}

impl Offer {
    /// Something is to be put in front of them: at once if they expect it, because they have just settled another one.
    pub fn want(&mut self, is_expected: bool, now: Instant) {
        self.is_wanted = true;
        let pause = self.idle.filter(|_| !is_expected).map(|idle| idle + PAUSE);
        self.due = Some(pause.map_or(now, |pause| pause.max(now)));
    }

    /// They were found idle after some key.
    pub fn idle(&mut self, now: Instant) {
        self.idle = Some(now);
        if self.is_wanted {
            self.due = Some(now + PAUSE);
        }
    }

    /// When it is to be tried.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// It is tried now. If they are busy, it is again once they pause.
    pub fn attempt(&mut self) {
        self.due = None;
    }

    /// Nothing waits any more.
    pub fn done(&mut self) {
        (self.is_wanted, self.due) = (false, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_when_they_pause() {
        let (mut offer, now) = (Offer::default(), Instant::now());
        let after = |millis| now + Duration::from_millis(millis);
        offer.want(false, now);
        assert_eq!(offer.due(), Some(now), "they have not typed at all");
        offer.attempt();
        assert_eq!(offer.due(), None, "they were busy");
        offer.idle(after(50));
        offer.idle(after(300));
        assert_eq!(offer.due(), Some(after(300) + PAUSE));
        offer.done();
        offer.idle(after(900));
        assert_eq!(offer.due(), None, "nothing waits");
        offer.want(false, after(1000));
        assert_eq!(offer.due(), Some(after(900) + PAUSE));
        offer.want(true, after(1000));
        assert_eq!(offer.due(), Some(after(1000)), "they settled one");
        offer.want(false, after(9000));
        assert_eq!(offer.due(), Some(after(9000)), "they paused long ago");
    }
}
