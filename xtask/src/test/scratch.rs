//! Where tests have their short-lived files: in memory, if the system has a folder there.

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
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use rustix::fs::{StatVfsMountFlags, statvfs};
    use rustix::process::geteuid;
    use tempfile::TempDir;

    /// A file system in memory.
    const ROOT: &str = "/dev/shm";

    /// How the name of a folder begins, before the process that it belongs to. Paths of sockets are short.
    const PREFIX: &str = "t";

    /// How many bytes have to be free: many times what the tests have at once.
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

    /// A run that is interrupted leaves its folder, which would stay in memory.
    fn remove_abandoned() {
        for entry in fs::read_dir(ROOT).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let pid = name
                .to_str()
                .and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
            let is_own = entry
                .metadata()
                .is_ok_and(|data| data.uid() == geteuid().as_raw());
            if is_own && pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod in_memory {
    pub fn folder() -> Option<tempfile::TempDir> {
        None
    }
}
