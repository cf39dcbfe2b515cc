//! A process that does nothing: an editor that somebody else runs, or an owner of files.

use std::process::{Child, Command, Stdio};

/// Lives until it is dropped, so that a test that fails leaves nothing behind that holds its pipes.
#[derive(Debug)]
pub struct IdleProcess(Child);

impl IdleProcess {
    /// Starts it.
    ///
    /// # Panics
    /// If there is no `sleep`.
    pub fn start() -> IdleProcess {
        let child = Command::new("sleep")
            .arg("1000")
            .stdin(Stdio::null())
            .spawn();
        IdleProcess(child.expect("`sleep` must run"))
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for IdleProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
