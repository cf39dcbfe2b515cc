//! Reads the call that an agent writes to its hook.

use std::io::Read;

use serde_json::{Map, Value};

/// No call is longer, in bytes.
const MAX_INPUT: u64 = 32 << 20;

/// Reads one call.
///
/// # Errors
/// One sentence, if it is too long, or no JSON object.
pub fn read(input: &mut impl Read) -> Result<Map<String, Value>, String> {
    let mut bytes = Vec::new();
    let read = input.take(MAX_INPUT + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("standard input cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(format!("it is longer than {} MB", MAX_INPUT >> 20));
    }
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(_) if bytes.is_empty() => Err("standard input is empty".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::repeat;

    use super::*;

    #[test]
    fn a_call_is_one_object() {
        let call = read(&mut &b" {\"a\": 1}\n"[..]).unwrap();
        assert_eq!(call["a"], 1);
        for (input, why) in [
            ("", "standard input is empty"),
            ("[]", "it is not a JSON object"),
            (
                "{",
                "it is not JSON: EOF while parsing an object at line 1 column 1",
            ),
        ] {
            assert_eq!(read(&mut input.as_bytes()).unwrap_err(), why);
        }
    }

    #[test]
    fn what_does_not_end_is_not_read_to_the_end() {
        assert_eq!(
            read(&mut repeat(b' ')).unwrap_err(),
            "it is longer than 32 MB"
        );
    }
}
