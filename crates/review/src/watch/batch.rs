//! Gathers the events of one save, and distinguishes people's saves from what programs write all the time.
//! Knows neither files nor clocks.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A save is several events; so long after the last one it counts.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// So long after its first event it counts although events keep coming: some folders are never
/// quiet.
const LONGEST: Duration = Duration::from_millis(500);

/// A file that is written again sooner than this is one that a program goes on writing, a log for
/// example. It is shared once, and again after a pause: else it would always be the latest.
const PAUSE: Duration = Duration::from_secs(2);

/// More files than this at once are a checkout or a build, not a person.
pub const MAX_BURST: usize = 10;

/// Files that were written and are not shared yet: never more than [`MAX_BURST`], whatever happens.
#[derive(Debug, Default)]
pub struct Batch {
    /// The latest last.
    files: Vec<Saved>,
    is_burst: bool,
    /// The first and the last event of all.
    span: Option<(Instant, Instant)>,
    /// The last event of a burst that may go on.
    burst: Option<Instant>,
    /// The time at which each file of former batches was written last.
    former: HashMap<PathBuf, Instant>,
}

/// A file, and when it was written first and last.
#[derive(Debug)]
struct Saved {
    path: PathBuf,
    first: Instant,
    last: Instant,
}

impl Batch {
    /// `path` was written.
    pub fn insert(&mut self, path: PathBuf, now: Instant) {
        self.touch(now);
        if self.is_burst {
            return;
        }
        let known = self.files.iter().position(|file| file.path == path);
        let first = known.map_or(now, |at| self.files.remove(at).first);
        self.files.push(Saved {
            path,
            first,
            last: now,
        });
        if self.files.len() > MAX_BURST {
            self.files.clear();
            self.is_burst = true;
        }
    }

    /// Something else happened that belongs to it.
    pub fn touch(&mut self, now: Instant) {
        self.span = Some((self.span.map_or(now, |(first, _)| first), now));
    }

    /// Returns true if it holds too much already for any file of it to be shared.
    pub fn is_burst(&self) -> bool {
        self.is_burst
    }

    /// The time at which the batch is to be taken; `None` while it is empty.
    pub fn due(&self) -> Option<Instant> {
        self.span
            .map(|(first, last)| (first + LONGEST).min(last + DEBOUNCE))
    }

    /// The files to share, the latest last.
    pub fn take(&mut self) -> Vec<PathBuf> {
        let Some((start, end)) = self.span.take() else {
            return Vec::new();
        };
        self.former.retain(|_, last| start < *last + PAUSE);
        let files = std::mem::take(&mut self.files);
        let is_burst = std::mem::take(&mut self.is_burst);
        let goes_on = self
            .burst
            .take()
            .is_some_and(|last| start < last + DEBOUNCE);
        if is_burst || goes_on {
            // One file alone is a log that is never quiet: a burst does not last as long.
            let may_go_on = is_burst || files.len() != 1;
            self.burst = may_go_on.then_some(end);
            return Vec::new();
        }
        let mut saved = Vec::new();
        for Saved { path, first, last } in files {
            let former = self.former.insert(path.clone(), last);
            if former.is_none_or(|former| first >= former + PAUSE) {
                saved.push(path);
            }
        }
        saved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_save_counts_when_it_is_over() {
        let (mut batch, start) = (Batch::default(), Instant::now());
        assert_eq!(batch.due(), None);
        batch.insert("b".into(), start);
        batch.insert("a".into(), start + ms(100));
        assert_eq!(batch.due(), Some(start + ms(250)));
        assert_eq!(batch.take(), [PathBuf::from("b"), PathBuf::from("a")]);
        assert_eq!(batch.due(), None);
    }

    #[test]
    fn a_file_that_is_written_all_the_time_does_not_hold_up_the_others() {
        let (mut batch, start) = (Batch::default(), Instant::now());
        let mut shared = Vec::new();
        for tick in 0..100 {
            let now = start + ms(tick * 100);
            batch.insert("log".into(), now);
            if tick == 42 {
                batch.insert("main.rs".into(), now);
            }
            if batch.due().is_some_and(|due| due <= now) {
                shared.extend(batch.take());
            }
        }
        assert_eq!(shared, [PathBuf::from("log"), PathBuf::from("main.rs")]);
        batch.take();
        // After a pause it is news again.
        batch.insert("log".into(), start + ms(13_000));
        assert_eq!(batch.take(), [PathBuf::from("log")]);
    }

    #[test]
    fn many_files_at_once_are_no_save() {
        let (mut batch, now) = (Batch::default(), Instant::now());
        for file in 0..=MAX_BURST {
            batch.insert(file.to_string().into(), now);
        }
        assert!(batch.take().is_empty());
    }

    #[test]
    fn the_end_of_a_burst_is_no_save_and_what_follows_is() {
        let (mut batch, start) = (Batch::default(), Instant::now());
        let mut insert = |at, files: u64| {
            for file in 0..files {
                batch.insert(format!("{at}-{file}").into(), start + ms(at + file));
            }
            batch.take().len()
        };
        assert_eq!(insert(0, 400), 0);
        assert_eq!(insert(500, 4), 0, "it goes on");
        assert_eq!(insert(600, 2), 0, "and on");
        assert_eq!(insert(800, 2), 2, "it was quiet between");
    }

    #[test]
    fn a_log_that_is_never_quiet_does_not_make_a_burst_last() {
        let (mut batch, start) = (Batch::default(), Instant::now());
        for file in 0..=MAX_BURST {
            batch.insert(file.to_string().into(), start);
        }
        assert!(batch.take().is_empty());
        batch.insert("log".into(), start + ms(100));
        assert!(batch.take().is_empty());
        batch.insert("log".into(), start + ms(200));
        batch.insert("main.rs".into(), start + ms(200));
        assert_eq!(batch.take().last(), Some(&PathBuf::from("main.rs")));
    }

    #[test]
    fn the_largest_burst_takes_no_more_memory_than_a_small_one() {
        let (mut batch, now) = (Batch::default(), Instant::now());
        for file in 0..100_000 {
            batch.insert(file.to_string().into(), now);
            assert!(batch.files.len() <= MAX_BURST);
        }
        assert!(batch.take().is_empty() && batch.former.is_empty());
    }

    #[test]
    fn a_file_that_is_saved_again_is_the_latest() {
        let (mut batch, now) = (Batch::default(), Instant::now());
        for file in ["a", "b", "a"] {
            batch.insert(file.into(), now);
        }
        assert_eq!(batch.take(), [PathBuf::from("b"), PathBuf::from("a")]);
    }
}
