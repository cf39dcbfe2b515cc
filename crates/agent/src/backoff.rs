//! The pause before the next attempt.

use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// A connection that lasted so long was a good one.
const STABLE: Duration = Duration::from_secs(5);

/// Pauses that double, up to five seconds.
#[derive(Debug)]
pub struct Backoff {
    pause: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { pause: SHORTEST }
    }
}

impl Backoff {
    /// The pause after an attempt that failed, or after a connection that lasted so long.
    pub fn next(&mut self, lasted: Duration) -> Duration {
        if lasted >= STABLE {
            *self = Self::default();
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_bounded_until_a_connection_lasts() {
        let mut backoff = Backoff::default();
        let mut next = |lasted| backoff.next(Duration::from_secs(lasted)).as_millis();
        let pauses: Vec<_> = (0..9).map(|_| next(4)).collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!([next(5), next(0)], [50, 100]);
    }
}
