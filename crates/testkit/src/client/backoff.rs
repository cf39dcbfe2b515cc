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
