//! Processes by the `sysinfo` library, where there is no `/proc`.

use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

/// The process tree as it was when this was made; none where the system shows nothing.
pub(super) struct Tree(Option<System>);

impl Tree {
    pub(super) fn new() -> Self {
        Self::of(ProcessesToUpdate::All)
    }

    pub(super) fn parent(&self, pid: u32) -> Option<u32> {
        self.process(pid)?.parent().map(Pid::as_u32)
    }

    fn of(which: ProcessesToUpdate<'_>) -> Self {
        let mut system = System::new().ok();
        if let Some(system) = &mut system {
            // Names, memory and the like are not wanted; parents and states always come along.
            system.refresh_processes_specifics(which, true, ProcessRefreshKind::nothing());
        }
        Self(system)
    }

    fn process(&self, pid: u32) -> Option<&Process> {
        self.0.as_ref()?.process(Pid::from_u32(pid))
    }
}

pub(super) fn is_alive(pid: u32) -> bool {
    #[cfg(unix)]
    if !answers(pid) {
        return false;
    }
    let tree = Tree::of(ProcessesToUpdate::Some(&[Pid::from_u32(pid)]));
    match tree.process(pid) {
        Some(process) => !matches!(
            process.status(),
            ProcessStatus::Zombie | ProcessStatus::Dead
        ),
        // Another user's process may be there and yet not be shown.
        None => cfg!(unix),
    }
}

/// Whether the kernel knows the process, ours or not.
#[cfg(unix)]
fn answers(pid: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}
