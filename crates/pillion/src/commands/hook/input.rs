//! Reads the call that an agent writes to its hook.

use std::io::Read;

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

/// Reads one call.
///
/// # Errors
/// If it is too long, or no JSON object.
pub fn read(input: &mut impl Read) -> Result<Map<String, Value>, Unread> {
    let mut bytes = Vec::new();
    let read = input.take(MAX_INPUT + 1).read_to_end(&mut bytes);
    read.map_err(|error| Unread::Failed(format!("standard input cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_INPUT {
        let why = format!("it is longer than {} MB", MAX_INPUT >> 20);
        return Err(Unread::Failed(why));
    }
    let text = bytes.strip_prefix(BOM).unwrap_or(&bytes);
    Err(Unread::NoCall(match serde_json::from_slice(text) {
        Ok(Value::Object(fields)) => return Ok(fields),
        Ok(_) => "it is not a JSON object".to_owned(),
        Err(_) if text.is_empty() => "standard input is empty".to_owned(),
        Err(error) => format!("it is not JSON: {error}"),
    }))
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
}
