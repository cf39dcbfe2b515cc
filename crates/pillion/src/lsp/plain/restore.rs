//! Keeps a proposal byte for byte although an editor does not. Some show CRLF as LF, hide a byte
//! order mark, or end the last line; what they show when they open the file tells which.

use crate::text::Text;
use crate::text::hunks;

const BOM: char = '\u{feff}';

/// The text to accept: `now`, as the editor has it, with the bytes of `proposal` that the editor
/// did not show in `shown`, the text it opened.
pub fn restore(proposal: &str, shown: &str, now: &str) -> String {
    if now == shown {
        return proposal.to_owned();
    }
    if shown == proposal {
        return now.to_owned();
    }
    let hides_bom = proposal.starts_with(BOM) && !shown.starts_with(BOM);
    let body = if hides_bom {
        &proposal[BOM.len_utf8()..]
    } else {
        proposal
    };
    let (original, shown, now) = (Lines::new(body), Lines::new(shown), Lines::new(now));
    let mut text = String::with_capacity(proposal.len());
    if hides_bom {
        text.push(BOM);
    }
    if original.contents().eq(shown.contents()) {
        weave(&original, &shown, &now, &mut text);
    } else {
        // The editor made something else of it; only the way lines end can be told.
        let end = original.usual_end().filter(|_| shown.hides(&original));
        for line in &now.lines {
            text.push_str(line.content);
            text.push_str(end.filter(|_| line.ends()).unwrap_or(line.end));
        }
    }
    text
}

/// Whether two texts are the same but for line ends, byte order mark and the end of the last line.
pub fn is_same_content(a: &str, b: &str) -> bool {
    let body = |text| Lines::new(str::strip_prefix(text, BOM).unwrap_or(text));
    let (a, b) = (body(a), body(b));
    a.contents().eq(b.contents())
}

/// Puts `now` together: lines that are as in `shown` come from `original`, byte for byte.
fn weave(original: &Lines<'_>, shown: &Lines<'_>, now: &Lines<'_>, text: &mut String) {
    let usual = original.usual_end();
    let hides_ends = shown.hides(original);
    let mut put = |line: &Line<'_>, end: Option<&str>| {
        text.push_str(line.content);
        let end = end.filter(|end| !end.is_empty()).or(usual);
        text.push_str(end.unwrap_or("\n"));
    };
    let mut next = 0;
    let all = original.lines.len();
    let last = hunks::Hunk {
        before: all..all,
        after: 0..0,
        out: false,
    };
    let found = hunks::between(&shown.plain(), &now.plain());
    for hunk in found.iter().chain([&last]) {
        for line in &original.lines[next..hunk.before.start] {
            put(line, Some(line.end));
        }
        // A line that takes another's place ends as that one did.
        let mut replaced = original.lines[hunk.before.clone()].iter();
        for line in &now.lines[hunk.after.clone()] {
            let before = replaced.next().map(|line| line.end);
            put(line, if hides_ends { before } else { Some(line.end) });
        }
        next = hunk.before.end;
    }
    let is_kept = now.is_ended() == shown.is_ended() && !original.is_empty();
    let is_ended = if is_kept {
        original.is_ended()
    } else {
        now.is_ended()
    };
    if !is_ended {
        let ends = ["\r\n", "\n", "\r"];
        let end = ends.into_iter().find(|end| text.ends_with(end));
        text.truncate(text.len() - end.map_or(0, str::len));
    }
}

/// A text as lines, whatever ends them; an empty text has one line.
struct Lines<'a> {
    lines: Vec<Line<'a>>,
}

struct Line<'a> {
    content: &'a str,
    /// `\r\n`, `\n` or `\r`; only the last line may have none.
    end: &'a str,
}

impl Line<'_> {
    fn ends(&self) -> bool {
        !self.end.is_empty()
    }
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let mut lines = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['\r', '\n']) {
            let width = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
            lines.push(Line {
                content: &rest[..at],
                end: &rest[at..at + width],
            });
            rest = &rest[at + width..];
        }
        if !rest.is_empty() || lines.is_empty() {
            lines.push(Line {
                content: rest,
                end: "",
            });
        }
        Self { lines }
    }

    fn contents(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().map(|line| line.content)
    }

    fn is_empty(&self) -> bool {
        self.lines
            .iter()
            .all(|line| line.content.is_empty() && !line.ends())
    }

    fn is_ended(&self) -> bool {
        self.lines.last().is_some_and(Line::ends)
    }

    /// How most of its lines end, if any does.
    fn usual_end(&self) -> Option<&'static str> {
        let count = |end: &str| self.lines.iter().filter(|line| line.end == end).count();
        let counts = ["\r", "\r\n", "\n"].map(|end| (count(end), end));
        let most = counts.into_iter().max_by_key(|(count, _)| *count)?;
        (most.0 > 0).then_some(most.1)
    }

    /// Whether lines end otherwise here than in `original`.
    fn hides(&self, original: &Self) -> bool {
        let mut pairs = self.lines.iter().zip(&original.lines);
        pairs.any(|(line, other)| line.ends() && other.ends() && line.end != other.end)
    }

    /// The contents as a text of lines that end in `\n`, to be compared.
    fn plain(&self) -> Text {
        let mut text = String::new();
        for content in self.contents() {
            text.push_str(content);
            text.push('\n');
        }
        Text::new(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_not_edited_is_accepted_byte_for_byte() {
        for text in ["", "a", "\u{feff}a\r\nb\n\rc", "a\r\n\r\n"] {
            assert_eq!(restore(text, "whatever", "whatever"), text);
        }
    }

    #[test]
    fn an_editor_that_shows_every_byte_is_taken_at_its_word() {
        assert_eq!(restore("a\r\nb", "a\r\nb", "a\nb\n"), "a\nb\n");
    }

    #[test]
    fn crlf_that_was_shown_as_lf_comes_back() {
        let restored = restore("a\r\nb\r\n", "a\nb\n", "a\nnew\nb\n");
        assert_eq!(restored, "a\r\nnew\r\nb\r\n");
        let restored = restore("a\r\nb\r\n", "a\nb\n", "a\nb");
        assert_eq!(restored, "a\r\nb", "the person took the last line end away");
    }

    #[test]
    fn mixed_line_ends_stay_where_they_are() {
        let restored = restore("a\r\nb\nc\r\nd\r\n", "a\nb\nc\nd\n", "a\nb\nC\nd\n");
        assert_eq!(restored, "a\r\nb\nC\r\nd\r\n");
        let restored = restore("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nnew\nc\n");
        assert_eq!(restored, "a\r\nB\nnew\r\nc\r\n");
        let restored = restore("a\rb\nc\n", "a\nb\nc\n", "a\nb\nc\nd\n");
        assert_eq!(restored, "a\rb\nc\nd\n");
    }

    #[test]
    fn a_mark_that_was_hidden_comes_back() {
        assert_eq!(restore("\u{feff}a\n", "a\n", "b\n"), "\u{feff}b\n");
        assert_eq!(restore("\u{feff}a\r\n", "a\r\n", "b\r\n"), "\u{feff}b\r\n");
        assert_eq!(restore("\u{feff}a\n", "\u{feff}a\n", "b\n"), "b\n");
    }

    #[test]
    fn a_last_line_without_an_end_stays_without_one() {
        assert_eq!(restore("a\nb", "a\nb\n", "a\nc\n"), "a\nc");
        assert_eq!(restore("a\nb", "a\nb\n", "a\nb\nc\n"), "a\nb\nc");
        assert_eq!(restore("a\r\nb", "a\nb", "a\nb\n"), "a\r\nb\r\n");
        assert_eq!(restore("a\n", "a", "b"), "b\n");
        assert_eq!(
            restore("", "\n", "x\n"),
            "x\n",
            "an empty text has no custom"
        );
    }

    #[test]
    fn an_editor_that_made_something_else_of_it_keeps_its_text() {
        let restored = restore("\u{feff}a\0\r\nb\r\n", "a\n\nb\n", "a\n\nc\n");
        assert_eq!(restored, "\u{feff}a\r\n\r\nc\r\n");
        assert_eq!(restore("a\tb\n", "a  b\n", "a  c\n"), "a  c\n");
    }

    #[test]
    fn contents_are_compared_without_what_editors_hide() {
        assert!(is_same_content("\u{feff}a\r\nb", "a\nb\n"));
        assert!(is_same_content("", "\n"));
        assert!(!is_same_content("a\n", "a \n"));
    }

    /// A text as an editor shows it that hides everything it can.
    fn hidden(text: &str) -> String {
        let body = text.strip_prefix(BOM).unwrap_or(text);
        let lines = Lines::new(body);
        lines
            .contents()
            .flat_map(|content| [content, "\n"])
            .collect()
    }

    proptest! {
        #[test]
        fn one_more_line_leaves_the_others_as_they_were(
            bom: bool,
            lines in prop::collection::vec(("[ab]{0,2}", "\n|\r\n"), 1..6),
            at in 0_usize..6,
        ) {
            let pieces: Vec<String> = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
            let at = at.min(pieces.len());
            let bom = if bom { "\u{feff}" } else { "" };
            let proposal = format!("{bom}{}", pieces.concat());
            let shown = hidden(&proposal);
            let mut now: Vec<&str> = shown.split_inclusive('\n').collect();
            now.insert(at, "new\n");
            let restored = restore(&proposal, &shown, &now.concat());
            let others: String = restored.split_inclusive('\n').filter(|line| !line.contains("new")).collect();
            prop_assert_eq!(others.trim_start_matches(BOM), pieces.concat());
            prop_assert!(restored.starts_with(bom));
        }

        #[test]
        fn nothing_panics_and_the_contents_are_those_of_now(proposal: String, shown: String, now: String) {
            let restored = restore(&proposal, &shown, &now);
            if now != shown {
                prop_assert!(is_same_content(&restored, &now) || proposal.starts_with(BOM));
            }
            let shown = hidden(&proposal);
            if now != shown {
                let restored = restore(&proposal, &shown, &now);
                prop_assert!(is_same_content(&restored, &now) || now.starts_with(BOM));
            }
        }
    }
}
