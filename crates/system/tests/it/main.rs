//! Real processes: trees, odd names, zombies.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use pillion_system::process::{ancestors, is_alive};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

#[test]
fn a_grandchild_has_child_and_test_for_ancestors() {
    let mut child = Command::new("sh")
        .args(["-c", "sleep 60 & echo $!; read wait; kill $!"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let grandchild = line.trim().parse().unwrap();
    assert_eq!(ancestors(grandchild)[..2], [child.id(), std::process::id()]);
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_may_be_called_anything() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("x) Z 1 (y");
    fs::copy("/bin/sleep", &program).unwrap();
    let mut child = Command::new(&program).arg("60").spawn().unwrap();
    assert_eq!(ancestors(child.id()).first(), Some(&std::process::id()));
    assert!(is_alive(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!is_alive(child.id()));
}

#[cfg(not(target_os = "macos"))]
#[test]
fn a_zombie_is_dead() {
    let mut child = Command::new("true").spawn().unwrap();
    let id = Pid::from_child(&child);
    // Waits until it ended, and leaves it a zombie.
    waitid(
        WaitId::Pid(id),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )
    .unwrap();
    assert!(!is_alive(child.id()));
    child.wait().unwrap();
}

#[test]
fn another_users_process_is_alive() {
    assert!(is_alive(1));
}
