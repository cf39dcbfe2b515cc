//! Watches an agent's own record of its session while its hook waits: some agents, when a person stops them, neither end the hook nor
//! tell it.

use std::fs::File;
use std::future::pending;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use pillion_discovery::regular_file;
use pillion_hooks::{Call, HookProtocol, Record};
use pillion_system::spawn;
use tokio::sync::oneshot;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(500);

/// Of a longer line, the rest is not looked at.
const MAX_LINE: usize = 1 << 20;

/// Waits until the agent has written into its record that it does not make the call any more: for ever, if it keeps none that says
/// so.
pub async fn call_is_stopped(protocol: &'static dyn HookProtocol, call: &Call) {
    let Some(Record { path, .. }) = call.record.clone() else {
        return pending().await;
    };
    let (call, (way, stopped)) = (call.clone(), oneshot::channel());
    // A disk that hangs must not keep a decision from being heard.
    let watching = spawn("record", move || {
        let mut lines = NewLines::after(length(&path).unwrap_or_default());
        while !way.is_closed() {
            let new = lines.read(&path).unwrap_or_default();
            if new.iter().any(|line| protocol.is_stopped(&call, line)) {
                let _ = way.send(());
                return;
            }
            sleep(INTERVAL);
        }
    });
    let is_stopped = watching.is_ok() && stopped.await.is_ok();
    if !is_stopped {
        pending().await
    }
}

fn length(path: &Path) -> io::Result<u64> {
    let (_, metadata) = regular_file::open(path)?;
    Ok(metadata.len())
}

/// The lines that are added to a file.
#[derive(Debug)]
struct NewLines {
    /// The number of bytes that were read.
    read: u64,
    /// The line that has not ended.
    rest: Vec<u8>,
}

impl NewLines {
    /// Those after so many bytes.
    fn after(read: u64) -> Self {
        let rest = Vec::new();
        Self { read, rest }
    }

    /// Returns the lines that have come since the last time.
    fn read(&mut self, path: &Path) -> io::Result<Vec<String>> {
        let (mut file, metadata): (File, _) = regular_file::open(path)?;
        if metadata.len() < self.read {
            // It was written anew.
            *self = Self::after(0);
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut lines = Vec::new();
        let mut bytes = vec![0; 64 << 10];
        loop {
            let count = file.read(&mut bytes)?;
            if count == 0 {
                return Ok(lines);
            }
            self.read += count as u64;
            for part in bytes[..count].split_inclusive(|byte| *byte == b'\n') {
                let room = MAX_LINE.saturating_sub(self.rest.len());
                self.rest.extend(part.iter().take(room));
                if part.ends_with(b"\n") {
                    let line = std::mem::take(&mut self.rest);
                    lines.push(String::from_utf8_lossy(&line).into_owned());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_are_read_once_they_have_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        let write = |text: &str| {
            let file = OpenOptions::new().create(true).append(true).open(&path);
            file.unwrap().write_all(text.as_bytes()).unwrap();
        };
        let mut lines = NewLines::after(0);
        assert!(lines.read(&path).is_err(), "it is not there");
        write("before\n");
        let mut lines = NewLines::after(length(&path).unwrap());
        assert!(lines.read(&path).unwrap().is_empty());
        write("one\ntw");
        assert_eq!(lines.read(&path).unwrap(), ["one\n"]);
        write("o\n\nthree");
        assert_eq!(lines.read(&path).unwrap(), ["two\n", "\n"]);
        let long = "x".repeat(2 * MAX_LINE);
        write(&format!("{long}\nend\n"));
        let read = lines.read(&path).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].len(), &*read[1]), (MAX_LINE, "end\n"));
        std::fs::write(&path, "anew\n").unwrap();
        assert_eq!(lines.read(&path).unwrap(), ["anew\n"]);
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = NewLines::after(0);
        for path in [folder.path(), Path::new("/dev/null"), Path::new("/nowhere")] {
            assert!(lines.read(path).is_err(), "{}", path.display());
        }
    }
}
