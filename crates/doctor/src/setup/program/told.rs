//! The version that an agent's command tells when it is asked.
//!
//! The only thing that the doctor runs, and only where no package tells the release.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use pillion_agent::find::Version;

/// How long it may take. Node takes a second or two on a slow machine.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// How long what it said may take to arrive once it has ended.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// As much as is read of what it says.
const MAX_TEXT: u64 = 4 << 10;

pub fn version(command: &Path) -> Option<Version> {
    asked(command, VERSION_TIMEOUT)
}

fn asked(command: &Path, timeout: Duration) -> Option<Version> {
    let until = Instant::now() + timeout;
    let mut asked = Command::new(command);
    asked
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    system::in_group(&mut asked);
    let mut child = asked.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = stdout.take(MAX_TEXT).read_to_end(&mut text);
        // The caller may have stopped waiting.
        let _ = sender.send(read.map(|_| text));
    });
    let has_ended = ends(&mut child, until);
    // With whatever it started: nothing of it is to stay, or to keep the pipe.
    system::kill_group(&mut child);
    // Killed or ended, it can be waited for.
    let _ = child.wait();
    // A process that left the group may still keep the pipe open.
    let text = receiver.recv_timeout(OUTPUT_GRACE).ok()?.ok()?;
    version_in(&String::from_utf8_lossy(&text)).filter(|_| has_ended)
}

/// A line that is nothing but a version, or else the first word that is one.
fn version_in(text: &str) -> Option<Version> {
    let line = text.lines().find_map(|line| line.trim().parse().ok());
    line.or_else(|| text.split_whitespace().find_map(|word| word.parse().ok()))
}

fn ends(child: &mut Child, until: Instant) -> bool {
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(POLL_INTERVAL),
            Err(_) => return false,
        }
    }
    false
}

#[cfg(unix)]
mod system {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, kill_process_group};

    pub fn in_group(command: &mut Command) {
        command.process_group(0);
    }

    pub fn kill_group(child: &mut Child) {
        // Nobody is left in most cases.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

#[cfg(not(unix))]
mod system {
    use std::process::{Child, Command};

    pub fn in_group(_: &mut Command) {}

    pub fn kill_group(child: &mut Child) {
        // It may have ended.
        let _ = child.kill();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_warning_about_node_is_not_the_agents_version() {
        for (text, expected) in [
            ("0.44.0\n", Some(Version::new(0, 44, 0))),
            (
                "Node 18.0.0 is too old\n0.44.0\n",
                Some(Version::new(0, 44, 0)),
            ),
            ("Gemini CLI v0.44.0-nightly.1", Some(Version::new(0, 44, 0))),
            ("no", None),
        ] {
            assert_eq!(version_in(text), expected, "{text}");
        }
    }

    #[test]
    fn a_command_that_leaves_a_process_behind_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("agent");
        for (script, expected) in [
            ("sleep 600 & echo $! > pid; sleep 601", None),
            ("echo 0.55.0; exit 3", None),
            (
                "sleep 600 & echo $! > pid; echo 0.55.0",
                Some(Version::new(0, 55, 0)),
            ),
        ] {
            let script = format!("#!/bin/sh\ncd \"${{0%/*}}\"\n{script}\n");
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let before = Instant::now();
            let found = asked(&program, Duration::from_secs(2));
            assert_eq!(found, expected);
            assert!(before.elapsed() < Duration::from_secs(60));
        }
        let left: u32 = fs::read_to_string(folder.path().join("pid"))
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        while pillion_discovery::process::is_alive(left) {
            assert!(Instant::now() < until, "process {left} is still there");
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}
