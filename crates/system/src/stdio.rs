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

/// Notices that another program opens the pipes of standard input and output, as each of the same user can through `/proc`
/// on Linux: what comes over them may be its from then on.
#[derive(Debug, Default)]
pub struct PipeGuard {
    #[cfg(target_os = "linux")]
    opened: Option<std::os::fd::OwnedFd>,
    #[cfg(target_os = "linux")]
    was_opened: bool,
}

impl PipeGuard {
    /// Begins to look. A socket in the place of a pipe cannot be opened, and is not looked at; nor is anything on other systems.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn start() -> std::io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
            use rustix::fs::{FileType, fstat};

            let is_pipe = |stream: std::os::fd::BorrowedFd<'_>| {
                fstat(stream).is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_fifo())
            };
            let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            for (is_pipe, path) in [
                (is_pipe(std::io::stdin().as_fd()), "/proc/self/fd/0"),
                (is_pipe(std::io::stdout().as_fd()), "/proc/self/fd/1"),
            ] {
                if is_pipe {
                    add_watch(&events, path, WatchFlags::OPEN)?;
                }
            }
            Ok(Self {
                opened: Some(events),
                was_opened: false,
            })
        }
        #[cfg(not(target_os = "linux"))]
        Ok(Self::default())
    }

    /// Returns true if another program has opened one of them since.
    pub fn is_opened(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        {
            let mut event = [0; 64];
            let has_event = |events| rustix::io::read(events, &mut event).is_ok();
            self.was_opened = self.was_opened || self.opened.as_ref().is_some_and(has_event);
            self.was_opened
        }
        #[cfg(not(target_os = "linux"))]
        false
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
