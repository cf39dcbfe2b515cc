//! The time limits and pauses of tests.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// The limit of every wait for something that must happen. Tests wait for states: this is only
/// where they give up, so it is long enough for a machine that does a lot of other things.
pub const SOON: Duration = Duration::from_secs(240);

/// The shortest and the longest pause between two checks.
const PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(250)];

/// Pauses between two checks of a wait that began at `started`. The longer it has lasted, the longer:
/// each check takes a processor away from what is waited for.
pub fn pause(started: Instant) {
    let [shortest, longest] = PAUSES;
    sleep((started.elapsed() / 5).clamp(shortest, longest));
}
