//! Processes by the `sysinfo` library, where there is no `/proc`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sysinfo::{
    Pid, Process as Known, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind,
};

use super::{Kin, Process};

pub(super) fn own_shown() -> Option<u32> {
    Some(std::process::id())
}

/// Nobody is found.
pub(crate) fn children(_pid: u32) -> Vec<u32> {
    Vec::new()
}

/// The process tree as it was when this was made; none where the system shows nothing.
pub(super) struct Tree(Option<System>);

impl Tree {
    pub(super) fn new() -> Self {
        Self::of(ProcessesToUpdate::All, ProcessRefreshKind::nothing())
    }

    /// With the command lines, which cost more to read.
    pub(super) fn with_commands() -> Self {
        let kind = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
        Self::of(ProcessesToUpdate::All, kind)
    }

    /// With command lines and users.
    pub(super) fn with_users() -> Self {
        let kind = ProcessRefreshKind::nothing()
            .with_cmd(UpdateKind::Always)
            .with_user(UpdateKind::Always);
        Self::of(ProcessesToUpdate::All, kind)
    }

    /// What is shown of a process. Neither its session nor its terminal is told.
    pub(super) fn kin(&self, pid: u32) -> Option<Kin> {
        let known = self.known(pid)?;
        #[cfg(unix)]
        let uid = known.user_id().map(|user| **user);
        #[cfg(not(unix))]
        let uid = None;
        Some(Kin {
            process: self.process(pid)?,
            started_at: known.start_time(),
            uid,
            session: None,
            terminal: None,
            login: None,
            is_init: false,
        })
    }

    pub(super) fn pids(&self) -> Vec<u32> {
        let known = self.0.iter().flat_map(|system| system.processes().keys());
        known.map(|pid| pid.as_u32()).collect()
    }

    pub(super) fn process(&self, pid: u32) -> Option<Process> {
        let known = self.known(pid)?;
        let words = known.cmd().iter().map(|word| word.to_string_lossy());
        Some(Process {
            pid,
            parent: known.parent().map_or(0, Pid::as_u32),
            command: words.collect::<Vec<_>>().join(" "),
        })
    }

    pub(super) fn parent(&self, pid: u32) -> Option<u32> {
        self.known(pid)?.parent().map(Pid::as_u32)
    }

    fn of(which: ProcessesToUpdate<'_>, kind: ProcessRefreshKind) -> Self {
        let mut system = System::new().ok();
        if let Some(system) = &mut system {
            // Names, memory and the like are not wanted; parents and states always come along.
            system.refresh_processes_specifics(which, true, kind);
        }
        Self(system)
    }

    fn known(&self, pid: u32) -> Option<&Known> {
        self.0.as_ref()?.process(Pid::from_u32(pid))
    }
}

pub(super) fn is_suspended(_pid: u32) -> bool {
    false
}

pub(super) fn is_alive(pid: u32) -> bool {
    #[cfg(unix)]
    if super::ask(pid) == super::Answer::Nobody {
        return false;
    }
    let only = [Pid::from_u32(pid)];
    let tree = Tree::of(
        ProcessesToUpdate::Some(&only),
        ProcessRefreshKind::nothing(),
    );
    match tree.known(pid) {
        Some(process) => !matches!(
            process.status(),
            ProcessStatus::Zombie | ProcessStatus::Dead
        ),
        // Another user's process may be there and yet not be shown.
        None => cfg!(unix),
    }
}

pub(super) fn started_at(pid: u32) -> Option<u64> {
    let only = [Pid::from_u32(pid)];
    let tree = Tree::of(
        ProcessesToUpdate::Some(&only),
        ProcessRefreshKind::nothing(),
    );
    tree.known(pid).map(Known::start_time)
}

pub(super) fn length(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) fn wait_for_end(_pid: u32) -> bool {
    false
}

/// Seconds from 1970 until so long ago.
pub(super) fn before_now(ago: Duration) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().saturating_sub(ago).as_secs()
}

pub(super) fn folder(pid: u32) -> Option<PathBuf> {
    let kind = ProcessRefreshKind::nothing().with_cwd(UpdateKind::Always);
    let only = [Pid::from_u32(pid)];
    let tree = Tree::of(ProcessesToUpdate::Some(&only), kind);
    tree.known(pid).and_then(Known::cwd).map(Path::to_owned)
}

pub(super) fn written_files(_pid: u32) -> Vec<PathBuf> {
    Vec::new()
}

pub(super) fn variables(pid: u32) -> Vec<(OsString, OsString)> {
    let kind = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
    let only = [Pid::from_u32(pid)];
    let tree = Tree::of(ProcessesToUpdate::Some(&only), kind);
    let lines = tree.known(pid).map(Known::environ).unwrap_or_default();
    let pairs = lines.iter().filter_map(|line| {
        let (name, value) = line.to_str()?.split_once('=')?;
        Some((OsString::from(name), OsString::from(value)))
    });
    pairs.collect()
}
