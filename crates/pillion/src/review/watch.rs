//! Which files are saved in the workspace: without an editor, that is the context. Looks at names
//! only, never into files.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use pillion_protocol::File;

/// Folders that are watched at most: systems allow only so many.
const MAX_FOLDERS: usize = 4_096;

/// A save is several events; so long after the last one it counts.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// A file in a folder that has just come up was saved if it is not older than this.
const JUST_NOW: Duration = Duration::from_secs(2);

/// More files than this at once are a checkout or a build, not a person.
const MAX_BURST: usize = 10;

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
    let watcher = notify::recommended_watcher(move |event| {
        // The thread is gone only when the review is.
        let _ = send.send(event);
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
fn collect(events: &Receiver<notify::Result<Event>>, folders: &mut Folders, focus: &impl Fn(File)) {
    let mut saved: BTreeMap<PathBuf, Instant> = BTreeMap::new();
    loop {
        let event = if saved.is_empty() {
            events.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            events.recv_timeout(DEBOUNCE)
        };
        match event {
            Ok(Ok(event)) => {
                for path in saved_in(event, folders) {
                    saved.insert(path, Instant::now());
                }
                continue;
            }
            // An event that was lost is a file that is not noticed, no more.
            Ok(Err(_)) => continue,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let mut files: Vec<_> = std::mem::take(&mut saved).into_iter().collect();
        if files.len() > MAX_BURST {
            continue;
        }
        files.sort_by_key(|(_, at)| *at);
        for (path, _) in files.into_iter().filter(|(path, _)| path.is_file()) {
            if let Some(path) = path.to_str() {
                focus(File::focused(path, now_ms()));
            }
        }
    }
}

/// The files that were written, and new folders to watch.
fn saved_in(event: Event, folders: &mut Folders) -> Vec<PathBuf> {
    if let EventKind::Remove(_) = event.kind {
        event.paths.iter().for_each(|path| folders.forget(path));
    }
    let is_write = matches!(
        event.kind,
        EventKind::Create(_)
            | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Name(_) | ModifyKind::Any)
            | EventKind::Access(AccessKind::Close(AccessMode::Write))
    );
    if !is_write {
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

/// What is ignored below one root.
struct Rules {
    root: PathBuf,
}

impl Rules {
    fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Whether `path` is hidden, or ignored by a `.gitignore` between it and the root. The files are
    /// read again each time: saves are rare, and the rules change too.
    fn ignore(&self, path: &Path) -> bool {
        let Ok(within) = path.strip_prefix(&self.root) else {
            return true;
        };
        let is_hidden =
            |part: std::path::Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        if within.components().any(is_hidden) {
            return true;
        }
        let is_dir = path.is_dir();
        for folder in within.ancestors().skip(1) {
            let folder = self.root.join(folder);
            let rules = gitignore(&folder);
            let matched = rules.matched_path_or_any_parents(path, is_dir);
            if !matched.is_none() {
                return matched.is_ignore();
            }
        }
        false
    }
}

fn gitignore(folder: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for name in [".gitignore", ".ignore"] {
        let file = folder.join(name);
        if file.is_file() {
            // What cannot be read ignores nothing.
            let _ = builder.add(file);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Files that editors write beside the one that a person saves.
fn is_made_by_an_editor(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let endings = [
        "~",
        ".swp",
        ".swo",
        ".swx",
        ".tmp",
        ".bak",
        ".orig",
        "___jb_tmp___",
    ];
    is_number
        || (name.starts_with('#') && name.ends_with('#'))
        || endings.iter().any(|ending| name.ends_with(ending))
}

fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_editors_write_for_themselves_is_no_save() {
        for name in ["a.rs~", ".a.rs.swp", "4913", "#a.rs#", "a.rs.tmp"] {
            assert!(is_made_by_an_editor(Path::new(name)), "{name}");
        }
        for name in ["a.rs", "#a.rs", "v2"] {
            assert!(!is_made_by_an_editor(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn ignored_and_hidden_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
        fs::write(root.join("src/.gitignore"), "!keep.log\ndeep/\n").unwrap();
        let rules = Rules::new(root);
        for (path, is_ignored) in [
            ("src/a.rs", false),
            ("a.log", true),
            ("src/keep.log", false),
            ("src/deep/a.rs", true),
            ("target/debug/x", true),
            (".git/HEAD", true),
            ("src/.env", true),
        ] {
            assert_eq!(rules.ignore(&root.join(path)), is_ignored, "{path}");
        }
        assert!(rules.ignore(Path::new("/elsewhere/a.rs")));
    }

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
}
