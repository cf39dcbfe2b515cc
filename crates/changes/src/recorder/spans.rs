//! When calls run, by the clock of file systems: so a file tells whether a call can have made its change, or whether somebody has just before
//! or after it. Without such a clock, or for what does not tell, each call can have.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use pillion_system::lock;

use super::Recorder;
use crate::table::{Difference, Table};

/// The times at which calls run. All copies are the same: that a call has ended may be told while others are still looked at.
#[derive(Debug, Default, Clone)]
pub struct Spans(Arc<Mutex<HashMap<(u64, String), Span>>>);

/// The time at which a call runs.
#[derive(Debug, Default, Clone, Copy)]
struct Span {
    /// Whatever is written from its beginning on has no earlier time,
    began: Option<Duration>,
    /// and what was written until its end no later one.
    ended: Option<Duration>,
}

impl Spans {
    /// A call of this session has ended. This does not wait.
    pub fn ended(&self, session: u64, call: &str) {
        if let Some((_, until)) = file_clock::now() {
            self.change(session, call, |it| it.ended = Some(until));
        }
    }

    pub(super) fn began(&self, session: u64, call: &str) {
        let since = file_clock::now().map(|(since, _)| since);
        self.change(session, call, |it| it.began = since);
    }

    /// The calls of this session have begun nobody knows when.
    pub(super) fn began_before(&self, session: u64) {
        for ((_, _), span) in lock(&self.0)
            .iter_mut()
            .filter(|((it, _), _)| *it == session)
        {
            span.began = None;
        }
    }

    pub(super) fn forget(&self, session: u64, call: &str) {
        lock(&self.0).remove(&(session, call.to_owned()));
    }

    /// Forgets the calls that have no end, but for those that run.
    pub(super) fn retain(&self, runs: impl Fn(u64, &str) -> bool) {
        lock(&self.0).retain(|(session, call), span| span.ended.is_some() || runs(*session, call));
    }

    fn change(&self, session: u64, call: &str, change: impl FnOnce(&mut Span)) {
        let mut spans = lock(&self.0);
        change(spans.entry((session, call.to_owned())).or_default());
    }

    /// Returns true if this call may have made a change at this time.
    pub(super) fn may_have_made(
        &self,
        (session, call): (u64, &str),
        made: Option<Duration>,
    ) -> bool {
        let Some(made) = made else {
            return true;
        };
        let spans = lock(&self.0);
        let span = spans.get(&(session, call.to_owned()));
        span.is_none_or(|it| {
            it.ended.is_none_or(|it| made <= it) && it.began.is_none_or(|it| it <= made)
        })
    }
}

impl Recorder {
    /// The times at which calls run: who hears that one has ended may say so at once.
    pub fn spans(&self) -> Spans {
        self.spans.clone()
    }

    /// When this was made, by the clock of files; none if that says nothing of when a call ran.
    pub(super) fn made_at(&self, found: &Difference) -> Option<Duration> {
        let made = found.made?;
        // Other machines have clocks of their own.
        let is_told = self.watched.is_all;
        let is_in = |it: &Table| found.path.starts_with(it.root());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let is_past = now.is_ok_and(|now| made <= now);
        (is_told && is_past && self.tables.iter().any(is_in)).then_some(made)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod file_clock {
    use std::os::fd::OwnedFd;
    use std::sync::OnceLock;
    use std::time::Duration;

    use rustix::fs::{MemfdFlags, Timespec, Timestamps, UTIME_NOW, fstat, futimens, memfd_create};
    use rustix::time::{ClockId, clock_gettime};

    /// What is written from now on has no earlier time than the first, and what was written before no later one than the second. Nothing of it
    /// is on a disk.
    pub fn now() -> Option<(Duration, Duration)> {
        static FILE: OnceLock<Option<OwnedFd>> = OnceLock::new();
        let file = FILE.get_or_init(|| memfd_create("pillion-clock", MemfdFlags::CLOEXEC).ok());
        let file = file.as_ref()?;
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        let mut changed = None;
        // Since Linux 6.13 a file that somebody has looked at since the last tick of the clock gets a time between two of them, which no file has
        // yet, and every later one is at least that.
        for _ in 0..2 {
            futimens(file, &times).ok()?;
            let stat = fstat(file).ok()?;
            let (seconds, nanoseconds) = (stat.st_ctime, stat.st_ctime_nsec);
            changed = duration(seconds, nanoseconds);
        }
        let tick = clock_gettime(ClockId::RealtimeCoarse);
        let (since, tick) = (changed?, duration(tick.tv_sec, tick.tv_nsec)?);
        let until = match since > tick {
            true => since.saturating_sub(Duration::from_nanos(1)),
            false => since,
        };
        Some((since, until))
    }

    fn duration(seconds: impl TryInto<u64>, nanoseconds: impl TryInto<u32>) -> Option<Duration> {
        let seconds = seconds.try_into().ok()?;
        Some(Duration::new(seconds, nanoseconds.try_into().ok()?))
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod file_clock {
    use std::time::Duration;

    pub fn now() -> Option<(Duration, Duration)> {
        None
    }
}
