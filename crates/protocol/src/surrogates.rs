//! JSON that holds half a character, which no Rust string can.

/// Puts U+FFFD for each half of a character, which JSON allows as an escape: programs that count in
/// UTF-16 cut characters in two.
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
    use super::*;

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
