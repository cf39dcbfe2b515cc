//! Finding the hunks between two texts: line by line, with lines placed where people expect them.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Token};

use crate::review::text::Text;

/// Texts that differ over more lines than this get the quicker algorithm.
const MANY_LINES: usize = 40_000;

/// If among so many lines each stands more often than this, finding out which copy became which
/// would take minutes: the whole stretch is one hunk then.
const MANY_COPIES: usize = 16;

/// One change: these lines before become those lines after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The lines before, from 0.
    pub before: Range<usize>,
    /// The lines after, from 0.
    pub after: Range<usize>,
    /// Whether it is taken out of the proposal.
    pub out: bool,
}

/// The hunks that turn `before` into `after`.
pub fn between(before: &Text, after: &Text) -> Vec<Hunk> {
    if before.bytes() == after.bytes() {
        return Vec::new();
    }
    let input = InternedInput::new(before.bytes(), after.bytes());
    let whole = |start: usize, end: usize| Hunk {
        before: start..before.len() - end,
        after: start..after.len() - end,
        out: false,
    };
    let (start, end) = same_ends(&input.before, &input.after);
    let lines = before.len() + after.len() - 2 * (start + end);
    let algorithm = if lines <= MANY_LINES {
        Algorithm::Histogram
    } else if distinct(&input) >= lines / MANY_COPIES {
        Algorithm::Myers
    } else {
        return vec![whole(start, end)];
    };
    let mut diff = Diff::compute(algorithm, &input);
    diff.postprocess_lines(&input);
    let hunks: Vec<_> = diff
        .hunks()
        .map(|hunk| Hunk {
            before: hunk.before.start as usize..hunk.before.end as usize,
            after: hunk.after.start as usize..hunk.after.end as usize,
            out: false,
        })
        .collect();
    if is_sound(before, after, &hunks) {
        hunks
    } else {
        vec![whole(0, 0)]
    }
}

/// How many lines are the same at the start, and how many of the others at the end.
fn same_ends(before: &[Token], after: &[Token]) -> (usize, usize) {
    let same = |(a, b): &(&Token, &Token)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev());
    (start, end.take_while(same).count())
}

/// How many different lines there are.
fn distinct(input: &InternedInput<&[u8]>) -> usize {
    input.interner.num_tokens() as usize
}

/// Whether everything between the hunks is the same on both sides. What is accepted is put together
/// from these pieces, so that this is made sure of rather than believed.
fn is_sound(before: &Text, after: &Text, hunks: &[Hunk]) -> bool {
    let (mut left, mut right) = (0, 0);
    let end = Hunk {
        before: before.len()..before.len(),
        after: after.len()..after.len(),
        out: false,
    };
    for hunk in hunks.iter().chain([&end]) {
        if before.slice(left..hunk.before.start) != after.slice(right..hunk.after.start) {
            return false;
        }
        (left, right) = (hunk.before.end, hunk.after.end);
    }
    true
}
