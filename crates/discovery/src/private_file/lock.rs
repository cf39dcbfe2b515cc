//! Locks in a private folder: held by one process, and released when it ends, however that comes about.

use std::fs::File;

#[cfg(target_os = "linux")]
use rustix::fs as sys;
use rustix::fs::{AtFlags, FlockOperation, OFlags, Stat, flock, fstat, openat, statat};
use rustix::io::Errno;

use super::{Folder, PRIVATE_FILE, check_file};
use crate::private_file::FileError;

/// A lock that this process holds, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Folder {
    /// Returns true if the file `name` is the one of this lock.
    pub fn holds(&self, name: &str, lock: &Lock) -> bool {
        let own = fstat(&lock.file);
        let there = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        let same =
            |one: Stat, other: Stat| (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino);
        own.is_ok_and(|own| there.is_ok_and(|there| same(own, there)))
    }

    /// The file `name`, to be locked, which is created 0600 if it is not there.
    ///
    /// # Errors
    /// When something else has that name, or when the system refuses.
    pub fn lock_file(&self, name: &str) -> Result<File, FileError> {
        let path = self.path.join(name);
        let failed = |errno: Errno| FileError::io("lock", &path, errno);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.fd, name, flags | OFlags::NONBLOCK, PRIVATE_FILE)
            .map(File::from)
            .map_err(|errno| match errno {
                Errno::LOOP => FileError::Link(path.clone()),
                errno => failed(errno),
            })?;
        check_file(&fstat(&file).map_err(failed)?, &path)?;
        Ok(file)
    }

    /// Takes the lock `name`, a file that is created; none if another process holds it.
    ///
    /// # Errors
    /// When something else has that name, or when the system refuses.
    pub fn lock(&self, name: &str) -> Result<Option<Lock>, FileError> {
        let path = self.path.join(name);
        let failed = |errno: Errno| FileError::io("lock", &path, errno);
        loop {
            let file = self.lock_file(name)?;
            let stat = fstat(&file).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(errno) => return Err(failed(errno)),
            }
            // Its former holder may have removed it in between, and then another can have a new one.
            match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(now) if (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino) => {
                    return Ok(Some(Lock { file }));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
    }

    /// The process that holds a lock; none if nobody does, or if the system does not tell (proc_locks(5)).
    #[cfg(target_os = "linux")]
    pub(crate) fn lock_holder(&self, name: &str) -> Option<u32> {
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let (major, minor) = (sys::major(stat.st_dev), sys::minor(stat.st_dev));
        let file = format!("{major:02x}:{minor:02x}:{}", stat.st_ino);
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        locks.lines().find_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            let is_of_file = fields.next()? == "FLOCK";
            let pid = fields.nth(2)?.parse().ok()?;
            (is_of_file && fields.next()? == file).then_some(pid)
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn lock_holder(&self, _: &str) -> Option<u32> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn one_at_a_time_holds_a_lock_and_dropping_it_releases_it() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::create(base.path(), &["a"]).unwrap();
        let lock = folder.lock("l").unwrap().unwrap();
        assert!(folder.lock("l").unwrap().is_none());
        #[cfg(target_os = "linux")]
        assert_eq!(folder.lock_holder("l"), Some(std::process::id()));
        let mode = folder.path().join("l").metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        drop(lock);
        assert_eq!(folder.lock_holder("l"), None);
        let lock = folder.lock("l").unwrap().unwrap();
        assert!(folder.holds("l", &lock));
        folder.remove("l").unwrap();
        assert!(!folder.holds("l", &lock));
        let _new = folder.lock("l").unwrap().unwrap();
        drop(lock);
        assert!(folder.lock("l").unwrap().is_none());
    }

    #[test]
    fn no_link_and_no_folder_is_a_lock() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::create(base.path(), &["a"]).unwrap();
        symlink("elsewhere", folder.path().join("link")).unwrap();
        Folder::create(base.path(), &["a", "folder"]).unwrap();
        assert!(matches!(folder.lock("link"), Err(FileError::Link(_))));
        assert!(folder.lock("folder").is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }
}
