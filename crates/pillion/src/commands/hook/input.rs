//! Reads the call that an agent writes to its hook, and the files that it changes, as they are on the disk.

use std::io::{ErrorKind, Read};
use std::path::Path;

use pillion_discovery::{regular_file, why_ambiguous};
use pillion_hooks::Files;
use pillion_protocol::diff::MAX_CONTENT;
use pillion_protocol::json;
use serde_json::{Map, Value};

/// No call is longer, in bytes.
const MAX_INPUT: u64 = 32 << 20;

/// Some programs on Windows write it before all that is UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Why there is no call. One sentence.
#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    /// What was written is no call of any agent's.
    NoCall(String),
    /// It cannot be read, or is too long.
    Failed(String),
}

impl Unread {
    pub fn why(self) -> String {
        let (Self::NoCall(why) | Self::Failed(why)) = self;
        why
    }
}

pub fn read(input: &mut impl Read) -> Result<Map<String, Value>, Unread> {
    let mut bytes = Vec::new();
    let read = input.take(MAX_INPUT + 1).read_to_end(&mut bytes);
    read.map_err(|error| Unread::Failed(format!("standard input cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_INPUT {
        let why = format!("it is longer than {} MB", MAX_INPUT >> 20);
        return Err(Unread::Failed(why));
    }
    let text = bytes.strip_prefix(BOM).unwrap_or(&bytes);
    Err(Unread::NoCall(match json::of_others(text) {
        Ok(Value::Object(fields)) => return Ok(fields),
        Ok(_) => "it is not a JSON object".to_owned(),
        Err(_) if text.is_empty() => "standard input is empty".to_owned(),
        Err(error) => format!("it is not JSON: {error}"),
    }))
}

/// Reads files, and waits for none.
#[derive(Debug)]
pub struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let shown = path.display();
        // Agents read it in two ways: what is shown must be what is written.
        if let Some(why) = why_ambiguous(path) {
            return Err(format!("{shown} {why}"));
        }
        match regular_file::read(path, MAX_CONTENT as u64) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => match error.kind() {
                ErrorKind::NotFound => Ok(None),
                ErrorKind::IsADirectory => Err(format!("{shown} is a folder")),
                ErrorKind::FileTooLarge => Err(format!(
                    "{shown} is longer than {} MB, and is not shown",
                    MAX_CONTENT >> 20
                )),
                _ => Err(format!("{shown} cannot be read: {error}")),
            },
        }
    }

    fn is_link(&mut self, path: &Path) -> bool {
        path.is_symlink()
    }
}

#[cfg(test)]
mod tests {
    use std::io::repeat;

    use super::*;

    #[test]
    fn a_call_is_one_object() {
        for input in [" {\"a\": 1}\n", "\u{feff}{\"a\": 1}"] {
            assert_eq!(read(&mut input.as_bytes()).unwrap()["a"], 1);
        }
        // Half a character, as programs write it that count in UTF-16.
        let half = read(&mut r#"{"a": "x\ud800y"}"#.as_bytes()).unwrap();
        assert_eq!(half["a"], "x\u{fffd}y");
        for (input, why) in [
            ("", "standard input is empty"),
            ("[]", "it is not a JSON object"),
            (
                "{",
                "it is not JSON: EOF while parsing an object at line 1 column 1",
            ),
        ] {
            let unread = Unread::NoCall(why.to_owned());
            assert_eq!(read(&mut input.as_bytes()), Err(unread));
        }
    }

    #[test]
    fn what_does_not_end_is_not_read_to_the_end() {
        assert_eq!(
            read(&mut repeat(b' ')),
            Err(Unread::Failed("it is longer than 32 MB".to_owned()))
        );
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_said_and_a_missing_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| Disk.read(&folder.path().join(name));
        assert_eq!(read("a"), Ok(None));
        assert!(read("").unwrap_err().ends_with(" is a folder"));
        std::fs::write(folder.path().join("a"), "x").unwrap();
        assert_eq!(read("a"), Ok(Some(b"x".to_vec())));
        assert!(read("a/b").unwrap_err().contains("cannot be read"));
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        assert_eq!(read("link"), Ok(Some(b"x".to_vec())));
        let is_link = |name: &str| Disk.is_link(&folder.path().join(name));
        assert_eq!(["link", "a", "none"].map(is_link), [true, false, false]);
        let up = read("none/../a").unwrap_err();
        assert!(up.ends_with("name the file without `..`"), "{up}");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("device")).unwrap();
        let device = read("device").unwrap_err();
        assert!(device.contains("not a regular file"), "{device}");
    }
}
