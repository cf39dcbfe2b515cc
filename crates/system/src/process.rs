//! The process tree: whose child a process is, and whether it lives.
//!
//! Agents search for a file under the pid of an ancestor of theirs (C2.3); which one differs from
//! release to release, so a companion publishes under all of its editor's.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
#[path = "process/linux.rs"]
mod system;
#[cfg(target_os = "linux")]
pub(crate) use system::{inner_pid, open_files, sockets, tells_files};
#[cfg(not(target_os = "linux"))]
#[path = "process/other.rs"]
mod system;
pub(crate) use system::children;

/// More than any real tree has. Each ancestor costs a handful of files.
const MAX_ANCESTORS: usize = 64;

/// The ancestors of `pid` above process 1, its parent first. None if there is no such process.
pub fn ancestors(pid: u32) -> Vec<u32> {
    let tree = system::Tree::new();
    climb(pid, |child| tree.parent(child))
}

/// Every process, by its id.
pub fn all() -> Vec<u32> {
    system::Tree::new().pids()
}

/// A process, as agents see it when they search for their editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id; 0 if it has none.
    pub parent: u32,
    /// Its command line, arguments joined by blanks, as `ps -o command=` prints it.
    pub command: String,
}

impl Process {
    /// The name by which agents know a program: the last component of the command line's first
    /// word. (A path with a blank in it is cut there: so do they.)
    pub fn name(&self) -> &str {
        let word = self.command.split(' ').next().unwrap_or_default();
        let word = word.trim_end_matches('/');
        word.rsplit('/').next().unwrap_or_default()
    }
}

/// The number under which this process is shown here. In a namespace of its own it may call itself otherwise than what is shown
/// there, which is then another part of the machine; none if it is not shown.
pub fn own_shown() -> Option<u32> {
    system::own_shown()
}

/// One process; none if there is no such process.
pub fn process(pid: u32) -> Option<Process> {
    system::Tree::with_commands().process(pid)
}

/// `pid` and its ancestors, itself first, up to process 1. Empty if there is no such process.
pub fn chain(pid: u32) -> Vec<Process> {
    let tree = system::Tree::with_commands();
    let mut found: Vec<Process> = Vec::new();
    let mut next = Some(pid);
    while let Some(process) = next.and_then(|pid| tree.process(pid)) {
        let parent = process.parent;
        found.push(process);
        let is_known = found.iter().any(|process| process.pid == parent);
        next = (parent > 0 && !is_known && found.len() <= MAX_ANCESTORS).then_some(parent);
    }
    found
}

/// The processes that `pid` started, and those that these started, as long as each one's parent lives.
/// Parents come before their children.
pub fn descendants(pid: u32) -> Vec<u32> {
    let tree = system::Tree::new();
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for child in tree.pids() {
        if let Some(parent) = tree.parent(child) {
            children.entry(parent).or_default().push(child);
        }
    }
    let mut found = children.remove(&pid).unwrap_or_default();
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        found.extend(children.remove(parent).unwrap_or_default());
        next += 1;
    }
    found
}

/// Returns true if `pid` is a process, anybody's. A zombie is none: it can neither listen nor
/// write.
pub fn is_alive(pid: u32) -> bool {
    system::is_alive(pid)
}

/// Returns true if a process was suspended, as by Ctrl-Z, and so answers nothing. False where the system does not tell.
pub fn is_suspended(pid: u32) -> bool {
    system::is_suspended(pid)
}

/// Waits until a process has ended, without asking again and again. False, at once, where the system does not tell. Blocking.
pub fn wait_for_end(pid: u32) -> bool {
    system::wait_for_end(pid)
}

/// The system's answer to signal 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is there, and ours.
    Here,
    /// It is there, and another user's.
    NotOurs,
    /// There is no such process.
    Nobody,
}

/// Asks whether a process is there, by signal 0, as agents do. A zombie answers, too.
#[cfg(unix)]
pub fn ask(pid: u32) -> Answer {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Answer::Nobody;
    };
    match test_kill_process(id) {
        Ok(()) => Answer::Here,
        Err(Errno::PERM) => Answer::NotOurs,
        Err(_) => Answer::Nobody,
    }
}

/// Asks whether it lives: there are no signals.
#[cfg(not(unix))]
pub fn ask(pid: u32) -> Answer {
    if is_alive(pid) {
        Answer::Here
    } else {
        Answer::Nobody
    }
}

/// The user of this process.
#[cfg(unix)]
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Users have no numbers there.
#[cfg(not(unix))]
pub fn own_uid() -> u32 {
    0
}

/// The parent of this process, as it is now.
#[cfg(unix)]
pub fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// Parents are not told there.
#[cfg(not(unix))]
pub fn parent() -> Option<u32> {
    None
}

/// The home directory of this process's account, as the system's own list has it, whatever the variables say.
pub fn account_home() -> Option<OsString> {
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let uid = own_uid().to_string();
    let fields = |line: &str| -> Vec<String> { line.split(':').map(str::to_owned).collect() };
    let mut accounts = accounts.lines().map(fields);
    let own = accounts.find(|fields| fields.get(2) == Some(&uid))?;
    own.get(5)
        .filter(|home| home.starts_with('/'))
        .map(OsString::from)
}

/// The time when a process started, in a unit of the system's own: with its id it names one process, also
/// after the id was given to another. None if there is no such process.
pub fn started_at(pid: u32) -> Option<u64> {
    system::started_at(pid)
}

/// The time since a process started, as precisely as the system tells. None if there is no such process.
pub fn age(pid: u32) -> Option<Duration> {
    let started = started_at(pid)?;
    Some(system::length(now().saturating_sub(started)))
}

/// The present time in the unit of [`started_at`].
pub fn now() -> u64 {
    time_of(Instant::now())
}

/// The time of this moment in the unit of [`started_at`].
pub fn time_of(moment: Instant) -> u64 {
    system::before_now(moment.elapsed())
}

/// A process in a lineage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kin {
    /// Its id, its parent and its command line.
    pub process: Process,
    /// The time when it started, as [`started_at`] has it.
    pub started_at: u64,
    /// Its user; none where users have no numbers, or where that is not told.
    pub uid: Option<u32>,
    /// The process that began its session; none where that is not told.
    pub session: Option<u32>,
    /// The terminal that its session is in; none where that is not told, too.
    pub terminal: Option<u64>,
    /// The login that it descends from, also as an orphan; none where logins are not counted.
    pub login: Option<u32>,
    /// True if it is the first process of a namespace, which adopts what the others there leave behind.
    pub is_init: bool,
}

/// Returns what looks at one process after the other, for a lineage: what the system shows of it, unless it has ended.
pub(crate) fn look() -> impl Fn(u32) -> Option<Kin> {
    let tree = system::Tree::with_users();
    move |pid| tree.kin(pid)
}

/// The variables that a process of this user was started with, if the system tells.
pub fn variables(pid: u32) -> Vec<(OsString, OsString)> {
    system::variables(pid)
}

/// The folder that a process of this user works in, if the system tells.
pub fn folder(pid: u32) -> Option<PathBuf> {
    system::folder(pid)
}

/// The files that a process of this user has open to write, if the system tells.
pub fn written_files(pid: u32) -> Vec<PathBuf> {
    system::written_files(pid)
}

/// Follows `parent_of` up to process 1. A parent that is met twice ends the way: where pids are
/// used again, as on Windows, a dead parent's number can belong to a descendant.
fn climb(pid: u32, parent_of: impl Fn(u32) -> Option<u32>) -> Vec<u32> {
    let mut found = Vec::new();
    let mut child = pid;
    while found.len() < MAX_ANCESTORS {
        match parent_of(child) {
            Some(parent) if parent > 1 && parent != pid && !found.contains(&parent) => {
                found.push(parent);
                child = parent;
            }
            _ => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_ancestor_comes_first_and_process_1_not_at_all() {
        let parents = |pid| match pid {
            9 => Some(5),
            5 => Some(3),
            3 => Some(1),
            _ => None,
        };
        assert_eq!(climb(9, parents), [5, 3]);
        assert!(climb(3, parents).is_empty());
        assert!(climb(77, parents).is_empty());
    }

    #[test]
    fn a_cycle_ends() {
        assert_eq!(climb(9, |pid| Some(if pid == 9 { 8 } else { 9 })), [8]);
        assert!(climb(9, Some).is_empty());
        assert_eq!(
            climb(9, |pid| Some(if pid == 7 { 8 } else { pid - 1 })),
            [8, 7]
        );
        assert_eq!(climb(9, |pid| Some(pid + 1)).len(), MAX_ANCESTORS);
    }

    #[test]
    fn this_process_lives_and_has_its_parent_for_ancestor() {
        assert!(is_alive(std::process::id()));
        #[cfg(unix)]
        {
            let parent = std::os::unix::process::parent_id();
            let first = ancestors(std::process::id()).first().copied();
            assert_eq!(first, Some(parent).filter(|parent| *parent > 1));
        }
    }

    #[test]
    fn a_process_keeps_the_time_at_which_it_started() {
        let own = started_at(std::process::id());
        assert!(own.is_some());
        assert_eq!(started_at(std::process::id()), own);
        #[cfg(unix)]
        {
            let parent = started_at(std::os::unix::process::parent_id());
            assert!(parent <= own, "{parent:?} {own:?}");
        }
        assert_eq!(started_at(u32::MAX), None);
    }

    #[cfg(unix)]
    #[test]
    fn descendants_are_children_and_theirs() {
        use std::io::{BufRead, BufReader};
        use std::process::{Command, Stdio};

        let mut command = Command::new("sh");
        command.args(["-c", "sh -c 'echo $$; read line; true'; true"]);
        let mut outer = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = outer.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let inner: u32 = line.trim().parse().unwrap();
        assert_eq!(descendants(outer.id()), [inner]);
        assert!(descendants(std::process::id()).contains(&inner));
        assert!(descendants(inner).is_empty());
        drop(outer.stdin.take());
        assert!(outer.wait().unwrap().success());
    }

    #[test]
    fn a_chain_starts_with_the_process_itself_and_knows_command_lines() {
        let chain = chain(std::process::id());
        assert_eq!(chain[0].pid, std::process::id());
        let own = std::env::args().next().unwrap();
        assert!(chain[0].command.starts_with(&own), "{:?}", chain[0]);
        for pair in chain.windows(2) {
            assert_eq!(pair[0].parent, pair[1].pid);
        }
        assert!(super::chain(u32::MAX).is_empty());
    }

    #[test]
    fn a_name_is_the_last_component_of_the_first_word() {
        for (command, name) in [
            ("/bin/bash -l", "bash"),
            ("-zsh", "-zsh"),
            ("fish", "fish"),
            ("/opt/My Editor/bin/ed x", "My"),
            ("node /usr/bin/gemini", "node"),
            ("", ""),
            ("/", ""),
        ] {
            let command = command.to_owned();
            let process = Process {
                pid: 1,
                parent: 0,
                command,
            };
            assert_eq!(process.name(), name);
        }
    }

    #[test]
    fn numbers_that_are_no_process_are_dead_and_have_no_ancestors() {
        for pid in [0, u32::MAX, i32::MAX as u32] {
            assert!(!is_alive(pid), "{pid}");
            assert!(ancestors(pid).is_empty(), "{pid}");
        }
    }
}
