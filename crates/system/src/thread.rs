//! Threads with a name, by which a debugger and a crash report tell them apart.

use std::io;
use std::thread;

/// Does `work` on a thread of its own.
///
/// # Errors
/// When the system has no thread for it.
pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}
