//! The lines that a program adds to a file of its own, such as its record of a session, while it is open elsewhere.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use crate::regular_file;

/// Of a longer line, the rest is not looked at.
const MAX_LINE: usize = 1 << 20;

/// The lines that are added to a record. What it had before may be about another call: also where it names calls, as some models
/// use a name again.
#[derive(Debug)]
pub struct NewLines {
    /// The number of bytes that were read, or were there before; none while that is not known.
    read: Option<u64>,
    /// The line that has not ended.
    rest: Vec<u8>,
}

impl NewLines {
    /// All lines.
    pub fn of_all() -> Self {
        Self {
            read: Some(0),
            rest: Vec::new(),
        }
    }

    /// The lines that come from now on.
    pub fn after_now(path: &Path) -> Self {
        let read = match length(path) {
            Ok(length) => Some(length),
            Err(error) => (error.kind() == ErrorKind::NotFound).then_some(0),
        };
        let rest = Vec::new();
        Self { read, rest }
    }

    /// Returns the lines that have come since the last time: none while the file cannot be read.
    pub fn read(&mut self, path: &Path) -> Vec<String> {
        let Ok((mut file, metadata)) = regular_file::open(path) else {
            return Vec::new();
        };
        let length = metadata.len();
        let read = self.read.filter(|read| *read <= length);
        if read.is_none() {
            // It was written anew, or its length was not known: all that it has may be old.
            self.rest.clear();
        }
        let read = read.unwrap_or(length);
        self.read = Some(read);
        match file.seek(SeekFrom::Start(read)) {
            Ok(_) => self.read_on(&mut file),
            Err(_) => Vec::new(),
        }
    }

    /// Returns the lines up to the end, or up to an error: what is behind that is read the next time.
    fn read_on(&mut self, file: &mut impl Read) -> Vec<String> {
        let mut lines = Vec::new();
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = file.read(&mut bytes) {
            self.read = self.read.map(|read| read + count as u64);
            for part in bytes[..count].split_inclusive(|byte| *byte == b'\n') {
                let room = MAX_LINE.saturating_sub(self.rest.len());
                self.rest.extend(part.iter().take(room));
                if part.ends_with(b"\n") {
                    let line = std::mem::take(&mut self.rest);
                    lines.push(String::from_utf8_lossy(&line).into_owned());
                }
            }
        }
        lines
    }
}

fn length(path: &Path) -> io::Result<u64> {
    let (_, metadata) = regular_file::open(path)?;
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    fn record() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        (folder, path)
    }

    fn write(path: &Path, text: &str) {
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn lines_are_read_once_they_have_ended() {
        let (_folder, path) = record();
        write(&path, "before\n");
        let mut lines = NewLines::after_now(&path);
        assert!(lines.read(&path).is_empty());
        write(&path, "one\ntw");
        assert_eq!(lines.read(&path), ["one\n"]);
        write(&path, "o\n\nthree");
        assert_eq!(lines.read(&path), ["two\n", "\n"]);
        let long = "x".repeat(2 * MAX_LINE);
        write(&path, &format!("{long}\nend\n"));
        let read = lines.read(&path);
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].len(), &*read[1]), (MAX_LINE, "end\n"));
    }

    #[test]
    fn a_record_that_begins_later_is_read_from_its_beginning() {
        let (_folder, path) = record();
        let mut lines = NewLines::after_now(&path);
        assert!(lines.read(&path).is_empty());
        write(&path, "one\n");
        assert_eq!(lines.read(&path), ["one\n"]);
    }

    /// The line of an Esc of an hour ago must not stop this call.
    #[test]
    fn what_is_older_than_the_call_is_never_read() {
        let (folder, path) = record();
        write(&path, "old\n");
        // It cannot be opened at first: as with too many files open, and not as one that is missing.
        let mut lines = NewLines::after_now(folder.path());
        assert!(lines.read(folder.path()).is_empty());
        assert!(lines.read(&path).is_empty());
        write(&path, "new\nbegun");
        assert_eq!(lines.read(&path), ["new\n"]);
        // It is written anew, and is shorter.
        fs::write(&path, "old\n").unwrap();
        assert!(lines.read(&path).is_empty());
        write(&path, "next\n");
        assert_eq!(lines.read(&path), ["next\n"]);
    }

    #[test]
    fn what_was_read_before_an_error_counts() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(ErrorKind::WouldBlock.into())
            }
        }
        for (text, expected) in [
            ("", &[][..]),
            ("one", &[]),
            ("one\ntw", &["one\n"]),
            ("one\ntwo\n", &["one\n", "two\n"]),
        ] {
            let mut lines = NewLines::after_now(Path::new("/nowhere"));
            assert_eq!(lines.read_on(&mut text.as_bytes().chain(Broken)), expected);
            assert_eq!(lines.read, Some(text.len() as u64));
        }
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = NewLines::after_now(Path::new("/nowhere"));
        for path in [folder.path(), Path::new("/dev/null"), Path::new("/nowhere")] {
            assert!(lines.read(path).is_empty(), "{}", path.display());
        }
    }
}
