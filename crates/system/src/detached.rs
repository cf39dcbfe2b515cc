//! A program that goes on for longer than whoever starts it: it is no child of that one, and inherits nothing of it but its
//! standard streams.

use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{fs, io};

use rustix::io::{FdFlags, fcntl_setfd};

/// The first descriptor that is no standard stream.
const FIRST_OTHER: RawFd = 3;

/// Starts the program of this command so. Returns when it runs.
///
/// # Errors
/// When the system refuses.
pub fn spawn(command: &mut Command) -> io::Result<()> {
    let listed = fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others: Vec<RawFd> = numbers.filter(|fd| *fd >= FIRST_OTHER).collect();
    let leave = move || {
        for fd in &others {
            // SAFETY: one that is closed meanwhile is an error, and nothing else happens with it.
            let fd = unsafe { BorrowedFd::borrow_raw(*fd) };
            // For whoever reads from a pipe whose other end the program held, that would never end.
            let _ = fcntl_setfd(fd, FdFlags::CLOEXEC);
        }
        orphan()
    };
    // SAFETY: it makes system calls, and nothing else.
    unsafe { command.pre_exec(leave) };
    // What is started is the process between, which has ended when the program runs.
    command.spawn()?.wait().map(drop)
}

/// Goes on as a child of this process, which ends at once.
fn orphan() -> io::Result<()> {
    // SAFETY: this process has one thread, which was forked itself and is about to run another program; the child has
    // just that to do, and this one nothing but to end, without what other code has registered for its end.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(()),
        _ => unsafe { libc::_exit(0) },
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read};

    use super::*;

    #[test]
    fn it_is_nobodys_child_and_holds_no_pipe_open() {
        let (mut reader, writer) = io::pipe().unwrap();
        fcntl_setfd(&writer, FdFlags::empty()).unwrap();
        let (said, out) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$; exec sleep 600"]);
        spawn(command.stdout(out)).unwrap();
        drop(command);
        drop(writer);
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line).unwrap();
        let pid: u32 = line.trim().parse().unwrap();
        let above = crate::process::ancestors(pid);
        assert!(!above.contains(&std::process::id()), "{above:?}");
        let killed = Command::new("kill").arg(line.trim()).status();
        assert!(killed.unwrap().success());
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        let error = spawn(&mut Command::new("/nonexistent")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
