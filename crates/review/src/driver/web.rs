//! The page in the person's browser, in a process of its own that ends with the review.

use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};

use crossbeam_channel::Sender;
use pillion_discovery::Environment;
use pillion_system::spawn;
use pillion_text::visible;

use crate::Input;
use crate::app::Event;

/// Starts it, or has the one that runs open one more tab. It runs for as long as what is returned is held, or until nobody has it open.
///
/// # Errors
/// When it cannot be started.
pub fn open(roots: &[PathBuf], sender: Sender<Input>) -> io::Result<ChildStdin> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["web", "--from-review"]);
    for root in roots {
        command.arg("--workspace").arg(root);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Ctrl-C in this terminal is the review's.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(held), Some(out), Some(errors)) = pipes else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    spawn("page", move || {
        let mut lines = BufReader::new(out).lines();
        let said = match lines.next() {
            Some(Ok(address)) if Environment::current().filled("SSH_CONNECTION").is_some() => {
                let tunnel = BufReader::new(errors).lines().next();
                let tunnel = tunnel.and_then(Result::ok).unwrap_or_default();
                format!("{address} opens once · {tunnel}")
            }
            Some(Ok(address)) => format!("your browser opens {address}"),
            _ => {
                let mut why = String::new();
                let _ = errors.take(4096).read_to_string(&mut why);
                visible::one_line(why.lines().next().unwrap_or("the page has ended"))
            }
        };
        let _ = sender.send(Input::Event(Event::Notice(said)));
        // It is read until it ends, so that it is not held up.
        let _ = (lines.count(), child.wait());
    })?;
    Ok(held)
}
