//! What was decided before, read from the store: its disk may take long.

use std::path::PathBuf;

use pillion_changes::Store;
use pillion_changes::history::{self, Item, ago};
use pillion_discovery::Environment;

/// More is listed by `pillion log`.
const MOST: usize = 500;

/// A decision, as a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The decision itself.
    pub item: Item,
    /// The name that people use for the agent.
    pub agent: String,
    /// The time since it was decided, in words.
    pub ago: String,
    /// The numbers of lines that were added and removed, in short.
    pub lines: String,
}

impl Past {
    /// The decisions below these workspace folders, newest first.
    ///
    /// # Errors
    /// The sentence that says why they cannot be read.
    pub fn read(environment: &Environment, roots: &[PathBuf]) -> Result<Vec<Self>, String> {
        let items = Store::of(environment).and_then(|store| {
            let items = history::read(&store, roots, MOST)?.into_iter();
            Ok(items.map(|item| Self::new(&store, item)).collect())
        });
        items.map_err(|error| format!("cannot read the history: {error}"))
    }

    fn new(store: &Store, item: Item) -> Self {
        let (before, after) = item.sides();
        let counted = history::count(store, before, after);
        let lines = counted.map(|(added, removed)| format!("+{added} -{removed}"));
        Self {
            agent: item.agent_name().to_owned(),
            ago: ago(item.at()),
            lines: lines.unwrap_or_default(),
            item,
        }
    }

    /// Its name and what was decided.
    pub fn title(&self) -> String {
        format!("{} {}", self.item.id(), self.item.state())
    }

    /// The lines of its unified diff; none if there is no store any more.
    pub fn lines(&self, environment: &Environment) -> Option<Vec<String>> {
        let store = Store::of(environment).ok()?;
        let diff = self.item.diff(&store);
        let diff = String::from_utf8_lossy(&diff);
        Some(diff.lines().map(str::to_owned).collect())
    }
}
