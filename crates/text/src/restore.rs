//! Keeps a proposal byte for byte although an editor does not. Some show CRLF as LF, hide a byte
//! order mark, or end the last line; which of these, is visible in what they show when they open the file.

use std::iter;

use crate::Text;
use crate::hunks;

const BOM: char = '\u{feff}';

/// All that ends a line somewhere; what is longer first.
const ANY: Ends = &["\r\n", "\n", "\r"];

/// The line ends by which the texts are split where an editor shows CRLF as LF, and any other `\r` as a character:
/// those of the proposal, and those of its own text. What it makes of `\r\r\n` is no CRLF.
const BY_NEWLINES: [Ends; 2] = [&["\r\n", "\n"], &["\n"]];

/// The text to accept: `now`, as the editor has it, with the bytes of `proposal` that the editor
/// did not show in `shown`, the text it opened. That may be another one than the proposal: somebody else may have
/// edited and saved it.
pub fn restore(proposal: &str, shown: &str, now: &str) -> String {
    if shown == proposal {
        return now.to_owned();
    }
    let hides_bom = proposal.starts_with(BOM) && !shown.starts_with(BOM);
    let body = if hides_bom {
        &proposal[BOM.len_utf8()..]
    } else {
        proposal
    };
    let mut text = String::with_capacity(proposal.len());
    if hides_bom {
        text.push(BOM);
    }
    if let Some((original, known, ends)) = alike(body, shown) {
        if now == shown {
            return proposal.to_owned();
        }
        weave(&original, &known, &Lines::new(now, ends), &mut text);
    } else {
        // The editor made something else of it; only the way lines end can be told.
        let [original, shown, now] = [body, shown, now].map(|text| Lines::new(text, ANY));
        let end = original.usual_end().filter(|_| shown.hides(&original));
        for line in &now.lines {
            text.push_str(line.content);
            text.push_str(end.filter(|_| line.ends()).unwrap_or(line.end));
        }
    }
    text
}

/// The same for a field of a page, in which all lines end in LF, and which is given no byte order mark.
pub fn of_field(former: &str, now: &str) -> String {
    let shown = former.strip_prefix(BOM).unwrap_or(former);
    let shown = shown.replace("\r\n", "\n").replace('\r', "\n");
    restore(former, &shown, now)
}

/// The text that an editor that showed the proposal as `shown` has to show so that `wanted` is accepted; none if it cannot.
pub fn shown_as(proposal: &str, shown: &str, wanted: &str) -> Option<String> {
    let bodies = [Some(wanted), wanted.strip_prefix(BOM)];
    let hides_ends = proposal.contains('\r') && !shown.contains('\r');
    let candidates = bodies.into_iter().flatten().flat_map(|body| {
        let newlines = body.replace("\r\n", "\n");
        let mut ends = [body.to_owned(), newlines.replace('\r', "\n"), newlines];
        if hides_ends {
            ends.reverse();
        }
        ends.into_iter().flat_map(|text| {
            let ended = format!("{text}\n");
            let unended = text.strip_suffix('\n').map(str::to_owned);
            [Some(text), Some(ended), unended].into_iter().flatten()
        })
    });
    { candidates }.find(|text| restore(proposal, shown, text) == wanted)
}

/// Returns true if a text is the proposal but for line ends, byte order mark and the end of the
/// last line.
pub fn is_same_content(text: &str, proposal: &str) -> bool {
    let [body, text] = [proposal, text].map(|text| text.strip_prefix(BOM).unwrap_or(text));
    alike(body, text).is_some()
}

/// A proposal and what an editor shows of it, line for line, if their lines hold the same, and what
/// ends a line in that editor.
fn alike<'a>(proposal: &'a str, shown: &'a str) -> Option<(Lines<'a>, Lines<'a>, Ends)> {
    let mut returns = proposal.match_indices('\r');
    let has_lone_return = returns.any(|(at, _)| !proposal[at..].starts_with("\r\n"));
    let first = has_lone_return.then_some(BY_NEWLINES);
    let mut ways = first.into_iter().chain([[ANY, ANY]]);
    ways.find_map(|[ends, shown_ends]| {
        let (original, shown) = (Lines::new(proposal, ends), Lines::new(shown, shown_ends));
        let is_same = original.contents().eq(shown.contents());
        is_same.then_some((original, shown, shown_ends))
    })
}

/// Puts `now` together: lines that are as in `shown` end as in `original`.
fn weave(original: &Lines<'_>, shown: &Lines<'_>, now: &Lines<'_>, text: &mut String) {
    let usual = original.usual_end().unwrap_or("\n");
    let hides_ends = shown.hides(original);
    let mut last_end = 0;
    let mut next = 0..0;
    let all = original.lines.len()..now.lines.len();
    let last = hunks::Hunk::new(all.start..all.start, all.end..all.end);
    let found = hunks::between(&shown.plain(), &now.plain());
    for hunk in found.iter().chain([&last]) {
        let same = (next.start..hunk.before.start).map(Some);
        let same = same.zip(next.end..);
        // A line that takes another's place ends as that one did.
        let replaced = hunk.before.clone().map(|at| hides_ends.then_some(at));
        let replaced = replaced.chain(iter::repeat(None)).zip(hunk.after.clone());
        for (before, after) in same.chain(replaced) {
            let line = &now.lines[after];
            let end = match before {
                Some(at) if shown.lines[at].ends_otherwise(line) => line.end,
                Some(at) => original.lines[at].end,
                None if hides_ends => usual,
                None => line.end,
            };
            let end = if end.is_empty() { usual } else { end };
            text.push_str(line.content);
            text.push_str(end);
            last_end = end.len();
        }
        next = hunk.before.end..hunk.after.end;
    }
    let is_kept = now.is_ended() == shown.is_ended() && !original.is_empty();
    let is_ended = if is_kept {
        original.is_ended()
    } else {
        now.is_ended()
    };
    if !is_ended {
        text.truncate(text.len() - last_end);
    }
}

/// The line ends that count.
type Ends = &'static [&'static str];

/// A text as lines; an empty text has one line.
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

    /// Returns true if both end, each in its own way.
    fn ends_otherwise(&self, other: &Line<'_>) -> bool {
        self.ends() && other.ends() && self.end != other.end
    }
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, ends: Ends) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for (at, _) in text.match_indices(['\r', '\n']) {
            let found = ends.iter().find(|end| text[at..].starts_with(**end));
            // The `\n` of a CRLF was part of the end before.
            if let (Some(end), Some(content)) = (found, text.get(start..at)) {
                let end = &text[at..at + end.len()];
                lines.push(Line { content, end });
                start = at + end.len();
            }
        }
        let rest = &text[start..];
        if !rest.is_empty() || lines.is_empty() {
            let (content, end) = (rest, "");
            lines.push(Line { content, end });
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

    /// The end of most of its lines, if any has one.
    fn usual_end(&self) -> Option<&'static str> {
        let count = |end: &str| self.lines.iter().filter(|line| line.end == end).count();
        let counts = ["\r", "\r\n", "\n"].map(|end| (count(end), end));
        let most = counts.into_iter().max_by_key(|(count, _)| *count)?;
        (most.0 > 0).then_some(most.1)
    }

    /// Returns true if lines end otherwise here than in `original`.
    fn hides(&self, original: &Self) -> bool {
        let mut pairs = self.lines.iter().zip(&original.lines);
        pairs.any(|(line, other)| line.ends_otherwise(other))
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
            for shown in ways(text) {
                assert_eq!(restore(text, &shown, &shown), text);
            }
        }
    }

    #[test]
    fn another_text_that_was_opened_is_accepted_as_it_is_shown() {
        for (proposal, shown, expected) in [
            ("a\n", "mine\n", "mine\n"),
            ("a\r\nb\r\n", "mine\n", "mine\r\n"),
            ("\u{feff}a\n", "\u{feff}mine", "\u{feff}mine"),
        ] {
            assert_eq!(restore(proposal, shown, shown), expected);
        }
    }

    #[test]
    fn an_editor_that_shows_every_byte_is_taken_at_its_word() {
        assert_eq!(restore("a\r\nb", "a\r\nb", "a\nb\n"), "a\nb\n");
    }

    #[test]
    fn a_field_of_a_page_leaves_lines_that_were_not_typed_in_as_they_end() {
        for (former, now, expected) in [
            ("a\r\nZZ\nc\r\nd\n", "Qa\nZZ\nc\nd\n", "Qa\r\nZZ\nc\r\nd\n"),
            ("a\rZZ\rc\n", "Qa\nZZ\nc\n", "Qa\rZZ\rc\n"),
            ("a\r\nb\r\n", "a\nnew\nb\n", "a\r\nnew\r\nb\r\n"),
            ("\u{feff}a\nb", "Qa\nb", "\u{feff}Qa\nb"),
            ("\u{feff}a\r\n", "a\n", "\u{feff}a\r\n"),
            ("a\nb\n", "a\nc\n", "a\nc\n"),
            ("a\n", "", ""),
        ] {
            assert_eq!(of_field(former, now), expected, "{former:?} {now:?}");
        }
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
    fn what_is_left_of_two_returns_is_no_line_end() {
        let restored = restore("a\r\r\nb\r\r\n", "a\r\nb\r\n", "a\r\nB\r\n");
        assert_eq!(restored, "a\r\r\nB\r\r\n");
        let restored = restore("a\r\r\nb\r", "a\r\nb\r\n", "a\r\nb\r\nc\n");
        assert_eq!(restored, "a\r\r\nb\r\r\nc");
        assert!(is_same_content("a\r\nb\r\n", "a\r\r\nb\r\r\n"));
    }

    #[test]
    fn line_ends_that_the_person_changed_are_taken() {
        let (proposal, shown) = ("\u{feff}a\r\nb\r\n", "a\r\nb\r\n");
        assert_eq!(restore(proposal, shown, "a\nb\n"), "\u{feff}a\nb\n");
        assert_eq!(restore(proposal, shown, "a\nB\n"), "\u{feff}a\nB\n");
        assert_eq!(restore("a\nb", "a\nb\n", "a\r\nb\r\n"), "a\r\nb");
        let restored = restore("a\r\nb\nc\n", "a\nb\nc\n", "a\r\nb\r\nC\r\n");
        assert_eq!(restored, "a\r\nb\r\nC\r\n");
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
        let lines = Lines::new(body, ANY);
        lines
            .contents()
            .flat_map(|content| [content, "\n"])
            .collect()
    }

    /// The forms in which editors show a text that they open.
    fn ways(text: &str) -> [String; 6] {
        let body = text.strip_prefix(BOM).unwrap_or(text);
        let ended = |text: &str, end: &str| match text.ends_with('\n') {
            true => text.to_owned(),
            false => format!("{text}{end}"),
        };
        let lf = body.replace("\r\n", "\n");
        [
            text.to_owned(),
            body.to_owned(),
            ended(body, "\n"),
            ended(&lf, "\n"),
            lf.replace('\n', "\r\n"),
            hidden(text),
        ]
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
        fn an_edit_of_one_line_changes_that_line_only(
            bom: bool,
            lines in prop::collection::vec(("[ab]{0,2}", "\n|\r\n|\r"), 1..6),
            last in "[ab]{0,2}",
            at in 0_usize..6,
            way in 0_usize..6,
        ) {
            let end = |(line, end): &(String, String)| format!("{line}{end}");
            let bom = if bom { "\u{feff}" } else { "" };
            let body = lines.iter().map(end).collect::<String>() + &last;
            let proposal = format!("{bom}{body}");
            let shown = ways(&proposal)[way].clone();
            prop_assert_eq!(&restore(&proposal, &shown, &shown), &proposal);
            let edit = |text: &str, ends: Ends| {
                let lines = Lines::new(text, ends).lines;
                let at = at.min(lines.len() - 1);
                let put = |(number, line): (usize, &Line<'_>)| {
                    let new = if number == at { "new" } else { line.content };
                    format!("{new}{}", line.end)
                };
                lines.iter().enumerate().map(put).collect::<String>()
            };
            let mark = if shown.starts_with(BOM) { "\u{feff}" } else { "" };
            let [ends, shown_ends] = if way == 3 { BY_NEWLINES } else { [ANY, ANY] };
            let now = format!("{mark}{}", edit(shown.trim_start_matches(BOM), shown_ends));
            let wanted = format!("{bom}{}", edit(&body, ends));
            prop_assert_eq!(restore(&proposal, &shown, &now), wanted);
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
