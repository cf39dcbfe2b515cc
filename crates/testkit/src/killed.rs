//! Kills a program between two system calls: it is traced, and killed as it is about to make one that changes the file
//! system.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use libc::{c_int, c_long, pid_t};

/// Those by which files come, go, or change. Between two of these, a folder more or less makes no difference.
const CHANGING: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fsetxattr,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_linkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_setxattr,
    libc::SYS_symlinkat,
    libc::SYS_unlinkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
];

/// Those that write to a file, and to much else.
const WRITING: &[c_long] = &[libc::SYS_write, libc::SYS_writev, libc::SYS_pwrite64];

/// The signal by which a process stops at a system call.
const AT_CALL: c_int = libc::SIGTRAP | 0x80;

/// Runs the program, and kills it with all its threads as it is about to make the `nth` system call that changes the file
/// system, counted from 1. Returns true if it was killed, and false if it ended before.
#[expect(
    clippy::zombie_processes,
    reason = "it is waited for, with its threads"
)]
pub fn killed_before(command: &mut Command, nth: usize) -> bool {
    // SAFETY: only a system call, which may be made between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
    let child = command.spawn().expect("the program starts");
    let pid = pid_t::try_from(child.id()).expect("it is a process");
    assert_eq!(
        waited(pid).map(|(pid, _)| pid),
        Some(pid),
        "it stops at its start"
    );
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SETOPTIONS, pid, i64::from(options));
    request(libc::PTRACE_SYSCALL, pid, 0);
    let (mut count, mut was_killed) = (0, false);
    while let Some((thread, status)) = waited(-1) {
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            continue;
        }
        let signal = libc::WSTOPSIG(status);
        let is_event = status >> 16 != 0;
        if signal == AT_CALL {
            count += usize::from(is_change(thread));
            if count == nth && !was_killed {
                was_killed = true;
                // SAFETY: only a system call.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
        }
        // A new thread begins with a stop.
        let is_ours = signal == AT_CALL || is_event || signal == libc::SIGSTOP;
        let passed_on = if is_ours { 0 } else { i64::from(signal) };
        request(libc::PTRACE_SYSCALL, thread, passed_on);
    }
    was_killed
}

/// The next of the traced threads that has stopped or ended; none if all have.
fn waited(thread: pid_t) -> Option<(pid_t, c_int)> {
    let mut status = 0;
    // Children of other threads are none of ours.
    let flags = libc::__WALL | libc::__WNOTHREAD;
    loop {
        // SAFETY: only a system call on a number that outlives it.
        let found = unsafe { libc::waitpid(thread, &raw mut status, flags) };
        if found > 0 {
            return Some((found, status));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// A thread that is gone by now needs nothing more.
fn request(request: libc::c_uint, thread: pid_t, data: i64) {
    // SAFETY: only a system call without pointers that it would follow.
    unsafe { libc::ptrace(request, thread, 0, data) };
}

/// Returns true if the thread is about to make a call that changes the file system.
fn is_change(thread: pid_t) -> bool {
    // SAFETY: plain numbers, for which zero is a value.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::ptrace_syscall_info>();
    // SAFETY: the system writes no more than `size` bytes to `info`, which outlives the call.
    let read = unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, thread, size, &raw mut info) };
    if read <= 0 || info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return false;
    }
    // SAFETY: it is about the entry into a call, as `op` says.
    let entry = unsafe { info.u.entry };
    let number = c_long::try_from(entry.nr).unwrap_or_default();
    let argument = |at: usize| c_int::try_from(entry.args[at] & 0xffff_ffff).unwrap_or_default();
    if number == libc::SYS_openat {
        return argument(2) & (libc::O_CREAT | libc::O_TRUNC) != 0;
    }
    let is_file = || {
        let file = fs::read_link(format!("/proc/{thread}/fd/{}", argument(0)));
        file.is_ok_and(|file| file.is_absolute() && !file.starts_with(Path::new("/dev/pts")))
    };
    CHANGING.contains(&number) || (WRITING.contains(&number) && is_file())
}
