//! Targets that another program holds, or that become something else meanwhile: they cost the one
//! call that is about them, and nobody else anything.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, Mode, RenameFlags, mkfifoat, renameat_with};

use crate::sandbox::{Sandbox, Serve};

/// Linux's number for the command of `fcntl` that chooses a lease's signal.
const F_SETSIG: libc::c_int = 10;

/// A program that opens the file now waits, unless it asks not to.
struct Lease(File);

impl Lease {
    fn take(path: &Path) -> Self {
        let file = File::options().read(true).write(true).open(path).unwrap();
        let fd = file.as_raw_fd();
        // Only system calls on a descriptor of ours. The signal is one that is ignored.
        let taken = unsafe {
            libc::fcntl(fd, F_SETSIG, libc::SIGURG);
            libc::fcntl(fd, libc::F_SETLEASE, libc::F_WRLCK)
        };
        assert_eq!(taken, 0, "{}", std::io::Error::last_os_error());
        Self(file)
    }

    /// Waits until a program wants to open the file.
    fn wait_for_another(&self) {
        let fd = self.0.as_raw_fd();
        while unsafe { libc::fcntl(fd, libc::F_GETLEASE) } == libc::F_WRLCK {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn proposals(sandbox: &Sandbox) -> usize {
    let diffs = sandbox.run(["diffs", "--json"]).expect(0);
    let diffs: serde_json::Value = serde_json::from_str(&diffs.stdout).unwrap();
    diffs.as_array().unwrap().len()
}

fn is_gone(serve: &Serve) -> bool {
    !serve.files().iter().any(|file| file.exists())
}

#[test]
fn a_file_under_a_lease_fails_its_own_call_and_no_other() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let leased = sandbox.home.file("leased", "x");
    let lease = Lease::take(&leased);
    let agent = serve.connect();
    let waiting = agent.proposing(leased.to_str().unwrap(), "y");
    lease.wait_for_another();
    serve
        .connect()
        .propose(sandbox.home.workspace().join("new"), "y");
    assert_eq!(proposals(&sandbox), 1);
    let error = waiting.end().unwrap_err();
    assert!(error.contains("another program has it locked"), "{error}");
    drop(lease);
    agent.propose(&leased, "y");
    assert_eq!(proposals(&sandbox), 2);
}

#[test]
fn a_lease_that_is_given_up_in_time_does_no_harm() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve::<&str>([]);
    let leased = sandbox.home.file("leased", "x");
    let lease = Lease::take(&leased);
    let agent = serve.connect();
    let waiting = agent.proposing(leased.to_str().unwrap(), "y");
    lease.wait_for_another();
    drop(lease);
    waiting.end().unwrap();
}

#[test]
fn settings_under_a_lease_are_read_once_it_is_given_up() {
    let sandbox = Sandbox::new();
    let settings = sandbox.home.home().join(".gemini/settings.json");
    let lease = Lease::take(&settings);
    let output = thread::scope(|scope| {
        let doctor = scope.spawn(|| sandbox.run(["doctor", "gemini"]));
        lease.wait_for_another();
        drop(lease);
        doctor.join().unwrap()
    });
    assert!(
        !output.stdout.contains("settings-broken"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("no-companion"), "{}", output.stdout);
}

#[test]
fn a_companion_ends_and_cleans_up_while_a_target_is_held() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.serve::<&str>([]);
    let leased = sandbox.home.file("leased", "x");
    let lease = Lease::take(&leased);
    let agent = serve.connect();
    let waiting = agent.proposing(leased.to_str().unwrap(), "y");
    lease.wait_for_another();
    serve
        .connect()
        .propose(sandbox.home.workspace().join("new"), "y");
    serve.signal("TERM");
    assert_eq!(serve.ended(), Some(0));
    assert!(is_gone(&serve));
    waiting.end().unwrap_err();
    drop(lease);
}

#[test]
fn a_pipe_that_takes_turns_with_the_file_never_holds_anybody_up() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.serve::<&str>([]);
    let file = sandbox.home.file("file", "x");
    let pipe = sandbox.home.workspace().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let agent = serve.connect();
    let is_over = AtomicBool::new(false);
    let (shown, refused) = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &file, CWD, &pipe, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let (mut shown, mut refused) = (0, 0);
        // Each is answered, one way or the other.
        for _ in 0..500 {
            match agent.try_propose(&file, "y") {
                Ok(()) => shown += 1,
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("is not a regular file"), "{error}");
                    refused += 1;
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
        (shown, refused)
    });
    assert!(shown > 0 && refused > 0, "{shown} shown, {refused} refused");
    serve.signal("TERM");
    assert_eq!(serve.ended(), Some(0));
    assert!(is_gone(&serve));
    assert!(fs::metadata(&pipe).is_ok());
}
