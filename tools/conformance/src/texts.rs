//! Texts that something between an agent and an editor may spoil: each must come back from
//! `closeDiff` byte for byte (C5.5).

use std::iter;

use crate::check::checks;
use crate::rule::{Finding, broken};
use crate::session::Session;

checks! {
    Texts:
    Must "C5.5-empty" => comes_back("".into()) in deaf_session,
        "`closeDiff` returns an empty text";
    Must "C5.5-no-newline" => comes_back("one\ntwo".into()) in deaf_session,
        "`closeDiff` returns a text without a final newline";
    Must "C5.5-newlines" => comes_back("one\n\n\n".into()) in deaf_session,
        "`closeDiff` returns a text that ends with several newlines";
    Must "C5.5-spaces" => comes_back("\tone  \n    two\t\n \n".into()) in deaf_session,
        "`closeDiff` returns tabs and trailing spaces";
    Must "C5.5-crlf" => comes_back("one\r\ntwo\r\n".into()) in deaf_session,
        "`closeDiff` returns CRLF line endings";
    Must "C5.5-mixed" => comes_back("one\r\ntwo\nthree\r\n\nfour\n".into()) in deaf_session,
        "`closeDiff` returns LF and CRLF in one text";
    Must "C5.5-cr" => comes_back("one\rtwo\nthree\r".into()) in deaf_session,
        "`closeDiff` returns lone CR";
    Must "C5.5-bom" => comes_back("\u{feff}one\ntwo\n".into()) in deaf_session,
        "`closeDiff` returns a byte order mark";
    Must "C5.5-separators" => comes_back("one\u{2028}two\u{2029}three\u{85}four\n".into()) in deaf_session,
        "`closeDiff` returns U+2028, U+2029 and U+0085, which some programs treat as line endings";
    Must "C5.5-unicode" => comes_back(UNICODE.into()) in deaf_session,
        "`closeDiff` returns emoji, combining characters and characters outside the Basic Multilingual Plane";
    Must "C5.5-nul" => comes_back("one\0two\n\u{1b}[31m\u{7f}\u{1}\n".into()) in deaf_session,
        "`closeDiff` returns NUL and other control characters";
    Must "C5.5-json" => comes_back(JSON.into()) in deaf_session,
        "`closeDiff` returns a text that is itself JSON with a `content`";
    Must "C5.5-markup" => comes_back(MARKUP.into()) in deaf_session,
        "`closeDiff` returns markup, escapes and placeholders";
    Must "C5.5-long-line" => comes_back("a line without an end, \"\\\" ü ".repeat(6_500)) in deaf_session,
        "`closeDiff` returns a line of 200 kB";
    Must "C5.5-1mb" => comes_back(lines(1_000_000)) in deaf_session,
        "`closeDiff` returns a text of 1 MB";
    Should "C5.5-5mb" => comes_back(lines(5_000_000)) in deaf_session,
        "`closeDiff` returns a text of 5 MB, above the default limit of many HTTP servers";
}

/// Longer texts may take their time.
const LONG: usize = 100_000;

pub(super) const UNICODE: &str = "👩\u{200d}👩\u{200d}👧\u{200d}👦 🇧🇷 é e\u{301} ñ n\u{303} 한 ᄒ\u{1161}ᆫ \u{1d11e} \u{fffd} \u{e000}\n";
pub(super) const MARKUP: &str = "<b title='&quot;'>&amp;&lt;</b> <!-- --> $& $$ $1 ${x} {{y}} #{z} %s %% %20 \\n \\u0041 \\\\ `a`\n";
pub(super) const JSON: &str = r#"{"content": "not this", "data: x": "\n\n\u0041"}"#;

async fn comes_back(session: &mut Session<'_>, text: String) -> Finding {
    session.limit *= time_factor(&text);
    let path = session.open_view(&text).await?;
    same_bytes(&session.closed_text(&path).await?, &text)
}

/// The factor by which a text may take longer than others: a slow machine is not a flaw of the companion's.
pub(super) fn time_factor(text: &str) -> u32 {
    if text.len() > LONG { 8 } else { 1 }
}

/// A text comes back as it was sent.
pub(super) fn same_bytes(found: &str, expected: &str) -> Finding {
    match difference(found, expected) {
        None => Ok(format!("{} bytes", expected.len())),
        Some(difference) => broken(difference),
    }
}

/// Many different lines.
pub(super) fn lines(size: usize) -> String {
    let mut lines = (0..).map(|number| format!("{number}: quick brown \"\\\" ü 漢 foxes\n"));
    let mut text = String::new();
    while text.len() < size {
        text.extend(lines.next());
    }
    text
}

/// The place where two texts differ, if they do, in a few words.
fn difference(found: &str, expected: &str) -> Option<String> {
    if found == expected {
        return None;
    }
    let pairs = iter::zip(found.bytes(), expected.bytes());
    let at = pairs.take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let end = text.len().min(at + 12);
        let bytes = &text.as_bytes()[at.min(text.len())..end];
        bytes.escape_ascii().to_string()
    };
    Some(format!(
        "at byte {at}: \"{}\" instead of \"{}\"; {} bytes instead of {}",
        around(found),
        around(expected),
        found.len(),
        expected.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_in_a_few_words() {
        assert_eq!(difference("a", "a"), None);
        let told = difference("one\ntwo", "one\r\ntwo").unwrap();
        let expected = r#"at byte 3: "\ntwo" instead of "\r\ntwo"; 7 bytes instead of 8"#;
        assert_eq!(told, expected);
        assert!(difference("é", "").unwrap().starts_with("at byte 0"));
    }
}
