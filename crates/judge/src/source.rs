//! Notices when the files that agents want to change become others, and reads them again. The only
//! part of the review that reads the user's files; nothing writes them. A disk may take forever, so
//! that threads wait for it: the review's loop hands out jobs and takes in answers.

mod folders;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pillion_system::{lock, spawn};
use pillion_view::{Diff, DiffId, Original, OriginalError, Stamp};

use crate::judged::Disk;
use folders::Folders;

/// So many threads may hang while they check files. Then no file is checked any more.
const MAX_THREADS: usize = 16;

/// A way to the user's files. Each call may take forever.
pub trait Files: Clone + Send + 'static {
    /// The stamp of a file as it is now.
    fn stamp(&self, path: &Path) -> Option<Stamp> {
        Stamp::of(path)
    }

    /// Its content.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, path: &Path) -> Result<Original, OriginalError> {
        Original::read(path)
    }

    /// The stamp of a symbolic link itself, and where it leads; none if it is no link.
    fn link(&self, path: &Path) -> Option<(Stamp, Vec<u8>)> {
        let stamp = Stamp::of_itself(path)?;
        let target = path.read_link().ok()?;
        Some((stamp, target.into_os_string().into_encoded_bytes()))
    }
}

/// The files on disk.
#[derive(Debug, Clone)]
pub struct OnDisk;

impl Files for OnDisk {}

/// Watches the files of pending diffs for changes: checks them when the system tells that something happened in their folders,
/// and now and then where it does not.
pub struct Sources<F> {
    disk: F,
    /// Gets each answer, on another thread.
    done: Arc<dyn Fn(Answer) + Send + Sync>,
    queue: Queue,
    files: HashMap<DiffId, Watched>,
    folders: Folders,
    /// The system will tell when one of the files may have become another one.
    is_quiet: bool,
    /// Counts what was watched, and how often something happened.
    last: u64,
}

#[derive(Debug)]
struct Watched {
    /// Answers about what was watched before it count for nothing.
    number: u64,
    path: PathBuf,
    /// The text that the diff compares with, as a fingerprint.
    text: Option<u64>,
    seen: Option<Stamp>,
    /// True if a symbolic link is not followed: the change that is shown made it.
    is_itself: bool,
    disk: Disk,
    /// A check is running already.
    is_looked_at: bool,
    /// It is being read already.
    is_read: bool,
}

/// The outcome of a job, or what the system tells.
#[derive(Debug)]
pub enum Answer {
    /// Of a file.
    File {
        /// Its diff.
        id: DiffId,
        /// Of what was watched.
        number: u64,
        /// What there is.
        found: Found,
    },
    /// The system will tell when a file may have become another one, if nothing was counted since this number.
    Quiet(u64),
    /// Something happened in a folder.
    Stirred,
}

/// What was found out about a file.
#[derive(Debug)]
pub enum Found {
    /// The file is as it was, or held by another program: the next check may see it.
    Nothing,
    /// The file as it is, with its text's fingerprint.
    Other(Option<Stamp>, Option<u64>),
    /// The file was read again.
    Read(Result<Original, String>),
}

/// News of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// It became another, or is as it was.
    Disk(Disk),
    /// It was read again.
    Read(Result<Option<Vec<u8>>, String>),
}

impl<F: Files> Sources<F> {
    /// Hands each answer to `done`, from another thread.
    pub fn new(disk: F, done: impl Fn(Answer) + Send + Sync + 'static) -> Self {
        let done: Arc<dyn Fn(Answer) + Send + Sync> = Arc::new(done);
        let stirred = Arc::clone(&done);
        Self {
            disk,
            done,
            queue: Queue::default(),
            files: HashMap::new(),
            folders: Folders::start(move || stirred(Answer::Stirred)),
            is_quiet: false,
            last: 0,
        }
    }

    /// Returns true if there is nothing to check until the system tells so.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Something was watched, or happened.
    fn count(&mut self) -> u64 {
        self.is_quiet = false;
        self.last += 1;
        self.last
    }

    /// Watches the file that a diff is compared with, as it was when it was read. Its text.
    pub fn watch(&mut self, id: DiffId, path: &Path, original: Original) -> Option<Vec<u8>> {
        let text = original.text;
        let watched = Watched {
            number: self.count(),
            path: path.to_owned(),
            text: text.as_deref().map(fingerprint),
            seen: original.stamp,
            is_itself: false,
            disk: Disk::Same,
            is_looked_at: false,
            is_read: false,
        };
        self.files.insert(id, watched);
        text
    }

    /// Watches what a change has written, which may be a symbolic link: that is not followed.
    fn watch_itself(&mut self, id: DiffId, path: &Path, written: Original) {
        self.watch(id, path, written);
        if let Some(watched) = self.files.get_mut(&id) {
            watched.is_itself = true;
        }
    }

    /// Watches the file of a diff that has come. Takes the text out of it that it is compared with.
    pub fn open(&mut self, diff: &mut Diff) -> Option<Vec<u8>> {
        let original = std::mem::take(&mut diff.original);
        if !diff.original_is_other {
            return self.watch(diff.id, &diff.path, original);
        }
        // What becomes of the file is no newer text of this one. What stands there is what was written, as long as nobody changes it.
        if diff.written.is_some() {
            let there = !diff.deletes;
            let written = Original {
                text: there.then(|| diff.proposed.as_bytes().to_vec()),
                stamp: None,
            };
            self.watch_itself(diff.id, &diff.path, written);
        }
        original.text
    }

    /// Reads the file of a diff once more, unless that is being done. It is watched as it is then.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn reread(&mut self, id: DiffId) -> io::Result<()> {
        let Some(file) = self.files.get_mut(&id).filter(|file| !file.is_read) else {
            return Ok(());
        };
        file.is_read = true;
        let (disk, done) = (self.disk.clone(), Arc::clone(&self.done));
        let (number, path) = (file.number, file.path.clone());
        // On a thread of its own, because a caller waits for it.
        spawn("file", move || {
            let original = disk.read(&path);
            let found = Found::Read(original.map_err(|error| error.to_string()));
            done(Answer::File { id, number, found });
        })
    }

    /// Watches only the files of these diffs from now on.
    pub fn retain(&mut self, keep: impl Fn(DiffId) -> bool) {
        self.files.retain(|id, _| keep(*id));
    }

    /// Starts a check of every file that is not being checked already.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn look(&mut self) -> io::Result<()> {
        if self.files.is_empty() {
            return Ok(());
        }
        let paths = self.files.values().map(|file| file.path.clone()).collect();
        let (folders, done, number) = (self.folders.clone(), Arc::clone(&self.done), self.last);
        let watch: Job = Box::new(move || {
            if folders.watch(paths) {
                done(Answer::Quiet(number));
            }
        });
        let idle = self.files.iter_mut().filter(|(_, file)| !file.is_looked_at);
        let jobs = idle.map(|(id, file)| -> Job {
            file.is_looked_at = true;
            let (disk, done) = (self.disk.clone(), Arc::clone(&self.done));
            let (id, number) = (*id, file.number);
            let (path, seen) = (file.path.clone(), file.seen.clone());
            let is_itself = file.is_itself;
            Box::new(move || {
                let found = look(&disk, &path, seen, is_itself);
                done(Answer::File { id, number, found });
            })
        });
        // What happens after that is told.
        self.queue.run(std::iter::once(watch).chain(jobs))
    }

    /// Takes in an answer. Answers what is news.
    pub fn take(&mut self, answer: Answer) -> Option<(DiffId, News)> {
        let (id, number, found) = match answer {
            Answer::File { id, number, found } => (id, number, found),
            Answer::Quiet(number) => {
                self.is_quiet = number == self.last;
                return None;
            }
            Answer::Stirred => {
                self.count();
                return None;
            }
        };
        let file = self.files.get_mut(&id)?;
        if file.number != number {
            return None;
        }
        let (stamp, text) = match found {
            Found::Nothing => {
                file.is_looked_at = false;
                return None;
            }
            Found::Read(Err(reason)) => {
                file.is_read = false;
                return Some((id, News::Read(Err(reason))));
            }
            Found::Read(Ok(original)) => {
                let path = file.path.clone();
                let text = self.watch(id, &path, original);
                return Some((id, News::Read(Ok(text))));
            }
            Found::Other(stamp, text) => (stamp, text),
        };
        file.is_looked_at = false;
        file.seen = stamp;
        let disk = match (file.text, text) {
            (before, now) if before == now => Disk::Same,
            (Some(_), None) => Disk::Gone,
            (None, Some(_)) => Disk::Appeared,
            _ => Disk::Changed,
        };
        (std::mem::replace(&mut file.disk, disk) != disk).then_some((id, News::Disk(disk)))
    }
}

/// Finds out if a file became another than it was when it was `seen`. May take forever.
fn look(disk: &impl Files, path: &Path, seen: Option<Stamp>, is_itself: bool) -> Found {
    let link = is_itself.then(|| disk.link(path)).flatten();
    let (stamp, target) = match link {
        Some((stamp, target)) => (Some(stamp), Some(target)),
        None => (disk.stamp(path), None),
    };
    if stamp == seen {
        return Found::Nothing;
    }
    if let Some(target) = target {
        return Found::Other(stamp, Some(fingerprint(&target)));
    }
    let text = match disk.read(path) {
        Err(OriginalError::Busy(_)) => return Found::Nothing,
        original => original.ok().and_then(|original| original.text),
    };
    Found::Other(stamp, text.as_deref().map(fingerprint))
}

fn fingerprint(text: &[u8]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(text)
}

/// Work on a file. May take forever.
type Job = Box<dyn FnOnce() + Send>;

/// The jobs that wait for disks. Every thread that does them holds this, too: one that hangs keeps its thread, and nobody else
/// waits for it.
#[derive(Clone, Default)]
struct Queue {
    waiting: Arc<Mutex<VecDeque<Job>>>,
}

impl Queue {
    /// Does these jobs, one after the other, on as many threads as hang and one more.
    fn run(&self, jobs: impl IntoIterator<Item = Job>) -> io::Result<()> {
        let mut waiting = lock(&self.waiting);
        waiting.extend(jobs);
        let threads = Arc::strong_count(&self.waiting) - 1;
        if waiting.is_empty() || threads >= MAX_THREADS {
            return Ok(());
        }
        drop(waiting);
        let queue = self.clone();
        let next = move || lock(&queue.waiting).pop_front();
        spawn("files", move || {
            while let Some(job) = next() {
                job();
            }
        })
    }
}

#[cfg(test)]
mod tests;
