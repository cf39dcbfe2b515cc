//! The duration of each job in the last run that had it. The longest goes first, so that nothing
//! is left over at the end that all others wait for.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

/// In the folder of the jobs' output: a line for each, its milliseconds and its title.
const FILE: &str = "durations.txt";

/// The same for the slowest tests, measured once: where nothing was run yet, as in CI, they go first all the same.
const SLOW: &str = include_str!("slow.txt");

/// By title.
#[derive(Debug, Default)]
pub struct Durations(BTreeMap<String, Duration>);

impl Durations {
    /// Those in `folder`: before the first run, only of the slowest.
    pub fn read(folder: &Path) -> Durations {
        let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        let lines = SLOW.lines().chain(text.lines());
        Durations(lines.filter_map(parse).collect())
    }

    pub fn of(&self, title: &str) -> Option<Duration> {
        self.0.get(title).copied()
    }

    pub fn note(&mut self, title: &str, took: Duration) {
        self.0.insert(title.to_owned(), took);
    }

    /// Keeps them in `folder`, for the next run.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut text = String::new();
        for (title, took) in &self.0 {
            let _ = writeln!(text, "{} {title}", took.as_millis());
        }
        let path = folder.join(FILE);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

fn parse(line: &str) -> Option<(String, Duration)> {
    let (millis, title) = line.split_once(' ')?;
    Some((
        title.to_owned(),
        Duration::from_millis(millis.parse().ok()?),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_last_is_known_in_the_next_run() {
        let folder = std::env::temp_dir().join(format!("xtask-durations-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("it can be made");
        let mut durations = Durations::read(&folder);
        assert_eq!(durations.of("it a::b"), None);
        durations.note("it a::b", Duration::from_millis(1500));
        durations.note("cargo doc --no-deps", Duration::from_millis(20));
        durations.note("it a::b", Duration::from_millis(2500));
        durations.write(&folder).expect("the folder is ours");
        let durations = Durations::read(&folder);
        assert_eq!(durations.of("it a::b"), Some(Duration::from_millis(2500)));
        let check = durations.of("cargo doc --no-deps");
        assert_eq!(check, Some(Duration::from_millis(20)));
        fs::remove_dir_all(&folder).expect("the folder is ours");
    }

    #[test]
    fn the_slowest_are_known_before_anything_was_run() {
        let durations = Durations::read(Path::new("/nowhere"));
        for line in SLOW.lines() {
            let (title, took) = parse(line).expect("it has a duration and a title");
            assert_eq!(durations.of(&title), Some(took));
        }
    }

    #[test]
    fn a_broken_line_is_ignored() {
        assert_eq!(parse("half a line"), None);
        assert_eq!(parse("12"), None);
    }
}
