//! Tells that something in some folders may have changed: once, until it is asked to tell again. It does not tell what has
//! changed it, and while nothing happens it costs nothing.

pub use system::FolderWatch;

/// More folders are not watched: systems allow each user only so many, and editors need some, too.
pub const MAX_FOLDERS: usize = 4_096;

/// The extent of the folders that are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// True if these are all.
    pub is_all: bool,
    /// True if some were not watched before: what happened there until now was not noticed.
    pub has_new: bool,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::collections::HashSet;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::PathBuf;
    use std::sync::Arc;

    use crossbeam_channel::{Receiver, Sender, bounded};
    use pillion_system::spawn;
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    use rustix::io::Errno;
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::{MAX_FOLDERS, Watched};

    /// Everything that may make a file another one. Reading by programs is not told.
    const EVENTS: WatchFlags = WatchFlags::CLOSE_WRITE
        .union(WatchFlags::MODIFY)
        .union(WatchFlags::ATTRIB)
        .union(WatchFlags::CREATE)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVE)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::DONT_FOLLOW)
        .union(WatchFlags::EXCL_UNLINK);

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

        /// Watches these folders and no others; none if they are too many.
        pub fn set(&mut self, folders: &[PathBuf]) -> Watched {
            let mut is_all = folders.len() <= MAX_FOLDERS;
            let wanted = if is_all { folders } else { &[] };
            let mut watches = HashSet::new();
            for folder in wanted {
                // The kernel knows folders by what they are, and a path may have another one by now.
                match inotify::add_watch(&self.queue, folder, EVENTS) {
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
            Watched { is_all, has_new }
        }

        /// Tells what happens from now on.
        pub fn tell_again(&self) {
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut reader = Reader::new(&self.queue, &mut buffer);
            while matches!(reader.next(), Ok(_) | Err(Errno::INTR)) {}
            // If that was asked already, it is full.
            let _ = self.again.try_send(());
        }
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
    use std::path::PathBuf;

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
        pub fn set(&mut self, _: &[PathBuf]) -> Watched {
            match self.0 {}
        }

        /// Never called.
        pub fn tell_again(&self) {
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
        assert_eq!(watch.set(&folders), all);
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
            act(&file);
            act_is_told(&stirred);
            watch.tell_again();
        }
        assert_eq!(
            watch.set(&folders),
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
        watch.set(&folders);
        fs::rename(&inner, folder.path().join("other")).unwrap();
        fs::create_dir(&inner).unwrap();
        assert!(watch.set(&folders).has_new);
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
        assert_eq!(watch.set(&folders), none);
        assert!(watch.set(&folders[1..]).is_all);
    }

    #[test]
    fn its_thread_ends_with_it() {
        let (watch, stirred) = watch();
        drop(watch);
        assert!(stirred.recv_timeout(SOON).is_err(), "nobody tells any more");
    }
}
