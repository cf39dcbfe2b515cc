//! The wall clock, as the contract reads it (C4.3), and the clock that all processes of a machine share.

use std::time::SystemTime;
#[cfg(unix)]
use std::time::{Duration, Instant};

/// Unix time in milliseconds.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// A moment that another process of this machine can tell from its own: time since a beginning that all of them share.
#[cfg(unix)]
pub fn shared(moment: Instant) -> Duration {
    since_beginning().saturating_sub(moment.elapsed())
}

/// This process's instant for a `moment` that another one has shared. One that is not past is now.
#[cfg(unix)]
pub fn own(moment: Duration) -> Instant {
    let now = Instant::now();
    let ago = since_beginning().saturating_sub(moment);
    now.checked_sub(ago).unwrap_or(now)
}

#[cfg(unix)]
fn since_beginning() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_same_after_it_was_told() {
        let moment = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        let told = own(shared(moment));
        let apart = told.max(moment) - told.min(moment);
        assert!(apart < Duration::from_millis(5), "{apart:?}");
        assert!(own(shared(moment) + Duration::from_secs(9)) <= Instant::now());
    }
}
