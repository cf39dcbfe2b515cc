//! Opening a file with another program, for editors that cannot be asked to.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crossbeam_channel::Sender;
use pillion_system::spawn;
use pillion_view::ProposalKey;

use super::Done;

/// Starts `program` with the file of a proposal as its one argument, on a thread: it may take long. No shell
/// reads either. For [`Done::Launched`].
pub fn launch(key: ProposalKey, program: String, file: PathBuf, done: Sender<Done>) {
    let report = move |result| drop(done.send(Done::Launched { key, result }));
    let failed = report.clone();
    let why = format!("cannot start {program:?}");
    let reason = why.clone();
    let run = move || match start(&program, file) {
        Ok(child) => {
            report(Ok(()));
            reap(child);
        }
        Err(error) => report(Err(format!("{reason}: {error}"))),
    };
    if let Err(error) = spawn("open-with", run) {
        failed(Err(format!("{why}: {error}")));
    }
}

fn start(program: &str, file: PathBuf) -> std::io::Result<Child> {
    Command::new(program)
        .arg(file)
        // Standard output is the editor's.
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn reap(mut child: Child) {
    match child.wait() {
        Ok(status) if !status.success() => {
            tracing::warn!(%status, "the program that opens files failed");
        }
        Ok(status) => tracing::debug!(%status, "the program that opens files ended"),
        Err(error) => tracing::debug!(%error, "lost track of the program that opens files"),
    }
}
