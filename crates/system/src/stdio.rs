//! The standard streams: the room in the pipe to our input, and whether our output is still read, or at all, which only Unix can
//! tell before something is written.

#[cfg(unix)]
use std::os::fd::AsFd;

/// As many bytes as every user of Linux may ask for.
#[cfg(target_os = "linux")]
const WIDE: usize = 1 << 20;

/// Lets the writer of standard input write more at once, if it is a pipe. Emacs checks every 20 ms whether there is
/// room again, so that a long text takes seconds through the usual 64 KiB.
pub fn widen_input() {
    #[cfg(target_os = "linux")]
    // It works as it is, too.
    let _ = rustix::pipe::fcntl_setpipe_size(std::io::stdin(), WIDE);
}

/// Notices that another program has the pipes of standard input and output open, as each of the same user can through `/proc`
/// on Linux: what comes over them may be its from then on.
#[derive(Debug, Default)]
pub struct PipeGuard {
    #[cfg(target_os = "linux")]
    opened: Option<std::os::fd::OwnedFd>,
    #[cfg(target_os = "linux")]
    is_held: std::sync::Arc<std::sync::atomic::AtomicBool>,
    #[cfg(target_os = "linux")]
    was_opened: bool,
}

impl PipeGuard {
    /// Begins to look: who opens them from now on is noticed at once, and soon who has had them open before and was not started by
    /// whoever has started this one. A socket in the place of a pipe cannot be opened, and is not looked at; nor is anything on other systems.
    ///
    /// # Errors
    /// When all that the system has for this is taken, as by whoever wants nobody to look.
    pub fn start() -> std::io::Result<Self> {
        #[cfg(target_os = "linux")]
        return linux::start();
        #[cfg(not(target_os = "linux"))]
        Ok(Self::default())
    }

    /// Returns true if another program has one of them open, or has opened it since.
    pub fn is_opened(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        {
            use std::sync::atomic::Ordering;

            let mut event = [0; 64];
            let has_event = |events| rustix::io::read(events, &mut event).is_ok();
            self.was_opened |= self.opened.as_ref().is_some_and(has_event);
            self.was_opened || self.is_held.load(Ordering::Relaxed)
        }
        #[cfg(not(target_os = "linux"))]
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::thread::sleep;
    use std::time::Duration;

    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    use rustix::io::Errno;

    use super::PipeGuard;
    use crate::process::{all, ancestors, open_files};
    use crate::spawn;

    /// Whoever has one open for no longer has been started just now, and has not closed yet what its parent has.
    const STAYS: [Duration; 3] = [Duration::from_millis(100); 3];

    pub(super) fn start() -> io::Result<PipeGuard> {
        let mut guard = PipeGuard::default();
        let is_ours = |path: &PathBuf| path.ends_with("fd/0") || path.ends_with("fd/1");
        let is_pipe = |target: &PathBuf| target.to_string_lossy().starts_with("pipe:[");
        let open = open_files(std::process::id());
        let pipes: Vec<_> = open
            .filter(|(path, target)| is_ours(path) && is_pipe(target))
            .collect();
        if pipes.is_empty() {
            return Ok(guard);
        }
        match watched(&pipes) {
            Ok(events) => guard.opened = Some(events),
            Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOSPC)) => return Err(error.into()),
            // Where there is nothing to ask.
            Err(_) => {}
        }
        let is_held = Arc::clone(&guard.is_held);
        let targets = pipes.into_iter().map(|(_, target)| target).collect();
        // Without the thread, who comes later is noticed all the same.
        let _ = spawn("pipes", move || {
            is_held.store(are_held(targets), Ordering::Relaxed);
        });
        Ok(guard)
    }

    fn watched(pipes: &[(PathBuf, PathBuf)]) -> Result<std::os::fd::OwnedFd, Errno> {
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        for (path, _) in pipes {
            add_watch(&events, path, WatchFlags::OPEN)?;
        }
        Ok(events)
    }

    /// Returns true if a process that is neither above this one nor below who has started it has one of these open, and keeps it. Some editors
    /// give all that they start the pipes that they have by then.
    fn are_held(pipes: Vec<PathBuf>) -> bool {
        let above = ancestors(std::process::id());
        let may_inherit = |pid: u32| {
            let parent = above.first();
            parent.is_none_or(|parent| ancestors(pid).contains(parent)) || above.contains(&pid)
        };
        let mut others = all();
        let has_one = |pid: &u32| open_files(*pid).any(|(_, target)| pipes.contains(&target));
        others.retain(|pid| has_one(pid) && !may_inherit(*pid));
        for pause in STAYS {
            if !others.is_empty() {
                sleep(pause);
                others.retain(has_one);
            }
        }
        !others.is_empty()
    }
}

/// Returns true if the reader of what is written there is gone; if that is unknown, it is not.
#[cfg(unix)]
pub fn is_reader_gone(out: impl AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    // Errors and hang-ups are reported without being asked for.
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    poll(&mut fds, Some(&Timespec::default())).is_ok()
        && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// There is nothing to ask: who was refused a write knows it.
#[cfg(not(unix))]
pub fn is_reader_gone(_: std::io::Stdout) -> bool {
    true
}

/// Returns true if nobody ever reads what is written there: it was closed when this process began, or is the null device.
#[cfg(unix)]
pub fn is_nowhere(out: impl AsFd) -> bool {
    use rustix::fs::{FileType, fstat, stat};

    let (Ok(out), Ok(null)) = (fstat(out), stat("/dev/null")) else {
        return false;
    };
    let is_device = |mode| FileType::from_raw_mode(mode) == FileType::CharacterDevice;
    is_device(out.st_mode) && is_device(null.st_mode) && out.st_rdev == null.st_rdev
}

/// That is not known here.
#[cfg(not(unix))]
pub fn is_nowhere(_: std::io::Stdout) -> bool {
    false
}

/// Returns soon after the reader of standard output is gone; if that is unknown, never: it is
/// noticed with the next line that is written.
pub async fn closed() {
    #[cfg(unix)]
    while !is_reader_gone(std::io::stdout()) {
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    }
    #[cfg(not(unix))]
    std::future::pending().await
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_gone_when_its_end_is_closed() {
        let (reader, writer) = std::io::pipe().unwrap();
        assert!(!is_reader_gone(&writer));
        drop(reader);
        assert!(is_reader_gone(&writer));
        let file = tempfile::tempfile().unwrap();
        assert!(!is_reader_gone(&file));
    }
}
