//! Distinguishes people's saves from what programs write all the time. Knows neither files nor clocks.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A file that is written again sooner than this is one that a program goes on writing, a log for
/// example. It is shared once, and again after a pause: else it would always be the latest.
const PAUSE: Duration = Duration::from_secs(2);

/// More files than this at once are a checkout or a build, not a person.
const MAX_BURST: usize = 10;

/// What was written before.
#[derive(Debug, Default)]
pub struct Saves {
    /// The time at which each file was written last.
    former: HashMap<PathBuf, Instant>,
    /// The last time at which a burst went on.
    burst: Option<Instant>,
}

impl Saves {
    /// Returns those of the files that were `written` by `now` that a person has saved.
    pub fn of(&mut self, mut written: Vec<PathBuf>, now: Instant) -> Vec<PathBuf> {
        self.former.retain(|_, last| now < *last + PAUSE);
        let is_burst = written.len() > MAX_BURST;
        // One file alone is no part of one: a burst may last as long as a log is written beside it.
        let goes_on = self.burst.is_some_and(|last| now < last + PAUSE) && written.len() > 1;
        if is_burst || goes_on {
            self.burst = Some(now);
            return Vec::new();
        }
        written.retain(|path| self.former.insert(path.clone(), now).is_none());
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths<const N: usize>(names: [&str; N]) -> Vec<PathBuf> {
        names.map(PathBuf::from).into()
    }

    #[test]
    fn a_file_that_is_written_all_the_time_does_not_hold_up_the_others() {
        let (mut saves, start) = (Saves::default(), Instant::now());
        let mut shared = Vec::new();
        for tick in 0..20 {
            let mut written = paths(["log"]);
            if tick == 7 {
                written.extend(paths(["main.rs"]));
            }
            shared.extend(saves.of(written, start + tick * Duration::from_millis(500)));
        }
        assert_eq!(shared, paths(["log", "main.rs"]));
        // After a pause it is news again.
        let later = start + Duration::from_secs(13);
        assert_eq!(saves.of(paths(["log"]), later), paths(["log"]));
    }

    #[test]
    fn of_a_burst_nothing_is_shared_nor_of_what_follows_it_but_one_file_alone_is() {
        let (mut saves, start) = (Saves::default(), Instant::now());
        let many = (0..=MAX_BURST).map(|it| it.to_string().into()).collect();
        assert!(saves.of(many, start).is_empty());
        let soon = start + Duration::from_millis(500);
        assert!(saves.of(paths(["a", "b"]), soon).is_empty());
        assert_eq!(saves.of(paths(["a"]), soon), paths(["a"]));
        let later = soon + PAUSE;
        assert_eq!(saves.of(paths(["b", "c"]), later), paths(["b", "c"]));
    }
}
