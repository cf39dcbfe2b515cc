//! The descriptors of this process: how many it may have open, and which a program inherits that goes on for longer than
//! whoever started it.

use std::fs;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// macOS allows no process more descriptors than this, even where it names no limit.
const OPEN_MAX: u64 = 10_240;

/// Lets this process have as many descriptors open as the system allows it. The programs that it starts inherit that: what
/// still uses `select` may not be one of them.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit
        .maximum
        .filter(|it| !cfg!(target_vendor = "apple") || *it < OPEN_MAX);
    let most = most.unwrap_or(OPEN_MAX);
    if limit.current.is_some_and(|it| it < most) {
        let raised = Rlimit {
            current: Some(most),
            ..limit
        };
        // Without it, there is room for fewer workspaces.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

/// The first descriptor that is no standard stream.
const FIRST_OTHER: RawFd = 3;

/// Has a program inherit nothing but its standard streams: for whoever reads from a pipe whose other end it holds, that
/// never ends.
pub fn inherit_only_streams(command: &mut Command) {
    let listed = fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others: Vec<RawFd> = numbers.filter(|fd| *fd >= FIRST_OTHER).collect();
    let close = move || {
        for fd in &others {
            // SAFETY: one that is closed meanwhile is an error, and nothing else happens with it.
            let fd = unsafe { BorrowedFd::borrow_raw(*fd) };
            let _ = fcntl_setfd(fd, FdFlags::CLOEXEC);
        }
        Ok(())
    };
    // SAFETY: it makes system calls, and nothing else.
    unsafe { command.pre_exec(close) };
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_pipe_ends_although_the_program_goes_on() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        fcntl_setfd(&writer, FdFlags::empty()).unwrap();
        let mut command = Command::new("sleep");
        inherit_only_streams(command.arg("600"));
        let mut child = command.spawn().unwrap();
        drop(writer);
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
