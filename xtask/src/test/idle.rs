//! How much the processors have to do.

use std::fs;
use std::time::{Duration, Instant};

/// For so long they must have been idle, before one more job is started.
const SAMPLE: Duration = Duration::from_secs(1);

/// How many of them must have been.
const SPARE_PROCESSORS: f64 = 0.5;

/// The time of one tick of the system's counters, which programs are shown, whatever the kernel's own is.
const TICK: Duration = Duration::from_millis(10);

/// Counts the ticks in which processors were idle.
#[derive(Debug)]
pub struct Idle {
    since: Instant,
    /// The system's counter then; `None` where there is none.
    ticks: Option<u64>,
}

impl Idle {
    pub fn new() -> Idle {
        Idle {
            since: Instant::now(),
            ticks: idle_ticks(),
        }
    }

    /// Whether processors were idle since the last answer, which is a second old at least: a job
    /// that was started shows its load before the next one is.
    pub fn has_room(&mut self) -> bool {
        let elapsed = self.since.elapsed();
        if elapsed < SAMPLE {
            return false;
        }
        let before = std::mem::replace(self, Idle::new());
        let Some((before, now)) = before.ticks.zip(self.ticks) else {
            return false;
        };
        let idle = TICK.as_secs_f64() * now.saturating_sub(before) as f64;
        idle >= SPARE_PROCESSORS * elapsed.as_secs_f64()
    }
}

/// The ticks in which processors had nothing to do, of all processors together.
fn idle_ticks() -> Option<u64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    idle_of(&stat)
}

/// The first line counts `user`, `nice`, `system`, `idle` and `iowait`, among others.
fn idle_of(stat: &str) -> Option<u64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let mut ticks = line.split_whitespace().skip(3).map(str::parse::<u64>);
    let (idle, waiting) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some(idle + waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_disks_are_waited_for_is_idle() {
        let stat = "cpu  7 8 9 100 20 0 3 0 0 0\ncpu0 7 8 9 1 2 0 3 0 0 0\n";
        assert_eq!(idle_of(stat), Some(120));
        assert_eq!(idle_of("cpu  7 8 9"), None);
        assert_eq!(idle_of(""), None);
    }

    #[test]
    fn nothing_is_known_before_a_second_has_passed() {
        let ticks = Some(0);
        let mut idle = Idle {
            since: Instant::now(),
            ticks,
        };
        assert!(!idle.has_room());
        idle.since -= SAMPLE;
        // Since the start of the machine, whole seconds of idle time have come together.
        assert_eq!(idle.has_room(), idle_ticks().is_some());
        assert!(!idle.has_room(), "who has asked waits for the next");
    }
}
