//! Reads what was decided before from the store, and what a proposal is compared with, on a thread: disks may take long.

use std::path::PathBuf;

use crossbeam_channel::Sender;
use pillion_discovery::Environment;
use pillion_judge::bases::{Bases, compared};
use pillion_judge::history::Past;
use pillion_system::spawn;

use crate::Input;
use crate::app::{Event, Opened};

/// Reads the list, for these workspace folders.
///
/// # Errors
/// When the system has no thread for it.
pub fn read(roots: Vec<PathBuf>, sender: Sender<Input>) -> std::io::Result<()> {
    spawn("history", move || {
        let items = Past::read(&Environment::current(), &roots);
        let _ = sender.send(Input::Event(Event::History(items)));
    })
}

/// Reads one of them, to be opened.
///
/// # Errors
/// When the system has no thread for it.
pub fn open(past: Past, sender: Sender<Input>) -> std::io::Result<()> {
    spawn("history", move || {
        let Some(lines) = past.lines(&Environment::current()) else {
            return;
        };
        let title = past.title();
        let opened = Opened {
            title,
            lines,
            from: 0,
        };
        let _ = sender.send(Input::Event(Event::Past(opened)));
    })
}

/// Compares a proposal with other texts of its file.
///
/// # Errors
/// When the system has no thread for it.
pub fn compare(bases: Bases, sender: Sender<Input>) -> std::io::Result<()> {
    spawn("bases", move || {
        let opened = |(title, lines)| Opened {
            title,
            lines,
            from: 0,
        };
        let pages = compared(&bases).into_iter().map(opened);
        let _ = sender.send(Input::Event(Event::Bases(bases.key, pages.collect())));
    })
}
