//! Merging three ways: what a proposal changes, and what became of the file since it was made.

use std::cmp::Ordering;
use std::ops::Range;

use crate::Text;
use crate::hunks::{self, Hunk, Mark};

/// The hunks that turn `ours`, the file as it is now, into `theirs`, whose `changes` are those from
/// `base`. A hunk that would undo a newer change of the file, or is in its way, is marked and out: without
/// those hunks the text has what both changed. Hunks that the reviewer took out stay out. Lines that are not UTF-8 cannot
/// be put into a proposal: a hunk that would keep such lines of `ours` stays in, and is marked.
pub fn hunks(base: &Text, theirs: &Text, ours: &Text, changes: &[Hunk]) -> Vec<Hunk> {
    let is_text = |lines: &[u8]| std::str::from_utf8(lines).is_ok();
    merge(base, theirs, ours, changes, is_text)
}

/// The hunks of [`hunks`], where the marked ones are out if `ours` may keep its lines there.
fn merge(
    base: &Text,
    theirs: &Text,
    ours: &Text,
    changes: &[Hunk],
    may_keep: fn(&[u8]) -> bool,
) -> Vec<Hunk> {
    let newer = hunks::between(base, ours);
    let mut merge = Merge {
        theirs,
        ours,
        may_keep,
        hunks: Vec::new(),
        to_theirs: 0,
        to_ours: 0,
    };
    let (mut changes, mut newer) = (changes, newer.as_slice());
    while let Some(region) = Region::take(&mut changes, &mut newer) {
        merge.push(&region);
    }
    if hunks::is_sound(ours, theirs, &merge.hunks) {
        return merge.hunks;
    }
    let all = Hunk::new(0..ours.len(), 0..theirs.len());
    vec![merge.left_out(all, Mark::Conflict)]
}

/// The answer of [`texts`].
#[derive(Debug, PartialEq, Eq)]
pub struct Merged {
    /// The text with the changes of both; where they conflict, it has the lines of `ours`.
    pub text: Vec<u8>,
    /// The lines of `ours`, and the lines of `text` that they became.
    pub hunks: Vec<Hunk>,
    /// The number of places that both changed, each in another way: there the change of `theirs` is missing.
    pub conflicts: usize,
}

/// Merges two texts that both come from `base`. Their lines are bytes, in whatever encoding.
pub fn texts(base: &Text, theirs: &Text, ours: &Text) -> Merged {
    let found = merge(base, theirs, ours, &hunks::between(base, theirs), |_| true);
    let text = Text::new(hunks::accepted(ours, theirs, &found));
    let is_conflict = |hunk: &&Hunk| hunk.mark == Some(Mark::Conflict);
    Merged {
        conflicts: found.iter().filter(is_conflict).count(),
        hunks: hunks::between(ours, &text),
        text: text.into_bytes(),
    }
}

/// The places that both texts changed, each in another way: the lines there of the base, of `theirs` and of `ours`.
pub fn conflicts(base: &Text, theirs: &Text, ours: &Text) -> Vec<[Range<usize>; 3]> {
    let (changes, newer) = (hunks::between(base, theirs), hunks::between(base, ours));
    let (mut changes, mut newer) = (&*changes, &*newer);
    let (mut to_theirs, mut to_ours) = (0, 0);
    let mut found = Vec::new();
    while let Some(region) = Region::take(&mut changes, &mut newer) {
        let in_theirs = moved(&region.base, &mut to_theirs, region.changes);
        let in_ours = moved(&region.base, &mut to_ours, region.newer);
        let are_two = !region.changes.is_empty() && !region.newer.is_empty();
        if are_two && theirs.slice(in_theirs.clone()) != ours.slice(in_ours.clone()) {
            found.push([region.base, in_theirs, in_ours]);
        }
    }
    found
}

/// Lines of the base that one side or both changed.
struct Region<'a> {
    base: Range<usize>,
    changes: &'a [Hunk],
    newer: &'a [Hunk],
}

impl<'a> Region<'a> {
    /// Takes the first region, with everything that overlaps.
    fn take(changes: &mut &'a [Hunk], newer: &mut &'a [Hunk]) -> Option<Self> {
        let first = [changes.first(), newer.first()].into_iter().flatten();
        let first = first.min_by(|one, other| order(&one.before, &other.before))?;
        let mut base = first.before.clone();
        let (mut theirs, mut ours) = (0, 0);
        loop {
            let is_in = |hunk: &&Hunk| order(&hunk.before, &base) == Ordering::Equal;
            let (hunk, count) = if let Some(hunk) = changes.get(theirs).filter(is_in) {
                (hunk, &mut theirs)
            } else if let Some(hunk) = newer.get(ours).filter(is_in) {
                (hunk, &mut ours)
            } else {
                break;
            };
            base = base.start.min(hunk.before.start)..base.end.max(hunk.before.end);
            *count += 1;
        }
        let (taken, taken_newer);
        (taken, *changes) = changes.split_at(theirs);
        (taken_newer, *newer) = newer.split_at(ours);
        Some(Self {
            base,
            changes: taken,
            newer: taken_newer,
        })
    }
}

/// The order of two changes of the base from top to bottom; equal if they overlap. Inserted lines
/// overlap those inserted at the same place, or around it.
fn order(one: &Range<usize>, other: &Range<usize>) -> Ordering {
    if one == other {
        Ordering::Equal
    } else if one.end <= other.start {
        Ordering::Less
    } else if other.end <= one.start {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// A newer text with what somebody had made of its forerunner.
#[derive(Debug, PartialEq, Eq)]
pub struct Carried {
    /// The newer text, with every edit that is in nobody's way.
    pub text: Vec<u8>,
    /// The lines of it that the other edits would have changed, too.
    pub conflicts: Vec<Range<usize>>,
}

/// Takes what turns `base` into `edited` along to `newer`, which came of `base`, too.
pub fn carry(base: &Text, edited: &Text, newer: &Text) -> Carried {
    let edits = hunks::between(base, edited);
    let mut text = Vec::with_capacity(newer.bytes().len());
    let (mut conflicts, mut next, mut lines) = (Vec::new(), 0, 0);
    for hunk in merge(base, edited, newer, &edits, |_| true) {
        text.extend_from_slice(newer.slice(next..hunk.before.start));
        lines += hunk.before.start - next;
        next = hunk.before.end;
        let (source, kept) = match hunk.out {
            true => (newer, hunk.before),
            false => (edited, hunk.after),
        };
        text.extend_from_slice(source.slice(kept.clone()));
        if hunk.mark == Some(Mark::Conflict) {
            conflicts.push(lines..lines + kept.len());
        }
        lines += kept.len();
    }
    text.extend_from_slice(newer.slice(next..newer.len()));
    Carried { text, conflicts }
}

struct Merge<'a> {
    theirs: &'a Text,
    ours: &'a Text,
    /// Returns true if these lines of `ours` may stay in the result.
    may_keep: fn(&[u8]) -> bool,
    hunks: Vec<Hunk>,
    /// The distance of a line of the base from its place in the two others.
    to_theirs: isize,
    to_ours: isize,
}

impl Merge<'_> {
    fn push(&mut self, region: &Region<'_>) {
        let theirs = moved(&region.base, &mut self.to_theirs, region.changes);
        let ours = moved(&region.base, &mut self.to_ours, region.newer);
        let hunk = Hunk::new(ours, theirs);
        match (region.changes, region.newer) {
            ([change, ..], []) => self.hunks.push(Hunk {
                out: change.out,
                mark: change.mark,
                ..hunk
            }),
            ([], _) => self.hunks.push(self.left_out(hunk, Mark::Reverts)),
            _ => self.push_conflict(&hunk),
        }
    }

    /// Both changed these lines. If they did the same there is nothing left to do.
    fn push_conflict(&mut self, whole: &Hunk) {
        let lines = |text: &Text, lines: &Range<usize>| Text::new(text.slice(lines.clone()));
        let ours = lines(self.ours, &whole.before);
        let theirs = lines(self.theirs, &whole.after);
        for part in hunks::between(&ours, &theirs) {
            let shift =
                |part: Range<usize>, by: &Range<usize>| part.start + by.start..part.end + by.start;
            let hunk = Hunk::new(
                shift(part.before, &whole.before),
                shift(part.after, &whole.after),
            );
            self.hunks.push(self.left_out(hunk, Mark::Conflict));
        }
    }

    /// A hunk that was not asked for: it is marked, and out where `ours` may keep its lines.
    fn left_out(&self, hunk: Hunk, mark: Mark) -> Hunk {
        Hunk {
            out: (self.may_keep)(self.ours.slice(hunk.before.clone())),
            mark: Some(mark),
            ..hunk
        }
    }
}

/// The place of lines of the base in a text with these changes of them; `offset` moves on.
fn moved(base: &Range<usize>, offset: &mut isize, changes: &[Hunk]) -> Range<usize> {
    let start = base.start.saturating_add_signed(*offset);
    for hunk in changes {
        *offset += signed(hunk.after.len()) - signed(hunk.before.len());
    }
    start..base.end.saturating_add_signed(*offset)
}

fn signed(lines: usize) -> isize {
    isize::try_from(lines).unwrap_or(isize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_both_changed_otherwise_is_found_in_all_three() {
        let base = Text::new("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        let theirs = Text::new("1\n2\nX\n3\n4\nfive\n6\n7\neight\n9\n");
        let ours = Text::new("1\n2\n3\n4\n5!\nand\n6\n7\neight\n9\nY\n");
        let expected = [[4..5, 5..6, 4..6]];
        assert_eq!(conflicts(&base, &theirs, &ours), expected);
        assert!(conflicts(&base, &theirs, &base).is_empty());
        let empty = Text::new("");
        assert_eq!(conflicts(&empty, &theirs, &ours).len(), 1);
    }

    fn utf8(text: Vec<u8>) -> String {
        String::from_utf8(text).unwrap()
    }

    fn merged(base: &str, theirs: &str, ours: &str) -> (String, Vec<(Option<Mark>, bool)>) {
        let (base, theirs, ours) = (Text::new(base), Text::new(theirs), Text::new(ours));
        let changes = hunks::between(&base, &theirs);
        let found = hunks(&base, &theirs, &ours, &changes);
        let marks = found.iter().map(|hunk| (hunk.mark, hunk.out)).collect();
        (utf8(hunks::accepted(&ours, &theirs, &found)), marks)
    }

    const NEWER: (Option<Mark>, bool) = (Some(Mark::Reverts), true);
    const CONFLICT: (Option<Mark>, bool) = (Some(Mark::Conflict), true);
    const PLAIN: (Option<Mark>, bool) = (None, false);

    #[test]
    fn two_texts_become_one_with_both_changes_and_conflicts_keep_ours() {
        let text = |text: &str| Text::new(text.to_owned());
        for (base, theirs, ours, expected, conflicts) in [
            ("a\nb\nc\n", "a\nb\nC\n", "A\nb\nc\n", "A\nb\nC\n", 0),
            (
                "a\nb\nc\n",
                "a\nB1\nc\nd\n",
                "a\nB2\nc\n",
                "a\nB2\nc\nd\n",
                1,
            ),
            ("a\r\nb", "a\r\nb\r\nc\r\n", "A\r\nb", "A\r\nb\r\nc\r\n", 0),
            ("a\n", "", "a\n", "", 0),
        ] {
            let merged = texts(&text(base), &text(theirs), &text(ours));
            assert_eq!(merged.hunks, hunks::between(&text(ours), &text(expected)));
            assert_eq!(
                (utf8(merged.text), merged.conflicts),
                (expected.to_owned(), conflicts)
            );
        }
    }

    #[test]
    fn a_newer_change_stays_and_undoing_it_is_marked() {
        assert_eq!(
            merged("a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\ne\n"),
            ("A\nb\nc\nd\nE\n".to_owned(), vec![NEWER, PLAIN])
        );
    }

    #[test]
    fn changes_of_neighbouring_lines_are_both_kept() {
        assert_eq!(
            merged("a\nb\n", "a\nB\n", "A\nb\n"),
            ("A\nB\n".to_owned(), vec![NEWER, PLAIN])
        );
        assert_eq!(
            merged("a\nb\n", "a\nx\nb\n", "A\nb\n"),
            ("A\nx\nb\n".to_owned(), vec![NEWER, PLAIN])
        );
    }

    #[test]
    fn a_conflict_is_marked_and_what_both_did_is_no_hunk() {
        assert_eq!(
            merged("a\nb\n", "a\nthis\n", "a\nthat\n"),
            ("a\nthat\n".to_owned(), vec![CONFLICT])
        );
        assert_eq!(
            merged("a\n", "a\nthis\n", "a\nthat\n"),
            ("a\nthat\n".to_owned(), vec![CONFLICT])
        );
        assert_eq!(
            merged("a\nb\nc\n", "A\nb\nC\n", "A\nb\nc\n"),
            ("A\nb\nC\n".to_owned(), vec![PLAIN])
        );
    }

    #[test]
    fn ends_of_lines_and_of_files_are_kept_byte_for_byte() {
        assert_eq!(
            merged(
                "\u{feff}a\r\nb\r\nc",
                "\u{feff}a\r\nB\r\nc",
                "\u{feff}a\r\nb\r\nc\r\nd"
            )
            .0,
            "\u{feff}a\r\nB\r\nc\r\nd"
        );
        assert_eq!(merged("a\nb\nc", "a\nb\nC", "b\nc").0, "b\nC");
    }

    #[test]
    fn newer_lines_that_are_no_text_cannot_be_kept_and_that_is_marked() {
        let (base, theirs) = (Text::new("a\nb\n"), Text::new("a\nB\n"));
        let ours = Text::new(b"\xff\nb\n".to_vec());
        let found = hunks(&base, &theirs, &ours, &hunks::between(&base, &theirs));
        assert_eq!((found[0].mark, found[0].out), (Some(Mark::Reverts), false));
    }

    #[test]
    fn a_merge_of_texts_keeps_lines_in_any_encoding() {
        let text = |text: &[u8]| Text::new(text.to_vec());
        for end in ["\n", "\r\n"] {
            let lines = |lines: &[&[u8]]| {
                let ended = lines.iter().map(|it| [*it, end.as_bytes()].concat());
                ended.collect::<Vec<_>>().concat()
            };
            let base = lines(&[b"gr\xfc\xdfe", b"b", b"c", b"d", b"\xe4"]);
            let theirs = lines(&[b"gr\xfc\xdfe", b"b", b"\xc7", b"d", b"\xe4"]);
            let ours = lines(&[b"\xff mine", b"b", b"c", b"d", b"\xe4", b"\xf6"]);
            let both = lines(&[b"\xff mine", b"b", b"\xc7", b"d", b"\xe4", b"\xf6"]);
            let merged = texts(&text(&base), &text(&theirs), &text(&ours));
            assert_eq!((merged.text, merged.conflicts), (both.clone(), 0));
            let carried = carry(&text(&base), &text(&theirs), &text(&ours));
            assert_eq!((carried.text, carried.conflicts), (both, vec![]));
            let other = lines(&[b"gr\xfc\xdfe", b"b", b"\xe7", b"d", b"\xe4"]);
            let merged = texts(&text(&base), &text(&theirs), &text(&other));
            assert_eq!((merged.text, merged.conflicts), (other.clone(), 1));
            let carried = carry(&text(&base), &text(&theirs), &text(&other));
            assert_eq!(carried.text, other);
            assert!(matches!(&carried.conflicts[..], [lines] if *lines == (2..3)));
        }
    }

    #[test]
    fn edits_are_taken_along_unless_the_newer_text_is_in_their_way() {
        let carried = |base: &str, edited: &str, newer: &str| {
            let carried = carry(&Text::new(base), &Text::new(edited), &Text::new(newer));
            let conflicts = carried.conflicts.iter();
            let conflicts: Vec<_> = conflicts.map(|lines| (lines.start, lines.end)).collect();
            (String::from_utf8(carried.text).unwrap(), conflicts)
        };
        assert_eq!(
            carried("a\nb\nc\n", "a\nb\nmine\n", "new\na\nb\nc\n"),
            ("new\na\nb\nmine\n".to_owned(), vec![])
        );
        assert_eq!(
            carried("a\nb\nc\n", "mine\na\nb\nC\n", "a\nb\nother\n"),
            ("mine\na\nb\nother\n".to_owned(), vec![(3, 4)])
        );
        assert_eq!(
            carried("a\nb\n", "a\nmine\n", "a\n"),
            ("a\n".to_owned(), vec![(1, 1)])
        );
        assert_eq!(carried("a\nb", "a\nB", "a\nB"), ("a\nB".to_owned(), vec![]));
    }

    /// The change of one line of the base.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum LineEdit {
        Kept,
        Gone,
        Replaced,
        Preceded,
    }

    fn edits() -> impl Strategy<Value = Vec<(LineEdit, LineEdit)>> {
        let edit = || {
            prop_oneof![
                4 => Just(LineEdit::Kept),
                1 => Just(LineEdit::Gone),
                1 => Just(LineEdit::Replaced),
                1 => Just(LineEdit::Preceded),
            ]
        };
        prop::collection::vec((edit(), edit()), 0..30)
    }

    fn changed(edits: impl Iterator<Item = LineEdit>, who: &str, end: &str) -> String {
        let line = |(at, edit)| match edit {
            LineEdit::Kept => format!("line {at}{end}"),
            LineEdit::Gone => String::new(),
            LineEdit::Replaced => format!("{who} {at}{end}"),
            LineEdit::Preceded => format!("{who} {at}{end}line {at}{end}"),
        };
        edits.enumerate().map(line).collect()
    }

    proptest! {
        #[test]
        fn a_merge_without_overlap_has_both_changes(edits in edits(), end in "\r?\n") {
            let mut single = Vec::new();
            for (theirs, ours) in edits {
                // One side only changes each line, and a line between is left alone.
                let ours = if theirs == LineEdit::Kept { ours } else { LineEdit::Kept };
                single.extend([(theirs, ours), (LineEdit::Kept, LineEdit::Kept)]);
            }
            let base = changed(single.iter().map(|_| LineEdit::Kept), "", &end);
            let theirs = changed(single.iter().map(|edit| edit.0), "theirs", &end);
            let ours = changed(single.iter().map(|edit| edit.1), "ours", &end);
            let lines = single.iter().enumerate().map(|(at, (theirs, ours))| {
                let edit = if *theirs == LineEdit::Kept { *ours } else { *theirs };
                let who = if *theirs == LineEdit::Kept { "ours" } else { "theirs" };
                match edit {
                    LineEdit::Kept => format!("line {at}{end}"),
                    LineEdit::Gone => String::new(),
                    LineEdit::Replaced => format!("{who} {at}{end}"),
                    LineEdit::Preceded => format!("{who} {at}{end}line {at}{end}"),
                }
            });
            let both: String = lines.collect();
            let (text, marks) = merged(&base, &theirs, &ours);
            prop_assert_eq!(text, both);
            prop_assert!(!marks.contains(&CONFLICT));
        }

        #[test]
        fn nothing_newer_is_lost_unless_a_marked_hunk_is_taken_in(edits in edits()) {
            let base = changed(edits.iter().map(|_| LineEdit::Kept), "", "\n");
            let theirs = changed(edits.iter().map(|edit| edit.0), "theirs", "\n");
            let ours = changed(edits.iter().map(|edit| edit.1), "ours", "\n");
            let (text, _) = merged(&base, &theirs, &ours);
            let newer = ours.lines().filter(|line| line.starts_with("ours"));
            let lines: Vec<&str> = text.lines().collect();
            for line in newer {
                prop_assert!(lines.contains(&line), "{} is not in {}", line, text);
            }
            for (at, (_, ours)) in edits.iter().enumerate() {
                let line = format!("line {at}");
                let is_gone = matches!(ours, LineEdit::Gone | LineEdit::Replaced);
                prop_assert!(!(is_gone && lines.contains(&line.as_str())), "{} is back", line);
            }
        }

        #[test]
        fn with_every_hunk_in_it_is_the_proposal_and_with_none_the_file(
            base in "([ab{}\u{feff}]?\r?\n){0,8}[ab]?",
            theirs in "([ab{}\u{feff}]?\r?\n){0,8}[ab]?",
            ours in "([ab{}\u{feff}]?\r?\n){0,8}[ab]?",
        ) {
            let (base, theirs, ours) = (Text::new(base), Text::new(theirs), Text::new(ours));
            let mut found = hunks(&base, &theirs, &ours, &hunks::between(&base, &theirs));
            for (out, whole) in [(false, &theirs), (true, &ours)] {
                found.iter_mut().for_each(|hunk| hunk.out = out);
                let result = hunks::accepted(&ours, &theirs, &found);
                prop_assert_eq!(result.as_slice(), whole.bytes());
            }
        }
    }
}
