//! Opening a file with another program, for editors that cannot be asked to.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Starts `program` with the file as its one argument. No shell reads either.
///
/// # Errors
/// One sentence that says why it cannot be started.
pub fn open(program: &str, file: &Path) -> Result<(), String> {
    let failed = |error| format!("cannot start {program:?}: {error}");
    let mut child = Command::new(program)
        .arg(file)
        // Standard output is the editor's.
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let reap = move || match child.wait() {
        Ok(status) if !status.success() => {
            tracing::warn!(%status, "the program that opens files failed");
        }
        Ok(status) => tracing::debug!(%status, "the program that opens files ended"),
        Err(error) => tracing::debug!(%error, "the program that opens files was lost"),
    };
    let spawned = thread::Builder::new()
        .name("open-with".to_owned())
        .spawn(reap);
    spawned.map(drop).map_err(failed)
}
