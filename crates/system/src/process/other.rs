//! Processes by the `sysinfo` library, where there is no `/proc`.

use sysinfo::{
    Pid, Process as Known, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind,
};

use super::Process;

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

pub(super) fn wait_for_end(_pid: u32) -> bool {
    false
}
