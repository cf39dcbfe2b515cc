//! Work that may take for ever, such as what waits for a disk: on a thread, which nobody waits for
//! longer than a while. Nothing can interrupt it; it goes on, and what comes of it counts no more.
//! A thread that is done is kept for what comes next.

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, unbounded};

use crate::thread::{lock, spawn};

/// The name of each thread.
const NAME: &str = "limited";

/// Work for a thread, which makes a way to tell of it.
type Work = Box<dyn FnOnce() -> Told + Send>;

/// Tells what came of it.
type Told = Box<dyn FnOnce() + Send>;

/// The way to a thread that has nothing to do.
static IDLE: Mutex<Option<Sender<Work>>> = Mutex::new(None);

/// Has this done, by the idle thread or another one.
fn hand(work: Work) -> io::Result<()> {
    let idle = lock(&IDLE).take();
    if let Some(idle) = idle {
        // It waits for that.
        let _ = idle.send(work);
        return Ok(());
    }
    let (way, works) = unbounded();
    spawn(NAME, move || {
        let mut next = Some(work);
        while let Some(work) = next {
            let told = work();
            // Before anybody hears of it, who may have more to do at once.
            let is_kept = {
                let mut idle = lock(&IDLE);
                let is_first = idle.is_none();
                idle.get_or_insert_with(|| way.clone());
                is_first
            };
            told();
            next = is_kept.then(|| works.recv().ok()).flatten();
        }
    })
}

/// The result of `work`; nothing if that takes longer than `limit`. Blocking.
pub fn run<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = unbounded();
    let work = move || -> Told {
        let found = work();
        // The caller may have stopped waiting.
        Box::new(move || drop(done.send(found)))
    };
    hand(Box::new(work)).ok()?;
    result.recv_timeout(limit).ok()
}

/// The rest does not wait for work that takes longer.
const PAUSE: Duration = Duration::from_millis(10);

/// The results of each of these; nothing of those that take longer than `limit`. One thread does them, and one more goes on with
/// the rest whenever nothing is done for a moment.
pub fn run_all<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(
    limit: Duration,
    work: impl IntoIterator<Item = W>,
) -> Vec<Option<T>> {
    let started = Instant::now();
    let (queue, queued) = unbounded();
    let (done, results) = unbounded();
    let mut found = Vec::new();
    for work in work.into_iter().enumerate() {
        found.push(None);
        let _ = queue.send(work);
    }
    drop(queue);
    let go_on = || {
        let (queued, done) = (queued.clone(), done.clone());
        let each = move |(at, work): (usize, W)| drop(done.send((at, work())));
        hand(Box::new(move || -> Told {
            queued.iter().for_each(each);
            Box::new(|| ())
        }))
    };
    // What no thread is left for counts as not done.
    if found.is_empty() || go_on().is_err() {
        return found;
    }
    while found.iter().any(Option::is_none) {
        let left = limit.saturating_sub(started.elapsed());
        let pause = if queued.is_empty() {
            left
        } else {
            left.min(PAUSE)
        };
        match results.recv_timeout(pause) {
            Ok((at, result)) => found[at] = Some(result),
            Err(_) if left.is_zero() => break,
            Err(_) if !queued.is_empty() => drop(go_on()),
            Err(_) => {}
        }
    }
    found
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
    spawn(NAME, move || then(run(limit, work)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_left_behind_and_the_rest_is_waited_for() {
        let (release, hanging) = unbounded::<()>();
        assert_eq!(run(Duration::ZERO, move || hanging.recv()), None);
        drop(release);
        assert_eq!(run(Duration::MAX, || 7), Some(7));
        let (release, hanging) = unbounded::<()>();
        let work: [Box<dyn FnOnce() -> u8 + Send>; 3] = [
            Box::new(|| 1),
            Box::new(move || hanging.recv().map_or(2, |()| 2)),
            Box::new(|| 3),
        ];
        let found = run_all(Duration::from_secs(1), work);
        assert_eq!(found, [Some(1), None, Some(3)]);
        drop(release);
        let (told, result) = unbounded();
        start(Duration::MAX, || 7, move |seven| told.send(seven).unwrap()).unwrap();
        assert_eq!(result.recv(), Ok(Some(7)));
    }

    #[test]
    fn one_thread_does_what_comes_one_after_the_other_and_none_that_hangs() {
        let current = || run(Duration::MAX, || std::thread::current().id()).unwrap();
        let (release, hanging) = unbounded::<()>();
        let (sender, hung) = unbounded();
        let hang = move || {
            sender.send(std::thread::current().id()).unwrap();
            hanging.recv()
        };
        assert_eq!(run(Duration::ZERO, hang), None);
        let hung = hung.recv().unwrap();
        let others = [(); 8].map(|()| current());
        assert!(!others.contains(&hung));
        drop(release);
        // Other tests may have taken it meanwhile.
        let all = [(); 100].map(|()| current());
        let same = all.windows(2).filter(|pair| pair[0] == pair[1]);
        assert!(same.count() > 0, "{all:?}");
    }
}
