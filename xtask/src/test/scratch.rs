//! Where tests have their short-lived files: in memory, if the system has a folder there.

use std::process::Command;

use tempfile::TempDir;

/// A file system in memory.
const IN_MEMORY: &str = "/dev/shm";

/// How many bytes have to be free in it: many times what the tests have at once.
#[cfg(target_os = "linux")]
const NEEDED: u64 = 2 << 30;

/// A folder for temporary files, gone on drop. On a disk, tests that make and delete tens of thousands of files
/// take longer and longer for each: ext4 passes over every inode that was deleted in the last minutes.
#[derive(Debug)]
pub struct Scratch(Option<TempDir>);

impl Scratch {
    /// One in memory; none where there is no room, or no program could run.
    pub fn new() -> Scratch {
        // Paths of sockets are short.
        let mut folder = tempfile::Builder::new();
        folder.prefix("t-").rand_bytes(4);
        let in_memory = has_room().then(|| folder.tempdir_in(IN_MEMORY).ok());
        Scratch(in_memory.flatten())
    }

    /// Lets a command have its temporary files there.
    pub fn give_to(&self, command: &mut Command) {
        if let Some(folder) = &self.0 {
            command.env("TMPDIR", folder.path());
        }
    }
}

#[cfg(target_os = "linux")]
fn has_room() -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(IN_MEMORY).is_ok_and(|system| {
        let may_run = !system.f_flag.contains(StatVfsMountFlags::NOEXEC);
        may_run && system.f_bavail.saturating_mul(system.f_frsize) >= NEEDED
    })
}

#[cfg(not(target_os = "linux"))]
fn has_room() -> bool {
    false
}
