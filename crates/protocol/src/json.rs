//! JSON of others, in bounded memory: a text of many small values would need a hundred times its
//! own size.

use serde::de::Error as _;
use serde_json::{Error, Value};

/// The most values in one text: far more than any message of a companion needs.
const MAX_VALUES: usize = 200_000;

/// The value of a text.
///
/// # Errors
/// When it is no JSON, or holds too many values.
pub fn value(text: &[u8]) -> Result<Value, Error> {
    if most_values(text) > MAX_VALUES {
        return Err(Error::custom("too many values"));
    }
    serde_json::from_slice(text)
}

/// As many values as a text may hold: all but the first begin behind one of these, outside of strings.
/// An empty list or object counts twice.
fn most_values(text: &[u8]) -> usize {
    let mut bytes = text.iter();
    let mut count = 1;
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' | b',' => count += 1,
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    count
}

/// Goes on behind the quote that ends a string.
fn skip_string<'a>(bytes: &mut impl Iterator<Item = &'a u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn too_many_values_are_refused_wherever_they_are() {
        for (start, each, end) in [
            ("[", "0,", "0]"),
            ("[", "{\"a\":[]},", "0]"),
            ("{\"a\":[", "1e3,", "0]}"),
        ] {
            let text = |count| [start, &each.repeat(count), end].concat();
            assert!(value(text(MAX_VALUES / 4).as_bytes()).is_ok(), "{each}");
            let error = value(text(MAX_VALUES).as_bytes()).unwrap_err();
            assert!(error.to_string().contains("too many values"), "{error}");
        }
    }

    #[test]
    fn a_long_text_is_one_value() {
        let text = format!("\"{}\"", "[,]".repeat(MAX_VALUES));
        assert!(value(text.as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn it_parses_a_text_as_every_other_parser_does(
            text in r#"( |\[|\]|\{|\}|"a":|"é\\n\\u0041"|,|:|null|true|-1|1\.5e3|18446744073709551616|1){0,12}"#,
        ) {
            let expected = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(value(text.as_bytes()).ok(), expected);
        }
    }
}
