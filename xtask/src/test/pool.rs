//! Jobs side by side: so many at once, the others as soon as one has ended. While processors are idle, because
//! jobs wait for something else, there may be more of them.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::idle::Idle;

/// The time between two questions about idle processors.
const ASK_INTERVAL: Duration = Duration::from_millis(200);

/// A process that runs tests.
#[derive(Debug)]
pub struct Job {
    /// Its name for people.
    pub title: String,
    pub command: Command,
    /// True if a failure may be that of a busy machine: with processes, sockets and timeouts.
    pub may_be_flaky: bool,
}

/// Jobs that are run in their order. Lanes know nothing of each other.
#[derive(Debug)]
pub struct Lane {
    pub jobs: Vec<Job>,
    /// The number that run at once, however busy the machine is.
    pub at_once: usize,
    /// The number that may run besides, as long as processors are idle.
    pub when_idle: usize,
}

impl Lane {
    pub fn of_one_at_a_time(jobs: Vec<Job>) -> Lane {
        Lane {
            jobs,
            at_once: 1,
            when_idle: 0,
        }
    }
}

/// A job that has ended.
#[derive(Debug)]
pub struct Ended {
    pub job: Job,
    /// True if it exited with success.
    pub is_good: bool,
    /// All that it printed.
    pub output: String,
    pub took: Duration,
}

/// Runs all lanes at once, and hands each job that has ended to `show`. Output is gathered in files
/// below `folder`.
pub fn run(
    lanes: Vec<Lane>,
    folder: &Path,
    mut show: impl FnMut(Ended) -> Result<()>,
) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let lanes: Vec<_> = lanes
        .into_iter()
        .map(|lane| {
            let jobs = Mutex::new(VecDeque::from(lane.jobs));
            (lane.at_once, lane.when_idle, jobs)
        })
        .collect();
    let most = lanes.iter().map(|(_, when_idle, _)| *when_idle).max();
    let idle = Mutex::new(Idle::new(most.unwrap_or_default()));
    let (sender, receiver) = crossbeam_channel::unbounded();
    thread::scope(|scope| {
        for (lane, (at_once, when_idle, jobs)) in lanes.iter().enumerate() {
            for place in 0..at_once + when_idle {
                let file = folder.join(format!("{lane}-{place}.txt"));
                let sender = sender.clone();
                let needs_room = (place + 1).saturating_sub(*at_once);
                let idle = &idle;
                scope.spawn(move || {
                    while let Some(job) = next(jobs, needs_room, idle) {
                        if sender.send(run_one(job, &file)).is_err() {
                            // The reader of the results is gone.
                            return;
                        }
                    }
                });
            }
        }
        drop(sender);
        receiver.into_iter().try_for_each(|ended| show(ended?))
    })
}

/// The next job of a lane, as soon as there is room for so many more than run in any case.
fn next(jobs: &Mutex<VecDeque<Job>>, needs_room: usize, idle: &Mutex<Idle>) -> Option<Job> {
    loop {
        let mut jobs = lock(jobs);
        if jobs.is_empty() || needs_room == 0 || needs_room <= lock(idle).room() {
            return jobs.pop_front();
        }
        drop(jobs);
        thread::sleep(ASK_INTERVAL);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Its output goes to a file: what a test leaves running would hold a pipe open.
fn run_one(mut job: Job, file: &Path) -> Result<Ended> {
    let started = Instant::now();
    let cannot = || format!("cannot run {}", job.title);
    let out = File::create(file).with_context(cannot)?;
    let err = out.try_clone().with_context(cannot)?;
    job.command.stdin(Stdio::null()).stdout(out).stderr(err);
    let status = job.command.status().with_context(cannot)?;
    let took = started.elapsed();
    let output = fs::read(file).with_context(cannot)?;
    Ok(Ended {
        is_good: status.success(),
        output: String::from_utf8_lossy(&output).into_owned(),
        took,
        job,
    })
}
