//! Becoming another program, on Unix: one system call, and this one is gone.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Becomes the command. Returns only if that failed.
pub fn become_process(mut command: Command) -> io::Error {
    command.exec()
}
