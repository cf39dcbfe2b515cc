//! Shows what agents have written and nobody has seen: another process of this program proposes it, with `pillion look`.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use pillion_system::spawn;

use crate::event::{Event, Events};

/// Starts it in this folder. Why it failed, or that it did not, comes as an event when it has ended.
///
/// # Errors
/// When the program cannot be started.
pub(crate) fn start(folder: &Path, port: u16, events: Events) -> io::Result<()> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command
        .args(["look", "--port", &port.to_string()])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = command.spawn()?;
    spawn("look", move || {
        let output = child.wait_with_output();
        let said = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
        let said = said.unwrap_or_else(|error| error.to_string());
        let lines = said.lines().filter(|line| !line.starts_with("hint: "));
        let lines: Vec<&str> = lines.collect();
        let problem = (!lines.is_empty()).then(|| lines.join("; "));
        let _ = events.send(Event::LookEnded(problem));
    })
}
