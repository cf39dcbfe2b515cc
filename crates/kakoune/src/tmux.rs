//! A pane for proposals beside the person's own, in their tmux. It does not take the focus, so the person keeps typing.
//!
//! The pane is marked in its environment, so that it is not mistaken for the person's before it has its name.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

use crossbeam_channel::Sender;
use pillion_system::{Group, child, spawn};

use crate::context::Report;
use crate::disk::Done;

/// A terminal less wide is split into two, top and bottom.
const MIN_WIDTH: u32 = 120;

const TIMEOUT: Duration = Duration::from_secs(5);

/// The variables that a client needs to find its session and its settings.
const VARIABLES: [&str; 6] = [
    "HOME",
    "KAKOUNE_CONFIG_DIR",
    "PATH",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];

/// Tells a client that it is the one in a pane for proposals, and in which.
const REVIEW: &str = "PILLION_REVIEW";

/// Opens a client of the session in a pane beside that of `report`: the pane `review`, as it reports itself from its
/// first moment on, when it has no name yet. On a thread, which reports with [`Done::Split`].
pub fn split(report: &Report, session: &str, review: &str, commands: &str, done: &Sender<Done>) {
    let mut command = Command::new("tmux");
    let direction = if report.width < MIN_WIDTH { "-v" } else { "-h" };
    let socket = report.tmux.split(',').next().unwrap_or_default();
    command.args(["-S", socket, "split-window", "-d", direction]);
    command.args(["-t", &report.pane, "-c", &report.folder, "--", "env"]);
    for name in VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            command.arg([OsStr::new(name), &value].join(OsStr::new("=")));
        }
    }
    command.arg(format!("{REVIEW}={review}"));
    // A semicolon at the end of a word is tmux's.
    command.args(["kak", "-c", session, "-e", commands]);
    let report = {
        let (done, client) = (done.clone(), review.to_owned());
        move |is_open| drop(done.send(Done::Split { client, is_open }))
    };
    let on_end = report.clone();
    let run = move || {
        let ended = child::run(&mut command, Group::Own, TIMEOUT);
        let is_success = |ended: child::Ended| ended.status.is_some_and(|it| it.success());
        on_end(ended.is_ok_and(is_success));
    };
    if spawn("tmux", run).is_err() {
        report(false);
    }
}
