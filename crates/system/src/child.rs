//! Programs that are run for no longer than a while. Nobody answers them, what hangs is killed with
//! what it started, and nothing is waited for that they leave behind.

use std::io::{self, Read};
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};

use crate::process::descendants;
use crate::thread::lock;

/// The longest time between two looks: what is done at once is seen at once.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Programs that a program leaves running may keep its output open, which is not waited for.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// Of what is longer, the end is kept.
const MAX_OUTPUT: usize = 64 << 10;

/// The processes that the terminal's signals reach, and those that are killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// This program's: Ctrl-C ends both. Of what the child leaves behind nothing is killed.
    Shared,
    /// One of its own, where the system has such: all of it is killed in the end.
    Own,
}

/// A child process. It is killed when this is dropped before it has ended.
#[derive(Debug)]
pub struct Child {
    process: process::Child,
    group: Group,
}

/// The outcome of a program.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; nothing if it was killed, because its time was up.
    pub status: Option<ExitStatus>,
    /// The end of what it printed.
    pub out: Vec<u8>,
    /// The end of what it printed on standard error.
    pub errors: Vec<u8>,
}

/// Runs a program to its end, for a limited time, and keeps the end of its output. Blocking.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn run(command: &mut Command, group: Group, limit: Duration) -> io::Result<Ended> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = Child::start(command, group)?;
    let out = listen(child.process.stdout.take());
    let errors = listen(child.process.stderr.take());
    let status = child.wait(limit)?;
    child.kill();
    Ok(Ended {
        status,
        out: out.bytes(),
        errors: errors.bytes(),
    })
}

impl Child {
    /// Starts a program.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &mut Command, group: Group) -> io::Result<Self> {
        if group == Group::Own {
            system::start_group(command);
        }
        let process = command.spawn()?;
        Ok(Self { process, group })
    }

    /// Its exit status; nothing if it goes on after `limit`. Blocking.
    ///
    /// # Errors
    /// When the system does not know it any more.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let started = Instant::now();
        loop {
            let status = self.process.try_wait()?;
            if status.is_some() || started.elapsed() >= limit {
                return Ok(status);
            }
            thread::sleep(
                started
                    .elapsed()
                    .clamp(Duration::from_millis(1), POLL_INTERVAL),
            );
        }
    }

    /// As [`wait`](Self::wait), for a program that does other things meanwhile. Cancel-safe.
    ///
    /// # Errors
    /// When the system does not know it any more.
    pub async fn ended(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let started = Instant::now();
        loop {
            let status = self.process.try_wait()?;
            if status.is_some() || started.elapsed() >= limit {
                return Ok(status);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Kills it, if it has not ended, with what it started: a command is often a script, and the
    /// program itself would go on. Of its own group nothing stays in any case.
    fn kill(&mut self) {
        let is_there = matches!(self.process.try_wait(), Ok(None));
        let below = is_there.then(|| descendants(self.process.id()));
        if self.group == Group::Own {
            system::kill_group(&self.process);
        }
        if let Some(below) = below {
            // What has ended in the meantime is not an error.
            let _ = self.process.kill();
            below.into_iter().for_each(system::kill);
            let _ = self.process.wait();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            self.kill();
        }
    }
}

/// The output of a pipe so far, and a signal at its end.
struct Listener {
    kept: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

fn listen(pipe: Option<impl Read + Send + 'static>) -> Listener {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (sender, end) = unbounded::<()>();
    let ours = Arc::clone(&kept);
    thread::spawn(move || {
        let _until_here = sender;
        let Some(mut pipe) = pipe else { return };
        let mut chunk = [0; 8192];
        loop {
            match pipe.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    let mut kept = lock(&ours);
                    kept.extend_from_slice(&chunk[..count]);
                    let over = kept.len().saturating_sub(MAX_OUTPUT);
                    kept.drain(..over);
                }
            }
        }
    });
    Listener { kept, end }
}

impl Listener {
    fn bytes(&self) -> Vec<u8> {
        // Closed at the end, or not in time: what has come has come.
        let _ = self.end.recv_timeout(OUTPUT_GRACE);
        let mut kept = lock(&self.kept);
        std::mem::take(&mut kept)
    }
}

#[cfg(unix)]
mod system {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, kill_process, kill_process_group};

    pub fn start_group(command: &mut Command) {
        command.process_group(0);
    }

    pub fn kill_group(child: &Child) {
        // No process is left in most cases.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }

    pub fn kill(pid: u32) {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::process::{Child, Command, Stdio};

    pub fn start_group(_: &mut Command) {}

    pub fn kill_group(_: &Child) {}

    pub fn kill(pid: u32) {
        let _ = Command::new("taskkill")
            .args(["/F", "/PID", &pid.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::process::is_alive;

    /// However slow the machine is.
    const LONG: Duration = Duration::from_secs(60);

    fn sh(script: &str, group: Group, limit: Duration) -> Ended {
        run(Command::new("/bin/sh").args(["-c", script]), group, limit).unwrap()
    }

    /// Waits until the process whose id is in `file` is no more.
    fn assert_gone(file: &Path) {
        let pid = std::fs::read_to_string(file).unwrap();
        let pid: u32 = pid.trim().parse().unwrap();
        let start = Instant::now();
        while is_alive(pid) {
            assert!(start.elapsed() < LONG, "process {pid} is still there");
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Runs a script that hangs until it has written a process' id to `file`, for longer each time.
    fn hang(script: &str, group: Group, file: &Path) -> Ended {
        let mut limit = Duration::from_millis(200);
        loop {
            let ended = sh(script, group, limit);
            assert_eq!(ended.status, None);
            match std::fs::read_to_string(file) {
                Ok(pid) if pid.ends_with('\n') => return ended,
                _ => limit *= 2,
            }
        }
    }

    #[test]
    fn what_a_program_that_hangs_has_started_is_killed_too_and_its_words_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!(
            "echo Really?; sh -c 'echo $$ > {}; exec sleep 600'; true",
            file.display()
        );
        for group in [Group::Shared, Group::Own] {
            let ended = hang(&script, group, &file);
            assert_eq!(ended.out, b"Really?\n");
            assert_gone(&file);
            std::fs::remove_file(&file).unwrap();
        }
    }

    #[test]
    fn what_a_program_leaves_running_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; echo done", file.display());
        let ended = sh(&script, Group::Own, LONG);
        assert!(ended.status.unwrap().success());
        assert_eq!(ended.out, b"done\n");
        assert_gone(&file);
        let ended = sh(&script, Group::Shared, LONG);
        assert_eq!(ended.out, b"done\n");
        let left = std::fs::read_to_string(&file).unwrap();
        let left = left.trim().parse().unwrap();
        assert!(is_alive(left), "what nobody waits for goes on");
        system::kill(left);
    }

    #[test]
    fn of_a_flood_the_end_is_kept() {
        let ended = sh("seq 1 100000 >&2; exit 3", Group::Shared, LONG);
        assert_eq!(ended.status.unwrap().code(), Some(3));
        assert!(ended.out.is_empty());
        assert_eq!(ended.errors.len(), MAX_OUTPUT);
        assert!(ended.errors.ends_with(b"\n100000\n"));
    }

    #[tokio::test]
    async fn a_child_that_nobody_waits_for_any_more_is_killed() {
        let mut command = Command::new("sleep");
        let mut child = Child::start(command.arg("600"), Group::Own).unwrap();
        let pid = child.process.id();
        assert_eq!(child.ended(Duration::ZERO).await.unwrap(), None);
        drop(child);
        assert!(!is_alive(pid));
    }
}
