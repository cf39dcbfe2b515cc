//! Gathers the events of one save, and tells people's saves from what programs write all the time.
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
const MAX_BURST: usize = 10;

/// Files that were written and are not shared yet.
#[derive(Debug, Default)]
pub struct Batch {
    /// When each was written first and last.
    files: HashMap<PathBuf, (Instant, Instant)>,
    /// The first and the last event of all.
    span: Option<(Instant, Instant)>,
    /// When the files of former batches were written last.
    former: HashMap<PathBuf, Instant>,
}

impl Batch {
    /// `path` was written.
    pub fn insert(&mut self, path: PathBuf, now: Instant) {
        self.files.entry(path).or_insert((now, now)).1 = now;
        self.span = Some((self.span.map_or(now, |(first, _)| first), now));
    }

    /// When the batch is to be taken; `None` while it is empty.
    pub fn due(&self) -> Option<Instant> {
        self.span
            .map(|(first, last)| (first + LONGEST).min(last + DEBOUNCE))
    }

    /// The files to share, the latest last.
    pub fn take(&mut self) -> Vec<PathBuf> {
        let Some((start, _)) = self.span.take() else {
            return Vec::new();
        };
        self.former.retain(|_, last| start < *last + PAUSE);
        let files = std::mem::take(&mut self.files);
        if files.len() > MAX_BURST {
            return Vec::new();
        }
        let mut saved = Vec::new();
        for (path, (first, last)) in files {
            let former = self.former.insert(path.clone(), last);
            if former.is_none_or(|former| first >= former + PAUSE) {
                saved.push((last, path));
            }
        }
        saved.sort();
        saved.into_iter().map(|(_, path)| path).collect()
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
}
