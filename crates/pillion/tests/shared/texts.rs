//! Texts that must come back to an agent byte for byte, wherever they are shown (C5.5, C5.6).

use std::iter;

/// The texts that something between two programs may spoil, each by its name. The longest has so many bytes, and
/// the one of a single line a quarter of that.
pub fn texts(longest: usize) -> Vec<(&'static str, String)> {
    let plain = [
        ("empty", ""),
        ("no final newline", "one\ntwo"),
        ("CRLF", "one\r\ntwo\r\n"),
        ("mixed endings", "one\r\ntwo\nthree\rfour\n\r\n"),
        ("lone CR", "one\rtwo\r"),
        ("BOM", "\u{feff}one\ntwo\n"),
        ("U+2028", "one\u{2028}two\u{2029}three\u{85}four\n"),
        (
            "emoji and combining characters",
            "👩‍👩‍👧‍👦 🇧🇷 é e\u{301} ñ n\u{303} 한 ᄒ\u{1161}ᆫ \u{1d11e}\n",
        ),
        ("NUL", "one\0two\n\0"),
        (
            "JSON with content",
            r#"{"content": "not this", "data: x": "\n\n"}"#,
        ),
    ];
    let long_line = "a line without an end, ".repeat(longest / 4 / 23 + 1);
    let long: String = (0..)
        .map(|n| format!("{n}: the quick brown fox jumps over the lazy dog \"\\\" ü\n"))
        .scan(0, |size, line| {
            *size += line.len();
            (*size < longest).then_some(line)
        })
        .collect();
    assert!(long_line.len() > longest / 4 && long.len() > longest - 1000);
    plain
        .map(|(name, text)| (name, text.to_owned()))
        .into_iter()
        .chain([("a long line", long_line), ("many lines", long)])
        .collect()
}

/// The same bytes; if not, the first difference and not twenty megabytes.
#[track_caller]
pub fn assert_same(found: &str, expected: &str, name: &str, which: &str) {
    if found == expected {
        return;
    }
    let around = |text: &str, at: usize| {
        let bytes = &text.as_bytes()[at.min(text.len())..(at + 40).min(text.len())];
        bytes.escape_ascii().to_string()
    };
    let pairs = iter::zip(found.bytes(), expected.bytes());
    let at = pairs.take_while(|(a, b)| a == b).count();
    panic!(
        "{name}: the text {which} differs at byte {at}: expected {:?} of {} bytes, got {:?} of {}",
        around(expected, at),
        expected.len(),
        around(found, at),
        found.len()
    );
}
