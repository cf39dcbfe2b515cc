//! Marks for terminals whose locale has no UTF-8.

use std::env;
use std::sync::OnceLock;

use ratatui::buffer::Buffer;

/// Returns true if the locale says that the terminal takes UTF-8. Where none is set, most do.
pub fn is_utf8() -> bool {
    static IS_UTF8: OnceLock<bool> = OnceLock::new();
    *IS_UTF8.get_or_init(|| says_utf8(|name| env::var(name).ok()))
}

/// The first of these that is set counts, as for the C library.
fn says_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut set = names.iter().filter_map(|name| variable(name));
    let Some(locale) = set.find(|value| !value.is_empty()) else {
        return true;
    };
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// A line with a mark of ASCII in place of each other one. What it has of a text is ASCII already.
pub fn of(line: &str) -> String {
    let mut written = String::new();
    for char in line.chars() {
        match char.is_ascii() {
            true => written.push(char),
            false => written.push_str(mark(char)),
        }
    }
    written
}

/// Puts a mark of ASCII in place of each other one on a screen, where all stay in their places.
pub fn put(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if let Some(char) = cell.symbol().chars().next().filter(|it| !it.is_ascii()) {
            cell.set_symbol(in_one_place(char));
        }
    }
}

fn in_one_place(char: char) -> &'static str {
    match char {
        '→' => ">",
        '←' => "<",
        '↩' => "\\",
        '↓' => "_",
        '↑' => "^",
        '…' => ".",
        '✓' => "=",
        '∅' => "0",
        _ => mark(char),
    }
}

/// No arrow is a letter or a sign that is a key.
fn mark(char: char) -> &'static str {
    match char {
        '─' | '−' | '–' => "-",
        '⋯' => "~",
        '│' | '┃' | '▏' => "|",
        '╭' | '╮' | '╰' | '╯' => "+",
        '╱' => "/",
        '·' => ".",
        '…' => "...",
        '●' => "@",
        '○' => "o",
        '█' => "#",
        '▶' | '❯' => ">",
        '▌' => ":",
        '›' | '⟩' => "}",
        '‹' | '⟨' => "{",
        '→' => "->",
        '←' => "<-",
        '↓' => "down",
        '↑' => "up",
        '✗' | '×' => "x",
        '✓' => "ok",
        '✎' => "%",
        '↩' => "back",
        '∅' => "gone",
        '\u{a0}' => " ",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_is_read_as_the_c_library_reads_it() {
        for (set, expected) in [
            (&[][..], true),
            (&[("LANG", "C.UTF-8")], true),
            (&[("LANG", "de_DE.utf8"), ("LC_ALL", "")], true),
            (&[("LANG", "de_DE.utf8"), ("LC_ALL", "C")], false),
            (&[("LANG", "en_US.UTF-8"), ("LC_CTYPE", "POSIX")], false),
            (&[("LANG", "de_DE.ISO-8859-1")], false),
        ] {
            let variable = |name: &str| {
                let found = set.iter().find(|(it, _)| *it == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(says_utf8(variable), expected, "{set:?}");
        }
    }

    #[test]
    fn on_a_screen_all_stay_in_their_places() {
        let mut buffer = Buffer::with_lines(["● a─b → 日 ▌"]);
        put(&mut buffer);
        assert_eq!(buffer, Buffer::with_lines(["@ a-b > ?  :"]));
    }

    #[test]
    fn nothing_but_ascii_is_left() {
        assert_eq!(of("● a─b ‹é日 ↓ +"), "@ a-b {?? down +");
        assert_eq!(of("1 of 1 pending · Esc"), "1 of 1 pending . Esc");
    }

    #[test]
    fn no_mark_is_another_one_or_a_sign_of_the_diff() {
        for as_shown in [mark, in_one_place] {
            let marks = "❯▌█✗·●✓✎↩↑↓‹›⋯∅○│".chars().map(as_shown);
            let mut all: Vec<_> = marks.chain(["+", "-", "*", "!"]).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{all:?}");
        }
    }
}
