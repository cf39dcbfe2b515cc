//! Linux: every folder is watched for itself, and only for events that are of use. Reading by a program costs
//! nothing here.

use std::collections::HashMap;
use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::{Change, Refusal, Source};
use crate::watch::rules::is_rule_file;

/// So long events gather before they are read: one wake-up takes many.
const GATHER_DELAY: Duration = Duration::from_millis(20);

/// Room for the events of one read: some thousand.
const BUFFER: usize = 128 << 10;

/// More are not taken at once, for what comes of them takes memory. The kernel keeps half as many, usually.
const MAX_EVENTS: usize = 32_768;

/// Files: written and closed, moved here, or gone, because of the rules in some. Folders: made, moved,
/// gone.
const EVENTS: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW)
    .union(WatchFlags::EXCL_UNLINK);

/// The kernel's watches, and which folder each belongs to.
pub struct Inotify {
    queue: OwnedFd,
    folders: HashMap<i32, Arc<Path>>,
    watches: HashMap<Arc<Path>, i32>,
    buffer: Box<[MaybeUninit<u8>]>,
    /// The time at which the kernel had no more events.
    drained: SystemTime,
}

impl Inotify {
    pub fn new(_roots: &[PathBuf]) -> io::Result<Self> {
        Ok(Self {
            queue: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            folders: HashMap::new(),
            watches: HashMap::new(),
            buffer: Box::new_uninit_slice(BUFFER),
            drained: SystemTime::now(),
        })
    }

    /// The changes that the kernel has.
    fn take(&mut self) -> io::Result<Vec<Change>> {
        let mut changes = Vec::new();
        let mut reader = Reader::new(&self.queue, &mut self.buffer);
        let mut taken = 0;
        while taken < MAX_EVENTS || !reader.is_buffer_empty() {
            taken += 1;
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => {
                    self.drained = SystemTime::now();
                    break;
                }
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let (watch, flags) = (event.wd(), event.events());
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                changes.push(Change::Lost(self.drained));
            } else if flags.contains(ReadFlags::IGNORED) {
                // The folder was deleted, or its file system is gone.
                if let Some(folder) = self.folders.remove(&watch) {
                    self.watches.remove(&folder);
                    changes.push(Change::Gone(folder.to_path_buf()));
                }
            } else if let Some(folder) = self.folders.get(&watch) {
                if flags.contains(ReadFlags::MOVE_SELF) {
                    // Another may have taken its place.
                    changes.push(Change::Gone(folder.to_path_buf()));
                    changes.push(Change::Folder(folder.to_path_buf()));
                } else if let Some(name) = event.file_name() {
                    changes.extend(change(folder, name, flags));
                }
            }
        }
        Ok(changes)
    }
}

/// The change that happened to something in a folder.
fn change(folder: &Path, name: &CStr, flags: ReadFlags) -> Option<Change> {
    let name = OsStr::from_bytes(name.to_bytes());
    let comes = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
    let goes = flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM);
    if goes {
        // What becomes of a folder, its own watch tells.
        return is_rule_file(name).then(|| Change::Gone(folder.join(name)));
    }
    if flags.contains(ReadFlags::ISDIR) {
        return comes.then(|| Change::Folder(folder.join(name)));
    }
    let is_saved = flags.intersects(ReadFlags::CLOSE_WRITE | ReadFlags::MOVED_TO);
    (is_saved || is_rule_file(name)).then(|| Change::Saved(folder.join(name)))
}

impl Source for Inotify {
    fn watch(&mut self, folder: &Path) -> Result<(), Refusal> {
        let watch = match inotify::add_watch(&self.queue, folder, EVENTS) {
            Ok(watch) => watch,
            Err(Errno::NOSPC | Errno::NOMEM) => return Err(Refusal::Full),
            Err(error) => return Err(Refusal::Failed(error.into())),
        };
        let folder: Arc<Path> = folder.into();
        // The kernel knows folders by what they are: after a move one has another path, or a path
        // has another folder.
        if let Some(former) = self.watches.insert(folder.clone(), watch)
            && former != watch
        {
            self.folders.remove(&former);
            let _ = inotify::remove_watch(&self.queue, former);
        }
        if let Some(former) = self.folders.insert(watch, folder.clone())
            && former != folder
        {
            self.watches.remove(&former);
        }
        Ok(())
    }

    fn unwatch(&mut self, folder: &Path) {
        if let Some(watch) = self.watches.remove(folder) {
            self.folders.remove(&watch);
            // It fails where the folder is gone, and the watch with it.
            let _ = inotify::remove_watch(&self.queue, watch);
        }
    }

    fn read(&mut self, until: Option<Instant>) -> io::Result<Vec<Change>> {
        let wait = until.map(|until| until.saturating_duration_since(Instant::now()));
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let mut queue = [PollFd::new(&self.queue, PollFlags::IN)];
        match poll(&mut queue, wait.as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        thread::sleep(GATHER_DELAY);
        self.take()
    }
}
