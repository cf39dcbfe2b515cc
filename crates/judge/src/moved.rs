//! Blocks of lines that a change moves: taken out at one place, put in at another, perhaps with another indentation.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pillion_text::Text;
use pillion_text::hunks::Hunk;

use crate::proposal::Side;

/// What has fewer letters and digits is no block: a closing bracket moves nowhere. Of so many lines, half of them are enough.
const MIN_LETTERS: (usize, usize) = (20, 3);

/// Of more changed lines, none is looked for elsewhere.
const MAX_LINES: usize = 50_000;

/// A line that was taken out more often does not tell from where it comes.
const MAX_TWINS: usize = 16;

/// The blocks that a change moves.
#[derive(Debug, Default)]
pub struct Moved(Vec<Block>);

/// Lines before, and the same lines after.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    left: Range<usize>,
    right: Range<usize>,
}

/// Where a line that is moved stands on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elsewhere {
    /// Its index there.
    pub line: usize,
    /// It is the first line of its block.
    pub is_first: bool,
}

impl Moved {
    /// Finds what these hunks move.
    pub fn new(before: &Text, after: &Text, hunks: &[Hunk]) -> Self {
        let lines = |hunk: &Hunk| hunk.before.len() + hunk.after.len();
        if hunks.iter().map(lines).sum::<usize>() > MAX_LINES {
            return Self::default();
        }
        let mut search = Search::new(before, after, hunks);
        for hunk in 0..hunks.len() {
            search.look_in(hunk);
        }
        Self(search.found)
    }

    /// Where a line stands on the other side, if it is moved.
    pub fn of(&self, side: Side, line: usize) -> Option<Elsewhere> {
        self.0.iter().find_map(|Block { left, right }| {
            let (here, there) = match side {
                Side::Left => (left, right),
                Side::Right => (right, left),
            };
            here.contains(&line).then(|| Elsewhere {
                line: there.start + (line - here.start),
                is_first: line == here.start,
            })
        })
    }
}

struct Search<'a> {
    before: &'a Text,
    after: &'a Text,
    hunks: &'a [Hunk],
    /// The lines that are taken out, with their hunks, by what they are without indentation.
    removed: HashMap<&'a [u8], Vec<(usize, usize)>>,
    /// Those that have a place already.
    taken: HashSet<usize>,
    found: Vec<Block>,
}

impl<'a> Search<'a> {
    fn new(before: &'a Text, after: &'a Text, hunks: &'a [Hunk]) -> Self {
        let mut removed: HashMap<_, Vec<_>> = HashMap::new();
        for (at, hunk) in hunks.iter().enumerate() {
            for line in hunk.before.clone() {
                let places = removed.entry(before.line(line).trim_ascii()).or_default();
                places.push((line, at));
            }
        }
        removed.retain(|line, places| !line.is_empty() && places.len() <= MAX_TWINS);
        Self {
            before,
            after,
            hunks,
            removed,
            taken: HashSet::new(),
            found: Vec::new(),
        }
    }

    /// Finds from where the lines come that a hunk adds.
    fn look_in(&mut self, hunk: usize) {
        let added = self.hunks[hunk].after.clone();
        let mut line = added.start;
        while line < added.end {
            let block = self.block(hunk, line);
            line = block.as_ref().map_or(line + 1, |block| block.right.end);
            self.taken
                .extend(block.iter().flat_map(|it| it.left.clone()));
            self.found.extend(block);
        }
    }

    /// The longest block that begins with an added line.
    fn block(&self, hunk: usize, line: usize) -> Option<Block> {
        let places = self.removed.get(self.after.line(line).trim_ascii())?;
        let blocks = places.iter().map(|(from, of)| {
            let count = self.run((hunk, line), (*of, *from));
            Block {
                left: *from..from + count,
                right: line..line + count,
            }
        });
        let longest = blocks.max_by_key(|block| block.left.len())?;
        let letters = self.after.slice(longest.right.clone()).iter();
        let letters = letters.filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        let (least, many) = MIN_LETTERS;
        let is_long = longest.right.len() >= many;
        (letters.count() >= if is_long { least / 2 } else { least }).then_some(longest)
    }

    /// The number of lines from these on that are the same.
    fn run(&self, (hunk, line): (usize, usize), (of, from): (usize, usize)) -> usize {
        let left = from..self.hunks[of].before.end;
        let right = line..self.hunks[hunk].after.end;
        let shift = shift(self.before.line(from), self.after.line(line));
        let is_same = |(from, line): &(usize, usize)| {
            let (old, new) = (self.before.line(*from), self.after.line(*line));
            // In one hunk, a line that is indented otherwise stays where it is. One that is indented otherwise than its block means
            // something else.
            let is_line = old == new && shift.is_none_or(|(less, more)| less == more)
                || hunk != of
                    && old.trim_ascii() == new.trim_ascii()
                    && (new.trim_ascii().is_empty() || self::shift(old, new) == shift);
            is_line && !self.taken.contains(from)
        };
        left.zip(right).take_while(is_same).count()
    }
}

/// The indentation that the first of two lines has before what both have, and the second; none if they have nothing in common there.
fn shift<'a>(old: &'a [u8], new: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let indent = |line: &'a [u8]| &line[..line.len() - line.trim_ascii_start().len()];
    let (old, new) = (indent(old), indent(new));
    match (new.strip_suffix(old), old.strip_suffix(new)) {
        (Some(more), _) => Some((&[], more)),
        (None, Some(less)) => Some((less, &[])),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::Proposal;

    /// The lines after that are moved, each with the line before that it is.
    fn moved(before: &str, after: &str) -> Vec<(usize, usize)> {
        let proposal = Proposal::new(Some(Text::new(before)), after);
        let moved = Moved::new(proposal.before(), proposal.after(), proposal.hunks());
        let lines = 0..proposal.after().len();
        let pairs: Vec<_> = lines
            .filter_map(|line| Some((line, moved.of(Side::Right, line)?.line)))
            .collect();
        for (line, from) in &pairs {
            let back = moved.of(Side::Left, *from).expect("both sides know it");
            assert_eq!(back.line, *line);
        }
        pairs
    }

    const BLOCK: &str = "fn moved_elsewhere() {\n    some_call();\n}\n";

    #[test]
    fn a_block_is_found_where_it_went() {
        let rest = "a\nb\nc\nd\ne\nf\n";
        let (before, after) = (format!("{BLOCK}{rest}"), format!("{rest}{BLOCK}"));
        assert_eq!(moved(&before, &after), [(6, 0), (7, 1), (8, 2)]);
        let indented: String = BLOCK.lines().map(|line| format!("    {line}\n")).collect();
        let inner = format!("{rest}mod m {{\n{indented}}}\n");
        assert_eq!(moved(&before, &inner), [(7, 0), (8, 1), (9, 2)]);
    }

    #[test]
    fn a_line_that_is_indented_otherwise_than_its_block_is_no_part_of_it() {
        let rest = "a\nb\nc\nd\ne\nf\n";
        let block =
            "def one(values):\n    for it in values:\n        total += it\n    return total\n";
        let changed = block.replace("    return", "        return");
        let before = format!("{block}{rest}");
        assert_eq!(moved(&before, &format!("{rest}{block}")).len(), 4);
        assert_eq!(
            moved(&before, &format!("{rest}{changed}")),
            [(6, 0), (7, 1), (8, 2)]
        );
        let indent = |text: &str| {
            text.lines()
                .map(|line| format!("  {line}\n"))
                .collect::<String>()
        };
        assert_eq!(
            moved(&before, &format!("{rest}x\n{}", indent(block))).len(),
            4
        );
        assert_eq!(
            moved(&before, &format!("{rest}x\n{}", indent(&changed))).len(),
            3
        );
    }

    #[test]
    fn a_small_function_among_others_like_it_is_a_block() {
        let name = |at: usize| format!("def f{at}(x):\n    a = {at}\n    return a * x\n\n");
        let text = |order: &[usize]| order.iter().map(|at| name(*at)).collect::<String>();
        let (before, after) = (text(&[0, 1, 2, 3, 4]), text(&[1, 2, 3, 0, 4]));
        let pairs = moved(&before, &after);
        assert!(pairs.starts_with(&[(12, 0), (13, 1), (14, 2)]), "{pairs:?}");
    }

    #[test]
    fn what_stays_or_is_no_block_is_not_moved() {
        let indented: String = BLOCK.lines().map(|line| format!("    {line}\n")).collect();
        assert_eq!(moved(BLOCK, &indented), []);
        assert_eq!(moved("}\na\nb\nc\n", "a\nb\nc\n}\n"), []);
        assert_eq!(moved("a\n", &format!("a\n{BLOCK}")), []);
    }

    #[test]
    fn each_line_moves_once() {
        let rest = "a\nb\nc\nd\ne\nf\n";
        let after = format!("{BLOCK}x\n{rest}{BLOCK}y\n");
        let before = format!("{rest}{BLOCK}");
        let pairs = moved(&before, &after);
        let from: HashSet<_> = pairs.iter().map(|(_, from)| from).collect();
        assert_eq!(from.len(), pairs.len(), "{pairs:?}");
    }

    #[test]
    fn a_large_change_is_not_searched() {
        let lines = |from: usize| (from..from + 30_000).map(|at| format!("line number {at}\n"));
        let (before, after): (String, String) = (lines(0).collect(), lines(50_000).collect());
        assert_eq!(
            moved(&format!("{BLOCK}{before}"), &format!("{after}{BLOCK}")),
            []
        );
    }
}
