//! Systems that watch a folder with everything below it: one watch for each workspace folder.
//!
//! The `notify` crate makes these.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::{Change, Refusal, Source};

/// More changes than this do not wait: they are lost, and the folders looked through.
const MAX_WAITING: usize = 16_384;

/// The system's watches.
pub struct Recursive {
    watcher: RecommendedWatcher,
    roots: HashSet<PathBuf>,
    watched: HashSet<PathBuf>,
    changes: Receiver<Option<Change>>,
    is_lost: Arc<AtomicBool>,
    /// The time at which nothing waited any more.
    drained: SystemTime,
}

impl Recursive {
    pub fn new(roots: &[PathBuf]) -> io::Result<Self> {
        let (sender, changes) = crossbeam_channel::bounded(MAX_WAITING);
        let is_lost = Arc::new(AtomicBool::new(false));
        let lost = is_lost.clone();
        let on_event = move |event: notify::Result<Event>| report(event, &sender, &lost);
        let watcher = notify::recommended_watcher(on_event).map_err(io_error)?;
        Ok(Self {
            watcher,
            roots: roots.iter().cloned().collect(),
            watched: HashSet::new(),
            changes,
            is_lost,
            drained: SystemTime::now(),
        })
    }
}

/// Hands on what is of use; `None` wakes the reader for what was lost. Never waits: the system would
/// lose events meanwhile.
fn report(event: notify::Result<Event>, sender: &Sender<Option<Change>>, is_lost: &AtomicBool) {
    let changes = match event {
        Ok(event) if !event.need_rescan() => changes(event),
        _ => {
            is_lost.store(true, Ordering::Relaxed);
            // If it is full, the reader is awake.
            let _ = sender.try_send(None);
            return;
        }
    };
    for change in changes {
        if let Err(TrySendError::Full(_)) = sender.try_send(Some(change)) {
            is_lost.store(true, Ordering::Relaxed);
        }
    }
}

fn changes(event: Event) -> Vec<Change> {
    let is_write = matches!(
        event.kind,
        EventKind::Create(_)
            | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Name(_) | ModifyKind::Any)
            | EventKind::Access(AccessKind::Close(AccessMode::Write))
    );
    let is_removal = matches!(event.kind, EventKind::Remove(_));
    let paths = event.paths.into_iter().filter(|_| is_write || is_removal);
    // Some systems do not say what it is, nor on which side of a move.
    let change = |path: PathBuf| match path.symlink_metadata() {
        Ok(it) if it.is_dir() => Change::Folder(path),
        Ok(_) => Change::Saved(path),
        Err(_) => Change::Gone(path),
    };
    paths.map(change).collect()
}

fn io_error(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        _ => io::Error::other(error),
    }
}

impl Source for Recursive {
    fn watch(&mut self, folder: &Path) -> Result<(), Refusal> {
        // The rest is below one of them.
        if !self.roots.contains(folder) || self.watched.contains(folder) {
            return Ok(());
        }
        self.watcher
            .watch(folder, RecursiveMode::Recursive)
            .map_err(|error| match error.kind {
                notify::ErrorKind::MaxFilesWatch => Refusal::Full,
                _ => Refusal::Failed(io_error(error)),
            })?;
        self.watched.insert(folder.to_owned());
        Ok(())
    }

    fn unwatch(&mut self, folder: &Path) {
        if self.watched.remove(folder) {
            // It fails where the folder is gone.
            let _ = self.watcher.unwatch(folder);
        }
    }

    fn read(&mut self, until: Option<Instant>) -> io::Result<Vec<Change>> {
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        let wait = until.map_or(Duration::MAX, left);
        let mut changes = match self.changes.recv_timeout(wait) {
            Ok(first) => Vec::from_iter(first),
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the system stopped watching"));
            }
        };
        changes.extend(self.changes.try_iter().take(MAX_WAITING).flatten());
        if self.is_lost.swap(false, Ordering::Relaxed) {
            changes.push(Change::Lost(self.drained));
        }
        if changes.len() < MAX_WAITING {
            self.drained = SystemTime::now();
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_happens_below_a_root_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("src")).unwrap();
        let mut source = Recursive::new(std::slice::from_ref(&root)).unwrap();
        source.watch(&root).unwrap();
        source.watch(&root.join("src")).unwrap();
        let (file, new) = (root.join("src/a.rs"), root.join("new"));
        let mut await_change = |wanted: Change| {
            let end = Instant::now() + Duration::from_secs(60);
            while !source.read(Some(end)).unwrap().contains(&wanted) {
                assert!(Instant::now() < end, "{wanted:?} was not reported");
            }
        };
        fs::write(&file, "saved").unwrap();
        await_change(Change::Saved(file.clone()));
        fs::create_dir(&new).unwrap();
        await_change(Change::Folder(new));
        fs::remove_file(&file).unwrap();
        await_change(Change::Gone(file));
    }

    #[test]
    fn what_nobody_takes_is_lost_and_that_is_said() {
        let (sender, changes) = crossbeam_channel::bounded(1);
        let is_lost = Arc::new(AtomicBool::new(false));
        for _ in 0..2 {
            let event = Event::new(EventKind::Remove(notify::event::RemoveKind::Any));
            report(Ok(event.add_path("/gone".into())), &sender, &is_lost);
        }
        let watcher = notify::recommended_watcher(|_| ()).unwrap();
        let mut source = Recursive {
            watcher,
            roots: HashSet::new(),
            watched: HashSet::new(),
            changes,
            is_lost,
            drained: SystemTime::UNIX_EPOCH,
        };
        let gone = Change::Gone("/gone".into());
        let lost = Change::Lost(SystemTime::UNIX_EPOCH);
        assert_eq!(source.read(None).unwrap(), [gone, lost]);
    }
}
