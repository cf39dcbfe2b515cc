//! Processes of a test: those below another one, and ending them for good, with everything under them or all of one
//! home.

use std::os::unix::ffi::OsStrExt;
use std::{fs, iter};

use pillion_system::process::descendants;
use rustix::process::{Pid, Signal, kill_process};

use crate::Home;

/// Sends SIGKILL to `root` and to every descendant that it has now, deepest last. Processes that
/// are gone already are not errors.
pub fn kill_tree(root: u32) {
    // Everything there is descends from it.
    assert_ne!(root, 0, "no process of a test");
    for pid in tree(root) {
        signal(pid, Signal::KILL);
    }
}

/// The processes below this one whose program has this name.
pub fn programs_below(root: u32, name: &str) -> Vec<u32> {
    let is_named = |pid: &u32| {
        let found = fs::read_to_string(format!("/proc/{pid}/comm"));
        found.is_ok_and(|found| found.trim_end() == name)
    };
    descendants(root).into_iter().filter(is_named).collect()
}

/// Sends SIGKILL to the hub that was started in this home.
///
/// # Panics
/// If there is none.
pub fn kill_hub(home: &Home) {
    let is_hub = |pid: &u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).any(|word| word == b"hub")
    };
    let hub = all_of(home).into_iter().find(is_hub);
    kill_tree(hub.expect("a hub runs"));
}

/// Sends SIGKILL to every process that was started in this home: also to one that left its parent to go on in the
/// background. Does nothing where there is no `/proc`.
pub fn kill_all_of(home: &Home) {
    for pid in all_of(home) {
        signal(pid, Signal::KILL);
    }
}

/// Every process that was started in this home and runs, wherever its parent is. None where there is no `/proc`.
pub fn all_of(home: &Home) -> Vec<u32> {
    let variable = ["HOME=".as_bytes(), home.home().as_os_str().as_bytes()].concat();
    // That of a process that has ended and was not waited for is empty.
    let is_of_home = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|known| known == variable)
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(is_of_home).collect()
}

/// Sends a signal to a process of ours; that it is gone is not an error.
pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // The only failure that can happen to our own child is that it is gone.
        let _ = kill_process(pid, signal);
    }
}

/// `root` and its descendants, parents before children, so that a parent cannot start another
/// child after its children were listed and killed.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    iter::once(root).chain(descendants(root)).collect()
}
