//! Tells that something in some folders may have changed: once, until it is asked again. It does not tell what has changed,
//! and while nothing happens it costs nothing. Whoever writes has told of it before their call of the system returns. Nothing
//! is told of a file that is written by a name in another folder, or through memory: only a look at the file finds that.

pub use system::FolderWatch;

/// The extent of the folders that are watched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Watched {
    /// True if these are all, and the system tells whatever happens there.
    pub is_all: bool,
    /// True if some were not watched before: what happened there until now was not noticed.
    pub has_new: bool,
}

impl Watched {
    /// Returns true if whatever happened since the last look but one is known.
    pub fn is_whole(self) -> bool {
        self.is_all && !self.has_new
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::collections::HashSet;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::{fs, io};

    use crossbeam_channel::{Receiver, Sender, bounded};
    use pillion_discovery::real_path;
    use pillion_system::spawn;
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    use rustix::io::Errno;
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::Watched;

    /// More folders are not watched: the system holds a kilobyte for each.
    pub const MAX_FOLDERS: usize = 65_536;

    /// Everything that may make a file another one. Reading by programs is not told.
    const EVENTS: WatchFlags = WatchFlags::CLOSE_WRITE
        .union(WatchFlags::MODIFY)
        .union(WatchFlags::ATTRIB)
        .union(WatchFlags::CREATE)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVE)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::DONT_FOLLOW)
        .union(WatchFlags::EXCL_UNLINK);

    /// Kinds of file systems on which nobody writes from another machine: ext, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs and
    /// overlays.
    const LOCAL: [u32; 8] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0xf2f5_2010,
        0x2fc1_2fc1,
        0xca45_1a4e,
        0x0102_1994,
        0x794c_7630,
    ];

    /// The number of folders that the system lets each user watch.
    const LIMIT: &str = "/proc/sys/fs/inotify/max_user_watches";

    /// Room for the events of one read.
    const BUFFER: usize = 16 << 10;

    /// The kernel's watches. Dropping it ends them, and its thread.
    #[derive(Debug)]
    pub struct FolderWatch {
        queue: Arc<OwnedFd>,
        watches: HashSet<i32>,
        again: Sender<()>,
        /// The thread ends when the other end hears that this one is closed.
        _end: OwnedFd,
    }

    impl FolderWatch {
        /// Nothing is watched yet. `stirred` is called on a thread of its own.
        ///
        /// # Errors
        /// When the system does not let it.
        pub fn start(stirred: impl Fn() + Send + 'static) -> io::Result<Self> {
            let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            let queue = Arc::new(queue);
            let (ended, end) = pipe_with(PipeFlags::CLOEXEC)?;
            let (again, asked) = bounded(1);
            let waiting = Arc::clone(&queue);
            spawn("folders", move || wait(&waiting, &ended, &asked, stirred))?;
            Ok(Self {
                queue,
                watches: HashSet::new(),
                again,
                _end: end,
            })
        }

        /// Watches these folders, which lie in the roots, and no others; none if they are too many.
        pub fn set<'a>(
            &mut self,
            roots: impl IntoIterator<Item = &'a Path>,
            folders: &[PathBuf],
        ) -> Watched {
            let roots: Vec<&Path> = roots.into_iter().collect();
            let mut is_all = folders.len() <= max_folders();
            let wanted = if is_all { folders } else { &[] };
            let mut watches = HashSet::new();
            for folder in wanted {
                // A link may stand in the place of a root, and is followed there.
                let folder = match roots.contains(&folder.as_path()) {
                    true => real_path(folder),
                    false => folder.clone(),
                };
                // The kernel knows folders by what they are, and a path may have another one by now.
                match inotify::add_watch(&self.queue, &folder, EVENTS) {
                    Ok(watch) => drop(watches.insert(watch)),
                    // The folder that it was in tells that.
                    Err(Errno::NOENT | Errno::NOTDIR) => {}
                    Err(_) => is_all = false,
                }
            }
            for gone in self.watches.difference(&watches) {
                // It fails where the folder is gone, and the watch with it.
                let _ = inotify::remove_watch(&self.queue, *gone);
            }
            let has_new = !watches.is_subset(&self.watches);
            self.watches = watches;
            is_all &= roots.into_iter().all(is_local);
            Watched { is_all, has_new }
        }

        /// Tells what happens from now on. Returns true if nothing has happened since this was called last.
        pub fn tell_again(&self) -> bool {
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut reader = Reader::new(&self.queue, &mut buffer);
            let mut is_quiet = true;
            while let Ok(_) | Err(Errno::INTR) = reader.next() {
                is_quiet = false;
            }
            // If that was asked already, it is full.
            let _ = self.again.try_send(());
            is_quiet
        }
    }

    /// So many folders are watched at most. Editors need some, too.
    fn max_folders() -> usize {
        let limit = fs::read_to_string(LIMIT).ok();
        let limit = limit.and_then(|it| it.trim().parse::<usize>().ok());
        limit.map_or(0, |it| it / 2).min(MAX_FOLDERS)
    }

    /// Returns true if a folder lies on a file system on which nobody writes from another machine.
    #[allow(
        clippy::useless_conversion,
        reason = "not all processors have the same type"
    )]
    fn is_local(folder: &Path) -> bool {
        let kind = rustix::fs::statfs(folder).map(|it| it.f_type);
        kind.is_ok_and(|kind| LOCAL.iter().any(|it| i64::from(*it) == i64::from(kind)))
    }

    fn wait(queue: &OwnedFd, ended: &OwnedFd, asked: &Receiver<()>, stirred: impl Fn()) {
        loop {
            let mut waiting = [
                PollFd::new(queue, PollFlags::IN),
                PollFd::new(ended, PollFlags::empty()),
            ];
            match poll(&mut waiting, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return tracing::warn!(%error, "folders are not watched"),
            }
            if !waiting[1].revents().is_empty() {
                return;
            }
            stirred();
            if asked.recv().is_err() {
                return;
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use std::convert::Infallible;
    use std::io;
    use std::path::{Path, PathBuf};

    use super::Watched;

    /// There is none on this system.
    #[derive(Debug)]
    pub struct FolderWatch(Infallible);

    impl FolderWatch {
        /// Always fails.
        ///
        /// # Errors
        /// Always.
        pub fn start(_: impl Fn() + Send + 'static) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Never called.
        pub fn set<'a>(&mut self, _: impl IntoIterator<Item = &'a Path>, _: &[PathBuf]) -> Watched {
            match self.0 {}
        }

        /// Never called.
        pub fn tell_again(&self) -> bool {
            match self.0 {}
        }
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Duration;

    use crossbeam_channel::{Receiver, unbounded};

    use super::system::MAX_FOLDERS;
    use super::*;

    const SOON: Duration = Duration::from_secs(60);

    fn watch() -> (FolderWatch, Receiver<()>) {
        let (sender, stirred) = unbounded();
        let watch = FolderWatch::start(move || {
            let _ = sender.send(());
        });
        (watch.expect("the system watches folders"), stirred)
    }

    #[test]
    fn whatever_happens_to_a_file_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let (mut watch, stirred) = watch();
        let folders = [folder.path().to_owned(), inner.clone()];
        let all = Watched {
            is_all: true,
            has_new: true,
        };
        assert_eq!(watch.set([folder.path()], &folders), all);
        let file = inner.join("a");
        type Act = fn(&Path);
        let acts: [Act; 6] = [
            |file| fs::write(file, "one").unwrap(),
            |file| fs::write(file, "two").unwrap(),
            |file| fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap(),
            |file| fs::rename(file, file.with_extension("b")).unwrap(),
            |file| fs::remove_file(file.with_extension("b")).unwrap(),
            |file| fs::create_dir(file).unwrap(),
        ];
        for act in acts {
            assert!(watch.tell_again());
            act(&file);
            act_is_told(&stirred);
            assert!(!watch.tell_again());
        }
        assert_eq!(
            watch.set([folder.path()], &folders),
            Watched {
                has_new: false,
                ..all
            }
        );
    }

    fn act_is_told(stirred: &Receiver<()>) {
        stirred.recv_timeout(SOON).expect("it is told");
    }

    #[test]
    fn a_folder_that_has_taken_the_place_of_another_is_watched() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let (mut watch, stirred) = watch();
        let folders = [inner.clone()];
        watch.set([folder.path()], &folders);
        fs::rename(&inner, folder.path().join("other")).unwrap();
        fs::create_dir(&inner).unwrap();
        assert!(watch.set([folder.path()], &folders).has_new);
        // That the former watch has ended is told, too.
        act_is_told(&stirred);
        watch.tell_again();
        fs::write(inner.join("a"), "").unwrap();
        act_is_told(&stirred);
    }

    #[test]
    fn too_many_folders_are_not_watched_and_that_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let (mut watch, _stirred) = watch();
        let folders = vec![folder.path().to_owned(); MAX_FOLDERS + 1];
        let none = Watched {
            is_all: false,
            has_new: false,
        };
        assert_eq!(watch.set([folder.path()], &folders), none);
        assert!(watch.set([folder.path()], &folders[..9]).is_all);
    }

    #[test]
    fn its_thread_ends_with_it() {
        let (watch, stirred) = watch();
        drop(watch);
        assert!(stirred.recv_timeout(SOON).is_err(), "nobody tells any more");
    }
}
