//! Reads what was decided before from the store, on a thread: its disk may take long.

use std::path::PathBuf;

use crossbeam_channel::Sender;
use pillion_changes::Store;
use pillion_changes::history::{self, Item, ago};
use pillion_discovery::Environment;
use pillion_system::spawn;

use crate::Input;
use crate::app::{Event, Opened, Past};

/// More is listed by `pillion log`.
const MOST: usize = 500;

/// Reads the list, for these workspace folders.
///
/// # Errors
/// When the system has no thread for it.
pub fn read(roots: Vec<PathBuf>, sender: Sender<Input>) -> std::io::Result<()> {
    spawn("history", move || {
        let items = list(&roots).map_err(|error| format!("cannot read the history: {error}"));
        let _ = sender.send(Input::Event(Event::History(items)));
    })
}

fn list(roots: &[PathBuf]) -> Result<Vec<Past>, pillion_changes::StoreError> {
    let store = Store::of(&Environment::current())?;
    let items = history::read(&store, roots, MOST)?.into_iter();
    Ok(items.map(|item| past(&store, item)).collect())
}

fn past(store: &Store, item: Item) -> Past {
    let (before, after) = item.sides();
    let counted = history::count(store, before, after);
    let lines = counted.map(|(added, removed)| format!("+{added} -{removed}"));
    Past {
        agent: item.agent_name().to_owned(),
        ago: ago(item.at()),
        lines: lines.unwrap_or_default(),
        item,
    }
}

/// Reads one of them, to be opened.
///
/// # Errors
/// When the system has no thread for it.
pub fn open(past: Past, sender: Sender<Input>) -> std::io::Result<()> {
    spawn("history", move || {
        let Ok(store) = Store::of(&Environment::current()) else {
            return;
        };
        let diff = past.item.diff(&store);
        let diff = String::from_utf8_lossy(&diff);
        let opened = Opened {
            title: format!("{} {}", past.item.id(), past.item.state()),
            lines: diff.lines().map(str::to_owned).collect(),
            from: 0,
        };
        let _ = sender.send(Input::Event(Event::Past(opened)));
    })
}
