//! Which files are saved in the workspace: without an editor, that is the context. Looks at names
//! only, never into files.

mod batch;
mod rules;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use pillion_protocol::File;

use batch::Batch;
use pillion_companion::now_ms;
use rules::{Rules, is_made_by_an_editor};

/// Folders that are watched at most: systems allow only so many.
const MAX_FOLDERS: usize = 4_096;

/// A file in a folder that has just come up was saved if it is not older than this.
const JUST_NOW: Duration = Duration::from_secs(2);

/// Watches `roots` on a thread of its own, and tells `focus` about files that are saved. What goes
/// wrong is told to `notice`, as one sentence each.
pub fn start(
    roots: Vec<PathBuf>,
    focus: impl Fn(File) + Send + 'static,
    notice: impl Fn(String) + Send + Clone + 'static,
) {
    let tell = notice.clone();
    let thread = thread::Builder::new()
        .name("watch".to_owned())
        .spawn(move || {
            if let Err(error) = watch(&roots, &focus, &tell) {
                tell(format!("saved files are not noticed: {error}"));
            }
        });
    if let Err(error) = thread {
        notice(format!("saved files are not noticed: {error}"));
    }
}

fn watch(
    roots: &[PathBuf],
    focus: &impl Fn(File),
    notice: &impl Fn(String),
) -> Result<(), notify::Error> {
    let (send, events) = mpsc::channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // An event that was lost is a file that is not noticed, no more.
        if let Some(event) = event.ok().filter(|event| is_of_interest(event.kind)) {
            // The thread is gone only when the review is.
            let _ = send.send(event);
        }
    })?;
    let mut folders = Folders {
        watcher,
        watched: HashSet::new(),
        rules: roots.iter().map(|root| Rules::new(root)).collect(),
        is_full: false,
    };
    for root in roots {
        folders.add(root)?;
    }
    if folders.is_full {
        notice(format!(
            "only {MAX_FOLDERS} folders are watched for saved files"
        ));
    }
    collect(&events, &mut folders, focus);
    Ok(())
}

/// Takes in events until nobody sends them any more.
fn collect(events: &Receiver<Event>, folders: &mut Folders, focus: &impl Fn(File)) {
    let mut batch = Batch::default();
    loop {
        let event = match batch.due() {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match event {
            Ok(event) => {
                for path in saved_in(event, folders) {
                    batch.insert(path, Instant::now());
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if batch.due().is_some_and(|due| due <= Instant::now()) {
            let files = batch.take().into_iter().filter(|path| path.is_file());
            for path in files {
                if let Some(path) = path.to_str() {
                    focus(File::focused(path, now_ms()));
                }
            }
        }
    }
}

/// Whether something was written or removed. Most events are that somebody read a file.
fn is_of_interest(kind: EventKind) -> bool {
    is_write(kind) || matches!(kind, EventKind::Remove(_))
}

fn is_write(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Create(_)
            | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Name(_) | ModifyKind::Any)
            | EventKind::Access(AccessKind::Close(AccessMode::Write))
    )
}

/// The files that were written, and new folders to watch.
fn saved_in(event: Event, folders: &mut Folders) -> Vec<PathBuf> {
    if let EventKind::Remove(_) = event.kind {
        event.paths.iter().for_each(|path| folders.forget(path));
    }
    if !is_write(event.kind) {
        return Vec::new();
    }
    let mut saved = Vec::new();
    for path in event.paths {
        if is_made_by_an_editor(&path) || folders.ignore(&path) {
            continue;
        }
        if path.is_dir() {
            // A folder that cannot be watched is one whose files are not noticed, no more.
            let _ = folders.add(&path);
            // What was written into it before it was watched.
            let early = recent_files(&path);
            saved.extend(early.filter(|file| !is_made_by_an_editor(file) && !folders.ignore(file)));
        } else {
            saved.push(path);
        }
    }
    saved
}

struct Folders {
    watcher: RecommendedWatcher,
    watched: HashSet<PathBuf>,
    rules: Vec<Rules>,
    is_full: bool,
}

impl Folders {
    /// Watches `folder` and what is below it, except for what is ignored.
    fn add(&mut self, folder: &Path) -> notify::Result<()> {
        let below = WalkBuilder::new(folder)
            .require_git(false)
            .follow_links(false)
            .filter_entry(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()))
            .build();
        for entry in below.flatten() {
            let path = entry.path();
            if self.watched.len() >= MAX_FOLDERS {
                self.is_full = true;
                return Ok(());
            }
            if self.watched.contains(path) {
                continue;
            }
            match self.watcher.watch(path, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(path.to_owned());
                }
                Err(error) if path == folder => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// A folder that is gone is watched no more, also when it comes again.
    fn forget(&mut self, path: &Path) {
        self.watched.retain(|watched| !watched.starts_with(path));
    }

    fn ignore(&mut self, path: &Path) -> bool {
        if !path.exists() {
            self.forget(path);
        }
        let rules = self
            .rules
            .iter()
            .find(|rules| path.starts_with(&rules.root));
        rules.is_none_or(|rules| rules.ignore(path))
    }
}

/// The files below `folder` that were written just now.
fn recent_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let is_recent = |metadata: std::fs::Metadata| {
        let age = metadata.modified().ok()?.elapsed().ok()?;
        Some(age < JUST_NOW)
    };
    WalkBuilder::new(folder)
        .require_git(false)
        .follow_links(false)
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter(move |entry| entry.metadata().ok().and_then(is_recent).unwrap_or(false))
        .map(ignore::DirEntry::into_path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn saved_files_become_the_context() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("target")).unwrap();
        fs::write(root.join(".gitignore"), "target\n").unwrap();
        let (send, saved) = mpsc::channel();
        let focus = move |file: File| send.send(file).unwrap();
        start(vec![root.clone()], focus, |notice| panic!("{notice}"));
        let mut found = None;
        // The watch begins at some time after the start.
        for attempt in 0..100 {
            fs::write(root.join("target/out.txt"), "x").unwrap();
            fs::write(root.join("main.rs"), attempt.to_string()).unwrap();
            if let Ok(file) = saved.recv_timeout(Duration::from_millis(500)) {
                found = Some(file);
                break;
            }
        }
        assert_eq!(found.unwrap().path, root.join("main.rs").to_str().unwrap());
        fs::create_dir(root.join("new")).unwrap();
        for attempt in 0..100 {
            fs::write(root.join("new/b.rs"), attempt.to_string()).unwrap();
            if let Ok(file) = saved.recv_timeout(Duration::from_millis(500))
                && file.path.ends_with("b.rs")
            {
                assert!(file.is_focused());
                return;
            }
        }
        panic!("a file in a new folder was not noticed");
    }

    #[test]
    fn a_folder_that_is_never_quiet_still_shares_what_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (send, saved) = mpsc::channel();
        let focus = move |file: File| drop(send.send(file));
        start(vec![root.clone()], focus, |notice| panic!("{notice}"));
        let (log, main) = (root.join("noise.txt"), root.join("main.rs"));
        for attempt in 0..300 {
            fs::write(&log, attempt.to_string()).unwrap();
            let _ = fs::read(&log).unwrap();
            if attempt % 20 == 0 {
                fs::write(&main, attempt.to_string()).unwrap();
            }
            if let Ok(file) = saved.recv_timeout(Duration::from_millis(50))
                && file.path.ends_with("main.rs")
            {
                return;
            }
        }
        panic!("a saved file was not noticed beside a busy one");
    }
}
