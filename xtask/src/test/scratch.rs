//! The place for the short-lived files of tests: in memory, if the system has a folder there.

use std::process::Command;

use tempfile::TempDir;

/// A folder for temporary files, gone on drop. On a disk, tests that make and delete tens of thousands of files
/// take longer and longer for each: ext4 passes over every inode that was deleted in the last minutes.
#[derive(Debug)]
pub struct Scratch(Option<TempDir>);

impl Scratch {
    /// One in memory; none where there is no room, or no program could run.
    pub fn new() -> Scratch {
        Scratch(in_memory::folder())
    }

    /// Lets a command have its temporary files there.
    pub fn give_to(&self, command: &mut Command) {
        if let Some(folder) = &self.0 {
            command.env("TMPDIR", folder.path());
        }
    }
}

#[cfg(target_os = "linux")]
mod in_memory {
    use std::fs::{self, DirEntry};
    use std::os::unix::fs::MetadataExt;

    use pillion_system::process;
    use rustix::fs::{StatVfsMountFlags, statvfs};
    use rustix::process::geteuid;
    use tempfile::TempDir;

    /// A file system in memory.
    const ROOT: &str = "/dev/shm";

    /// The start of a folder's name, before the process that it belongs to. Paths of sockets are short.
    const PREFIX: &str = "t";

    /// The number of bytes that have to be free: many times what the tests have at once.
    const NEEDED: u64 = 1 << 30;

    pub fn folder() -> Option<TempDir> {
        remove_abandoned();
        let name = format!("{PREFIX}{}", std::process::id());
        let mut folder = tempfile::Builder::new();
        folder.prefix(&name).rand_bytes(0);
        has_room().then(|| folder.tempdir_in(ROOT).ok()).flatten()
    }

    fn has_room() -> bool {
        statvfs(ROOT).is_ok_and(|system| {
            let may_run = !system.f_flag.contains(StatVfsMountFlags::NOEXEC);
            may_run && system.f_bavail.saturating_mul(system.f_frsize) >= NEEDED
        })
    }

    /// Removes what runs left that are over: one that was interrupted, or whose tests had a process that went on. It
    /// would stay in memory.
    fn remove_abandoned() {
        let entries = fs::read_dir(ROOT).into_iter().flatten().flatten();
        for entry in entries.filter(is_abandoned) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }

    /// Returns true if it is this user's, and of a process that is gone. One with our own number is of a process
    /// that had it before.
    fn is_abandoned(entry: &DirEntry) -> bool {
        let pid = || {
            let name = entry.file_name();
            let pid: u32 = name.to_str()?.strip_prefix(PREFIX)?.parse().ok()?;
            Some(pid)
        };
        let is_over = |pid| pid == std::process::id() || !process::is_alive(pid);
        let owner = entry.metadata().map(|data| data.uid());
        pid().is_some_and(is_over) && owner.is_ok_and(|owner| owner == geteuid().as_raw())
    }
}

#[cfg(not(target_os = "linux"))]
mod in_memory {
    pub fn folder() -> Option<tempfile::TempDir> {
        None
    }
}
