//! Opening a file with another program, for editors that cannot be asked to.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

/// Starts `program` with the file as its one argument. No shell reads either. `done` is called on
/// another thread when it has started, or with one sentence about why it cannot be.
pub fn open(
    program: String,
    file: PathBuf,
    done: impl Fn(Result<(), String>) + Send + Sync + 'static,
) {
    let done = Arc::new(done);
    let failed = format!("cannot start {program:?}");
    let run = {
        let (done, failed) = (Arc::clone(&done), failed.clone());
        move || match start(&program, file) {
            Ok(child) => {
                done(Ok(()));
                reap(child);
            }
            Err(error) => done(Err(format!("{failed}: {error}"))),
        }
    };
    let thread = thread::Builder::new().name("open-with".to_owned());
    if let Err(error) = thread.spawn(run) {
        done(Err(format!("{failed}: {error}")));
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
