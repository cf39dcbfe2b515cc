//! JSON of others: in bounded memory, for a text of many small values would need a hundred times its own size; and without
//! the halves of characters that it may hold, which no Rust string can.

use serde::de::{DeserializeOwned, Error as _};
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

/// What a text says that may hold halves of characters; these are U+FFFD then, which is also what programs that count in UTF-16 write
/// for them into files.
///
/// # Errors
/// When it is no JSON of this shape.
pub fn of_others<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(text).or_else(|error| {
        let text = str::from_utf8(text).ok().map(replace_lone_surrogates);
        let read = text.and_then(|text| serde_json::from_str(&text).ok());
        read.ok_or(error)
    })
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

/// Puts U+FFFD for each half of a character, which JSON allows as an escape: programs that count in UTF-16 cut characters in
/// two.
pub fn replace_lone_surrogates(json: &str) -> String {
    let unit = |rest: &str| {
        let digits = rest.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut replaced = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        replaced.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_low = |unit: u16| (0xDC00..0xE000).contains(&unit);
        let (length, is_whole) = match unit(rest) {
            Some(0xD800..0xDC00) if unit(&rest[6..]).is_some_and(is_low) => (12, true),
            Some(0xD800..0xE000) => (6, false),
            // The character after it does not begin an escape.
            _ => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), true),
        };
        replaced.push_str(if is_whole {
            &rest[..length]
        } else {
            "\u{fffd}"
        });
        rest = &rest[length..];
    }
    replaced.push_str(rest);
    replaced
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

    #[test]
    fn halves_are_replaced_and_whole_characters_are_not() {
        for (json, expected) in [
            (r#""\ud800""#, "\"\u{fffd}\""),
            (
                r#""a\udc00b\uD83D\uDE00c""#,
                "\"a\u{fffd}b\\uD83D\\uDE00c\"",
            ),
            (r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}\\ud83d\\ude00\""),
            (r#""\\ud800\u00e9 \n""#, r#""\\ud800\u00e9 \n""#),
            (r#""\ud80"#, r#""\ud80"#),
            ("\\", "\\"),
        ] {
            assert_eq!(replace_lone_surrogates(json), expected, "{json}");
        }
    }
}
