//! Makes any text safe and honest to show: nothing that an agent writes reaches the terminal as a
//! control sequence, and nothing in it stays invisible. Knows nothing of styles or screens.

pub mod wrap;

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns between tab stops.
pub const TAB: usize = 4;

/// More characters than this in one cluster are not drawn: no terminal would get them right.
const MAX_CLUSTER: usize = 8;

/// A cluster ends here at the latest, or one of many megabytes would be read for each frame.
const MAX_BYTES: usize = 4 << 10;

/// Printable ASCII is broken so much faster than other text.
const ASCII_SPEED: usize = 64;

/// A position in a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Bytes before it.
    pub byte: usize,
    /// Columns before it.
    pub column: usize,
}

/// The drawn form of one cluster of characters.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The place where it begins.
    pub at: Place,
    /// The number of bytes of the line for which it stands.
    pub bytes: usize,
    /// The text to draw.
    pub text: Cow<'a, str>,
    /// The number of columns that it takes.
    pub width: usize,
    /// True if it stands for something that cannot be drawn as it is.
    pub replaced: bool,
}

/// The pieces of `line` from `start`, which must be where a piece begins.
pub fn pieces(line: &str, start: Place) -> impl Iterator<Item = Piece<'_>> {
    let mut at = start;
    let mut rest = line.get(start.byte..).unwrap_or_default();
    std::iter::from_fn(move || {
        let cluster = first_cluster(rest)?;
        rest = &rest[cluster.len()..];
        let piece = piece(cluster, at);
        at.byte += cluster.len();
        at.column += piece.width;
        Some(piece)
    })
}

/// The first cluster of characters, or as much of it as is examined.
fn first_cluster(text: &str) -> Option<&str> {
    match text.as_bytes() {
        // Nothing in ASCII joins a printable character.
        [b' '..=b'~'] | [b' '..=b'~', ..=0x7f, ..] => Some(&text[..1]),
        _ => text[..text.floor_char_boundary(MAX_BYTES)]
            .graphemes(true)
            .next(),
    }
}

/// All of `text` in one safe line, for names, paths and messages.
pub fn one_line(text: &str) -> String {
    let safe = pieces(text, Place::default()).map(|piece| match piece.text {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    });
    safe.collect()
}

/// `text` safe for a terminal, with its line ends as they are.
pub fn lines(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(one_line).collect();
    lines.join("\n")
}

/// `json` with escapes for every character that controls or hides and that JSON allows as it is.
/// They stand within strings only, so it is the same value.
pub fn json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for char in json.chars() {
        if is_plain(char) || char == '\n' {
            text.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// The number of columns that `text` takes when drawn as it is.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The end of `text` in at most `max` columns, marked when something is cut off in front.
pub fn tail(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let kept = fitting(text.graphemes(true).rev(), max);
    format!("{}{}", mark(max), &text[text.len() - kept..])
}

/// The beginning of `text` in at most `max` columns, marked when something is cut off.
pub fn head(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let kept = fitting(text.graphemes(true), max);
    format!("{}{}", &text[..kept], mark(max))
}

/// The number of bytes of these clusters that fit beside the mark for those that are cut off.
fn fitting<'a>(clusters: impl Iterator<Item = &'a str>, max: usize) -> usize {
    let mut room = max.saturating_sub(1);
    let fit = clusters.take_while(|cluster| {
        let left = room.checked_sub(width(cluster));
        room = left.unwrap_or(0);
        left.is_some()
    });
    fit.map(str::len).sum()
}

fn mark(max: usize) -> &'static str {
    if max > 0 { "…" } else { "" }
}

/// The beginning of each row of a line when it is broken every so many columns, never within a piece.
/// Computed only as far as it is shown: a line may have many megabytes.
#[derive(Debug)]
pub struct Breaks {
    step: usize,
    rows: Vec<Place>,
    is_whole: bool,
}

impl Breaks {
    /// Only the first row is known.
    pub fn new(step: usize) -> Self {
        Self {
            step: step.max(1),
            rows: vec![Place::default()],
            is_whole: false,
        }
    }

    /// The rows that are known.
    pub fn rows(&self) -> &[Place] {
        &self.rows
    }

    /// Returns true if these are all.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The last row that is known.
    pub fn last(&self) -> Place {
        self.rows.last().copied().unwrap_or_default()
    }

    /// Breaks `line`, which is the same each time, until a row begins that `is_enough`, or the line
    /// ends, or about `budget` bytes were read, which are taken from it.
    pub fn extend(&mut self, line: &str, budget: &mut usize, is_enough: impl Fn(Place) -> bool) {
        while !self.is_whole && *budget > 0 && !is_enough(self.last()) {
            let row = self.last();
            match next_row(line, row, self.step) {
                Some((next, effort)) => {
                    *budget = budget.saturating_sub(effort);
                    self.rows.push(next);
                }
                None => self.is_whole = true,
            }
        }
    }
}

/// The beginning of the row after `row`, and the number of bytes it took to find out.
fn next_row(line: &str, row: Place, step: usize) -> Option<(Place, usize)> {
    let bytes = line.as_bytes();
    // Printable ASCII is one column per byte. The byte after it must be so too, since it could
    // otherwise join the last one into a cluster.
    let next = row.byte + step;
    if bytes.len() > next
        && bytes[row.byte..=next]
            .iter()
            .all(|byte| matches!(byte, 0x20..=0x7e))
    {
        let next = Place {
            byte: next,
            column: row.column + step,
        };
        return Some((next, step / ASCII_SPEED + 1));
    }
    let end = row.column + step;
    let over = |piece: &Piece<'_>| piece.at.column + piece.width > end && piece.at.byte > row.byte;
    let next = pieces(line, row).find(over)?.at;
    Some((next, next.byte - row.byte))
}

fn piece(cluster: &str, at: Place) -> Piece<'_> {
    let bytes = cluster.len();
    let of = |text, width, replaced| Piece {
        at,
        bytes,
        text,
        width,
        replaced,
    };
    if let [0x20..=0x7e] = cluster.as_bytes() {
        return of(Cow::Borrowed(cluster), 1, false);
    }
    if cluster == "\t" {
        let spaces = TAB - at.column % TAB;
        return of(Cow::Owned(" ".repeat(spaces)), spaces, false);
    }
    let is_whole = |char| is_plain(char) && !is_joiner(char) && !is_skin_tone(char);
    let (text, replaced) = if cluster.chars().count() > MAX_CLUSTER {
        (Cow::Owned(many(cluster)), true)
    } else if cluster.chars().all(is_whole) && width(cluster) > 0 {
        (Cow::Borrowed(cluster), false)
    } else {
        let replaced = { cluster.chars() }.any(|char| !is_plain(char) || is_joiner(char));
        (Cow::Owned(parts(cluster)), replaced)
    };
    let width = width(&text);
    of(text, width, replaced)
}

/// Emoji that are joined of several are drawn as their parts, with what joins them by name: terminals disagree on how wide
/// the whole is, and then nothing after it stands where it should.
fn parts(cluster: &str) -> String {
    let mut text = String::new();
    for char in cluster.chars() {
        if !is_plain(char) || is_joiner(char) {
            text.push_str(&stand_in(char));
        } else if char.width() == Some(0) && text.is_empty() {
            text.extend(['\u{25cc}', char]);
        } else {
            text.push(char);
        }
    }
    text
}

/// A heap of combining characters: the first, and how many more there are.
fn many(cluster: &str) -> String {
    let mut chars = cluster.chars();
    let first = chars.next().map_or_else(String::new, |char| {
        if is_plain(char) && char.width() > Some(0) {
            char.to_string()
        } else {
            stand_in(char)
        }
    });
    format!("{first}⟨+{}⟩", chars.count())
}

/// Zero width joiner and non-joiner, and the choice of an emoji's look.
fn is_joiner(char: char) -> bool {
    matches!(char, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

fn is_skin_tone(char: char) -> bool {
    matches!(char, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Returns true if a terminal may get `char`: it neither controls anything nor hides.
fn is_plain(char: char) -> bool {
    !matches!(char,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn stand_in(char: char) -> String {
    match char {
        // The Unicode block "Control Pictures" has one for each.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char))
            .unwrap_or('\u{fffd}')
            .to_string(),
        '\u{7f}' => "␡".to_owned(),
        '\u{feff}' => "⟨BOM⟩".to_owned(),
        char => format!("⟨U+{:04X}⟩", u32::from(char)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_controls_a_terminal_is_shown_not_sent() {
        assert_eq!(one_line("a\x1b[31mb\0\x07\x7f"), "a␛[31mb␀␇␡");
        assert_eq!(one_line("\u{9b}31m"), "⟨U+009B⟩31m");
        assert_eq!(one_line("x\u{202e}y\u{2066}"), "x⟨U+202E⟩y⟨U+2066⟩");
        assert_eq!(one_line("\u{feff}a\u{200b}b"), "⟨BOM⟩a⟨U+200B⟩b");
        assert_eq!(one_line("a\u{e0041}\u{fe01}"), "a⟨U+E0041⟩⟨U+FE01⟩");
        assert_eq!(one_line("line\r\nnext\u{2028}"), "line␍␊next⟨U+2028⟩");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(
            lines("a\x1b[2J\n\n\tb\u{202e}\n"),
            "a␛[2J\n\n    b⟨U+202E⟩\n"
        );
        assert_eq!(lines("don't"), "don't");
    }

    #[test]
    fn json_without_what_controls_is_the_same_value() {
        let text = "a\"\\\x1b\x7f\u{9b}31m\u{202e}\u{e0041}漢\r\n";
        let escaped = json(&serde_json::to_string(text).unwrap());
        assert!(escaped.chars().all(is_plain), "{escaped:?}");
        assert!(
            escaped.contains("\\u009b31m\\u202e\\udb40\\udc41漢"),
            "{escaped}"
        );
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }

    #[test]
    fn wide_and_combining_characters_keep_their_width() {
        let widths = |text| {
            pieces(text, Place::default())
                .map(|piece| piece.width)
                .collect::<Vec<_>>()
        };
        assert_eq!(widths("a漢e\u{301}🦀"), [1, 2, 1, 2]);
        assert_eq!(one_line("\u{301}x"), "\u{25cc}\u{301}x");
        assert_eq!(one_line("👩\u{200d}🚀"), "👩⟨U+200D⟩🚀");
        assert_eq!(one_line("❤\u{fe0f}"), "❤⟨U+FE0F⟩");
        assert_eq!(one_line("👋🏽"), "👋🏽");
        assert_eq!(one_line(&format!("a{}", "\u{301}".repeat(500))), "a⟨+500⟩");
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(one_line("\ta\tb"), "    a   b");
    }

    #[test]
    fn a_text_is_cut_between_characters_with_a_mark() {
        assert_eq!(tail("src/漢字.rs", 6), "…字.rs");
        assert_eq!(head("漢字漢字", 5), "漢字…");
        assert_eq!(head("abc", 3), "abc");
        assert_eq!(tail("abc", 0), "");
    }

    fn breaks(text: &str, step: usize) -> Breaks {
        let mut breaks = Breaks::new(step);
        breaks.extend(text, &mut usize::MAX.clone(), |_| false);
        assert!(breaks.is_whole());
        breaks
    }

    #[test]
    fn a_line_is_broken_only_as_far_as_wanted_and_within_a_budget() {
        let line = "a".repeat(1_000_000);
        let mut breaks = Breaks::new(10);
        let mut budget = 100_000;
        breaks.extend(&line, &mut budget, |row| row.column > 100);
        assert_eq!(breaks.last().column, 110);
        assert!(budget > 99_000);
        let line = "\0".repeat(1_000_000);
        let mut breaks = Breaks::new(10);
        breaks.extend(&line, &mut 1_000, |_| false);
        assert!(!breaks.is_whole());
        assert!(breaks.last().byte <= 1_010, "{:?}", breaks.last());
        let before = breaks.last();
        breaks.extend(&line, &mut 1_000, |_| false);
        assert!(breaks.last().byte > before.byte);
    }

    #[test]
    fn an_endless_cluster_is_read_in_parts() {
        let line = format!("a{}", "\u{301}".repeat(1_000_000));
        let first = pieces(&line, Place::default()).next().unwrap();
        assert!(first.bytes <= MAX_BYTES, "{}", first.bytes);
    }

    #[test]
    fn rows_break_between_pieces() {
        let places = |text, step| {
            breaks(text, step)
                .rows()
                .iter()
                .map(|place| (place.byte, place.column))
                .collect::<Vec<_>>()
        };
        assert_eq!(places("", 4), [(0, 0)]);
        assert_eq!(places("abcdefgh", 4), [(0, 0), (4, 4)]);
        assert_eq!(places("a漢字", 4), [(0, 0), (4, 3)]);
        assert_eq!(places("漢漢", 1), [(0, 0), (3, 2)]);
    }

    proptest! {
        #[test]
        fn nothing_that_controls_comes_through(text: String) {
            let shown = one_line(&text);
            prop_assert!(shown.chars().all(|char| is_plain(char) && !char.is_control()));
        }

        #[test]
        fn pieces_cover_the_line_and_widths_are_true(text: String) {
            let mut at = Place::default();
            for piece in pieces(&text, Place::default()) {
                prop_assert_eq!(piece.at, at);
                prop_assert_eq!(piece.width, width(&piece.text));
                prop_assert!(piece.width > 0, "{:?}", piece);
                at.byte += piece.bytes;
                at.column += piece.width;
            }
            prop_assert_eq!(at.byte, text.len());
        }

        #[test]
        fn every_break_is_where_a_piece_begins(text: String, step in 1_usize..20) {
            let begins: Vec<_> = pieces(&text, Place::default()).map(|piece| piece.at).collect();
            for place in breaks(&text, step).rows() {
                prop_assert!(begins.contains(place) || *place == Place::default());
            }
        }
    }
}
