//! Work that may take for ever, such as what waits for a disk: on a thread, which nobody waits for
//! longer than a while. Nothing can interrupt it; it goes on, and what comes of it counts no more.

use std::io;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// What comes of `work`; nothing if that takes longer than `limit`. Blocking.
pub fn run<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = channel();
    // The caller may have stopped waiting.
    spawn(move || drop(done.send(work()))).ok()?;
    result.recv_timeout(limit).ok()
}

/// As [`run`], for a caller that waits for nothing: `then` gets what came of it, on another thread.
///
/// # Errors
/// When the system has no thread for it. Then `then` is dropped.
pub fn start<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
    then: impl FnOnce(Option<T>) + Send + 'static,
) -> io::Result<()> {
    spawn(move || then(run(limit, work)))
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name("limited".to_owned());
    thread.spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_left_behind_and_the_rest_is_waited_for() {
        let (release, hanging) = channel::<()>();
        assert_eq!(run(Duration::ZERO, move || hanging.recv()), None);
        drop(release);
        assert_eq!(run(Duration::MAX, || 7), Some(7));
        let (told, result) = channel();
        start(Duration::MAX, || 7, move |seven| told.send(seven).unwrap()).unwrap();
        assert_eq!(result.recv(), Ok(Some(7)));
    }
}
