//! A log with a line for each of many things as it was when it was new: the last line about one counts. What is new is added; a log that
//! says the same of many things again and again is begun anew, and so is one of which nobody knows how far it goes.

use crate::store::StoreError;

/// So many lines more than there are things may be in a log.
const MAX_NEWS: usize = 1_000;

/// The progress of a log.
#[derive(Debug)]
pub struct LineLog<K> {
    /// The number of lines in it; none before it is begun.
    lines: Option<usize>,
    /// The things of which something else is known than it says.
    news: Vec<K>,
}

impl<K> Default for LineLog<K> {
    fn default() -> Self {
        Self {
            lines: None,
            news: Vec::new(),
        }
    }
}

impl<K: Ord> LineLog<K> {
    /// Something else is known of this one.
    pub fn learns(&mut self, thing: K) {
        self.news.push(thing);
    }

    /// What it says does not count any more.
    pub fn begins_anew(&mut self) {
        self.lines = None;
    }

    /// Returns true if it was begun.
    pub fn is_begun(&self) -> bool {
        self.lines.is_some()
    }

    /// Has what is new of so many things written, or, without it, all of them.
    ///
    /// # Errors
    /// When that fails. Then it is begun anew the next time.
    pub fn write(
        &mut self,
        count: usize,
        write: impl FnOnce(Option<&[K]>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut news = std::mem::take(&mut self.news);
        if news.is_empty() && self.is_begun() {
            return Ok(());
        }
        news.sort_unstable();
        news.dedup();
        let lines = { self.lines.take() }.map(|it| it + news.len());
        let lines = lines.filter(|it| *it <= count * 2 + MAX_NEWS);
        write(lines.is_some().then_some(&news))?;
        self.lines = Some(lines.unwrap_or(count));
        Ok(())
    }
}
