//! A disk that does not answer keeps neither a key nor another file waiting.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use pillion_testkit::SOON;

use super::Review;

/// A mount whose file system never answers, like that of a server that is away.
struct Hung {
    _device: File,
    folder: CString,
}

impl Hung {
    /// Fails where this user cannot mount, or the system has no FUSE.
    fn mount(folder: &Path) -> io::Result<Self> {
        let device = File::options().read(true).write(true).open("/dev/fuse")?;
        let fd = device.as_raw_fd();
        let options = format!("fd={fd},rootmode=40000,user_id=0,group_id=0");
        let options = CString::new(options).unwrap();
        let folder = CString::new(folder.as_os_str().as_bytes()).unwrap();
        // Only a system call on strings that outlive it.
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
        Ok(Self {
            _device: device,
            folder,
        })
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        // Whoever waits for it gets an error when the device is closed.
        unsafe { libc::umount2(self.folder.as_ptr(), libc::MNT_DETACH) };
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_mount_that_hangs_stops_no_key_and_hides_no_other_change() {
    let review = Review::usual();
    let folder = review.sandbox.home.workspace().join("far");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.txt"), "old\n").unwrap();
    let near = review.sandbox.home.file("near.txt", "old\n");
    let agent = review.connect();
    agent.propose(folder.join("a.txt"), "new\n");
    review.pane.wait_for("proposes far/a.txt", SOON);
    agent.propose(&near, "new\n");
    review.pane.wait_for("1/2", SOON);
    let hung = match Hung::mount(&folder) {
        Ok(hung) => hung,
        Err(error) => {
            eprintln!("skipped: only root can mount, and only with FUSE: {error}");
            return;
        }
    };
    review.decide("o");
    review.pane.wait_for("reading the file on disk", SOON);
    review.pane.send_keys(["Tab"]);
    review.pane.wait_for("proposes near.txt", SOON);
    fs::write(&near, "other\n").unwrap();
    review.pane.wait_for("changed on disk", SOON);
    review.pane.send_keys(["Tab"]);
    review.pane.wait_for("proposes far/a.txt", SOON);
    drop(hung);
}
