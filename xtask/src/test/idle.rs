//! The load of the processors.

use std::fs;
use std::time::{Duration, Instant};

/// For how long their load is measured, before it changes what there is room for.
const SAMPLE: Duration = Duration::from_secs(1);

/// The number of idle processors that make room for one more job.
const SPARE_PROCESSORS: f64 = 0.25;

/// With fewer than this idle, there is room for one job less.
const NO_PROCESSORS: f64 = 0.1;

/// The time of one tick of the system's counters, which programs are shown, whatever the kernel's own is.
const TICK: Duration = Duration::from_millis(10);

/// Finds out how many jobs there is room for beside those that run in any case.
#[derive(Debug)]
pub struct Idle {
    since: Instant,
    /// The system's counter then; `None` where there is none.
    ticks: Option<u64>,
    room: usize,
    most: usize,
}

impl Idle {
    /// For so many jobs at most; for none as long as nothing is known.
    pub fn new(most: usize) -> Idle {
        Idle {
            since: Instant::now(),
            ticks: idle_ticks(),
            room: 0,
            most,
        }
    }

    /// The number of jobs that there is room for. Every second, one more for each quarter of a processor that was idle in it, and
    /// one less if none was.
    pub fn room(&mut self) -> usize {
        let elapsed = self.since.elapsed();
        if elapsed >= SAMPLE {
            let ticks = idle_ticks();
            if let Some((before, now)) = self.ticks.zip(ticks) {
                let idle = TICK.as_secs_f64() * now.saturating_sub(before) as f64;
                self.measured(idle / elapsed.as_secs_f64());
            }
            (self.since, self.ticks) = (Instant::now(), ticks);
        }
        self.room
    }

    /// So many processors were idle.
    fn measured(&mut self, idle: f64) {
        let more = (idle / SPARE_PROCESSORS) as usize;
        if idle < NO_PROCESSORS {
            self.room = self.room.saturating_sub(1);
        } else {
            self.room = (self.room + more).min(self.most);
        }
    }
}

/// The time in which processors have nothing to do, from a moment on.
#[derive(Debug)]
pub struct IdleTime {
    since: Instant,
    ticks: Option<u64>,
}

impl IdleTime {
    /// From now on.
    pub fn start() -> IdleTime {
        IdleTime {
            since: Instant::now(),
            ticks: idle_ticks(),
        }
    }

    /// Its share of the time of this number of processors so far, from 0 to 1; `None` where the system does not tell.
    pub fn share(&self, processors: usize) -> Option<f64> {
        let ticks = idle_ticks()?.saturating_sub(self.ticks?);
        let all = self.since.elapsed().as_secs_f64() * processors as f64;
        Some(TICK.as_secs_f64() * ticks as f64 / all)
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
    fn there_is_room_for_as_many_as_keep_the_processors_busy() {
        let mut idle = Idle::new(6);
        assert_eq!(
            idle.room(),
            0,
            "nothing is known before a second has passed"
        );
        for (measured, room) in [
            (0.3, 1),
            (0.2, 1),
            (0.8, 4),
            (2.0, 6),
            (0.2, 6),
            (2.0, 6),
            (0.0, 5),
            (0.0, 4),
            (0.0, 3),
            (0.0, 2),
            (0.0, 1),
            (0.0, 0),
            (0.0, 0),
        ] {
            idle.measured(measured);
            assert_eq!(idle.room, room, "{measured} are idle");
        }
    }
}
