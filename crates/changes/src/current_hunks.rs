//! The hunks of a change as they stand in a text now: those of which nobody has changed a line since. Each can be taken
//! back by itself. Pure.

use std::ops::Range;

use pillion_text::hunks::{self, Hunk};
use pillion_text::{Text, merge, visible};

/// No more of a line is in a label.
const MAX_LABEL: usize = 60;

/// A change beside a text that has come from it.
#[derive(Debug)]
pub struct CurrentHunks {
    before: Text,
    after: Text,
    now: Text,
    /// Lines before the change, and the lines of the text that stand in their place.
    hunks: Vec<Hunk>,
    /// The same of those that somebody has changed again. What is as it was before the change is none: it was taken back.
    changed: Vec<Hunk>,
    /// True if all of the change stands in the text, and it has hunks.
    is_whole: bool,
}

impl CurrentHunks {
    /// Finds the hunks from `before` to `after` in `now`.
    pub fn find(before: Text, after: Text, now: Text) -> Self {
        let changed = hunks::between(&before, &after);
        let since = hunks::between(&after, &now);
        let (mut found, mut others) = (Vec::new(), Vec::new());
        let (mut next, mut shift) = (0, 0_isize);
        for hunk in &changed {
            while let Some(newer) = since
                .get(next)
                .filter(|it| it.before.end <= hunk.after.start)
            {
                if is_touched(&hunk.after, &newer.before) {
                    break;
                }
                shift += newer.after.len().cast_signed() - newer.before.len().cast_signed();
                next += 1;
            }
            let newer = since[next..]
                .iter()
                .take_while(|it| it.before.start <= hunk.after.end);
            let newer: Vec<_> = newer
                .filter(|it| is_touched(&hunk.after, &it.before))
                .collect();
            let moved = |line: usize| line.saturating_add_signed(shift);
            let range = moved(hunk.after.start)..moved(hunk.after.end);
            if let [first, .., last] | [first @ last] = &*newer {
                // Lines of the hunk before the first and after the last of them stand as they were.
                let start = range.start.min(first.after.start);
                let left = hunk.after.end.saturating_sub(last.before.end);
                others.push(Hunk::new(hunk.before.clone(), start..last.after.end + left));
                continue;
            }
            let lines = before.slice(hunk.before.clone());
            let is_unended = !lines.is_empty() && !lines.ends_with(b"\n");
            // The next line would become a part of its last one.
            if is_unended && range.end < now.len() {
                others.push(Hunk::new(hunk.before.clone(), range));
                continue;
            }
            found.push(Hunk::new(hunk.before.clone(), range));
        }
        let is_whole = others.is_empty() && !found.is_empty();
        let is_back = |it: &Hunk| now.slice(it.after.clone()) == before.slice(it.before.clone());
        others.retain(|it| !is_back(it));
        Self {
            before,
            after,
            now,
            hunks: found,
            changed: others,
            is_whole,
        }
    }

    /// The lines before the change, and those of the text now.
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The same of those that somebody has changed again: they cannot be taken back by themselves.
    pub fn changed_since(&self) -> &[Hunk] {
        &self.changed
    }

    /// Where these are, for people, who count from 1: empty if there are none.
    pub fn changed_places(&self) -> String {
        let places = self.changed.iter().map(|hunk| match hunk.after.len() {
            0 | 1 => format!("line {}", hunk.after.start + 1),
            _ => format!("lines {} to {}", hunk.after.start + 1, hunk.after.end),
        });
        places.collect::<Vec<_>>().join(", ")
    }

    /// Returns true if all of the change stands in the text, and it has hunks.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The text without the hunks that touch these lines, from 0; none if there are no such hunks.
    pub fn without(&self, lines: Range<usize>) -> Option<Without> {
        let mut hunks = self.hunks.clone();
        for hunk in &mut hunks {
            hunk.out = is_meant(hunk, &lines);
        }
        if !hunks.iter().any(|it| it.out) {
            return None;
        }
        let left = hunks.iter().filter(|it| !it.out).count();
        let text = Text::new(hunks::accepted(&self.before, &self.now, &hunks));
        Some(Without {
            is_all: left == 0 && self.is_gone(&text),
            text: text.into_bytes(),
            left,
        })
    }

    /// The number of hunks, also of those that somebody has changed again, if one of them is at these lines.
    pub fn count_at(&self, lines: &Range<usize>) -> Option<usize> {
        let mut all = self.hunks.iter().chain(&self.changed);
        let is_there = all.any(|hunk| is_meant(hunk, lines));
        is_there.then_some(self.hunks.len() + self.changed.len())
    }

    /// Returns true if nothing of the change is in this text: taking all of it back makes no difference.
    fn is_gone(&self, text: &Text) -> bool {
        let merged = merge::texts(&self.after, &self.before, text);
        merged.conflicts == 0 && merged.text == text.bytes()
    }

    /// The hunks with what lists say of them, and whether they were changed again since: last those.
    pub fn labelled<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a Hunk, String, bool)> {
        let changed = format!("{name}, changed since,");
        let hunks = self.hunks.iter();
        let hunks = hunks.map(move |hunk| (hunk, self.label(name, hunk), false));
        let since = self.changed.iter();
        hunks.chain(since.map(move |hunk| (hunk, self.label(&changed, hunk), true)))
    }

    /// A hunk in one line for people, of the change that is named so: the number of lines, and what the first of them says.
    fn label(&self, name: &str, hunk: &Hunk) -> String {
        let (text, lines) = match hunk.after.is_empty() {
            true => (&self.before, &hunk.before),
            false => (&self.now, &hunk.after),
        };
        let mut said = lines.clone().map(|line| line_of(text, line));
        let says = said.find(|line| !line.trim().is_empty());
        let says = visible::one_line(says.unwrap_or_default().trim());
        let says = visible::head(&says, MAX_LABEL);
        let (added, removed) = (hunk.after.len(), hunk.before.len());
        format!("{name} +{added} -{removed}: {says}")
    }

    /// The text before the change.
    pub fn before(&self) -> &Text {
        &self.before
    }

    /// The text now.
    pub fn now(&self) -> &Text {
        &self.now
    }
}

/// Returns true if somebody who names these lines means a hunk.
fn is_meant(hunk: &Hunk, lines: &Range<usize>) -> bool {
    match hunk.after.is_empty() {
        // Lines were removed there: the line before and the one after are meant.
        true => lines.start <= hunk.after.start && hunk.after.start <= lines.end,
        false => lines.start < hunk.after.end && hunk.after.start < lines.end,
    }
}

/// A line without its end.
pub fn line_of(text: &Text, line: usize) -> String {
    let line = String::from_utf8_lossy(text.line(line));
    line.trim_end_matches(['\n', '\r']).to_owned()
}

/// A text without some hunks of a change.
#[derive(Debug, PartialEq, Eq)]
pub struct Without {
    /// The text.
    pub text: Vec<u8>,
    /// The number of hunks of the change that still stand in it.
    pub left: usize,
    /// True if nothing of the change is in it any more.
    pub is_all: bool,
}

/// Returns true if a newer change of these lines is one of the hunk's, too.
fn is_touched(hunk: &Range<usize>, newer: &Range<usize>) -> bool {
    match hunk.is_empty() {
        true => newer.start <= hunk.start && hunk.start <= newer.end,
        false => match newer.is_empty() {
            true => hunk.start < newer.start && newer.start < hunk.end,
            false => newer.start < hunk.end && hunk.start < newer.end,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(before: &str, after: &str, now: &str) -> CurrentHunks {
        let text = |text: &str| Text::new(text.as_bytes());
        CurrentHunks::find(text(before), text(after), text(now))
    }

    fn places(found: &CurrentHunks) -> Vec<(usize, usize)> {
        let hunks = found.hunks().iter();
        hunks.map(|it| (it.after.start, it.after.end)).collect()
    }

    fn without(found: &CurrentHunks, lines: Range<usize>) -> Option<(String, usize, bool)> {
        let it = found.without(lines)?;
        Some((String::from_utf8(it.text).unwrap(), it.left, it.is_all))
    }

    const BEFORE: &str = "a\nb\nc\nd\ne\nf\ng\n";
    const AFTER: &str = "a\nB\nc\nd\ne\nF\nG2\ng\n";

    #[test]
    fn each_hunk_goes_by_itself_and_later_lines_stay() {
        let found = find(BEFORE, AFTER, &format!("new\nmore\n{AFTER}end\n"));
        assert_eq!(places(&found), [(3, 4), (7, 9)]);
        assert_eq!(
            without(&found, 3..4),
            Some((
                "new\nmore\na\nb\nc\nd\ne\nF\nG2\ng\nend\n".to_owned(),
                1,
                false
            ))
        );
        assert_eq!(
            without(&found, 0..99),
            Some((format!("new\nmore\n{BEFORE}end\n"), 0, true))
        );
        assert_eq!(without(&found, 0..3), None);
        assert_eq!(without(&found, 4..7), None);
    }

    #[test]
    fn a_hunk_that_somebody_changed_is_not_taken_back_and_the_other_is() {
        let found = find(BEFORE, AFTER, "a\nmine\nc\nd\ne\nF\nG2\ng\n");
        assert_eq!(places(&found), [(5, 7)]);
        assert_eq!(
            without(&found, 0..99),
            Some(("a\nmine\nc\nd\ne\nf\ng\n".to_owned(), 0, false))
        );
    }

    /// From its first line that is left, or what stands in its place, to the last.
    /// A person takes one of two hunks back: nothing of it is left that could have changed since.
    #[test]
    fn a_hunk_that_was_taken_back_has_not_changed_since() {
        let text = |text: &str| Text::new(text.as_bytes());
        for (after, now) in [
            ("A\nb\nc\nd\nE\n", "A\nb\nc\nd\ne\n"),
            ("A\nb\nc\nd\n", "A\nb\nc\nd\ne\n"),
            ("A\nb\nc\nd\ne\nf\n", "mine\nA\nb\nc\nd\ne\n"),
        ] {
            let found = CurrentHunks::find(text("a\nb\nc\nd\ne\n"), text(after), text(now));
            assert_eq!(found.hunks().len(), 1, "{after} {now}");
            assert!(found.changed_since().is_empty(), "{after} {now}");
            assert!(!found.is_whole(), "{after} {now}");
        }
    }

    #[test]
    fn what_somebody_changed_again_is_found_where_it_is_now() {
        let (before, after) = ("a\nb\nc\nd\ne\nf\n", "a\nB1\nB2\nB3\nd\nE\nf\n");
        for (now, expected) in [
            ("a\nB1\nB2\nB3\nd\nE\nf\n", &[][..]),
            ("top\na\nB1\nmine\nB3\nd\nE\nf\n", &[(2, 5)]),
            ("a\nmine\nmore\nB2\nB3\nd\nE\nf\n", &[(1, 5)]),
            ("a\nB1\nB2\nd\nmine\nf\n", &[(1, 3), (4, 5)]),
            ("a\nd\nE\nf\n", &[(1, 1)]),
            ("mine\n", &[(0, 1), (0, 1)]),
        ] {
            let found = find(before, after, now);
            let changed = found.changed_since().iter();
            let places: Vec<_> = changed.map(|it| (it.after.start, it.after.end)).collect();
            assert_eq!(places, expected, "{now:?}");
            assert_eq!(found.hunks().len() + places.len(), 2, "{now:?}");
        }
    }

    #[test]
    fn one_after_the_other_all_of_it_goes() {
        let first = find(BEFORE, AFTER, AFTER).without(1..2).unwrap();
        assert_eq!((first.left, first.is_all), (1, false));
        let second = find(BEFORE, AFTER, &String::from_utf8(first.text).unwrap());
        assert_eq!(without(&second, 5..7), Some((BEFORE.to_owned(), 0, true)));
    }

    #[test]
    fn removed_lines_are_found_beside_where_they_were() {
        let found = find("a\nb\nc\nd\n", "a\nd\n", "top\na\nd\n");
        assert_eq!(places(&found), [(2, 2)]);
        for (lines, is_there) in [(0..1, false), (1..2, true), (2..3, true), (3..4, false)] {
            let taken = without(&found, lines.clone()).map(|it| it.0);
            let expected = is_there.then(|| "top\na\nb\nc\nd\n".to_owned());
            assert_eq!(taken, expected, "{lines:?}");
        }
        let touched = find("a\nb\nc\nd\n", "a\nd\n", "a\nmine\nd\n");
        assert!(places(&touched).is_empty());
    }

    proptest! {
        #[test]
        fn all_hunks_out_of_what_the_agent_left_is_the_text_before(
            before in "([abc]\n){0,12}[abc]?",
            after in "([abc]\n){0,12}[abc]?",
        ) {
            let found = find(&before, &after, &after);
            let whole = found.without(0..usize::MAX);
            prop_assert_eq!(whole.is_some(), before != after);
            if let Some(whole) = whole {
                prop_assert_eq!(String::from_utf8(whole.text).unwrap(), before);
                prop_assert!(whole.is_all);
            }
        }

        #[test]
        fn a_line_of_the_persons_own_is_never_lost(
            before in "([abc]\n){0,8}[abc]?",
            after in "([abc]\n){0,8}",
            at in 0_usize..9,
            lines in 0_usize..9,
        ) {
            let mut now: Vec<&str> = after.split_inclusive('\n').collect();
            now.insert(at.min(now.len()), "mine\n");
            let found = find(&before, &after, &now.concat());
            if let Some(without) = found.without(lines..lines + 3) {
                let text = String::from_utf8(without.text).unwrap();
                prop_assert!(text.lines().any(|line| line == "mine"), "{text:?}");
            }
        }
    }
}
