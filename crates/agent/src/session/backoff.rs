//! How long to wait before the next attempt.

use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// Pauses that double, up to five seconds.
#[derive(Debug)]
pub(super) struct Backoff {
    pause: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { pause: SHORTEST }
    }
}

impl Backoff {
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST);
        pause
    }

    /// Whether there were several in a row.
    pub(super) fn is_long(&self) -> bool {
        self.pause > SHORTEST * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_bounded() {
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..9).map(|_| backoff.next().as_millis()).collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert!(backoff.is_long());
    }
}
