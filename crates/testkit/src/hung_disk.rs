//! A file system that never answers, like that of a server that is away: a real mount, so that the
//! system calls on it really hang.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use crate::SOON;

/// The first request of FUSE.
const INIT: u32 = 26;

/// The operation of a request is its second number, its own number the next eight bytes.
const HEADER: usize = 40;

/// The mount. Dropping it ends it: processes that wait there get an error.
#[derive(Debug)]
pub struct HungDisk {
    device: File,
    folder: CString,
}

impl HungDisk {
    /// Mounts it over a folder, whatever is there. Nothing where this user cannot mount, or the
    /// system has no FUSE: then the test is skipped, but never on a CI machine.
    pub fn mount(folder: &Path) -> Option<Self> {
        match Self::try_mount(folder) {
            Ok(mounted) => Some(mounted),
            Err(error) if std::env::var_os("CI").is_some_and(|it| !it.is_empty()) => {
                panic!("this test needs root and /dev/fuse: {error}")
            }
            #[expect(clippy::print_stderr, reason = "says why a test tests nothing")]
            Err(error) => {
                eprintln!("skipped: only root can mount, and only with FUSE: {error}");
                None
            }
        }
    }

    fn try_mount(folder: &Path) -> io::Result<Self> {
        let device = File::options().read(true).write(true).open("/dev/fuse")?;
        let fd = device.as_raw_fd();
        let options = CString::new(format!("fd={fd},rootmode=40000,user_id=0,group_id=0"))?;
        let folder = CString::new(folder.as_os_str().as_bytes())?;
        // SAFETY: only a system call on strings that outlive it.
        let mounted = unsafe {
            libc::mount(
                c"hung".as_ptr(),
                folder.as_ptr(),
                c"fuse".as_ptr(),
                0,
                options.as_ptr().cast(),
            )
        };
        if mounted != 0 {
            return Err(io::Error::last_os_error());
        }
        let disk = Self { device, folder };
        disk.greet()?;
        Ok(disk)
    }

    /// The kernel asks for nothing before its first question is answered.
    fn greet(&self) -> io::Result<()> {
        let (operation, unique) = self.request()?;
        assert_eq!(operation, INIT, "FUSE begins with another request");
        let mut answer = Vec::new();
        answer.extend(80_u32.to_ne_bytes());
        answer.extend(0_i32.to_ne_bytes());
        answer.extend(unique);
        // Version 7.31, and no options.
        answer.extend(7_u32.to_ne_bytes());
        answer.extend(31_u32.to_ne_bytes());
        answer.resize(80, 0);
        (&self.device).write_all(&answer)
    }

    /// Waits until a process waits for this disk. Its request is not taken: no process that has been
    /// asked to end would, before it is answered.
    pub fn wait_for_request(&self) {
        assert!(self.has_request(SOON), "no process waits for this disk");
    }

    /// Returns true if a process waits for this disk, or begins to within `limit`.
    pub fn has_request(&self, limit: Duration) -> bool {
        let mut device = libc::pollfd {
            fd: self.device.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let limit = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: only a system call on one structure of ours.
        unsafe { libc::poll(&raw mut device, 1, limit) == 1 }
    }

    /// Takes the mount away: processes that wait there still do until it is dropped, others see what is below it.
    pub fn detach(&self) {
        // SAFETY: only a system call on a string that outlives it.
        unsafe { libc::umount2(self.folder.as_ptr(), libc::MNT_DETACH) };
    }

    /// The next request: its operation and its number.
    fn request(&self) -> io::Result<(u32, [u8; 8])> {
        // Less than this the kernel does not accept.
        let mut request = vec![0; 1 << 20];
        let read = (&self.device).read(&mut request)?;
        assert!(read >= HEADER, "a request of FUSE of {read} bytes");
        let mut operation = [0; 4];
        let mut unique = [0; 8];
        operation.copy_from_slice(&request[4..8]);
        unique.copy_from_slice(&request[8..16]);
        Ok((u32::from_ne_bytes(operation), unique))
    }
}

impl Drop for HungDisk {
    fn drop(&mut self) {
        // Whoever waits gets an error when the device is closed.
        self.detach();
    }
}
