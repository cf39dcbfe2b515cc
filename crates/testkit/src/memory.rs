//! The memory that a process has, as Linux counts it.

use std::fs;

/// The memory that it has now, in bytes.
///
/// # Panics
/// If the process is gone.
pub fn resident_memory(pid: u32) -> usize {
    bytes(pid, "VmRSS:")
}

/// The most that it has had at once, in bytes.
///
/// # Panics
/// If the process is gone.
pub fn peak_memory(pid: u32) -> usize {
    bytes(pid, "VmHWM:")
}

fn bytes(pid: u32, field: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib: usize = number
        .and_then(|number| number.parse().ok())
        .expect("Linux counts it in kB");
    kib << 10
}
