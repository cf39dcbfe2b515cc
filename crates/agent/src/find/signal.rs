//! Whether a process answers, by the very question that agents ask the system: signal 0.

/// What the system says to signal 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is there, and ours.
    Here,
    /// It is there, and another user's.
    #[cfg_attr(
        not(unix),
        allow(dead_code, reason = "there are no signals to ask with")
    )]
    NotOurs,
    /// There is no such process.
    Nobody,
}

/// Asks. A zombie answers, too.
#[cfg(unix)]
pub(crate) fn ask(pid: u32) -> Answer {
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
pub(crate) fn ask(pid: u32) -> Answer {
    if pillion_system::process::is_alive(pid) {
        Answer::Here
    } else {
        Answer::Nobody
    }
}
