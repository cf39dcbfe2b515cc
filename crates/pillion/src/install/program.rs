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
pub const INSTALL_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// To list what is there takes no download.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// What a program leaves running may keep its output open: nobody waits for that.
const OUTPUT_GRACE: Duration = Duration::from_millis(500);

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
    timeout: Duration,
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
    let status = wait(&mut child, timeout)
        .map_err(|error| format!("cannot wait for {}: {error}", program.display()))?;
    let (out, errors) = (out.lines(), errors.lines());
    match status {
        Some(status) => Ok(Ended {
            status,
            out,
            errors,
        }),
        None => {
            let seconds = timeout.as_secs();
            let program = program.display();
            let said = in_words(&[errors, out].concat());
            let said = said.map_or_else(|| " nothing".to_owned(), |said| format!(": {said}"));
            Err(format!(
                "{program} was still running after {seconds} seconds and was stopped; its output was{said}"
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
fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > timeout {
            stop(child)?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Stops it and what it started: an editor's command is a script, and the editor itself would go on.
fn stop(child: &mut Child) -> io::Result<()> {
    let below = pillion_discovery::process::descendants(child.id());
    child.kill()?;
    below.into_iter().for_each(kill);
    child.wait()?;
    Ok(())
}

#[cfg(unix)]
fn kill(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};

    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // One that has ended in the meantime is stopped, too.
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(pid: u32) {
    // One that has ended in the meantime is stopped, too.
    let _ = Command::new("taskkill")
        .args(["/F", "/PID", &pid.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
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
        let _ = self.end.recv_timeout(OUTPUT_GRACE);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines = text.lines().map(|line| plain(line).trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    }
}

/// A line as a terminal would leave it: without colours, and of a progress that is drawn over itself
/// the last state.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line.trim_end().rsplit('\r').next().unwrap_or_default();
    while let Some((before, sequence)) = rest.split_once('\x1b') {
        plain.push_str(before);
        rest = match sequence.chars().next() {
            Some('[') => after(&sequence[1..], |c| ('@'..='~').contains(&c)),
            Some(']') => after(sequence, |c| c == '\x07'),
            Some('(') => after(&sequence[1..], |_| true),
            _ => sequence,
        };
    }
    plain + rest
}

/// What follows the first such character; nothing if there is none.
fn after(text: &str, is_last: impl Fn(char) -> bool) -> &str {
    let end = text.char_indices().find(|(_, c)| is_last(*c));
    end.map_or("", |(at, c)| &text[at + c.len_utf8()..])
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: Duration) -> Result<Ended, String> {
        run(Path::new("/bin/sh"), &["-c", script], timeout)
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
            error.contains("was stopped; its output was: Really? [y/n]"),
            "{error}"
        );
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn what_a_program_that_hangs_has_started_is_stopped_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sh -c 'echo $$ > {}; exec sleep 60'; true", file.display());
        let mut timeout = Duration::from_millis(200);
        // However slow the machine is: stopped before it wrote its number, it is started again.
        let pid = loop {
            sh(&script, timeout).unwrap_err();
            match std::fs::read_to_string(&file) {
                Ok(pid) if pid.ends_with('\n') => break pid,
                _ => timeout *= 2,
            }
        };
        let pid: u32 = pid.trim().parse().unwrap();
        let start = Instant::now();
        while pillion_discovery::process::is_alive(pid) {
            assert!(start.elapsed() < Duration::from_secs(30), "{pid} goes on");
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn lines_are_kept_without_colours_and_without_what_is_drawn_over() {
        for (line, kept) in [
            ("\x1b[32mdone\x1b[0m", "done"),
            ("10%\r\x1b[K20%\r", "20%"),
            ("\x1b]8;;http://x\x07a link\x1b]8;;\x07", "a link"),
            ("é\x1b[1;31", "é"),
            ("\x1b(B\x1b[mplain", "plain"),
        ] {
            assert_eq!(plain(line), kept);
        }
    }

    #[test]
    fn what_a_program_leaves_running_is_not_waited_for() {
        let start = Instant::now();
        let ended = sh("sleep 60 & echo done", INSTALL_TIMEOUT).unwrap();
        assert!(ended.status.success());
        assert_eq!(ended.out, ["done"]);
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn of_a_flood_the_end_is_kept() {
        let ended = sh("seq 1 100000 >&2; exit 3", INSTALL_TIMEOUT).unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.out.is_empty());
        let words = in_words(&ended.errors).unwrap();
        assert!(
            words.ends_with("\n  100000") && words.lines().count() == MAX_LINES,
            "{words}"
        );
    }
}
