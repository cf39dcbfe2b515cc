//! The allocator's settings. A proposal is as large as a file; glibc by default gives such blocks
//! back to the system at once, and most of the time for the next one goes into page faults.

/// Lets the allocator keep blocks of up to 16 MiB. Does nothing where the C library is not glibc.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const KEEP: libc::c_int = 16 * 1024 * 1024;
        // SAFETY: mallopt only sets parameters, and no other thread runs yet.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, KEEP);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEEP);
        }
    }
}
