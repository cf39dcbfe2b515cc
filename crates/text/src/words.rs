//! Where two versions of a line differ, word by word: what is marked of them, and what a person has to see.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// So many bytes of a line are compared word by word, once what is the same at both ends is left out.
const MAX_WORDS: usize = 8 << 10;

/// So many bytes are compared phrase by phrase, to find the words worth comparing. Of what differs
/// over more than this, all counts as changed.
const MAX_PHRASES: usize = 256 << 10;

/// No word is longer, where the place is sought at which two lines begin to differ.
const MAX_WORD: usize = 128;

/// The byte ranges of a line that differ from the other version of it.
pub type Ranges = Vec<Range<usize>>;

/// A line without its end.
pub fn content(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The words of `text`: runs of letters and digits, runs of spaces, and every other character. Where
/// a script puts no spaces between words each character is one.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let kind = kind(rest.chars().next()?);
        let end = match kind {
            Kind::Single => rest.graphemes(true).next().map_or(1, str::len),
            _ => rest
                .find(|char| self::kind(char) != kind && !is_mark(char))
                .unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// The differences between two versions of a line; `None` when they are so different that marking
/// words would only be noise. The time that this takes is bounded, however long they are.
pub fn changed(left: &str, right: &str) -> Option<(Ranges, Ranges)> {
    let Comparison {
        changes, common, ..
    } = Comparison::of(left, right);
    let (left_len, right_len) = (left.trim().len(), right.trim().len());
    let (shorter, longer) = (left_len.min(right_len), left_len.max(right_len));
    if common * 10 < longer * 3 || common * 10 < shorter * 6 {
        return None;
    }
    let (removed, added): (Ranges, Ranges) = changes.into_iter().unzip();
    Some((merged(left, removed), merged(right, added)))
}

/// The ranges of the line `after` that a person has to see where it stands in place of `before`: the words that are new, and
/// the characters beside words that are gone. `None` if the two have nothing in common, or do not differ.
pub fn to_see(before: &str, after: &str) -> Option<Ranges> {
    let (before, after) = (content(before), content(after));
    let Comparison {
        changes, common, ..
    } = Comparison::of(before, after);
    let seen = changes
        .into_iter()
        .map(|(_, range)| match range.is_empty() {
            true => {
                let former = after[..range.start].chars().next_back();
                let next = after[range.end..].chars().next();
                range.start - former.map_or(0, char::len_utf8)
                    ..range.end + next.map_or(0, char::len_utf8)
            }
            false => range,
        });
    let ranges = merged(after, seen.collect());
    (common > 0 && !ranges.is_empty()).then_some(ranges)
}

struct Comparison<'a> {
    left: &'a str,
    right: &'a str,
    /// What of the one line stands where what of the other does, in order; one of the two may be empty.
    changes: Vec<(Range<usize>, Range<usize>)>,
    /// Bytes of words that are the same.
    common: usize,
    /// Bytes that may still be compared word by word.
    budget: usize,
}

impl<'a> Comparison<'a> {
    fn of(left: &'a str, right: &'a str) -> Self {
        let mut comparison = Self {
            left,
            right,
            changes: Vec::new(),
            common: 0,
            budget: MAX_WORDS,
        };
        comparison.compare(0..left.len(), 0..right.len(), true);
        comparison
    }

    /// Compares a part of each line: word by word or, if `by_phrases`, in big pieces first.
    fn compare(&mut self, left: Range<usize>, right: Range<usize>, by_phrases: bool) {
        let (whole_left, whole_right) = (&self.left[left.clone()], &self.right[right.clone()]);
        let (start, end) = same_ends(whole_left, whole_right);
        self.common += whole_left[..start].trim().len();
        self.common += whole_left[whole_left.len() - end..].trim().len();
        let left = left.start + start..left.end - end;
        let right = right.start + start..right.end - end;
        let size = left.len().max(right.len());
        if left.is_empty() || right.is_empty() {
            let differ = !(left.is_empty() && right.is_empty());
            self.changes.extend(differ.then_some((left, right)));
        } else if size <= self.budget {
            self.budget -= size;
            let hunks = self.hunks(left, right, |text| split(text).collect());
            self.changes.extend(hunks);
        } else if by_phrases && size <= MAX_PHRASES {
            for (left, right) in self.hunks(left, right, phrases) {
                self.compare(left, right, false);
            }
        } else {
            self.changes.push((left, right));
        }
    }

    /// The ranges in which two parts differ, in the pieces that `pieces` makes of them.
    fn hunks(
        &mut self,
        left: Range<usize>,
        right: Range<usize>,
        pieces: impl Fn(&str) -> Vec<&str>,
    ) -> Vec<(Range<usize>, Range<usize>)> {
        let before = pieces(&self.left[left.clone()]);
        let after = pieces(&self.right[right.clone()]);
        let mut input = InternedInput::default();
        input.update_before(before.iter().copied());
        input.update_after(after.iter().copied());
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_no_heuristic(&input);
        let kept = (0_u32..)
            .zip(&before)
            .filter(|(at, word)| !word.trim().is_empty() && !diff.is_removed(*at));
        self.common += kept.map(|(_, word)| word.len()).sum::<usize>();
        let (before, after) = (ends(left.start, &before), ends(right.start, &after));
        let range = |ends: &[usize], range: Range<u32>| {
            ends[range.start as usize]..ends[range.end as usize]
        };
        diff.hunks()
            .map(|hunk| (range(&before, hunk.before), range(&after, hunk.after)))
            .collect()
    }
}

/// The beginning of each of these pieces, and the end of the last one.
fn ends(start: usize, pieces: &[&str]) -> Vec<usize> {
    let mut at = start;
    let ends = pieces.iter().map(|piece| {
        at += piece.len();
        at
    });
    std::iter::once(start).chain(ends).collect()
}

/// Big pieces of a text: up to the next sign that ends a part of a sentence or of a program.
fn phrases(text: &str) -> Vec<&str> {
    text.split_inclusive([';', ',', '{', '}', '.', '>', '。', '、', '，'])
        .collect()
}

/// Two ranges with only spaces between them become one; none is empty.
fn merged(text: &str, ranges: Ranges) -> Ranges {
    let mut merged: Ranges = Vec::with_capacity(ranges.len());
    for range in ranges.into_iter().filter(|it| !it.is_empty()) {
        match merged.last_mut() {
            Some(last) if last.end >= range.start => last.end = range.end,
            Some(last) if text[last.end..range.start].trim().is_empty() => last.end = range.end,
            _ => merged.push(range),
        }
    }
    merged
}

/// The number of bytes that are the same at the start and at the end, in whole words.
fn same_ends(left: &str, right: &str) -> (usize, usize) {
    let same = left.bytes().zip(right.bytes());
    let same = same.take_while(|(left, right)| left == right).count();
    let start = boundary_before(left, right, same);
    let (left, right) = (&left[start..], &right[start..]);
    let same = left.bytes().rev().zip(right.bytes().rev());
    let same = same.take_while(|(left, right)| left == right).count();
    (start, boundary_after(left, right, same))
}

/// The last place at or before `at` where a word begins in both texts, which are the same up to it; that place itself, in a longer word.
fn boundary_before(left: &str, right: &str, at: usize) -> usize {
    let at = left.floor_char_boundary(at);
    let mut place = at;
    let least = place.saturating_sub(MAX_WORD);
    while !(is_boundary(left, place) && is_boundary(right, place)) {
        if place <= least {
            return at;
        }
        place = left.floor_char_boundary(place - 1);
    }
    place
}

/// As many of the last `count` bytes, which both texts share, as are whole words in both; all of them, in a longer word.
fn boundary_after(left: &str, right: &str, count: usize) -> usize {
    let place = |text: &str, count: usize| text.len() - count;
    let all = left.len() - left.ceil_char_boundary(place(left, count));
    let mut count = all;
    let least = count.saturating_sub(MAX_WORD);
    let is_split =
        |count| !is_boundary(left, place(left, count)) || !is_boundary(right, place(right, count));
    while is_split(count) {
        if count <= least {
            return all;
        }
        count = left.len() - left.ceil_char_boundary(place(left, count) + 1);
    }
    count
}

/// Returns true if no word of `text` lies on both sides of `at`.
fn is_boundary(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let (Some(before), Some(after)) = (before, text[at..].chars().next()) else {
        return true;
    };
    if is_mark(before) || is_mark(after) || is_regional(after) {
        return false;
    }
    let kind = kind(before);
    kind != self::kind(after) || kind == Kind::Single
}

/// Returns true if it belongs to the character before it.
fn is_mark(char: char) -> bool {
    char > '\u{7f}' && char.width() == Some(0)
}

/// Two of these are one flag.
fn is_regional(char: char) -> bool {
    matches!(char, '\u{1f1e6}'..='\u{1f1ff}')
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Word,
    Space,
    /// Japanese words of foreign origin are written in letters of their own.
    Katakana,
    /// A word by itself.
    Single,
}

fn kind(char: char) -> Kind {
    match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Kind::Word,
        ' ' | '\t' => Kind::Space,
        '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30fe}' | '\u{31f0}'..='\u{31ff}' => {
            Kind::Katakana
        }
        _ if is_without_spaces(char) || !char.is_alphanumeric() => Kind::Single,
        _ => Kind::Word,
    }
}

/// Returns true if `char` is of a script that puts no spaces between words.
fn is_without_spaces(char: char) -> bool {
    matches!(char,
        // Thai and Lao; Burmese; Khmer.
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        // Chinese and Japanese.
        | '\u{2e80}'..='\u{2fdf}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{309f}'
        | '\u{3105}'..='\u{312f}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(left: &str, right: &str) -> Option<(String, String)> {
        let mark = |text: &str, ranges: Ranges| {
            let mut marked = text.to_owned();
            for range in ranges.into_iter().rev() {
                marked.insert(range.end, ']');
                marked.insert(range.start, '[');
            }
            marked
        };
        changed(left, right).map(|(a, b)| (mark(left, a), mark(right, b)))
    }

    #[test]
    fn changed_words_are_marked() {
        assert_eq!(
            marked("let total = sum(a, b);", "let total = product(a, b);"),
            Some((
                "let total = [sum](a, b);".into(),
                "let total = [product](a, b);".into()
            ))
        );
        assert_eq!(
            marked("return a", "return a + b"),
            Some(("return a".into(), "return a[ + b]".into()))
        );
        assert_eq!(
            marked("let first = second", "let fist = secund"),
            None,
            "words that only look alike are not in common"
        );
    }

    #[test]
    fn lines_without_much_in_common_are_left_alone() {
        assert_eq!(marked("import os", "class Session(Base):"), None);
        assert_eq!(marked(&"x".repeat(3_000), "x"), None);
        assert_eq!(marked("        a", "        b"), None);
    }

    #[test]
    fn scripts_without_spaces_are_compared_by_characters() {
        assert_eq!(
            marked("今日は天気がいいです。", "今日は天気が悪いです。"),
            Some((
                "今日は天気が[い]いです。".into(),
                "今日は天気が[悪]いです。".into()
            ))
        );
        assert_eq!(
            marked("我们明天去北京开会。", "我们后天去上海开会。"),
            Some((
                "我们[明]天去[北京]开会。".into(),
                "我们[后]天去[上海]开会。".into()
            ))
        );
        // Words that are written in letters stay whole.
        assert_eq!(
            marked("新しいデータベースを使う", "新しいサーバーを使う"),
            Some((
                "新しい[データベース]を使う".into(),
                "新しい[サーバー]を使う".into()
            ))
        );
        assert_eq!(
            marked("오늘 날씨가 좋습니다 정말", "오늘 날씨가 나쁩니다 정말"),
            Some((
                "오늘 날씨가 [좋습니다] 정말".into(),
                "오늘 날씨가 [나쁩니다] 정말".into()
            ))
        );
    }

    #[test]
    fn a_word_changes_with_its_accents() {
        assert_eq!(
            marked(
                "un e\u{301}te\u{301} chaud et sec",
                "un e\u{301}te chaud et sec"
            ),
            Some((
                "un [e\u{301}te\u{301}] chaud et sec".into(),
                "un [e\u{301}te] chaud et sec".into()
            ))
        );
    }

    #[test]
    fn a_change_in_a_long_line_is_marked() {
        let long = |middle: &str| {
            let numbers: String = (0..20_000).map(|number| format!("{number},")).collect();
            format!("{numbers}{middle}{numbers}")
        };
        let (removed, added) = changed(&long("old,"), &long("new,")).unwrap();
        assert_eq!(&long("old,")[removed[0].clone()], "old");
        assert_eq!(&long("new,")[added[0].clone()], "new");
        assert_eq!((removed.len(), added.len()), (1, 1));
    }

    #[test]
    fn changes_far_from_each_other_are_marked_each() {
        let line = |first: &str, second: &str| {
            let between: String = (0..10_000).map(|at| format!("f({at});")).collect();
            format!("let {first} = 1;{between}let {second} = 2;")
        };
        let (removed, added) = changed(&line("a", "b"), &line("x", "y")).unwrap();
        let left = line("a", "b");
        let words: Vec<_> = removed.iter().map(|range| &left[range.clone()]).collect();
        assert_eq!(words, ["a", "b"]);
        assert_eq!(added.len(), 2);
    }

    #[test]
    fn what_differs_over_too_much_is_marked_as_a_whole() {
        let line = |seed: usize, count: usize| {
            let words: String = (0..count)
                .map(|at| format!("{:x} ", at * 7 + seed))
                .collect();
            format!("{}<{words}>{}", "a ".repeat(400_000), "b ".repeat(400_000))
        };
        let (left, right) = (line(1, 60_000), line(2, 60_000));
        let (removed, added) = changed(&left, &right).unwrap();
        assert_eq!((removed.len(), added.len()), (1, 1));
        assert!(left[removed[0].clone()].starts_with('1'));
    }

    #[test]
    fn what_is_to_be_seen_of_a_line_are_the_words_that_differ() {
        let of = |before: &str, after| {
            let found = to_see(before, after)?;
            Some(Vec::from_iter(found.into_iter().map(|it| &after[it])))
        };
        for (before, after, seen) in [
            ("let a = 1;", "let a = 2;", Some(vec!["2"])),
            ("let a = 1;", "let b = 2;", Some(vec!["b", "2"])),
            ("let foo = 1;\n", "let fob = 1;\r\n", Some(vec!["fob"])),
            ("a foo", "a foobar", Some(vec!["foobar"])),
            ("foobar b", "bar b", Some(vec!["bar"])),
            // What is beside what is gone.
            ("f(a, b)", "f(a)", Some(vec!["a)"])),
            ("a b", "b", Some(vec!["b"])),
            ("b a", "b", Some(vec!["b"])),
            ("grün – rot", "grün – röter", Some(vec!["röter"])),
            // All of it.
            ("one", "two", None),
            ("", "two", None),
            ("one", "", None),
        ] {
            assert_eq!(of(before, after), seen, "{before:?} {after:?}");
        }
    }

    #[test]
    fn of_a_long_word_the_part_that_differs_is_to_be_seen() {
        let long = "x".repeat(2 * MAX_WORD);
        let of = |before: &str, after: &str| to_see(before, after)?.pop();
        let end = long.len();
        assert_eq!(
            of(&format!("{long}a"), &format!("{long}b")),
            Some(end..end + 1)
        );
        assert_eq!(of(&format!("a{long}"), &format!("b{long}")), Some(0..1));
    }

    #[test]
    fn of_a_line_with_too_many_words_all_between_its_ends_is_to_be_seen() {
        let (old, new) = ("a ".repeat(MAX_PHRASES), "b ".repeat(MAX_PHRASES));
        let (before, after) = (format!("x({old})"), format!("x({new})"));
        let found = to_see(&before, &after).unwrap();
        assert_eq!(found.first(), Some(&(2..after.len() - " )".len())));
    }

    proptest! {
        #[test]
        fn ranges_lie_on_characters(left: String, right: String) {
            prop_assert_eq!(split(&left).collect::<String>(), left.clone());
            if let Some((a, b)) = changed(&left, &right) {
                prop_assert!(a.iter().all(|range| left.get(range.clone()).is_some()));
                prop_assert!(b.iter().all(|range| right.get(range.clone()).is_some()));
            }
        }

        #[test]
        fn what_is_not_marked_is_the_same(
            left in "[ab ,é漢\u{301}]{0,40}",
            right in "[ab ,é漢\u{301}]{0,40}",
        ) {
            if let Some((removed, added)) = changed(&left, &right) {
                let rest = |text: &str, ranges: Ranges| {
                    let mut text = text.to_owned();
                    for range in ranges.into_iter().rev() {
                        text.replace_range(range, "");
                    }
                    text.replace(' ', "")
                };
                prop_assert_eq!(rest(&left, removed), rest(&right, added));
            }
        }
    }
}
