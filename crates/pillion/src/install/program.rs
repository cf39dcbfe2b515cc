//! Runs an editor's own program: no longer than it can need, and keeping the end of what it says.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A download over a slow line takes a while; a program that asks something waits for ever.
pub const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// What a program leaves running may keep its output open: nobody waits for that.
const GRACE: Duration = Duration::from_millis(500);

/// More than a list of extensions has; of what is longer, the end is kept.
const MAX_BYTES: usize = 64 << 10;

/// As many lines are repeated to people: a reason is at the end.
const MAX_LINES: usize = 20;

/// How a program ended, and the lines that it printed.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub out: Vec<String>,
    pub errors: Vec<String>,
}

/// Runs a program with these very arguments: no shell reads them, and nobody answers it.
pub fn run<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    patience: Duration,
) -> Result<Ended, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let out = listen(child.stdout.take());
    let errors = listen(child.stderr.take());
    let status = wait(&mut child, patience)
        .map_err(|error| format!("cannot wait for {}: {error}", program.display()))?;
    let (out, errors) = (out.lines(), errors.lines());
    match status {
        Some(status) => Ok(Ended {
            status,
            out,
            errors,
        }),
        None => {
            let seconds = patience.as_secs();
            let program = program.display();
            let said = in_words(&[errors, out].concat());
            let said = said.map_or_else(|| " nothing".to_owned(), |said| format!(": {said}"));
            Err(format!(
                "{program} was still running after {seconds} seconds and was stopped; it said{said}"
            ))
        }
    }
}

/// The last of these lines, for a message; nothing if there are none.
pub fn in_words(lines: &[String]) -> Option<String> {
    let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
    (!last.is_empty()).then(|| last.join("\n  "))
}

/// Its status, or nothing if it was stopped.
fn wait(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// What came from a pipe so far, and word of its end.
struct Listener {
    kept: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

fn listen(pipe: Option<impl Read + Send + 'static>) -> Listener {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (sender, end) = channel::<()>();
    let ours = Arc::clone(&kept);
    thread::spawn(move || {
        let _until_here = sender;
        let Some(mut pipe) = pipe else { return };
        let mut chunk = [0; 8192];
        loop {
            match pipe.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    let mut kept = ours.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&chunk[..count]);
                    let over = kept.len().saturating_sub(MAX_BYTES);
                    kept.drain(..over);
                }
            }
        }
    });
    Listener { kept, end }
}

impl Listener {
    /// The lines that are not empty.
    fn lines(&self) -> Vec<String> {
        // Closed at the end, or not in time: what has come has come.
        let _ = self.end.recv_timeout(GRACE);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, patience: Duration) -> Result<Ended, String> {
        run(Path::new("/bin/sh"), &["-c", script], patience)
    }

    #[test]
    fn a_program_that_hangs_is_stopped_and_its_words_are_kept() {
        let start = Instant::now();
        let error = sh(
            "echo Really? [y/n]; exec sleep 60",
            Duration::from_millis(300),
        );
        let error = error.unwrap_err();
        assert!(
            error.contains("was stopped; it said: Really? [y/n]"),
            "{error}"
        );
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn what_a_program_leaves_running_is_not_waited_for() {
        let start = Instant::now();
        let ended = sh("sleep 60 & echo done", PATIENCE).unwrap();
        assert!(ended.status.success());
        assert_eq!(ended.out, ["done"]);
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn of_a_flood_the_end_is_kept() {
        let ended = sh("seq 1 100000 >&2; exit 3", PATIENCE).unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.out.is_empty());
        let words = in_words(&ended.errors).unwrap();
        assert!(
            words.ends_with("\n  100000") && words.lines().count() == MAX_LINES,
            "{words}"
        );
    }
}
