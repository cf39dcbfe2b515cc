//! The signals that end a program, and who has sent them. The one place that differs between Unix and the rest.

#[cfg(target_os = "linux")]
use std::fs::{File, OpenOptions};
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::lineage;
use crate::thread::spawn;

/// A signal that asks a program to exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The terminal was closed.
    HangUp,
    /// Ctrl-C, which may have been for another program in the same terminal.
    Interrupt,
    /// The process is asked to exit.
    Terminate,
}

impl Signal {
    /// Returns its number.
    pub fn number(self) -> u8 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

/// Signals that are caught from the moment this is made.
#[derive(Debug)]
pub struct Signals {
    /// None if another part of the program catches them.
    #[cfg(unix)]
    caught: Option<[tokio::signal::unix::Signal; 3]>,
    #[cfg(not(unix))]
    is_caught: bool,
}

/// What stands for the system as the sender of a signal, and for none that has come.
const SYSTEM: u32 = 0;

static SENDER: AtomicU32 = AtomicU32::new(SYSTEM);

/// The device of the terminal in whose shell this program was started, if that is one that vanishes when it is closed.
static TERMINAL: OnceLock<Option<Device>> = OnceLock::new();

/// The process that has sent the last signal. None if none came, or if the system has sent it, as for a key of the terminal. A
/// sender that may lie is a process that there is not.
pub fn sender() -> Option<u32> {
    Some(SENDER.load(Ordering::Acquire)).filter(|sender| *sender != SYSTEM)
}

/// Notes the terminal in whose shell this program was started, perhaps by others in between. One that was opened for another
/// program closes when that is killed.
pub fn note_terminal() {
    TERMINAL.get_or_init(|| {
        let above = lineage::lineage(std::process::id());
        let leader = above.into_iter().find(lineage::Kin::leads_terminal);
        let shell = leader.filter(lineage::Kin::is_interactive_shell);
        shell.and_then(|shell| Device::open(&pseudo_terminal(shell.terminal?)?))
    });
}

/// Returns true if the terminal that was noted is closed by now.
pub fn is_hung_up() -> bool {
    let noted = TERMINAL.get().and_then(Option::as_ref);
    noted.is_some_and(Device::is_gone)
}

/// The device of a terminal, without the terminal: another that is opened once this one is closed gets the same name.
#[derive(Debug)]
struct Device(#[cfg(target_os = "linux")] File);

#[cfg(target_os = "linux")]
impl Device {
    fn open(path: &Path) -> Option<Self> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_PATH);
        options.open(path).ok().map(Self)
    }

    fn is_gone(&self) -> bool {
        self.0.metadata().is_ok_and(|device| device.nlink() == 0)
    }
}

#[cfg(not(target_os = "linux"))]
impl Device {
    fn open(_: &Path) -> Option<Self> {
        None
    }

    fn is_gone(&self) -> bool {
        false
    }
}

/// The device of a terminal with this number, if that is a pseudo terminal of Linux.
fn pseudo_terminal(number: u64) -> Option<PathBuf> {
    const MAJORS: std::ops::Range<u64> = 136..144;
    let major = (number >> 8) & 0xfff;
    let minor = (number & 0xff) | ((number >> 12) & 0xf_ff00);
    let is_one = MAJORS.contains(&major);
    is_one.then(|| format!("/dev/pts/{}", minor + ((major - MAJORS.start) << 8)).into())
}

/// Has every sender of this signal noted, before whoever else waits for the signal hears of it.
#[cfg(unix)]
fn note_senders(signal: libc::c_int) -> io::Result<()> {
    let note = |info: &libc::siginfo_t| {
        let sender = match info.si_code {
            // SAFETY: whoever sends a signal with one of these has this field.
            code if code == SI_USER || code == SI_TKILL => unsafe { info.si_pid() }.unsigned_abs(),
            code if code < 0 => u32::MAX,
            _ => SYSTEM,
        };
        SENDER.store(sender, Ordering::Release);
    };
    // SAFETY: what is done is safe in a handler: it reads its argument, and sets a number.
    unsafe { signal_hook_registry::register_sigaction(signal, note) }.map(drop)
}

/// That of `kill`. The library does not name macOS' number, which is in its `signal.h`.
#[cfg(all(unix, not(target_os = "macos")))]
const SI_USER: libc::c_int = libc::SI_USER;
#[cfg(target_os = "macos")]
const SI_USER: libc::c_int = 0x1_0001;

/// That of `pthread_kill` and the like: the system fills in who calls it.
#[cfg(target_os = "linux")]
const SI_TKILL: libc::c_int = libc::SI_TKILL;
#[cfg(all(unix, not(target_os = "linux")))]
const SI_TKILL: libc::c_int = SI_USER;

/// Calls `then` at the first signal, on a thread of its own. Once one has run, signals do nothing by
/// themselves.
///
/// # Errors
/// When the system refuses a handler or a thread.
pub fn on_signal(then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut then = Some(then);
    on_each_signal(move |_| {
        then.take().into_iter().for_each(|then| then());
        false
    })
}

/// Calls `then` at every signal, on a thread of its own, until it answers false. Signals do nothing by themselves any
/// more.
///
/// # Errors
/// When the system refuses a handler or a thread.
pub fn on_each_signal(mut then: impl FnMut(Signal) -> bool + Send + 'static) -> io::Result<()> {
    on_thread("signals", Signals::install, async move |mut signals| {
        while then(signals.next().await) {}
    })
}

/// Calls `then` whenever the terminal has another size, on a thread of its own, until it answers false.
///
/// # Errors
/// When the system refuses a handler or a thread.
#[cfg(unix)]
pub fn on_resize(then: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    on_every(libc::SIGWINCH, "size", then)
}

/// Calls `then` whenever this process was stopped and goes on, on a thread of its own, until it answers false.
///
/// # Errors
/// When the system refuses a handler or a thread.
#[cfg(unix)]
pub fn on_continue(then: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    on_every(libc::SIGCONT, "continued", then)
}

#[cfg(unix)]
fn on_every(
    signal: libc::c_int,
    thread: &'static str,
    mut then: impl FnMut() -> bool + Send + 'static,
) -> io::Result<()> {
    use tokio::signal::unix;

    let kind = unix::SignalKind::from_raw(signal);
    on_thread(
        thread,
        move || unix::signal(kind),
        async move |mut caught| {
            while caught.recv().await.is_some() && then() {}
        },
    )
}

/// Catches signals before it returns, and waits for them on a thread of this name.
fn on_thread<S: Send + 'static, F: AsyncFnOnce(S) + Send + 'static>(
    name: &'static str,
    install: impl FnOnce() -> io::Result<S>,
    wait: F,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_io().build()?;
    let caught = {
        let _inside = runtime.enter();
        install()?
    };
    spawn(name, move || runtime.block_on(wait(caught)))
}

#[cfg(unix)]
impl Signals {
    /// Must come before anything that a signal is not to leave behind. Within a runtime only.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        static NOTED: OnceLock<()> = OnceLock::new();
        if NOTED.set(()).is_ok() {
            for noted in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
                note_senders(noted)?;
            }
        }
        let caught = [
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        ];
        Ok(Self {
            caught: Some(caught),
        })
    }

    /// None: another part of the program catches them.
    pub fn none() -> Self {
        Self { caught: None }
    }

    /// The next one. Cancel-safe.
    pub async fn next(&mut self) -> Signal {
        let Some([hangup, interrupt, terminate]) = &mut self.caught else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = hangup.recv() => Signal::HangUp,
            _ = interrupt.recv() => Signal::Interrupt,
            _ = terminate.recv() => Signal::Terminate,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Nothing has to be prepared here.
    ///
    /// # Errors
    /// None.
    pub fn install() -> io::Result<Self> {
        Ok(Self { is_caught: true })
    }

    /// None: another part of the program catches them.
    pub fn none() -> Self {
        Self { is_caught: false }
    }

    /// The next Ctrl-C. Cancel-safe.
    pub async fn next(&mut self) -> Signal {
        if !self.is_caught || tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Signal::Interrupt
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::process::Command;
    use std::{fs, ptr};

    use super::*;

    #[test]
    fn the_sender_of_a_signal_is_known_before_the_signal_is_told() {
        let (told, signals) = crossbeam_channel::unbounded();
        on_each_signal(move |signal| told.send((signal, sender())).is_ok()).unwrap();
        let script = format!("kill -HUP {}; kill -TERM $$", std::process::id());
        let mut shell = Command::new("sh").args(["-c", &script]).spawn().unwrap();
        assert_eq!(signals.recv().unwrap(), (Signal::HangUp, Some(shell.id())));
        shell.wait().unwrap();
    }

    /// The system gives its number to the next.
    #[test]
    fn a_terminal_that_is_closed_is_gone_though_another_has_its_name() {
        let open = || {
            let (mut master, mut slave) = (0, 0);
            // SAFETY: both are written to, and the rest may be null.
            let opened = unsafe {
                libc::openpty(
                    &mut master,
                    &mut slave,
                    ptr::null_mut(),
                    ptr::null(),
                    ptr::null(),
                )
            };
            assert_eq!(opened, 0);
            // SAFETY: they were opened for nobody else.
            unsafe { [OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave)] }
        };
        let first = open();
        let path = fs::read_link(format!("/proc/self/fd/{}", first[1].as_raw_fd())).unwrap();
        let device = Device::open(&path).unwrap();
        assert!(!device.is_gone());
        drop(first);
        let mut others = Vec::new();
        while !path.exists() {
            others.push(open());
        }
        assert!(device.is_gone());
    }

    #[test]
    fn the_device_of_a_terminal_is_told_by_its_number() {
        for (number, device) in [
            (0x8805, Some("/dev/pts/5")),
            (0x0010_8805, Some("/dev/pts/261")),
            (0x8901, Some("/dev/pts/257")),
            (0x0401, None),
        ] {
            assert_eq!(pseudo_terminal(number), device.map(PathBuf::from));
        }
    }
}
