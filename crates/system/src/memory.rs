//! The allocator's settings, where the C library is glibc; elsewhere nothing here does anything. A
//! proposal is as large as a file. By default, glibc returns such blocks to the system at once, and most
//! of the time for the next one goes into page faults.

/// Lets the allocator keep freed blocks of up to 16 MiB, until they are released. To be called before other threads run.
pub fn keep_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const KEEP: libc::c_int = 16 * 1024 * 1024;
        // SAFETY: mallopt only sets parameters, and no other thread runs yet.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, KEEP);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEEP);
            // One arena: of others, glibc never releases the end.
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

/// Returns what is freed to the system: to be called when no more of it is needed soon. Takes about a
/// millisecond.
pub fn release_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim takes the allocator's own locks, and touches freed blocks only.
    unsafe {
        libc::malloc_trim(0);
    }
}
