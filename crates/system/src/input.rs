//! The room in a pipe before its writer has to wait.

/// As many bytes as every user of Linux may ask for.
#[cfg(target_os = "linux")]
const WIDE: usize = 1 << 20;

/// Lets the writer of standard input write more at once, if it is a pipe. Emacs checks every 20 ms whether there is
/// room again, so that a long text takes seconds through the usual 64 KiB.
pub fn widen() {
    #[cfg(target_os = "linux")]
    // It works as it is, too.
    let _ = rustix::pipe::fcntl_setpipe_size(std::io::stdin(), WIDE);
}
