//! The system's figures of a process: its memory, and the time that it had a processor. Linux
//! alone has them this way; elsewhere nothing is known.

use std::fs;
use std::time::Duration;

/// Resident memory, in bytes; what several processes share is counted in equal parts for each.
pub fn resident(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The time that the threads that it has now spent on a processor, to the nanosecond.
pub fn processor_time(pid: u32) -> Option<Duration> {
    let mut total = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let statistics = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        total += statistics.split(' ').next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(total))
}

/// The time that the processes which this one has waited for spent on a processor, with all of
/// theirs, in the ticks of a hundredth second that the system counts.
pub fn processor_time_of_children() -> Option<Duration> {
    let status = fs::read_to_string("/proc/self/stat").ok()?;
    // The name before the parenthesis may hold anything.
    let (_, fields) = status.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.map(|ticks| ticks.parse().unwrap_or(0)).sum();
    Some(Duration::from_millis(ticks * 10))
}
