//! Processes by `/proc`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::time::{ClockId, clock_gettime};

use super::{Answer, Kin, Process, ask};

/// The ticks of a second in what the kernel shows to programs, on every architecture that is left.
const TICKS: u64 = 100;

pub(super) fn own_shown() -> Option<u32> {
    fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()
}

/// By a descriptor of the process, which becomes readable when it has ended.
pub(super) fn wait_for_end(pid: u32) -> bool {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return true;
    };
    let process = match pidfd_open(id, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(Errno::SRCH) => return true,
        Err(_) => return false,
    };
    loop {
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], None) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// The children of a process, where the system lists them.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter();
    let listed = threads
        .flatten()
        .flatten()
        .map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    let numbers = |list: String| {
        list.split_whitespace()
            .filter_map(|it| it.parse().ok())
            .collect()
    };
    listed.flat_map::<Vec<u32>, _>(numbers).collect()
}

/// What a process has open: each descriptor, and where it leads. Nothing of another user's.
pub(crate) fn open_files(pid: u32) -> impl Iterator<Item = (PathBuf, PathBuf)> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    let paths = open.into_iter().flatten().flatten().map(|it| it.path());
    paths.filter_map(|path| fs::read_link(&path).ok().map(|target| (path, target)))
}

/// Returns false if the system does not tell what a process has open: one of another user's, or one that forbids it.
pub(crate) fn tells_files(pid: u32) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    // One that has ended has nothing open.
    open.err()
        .is_none_or(|error| error.kind() != ErrorKind::PermissionDenied)
}

/// The numbers of the sockets that a process has open.
pub(crate) fn sockets(pid: u32) -> Vec<u64> {
    let number = |(_, target): (PathBuf, PathBuf)| {
        let number = target.to_str()?.strip_prefix("socket:[")?;
        number.strip_suffix(']')?.parse().ok()
    };
    open_files(pid).filter_map(number).collect()
}

/// The process tree as `/proc` shows it at each question.
pub(super) struct Tree;

impl Tree {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn with_commands() -> Self {
        Self
    }

    pub(super) fn with_users() -> Self {
        Self
    }

    /// What is shown of a process that has not ended.
    pub(super) fn kin(&self, pid: u32) -> Option<Kin> {
        let stat = Stat::of(pid).filter(|stat| !stat.is_dead())?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        Some(Kin {
            process: Process {
                pid,
                parent: stat.parent,
                command: command_line(pid),
            },
            started_at: stat.started?,
            uid: user(&status),
            session: stat.session,
            terminal: stat.terminal.filter(|terminal| *terminal != 0),
            login: login(pid),
            is_init: inner_pid(&status) == Some(1),
        })
    }

    pub(super) fn pids(&self) -> Vec<u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).collect()
    }

    pub(super) fn process(&self, pid: u32) -> Option<Process> {
        let stat = Stat::of(pid)?;
        Some(Process {
            pid,
            parent: stat.parent,
            command: command_line(pid),
        })
    }

    pub(super) fn parent(&self, pid: u32) -> Option<u32> {
        Stat::of(pid).map(|stat| stat.parent)
    }
}

pub(super) fn is_alive(pid: u32) -> bool {
    // Where `/proc` hides other users' processes, the kernel's word has to do.
    ask(pid) != Answer::Nobody && Stat::of(pid).is_none_or(|stat| !stat.is_dead())
}

pub(super) fn is_suspended(pid: u32) -> bool {
    Stat::of(pid).is_some_and(|stat| stat.state == b'T')
}

pub(super) fn started_at(pid: u32) -> Option<u64> {
    Stat::of(pid)?.started
}

/// The length of so many clock ticks.
pub(super) fn length(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 1000 / TICKS)
}

/// Clock ticks from the start of the machine until so long ago.
pub(super) fn before_now(ago: Duration) -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let whole = Duration::from_secs(u64::try_from(now.tv_sec).unwrap_or_default());
    let part = Duration::from_nanos(u64::try_from(now.tv_nsec).unwrap_or_default());
    let then = (whole + part).saturating_sub(ago);
    let shown = then.as_secs() * TICKS + u64::from(then.subsec_nanos()) * TICKS / 1_000_000_000;
    of_the_machine(shown, clock_shift()).unwrap_or_default()
}

/// A time that the kernel shows, by the machine's clock: in a time namespace it shows all times shifted, and a process is known by
/// the time at which it started. None if that cannot be told to the tick.
fn of_the_machine(shown: u64, shift: Option<i64>) -> Option<u64> {
    shown.checked_add_signed(shift?.checked_neg()?)
}

/// By how many ticks this process is shown all times too late; none if it is no whole number.
fn clock_shift() -> Option<i64> {
    static SHIFT: OnceLock<Option<i64>> = OnceLock::new();
    let read = || fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    *SHIFT.get_or_init(|| shift_of(&read()))
}

/// `boottime SECONDS NANOSECONDS` in one of the lines (time_namespaces(7)); there are none on an old kernel.
fn shift_of(offsets: &str) -> Option<i64> {
    const TICK: i64 = 10_000_000;
    let Some(shift) = offsets.lines().find_map(|it| it.strip_prefix("boottime")) else {
        return Some(0);
    };
    let mut numbers = shift.split_ascii_whitespace().map(|it| it.parse().ok());
    let (seconds, rest): (i64, i64) = (numbers.next()??, numbers.next()??);
    let ticks = seconds.checked_mul(TICKS.cast_signed())?;
    (rest % TICK == 0).then(|| ticks.checked_add(rest / TICK))?
}

/// The number of its audit session, which no process can change without privileges.
fn login(pid: u32) -> Option<u32> {
    let number = fs::read_to_string(format!("/proc/{pid}/sessionid")).ok()?;
    let number = number.trim().parse().ok()?;
    Some(number).filter(|number| *number != u32::MAX)
}

pub(super) fn folder(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

pub(super) fn written_files(pid: u32) -> Vec<PathBuf> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let is_written = |name: &OsStr| {
        let facts = fs::read_to_string(process.join("fdinfo").join(name)).unwrap_or_default();
        let flags = { facts.lines() }.find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|it| u32::from_str_radix(it.trim(), 8).ok());
        // How it is open is in the last two bits: 0 is to read.
        flags.is_some_and(|it| it & 3 != 0)
    };
    let open = fs::read_dir(process.join("fd")).into_iter().flatten();
    let written = open.flatten().filter(|it| is_written(&it.file_name()));
    let files = written.filter_map(|it| fs::read_link(it.path()).ok());
    // Pipes and sockets have names of another kind.
    files.filter(|it| it.is_absolute()).collect()
}

pub(super) fn variables(pid: u32) -> Vec<(OsString, OsString)> {
    let block = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let lines = block.split(|byte| *byte == 0);
    let pairs = lines.filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b'=')?;
        let text = |bytes| OsStr::from_bytes(bytes).to_owned();
        Some((text(&line[..at]), text(&line[at + 1..])))
    });
    pairs.collect()
}

/// The last of several numbers of one process: what it calls itself.
pub(crate) fn inner_pid(status: &str) -> Option<u32> {
    let mut lines = status.lines();
    let numbers = lines.find_map(|line| line.strip_prefix("NSpid:"))?;
    let inner = numbers.split_whitespace().skip(1);
    inner.last()?.parse().ok()
}

/// `Uid: REAL EFFECTIVE SAVED FILESYSTEM`: the one with whose rights it does things.
fn user(status: &str) -> Option<u32> {
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    ids.split_whitespace().nth(1)?.parse().ok()
}

/// The command line that `ps` makes of `/proc/PID/cmdline`: every argument ends with a NUL.
fn command_line(pid: u32) -> String {
    // Room for most of them: nothing says how long it is.
    let mut arguments = Vec::with_capacity(4096);
    if let Ok(mut file) = File::open(format!("/proc/{pid}/cmdline")) {
        let _ = file.read_to_end(&mut arguments);
    }
    let text = String::from_utf8_lossy(&arguments);
    text.trim_end_matches('\0').replace('\0', " ")
}

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: u8,
    parent: u32,
    session: Option<u32>,
    /// Its device; 0 without one.
    terminal: Option<u64>,
    /// In clock ticks since the machine started.
    started: Option<u64>,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        // What matters stands at the start: one system call, because the file has no size.
        let mut line = [0; 512];
        let mut file = File::open(format!("/proc/{pid}/stat")).ok()?;
        let length = file.read(&mut line).ok()?;
        Self::parse(&line[..length])
    }

    /// `PID (NAME) STATE PARENT …`, where the name may hold anything, `) ` included; the start is the
    /// 22nd field.
    fn parse(line: &[u8]) -> Option<Self> {
        let name_end = line.iter().rposition(|byte| *byte == b')')?;
        let mut fields = line[name_end + 1..]
            .split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty());
        Some(Self {
            state: *fields.next()?.first()?,
            parent: number(fields.next()?)?,
            session: fields.nth(1).and_then(number),
            terminal: fields.next().and_then(number),
            started: fields
                .nth(14)
                .and_then(number)
                .and_then(|shown| of_the_machine(shown, clock_shift())),
        })
    }

    /// A zombie, or gone in this moment.
    fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

fn number<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_machine_in_a_time_namespace_too() {
        for (offsets, shown, expected) in [
            ("", 2200, Some(2200)),
            ("monotonic 0 0\nboottime 0 0\n", 2200, Some(2200)),
            ("monotonic 7 0\nboottime -20 0\n", 200, Some(2200)),
            ("boottime           5         30000000\n", 2703, Some(2200)),
            ("boottime 5 5000000\n", 2700, None),
            ("boottime 5\n", 2700, None),
            ("boottime 5 0\n", 3, None),
        ] {
            let told = of_the_machine(shown, shift_of(offsets));
            assert_eq!(told, expected, "{offsets:?} {shown}");
        }
    }

    #[test]
    fn the_name_may_hold_anything() {
        for name in ["sh", "a) S 7 (b", ")", "", "two words", "new\nline"] {
            let line = format!("12 ({name}) Z 34 12 12 0 -1 4194560\n");
            let stat = Stat::parse(line.as_bytes());
            assert_eq!(
                stat,
                Some(Stat {
                    state: b'Z',
                    parent: 34,
                    session: Some(12),
                    terminal: Some(0),
                    started: None,
                }),
                "{name:?}"
            );
        }
    }

    #[test]
    fn the_start_is_the_22nd_field() {
        let fields: Vec<String> = (5..=52).map(|number| (number * 100).to_string()).collect();
        let line = format!("12 (a b) S 34 {}\n", fields.join(" "));
        let stat = Stat::parse(line.as_bytes()).unwrap();
        assert_eq!(stat.started, Some(2200));
    }

    #[test]
    fn a_line_that_is_cut_off_is_no_process() {
        for line in [
            "",
            "12",
            "12 (sh",
            "12 (sh)",
            "12 (sh) S",
            "12 (sh) S x",
            "12 (sh) S -1",
        ] {
            assert_eq!(Stat::parse(line.as_bytes()), None, "{line:?}");
        }
    }
}
