//! Ending processes for good: a process and everything under it.

use std::iter;

use pillion_system::process::descendants;
use rustix::process::{Pid, Signal, kill_process};

/// Sends SIGKILL to `root` and to every descendant that it has now, deepest last. Processes that
/// are gone already are not errors.
pub fn kill_tree(root: u32) {
    // Everything there is descends from it.
    assert_ne!(root, 0, "no process of a test");
    for pid in tree(root) {
        signal(pid, Signal::KILL);
    }
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
