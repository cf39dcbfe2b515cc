//! A pane for proposals beside the person's own, in their tmux. It takes no focus: whoever types goes on typing.

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use pillion_system::{Group, child};

use crate::context::Report;

/// A terminal less wide is split into two, top and bottom.
const MIN_WIDTH: u32 = 120;

const TIMEOUT: Duration = Duration::from_secs(5);

/// What a client needs to find its session and its settings.
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
/// first moment on, when it has no name yet. Whether there is one now.
pub fn split(report: &Report, session: &str, review: &str, commands: &str) -> bool {
    let Some((socket, _)) = report.tmux.split_once(',') else {
        return false;
    };
    let mut command = Command::new("tmux");
    let direction = if report.width < MIN_WIDTH { "-v" } else { "-h" };
    command.args(["-S", socket, "split-window", "-d", direction]);
    command.args(["-t", &report.pane, "-c", &report.folder, "--", "env"]);
    for name in VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            let mut pair = OsString::from(name);
            pair.push("=");
            pair.push(value);
            command.arg(pair);
        }
    }
    command.arg(format!("{REVIEW}={review}"));
    // A semicolon at the end of a word is tmux's.
    command.args(["kak", "-c", session, "-e", commands]);
    let ended = child::run(&mut command, Group::Own, TIMEOUT);
    ended.is_ok_and(|ended| ended.status.is_some_and(|status| status.success()))
}
