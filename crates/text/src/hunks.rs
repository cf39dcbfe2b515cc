//! Finding the hunks between two texts: line by line, with lines placed where people expect them.

use std::ops::Range;
use std::time::{Duration, Instant};

use imara_diff::{Algorithm, Diff, InternedInput, Token};
use serde::{Deserialize, Serialize};
use similar::{DiffTag, capture_diff_slices_deadline};

use crate::Text;

/// Texts that differ over more lines than this are compared against the clock, which only `similar` can:
/// with 200,000 lines of a few thousand kinds the other library takes minutes.
const MANY_LINES: usize = 40_000;

/// The time limit for such a comparison. The part that is not compared by then is one hunk.
const DIFF_TIMEOUT: Duration = Duration::from_secs(1);

/// One change: these lines before become those lines after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The lines before, from 0.
    pub before: Range<usize>,
    /// The lines after, from 0.
    pub after: Range<usize>,
    /// True if it is taken out of the proposal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out: bool,
    /// The fact that the reviewer should know about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
}

/// The special fact about a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mark {
    /// The former proposal did not have it.
    New,
    /// The former proposal had another one there, which the reviewer took out.
    Changed,
    /// It took the place of something that the reviewer wrote.
    Overwrites,
    /// It would undo a change of the file that is newer than the proposal.
    Reverts,
    /// The file has a newer change of the same lines.
    Conflict,
}

impl Hunk {
    /// A hunk that is in, like any other.
    pub fn new(before: Range<usize>, after: Range<usize>) -> Self {
        Self {
            before,
            after,
            out: false,
            mark: None,
        }
    }
}

/// The hunks that turn `before` into `after`.
pub fn between(before: &Text, after: &Text) -> Vec<Hunk> {
    if before.bytes() == after.bytes() {
        return Vec::new();
    }
    let input = InternedInput::new(before.bytes(), after.bytes());
    let (start, end) = same_ends(&input.before, &input.after);
    let lines = before.len() + after.len() - 2 * (start + end);
    let hunks = if lines <= MANY_LINES {
        beautiful(&input)
    } else {
        quick(&input, start, end)
    };
    if is_sound(before, after, &hunks) {
        hunks
    } else {
        vec![Hunk::new(0..before.len(), 0..after.len())]
    }
}

/// Hunks where people expect them.
fn beautiful(input: &InternedInput<&[u8]>) -> Vec<Hunk> {
    let mut diff = Diff::compute(Algorithm::Histogram, input);
    diff.postprocess_lines(input);
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks()
        .map(|found| Hunk::new(range(found.before), range(found.after)))
        .collect()
}

/// Hunks in bounded time; the lines that are the same at both ends need no comparison.
fn quick(input: &InternedInput<&[u8]>, start: usize, end: usize) -> Vec<Hunk> {
    let before = &input.before[start..input.before.len() - end];
    let after = &input.after[start..input.after.len() - end];
    let deadline = Some(Instant::now() + DIFF_TIMEOUT);
    let changes = capture_diff_slices_deadline(similar::Algorithm::Myers, before, after, deadline);
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    changes
        .into_iter()
        .filter(|change| change.tag() != DiffTag::Equal)
        .map(|change| Hunk::new(shift(change.old_range()), shift(change.new_range())))
        .collect()
}

/// The number of lines that are the same at the start, and of the others that are at the end.
fn same_ends(before: &[Token], after: &[Token]) -> (usize, usize) {
    let same = |(a, b): &(&Token, &Token)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev());
    (start, end.take_while(same).count())
}

/// The text after, with the lines before in place of every hunk that is out.
pub fn accepted(before: &Text, after: &Text, hunks: &[Hunk]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(after.bytes().len());
    let mut next = 0;
    for hunk in hunks.iter().filter(|hunk| hunk.out) {
        bytes.extend_from_slice(after.slice(next..hunk.after.start));
        bytes.extend_from_slice(before.slice(hunk.before.clone()));
        next = hunk.after.end;
    }
    bytes.extend_from_slice(after.slice(next..after.len()));
    bytes
}

/// Returns true if everything between the hunks is the same on both sides. An accepted text is put
/// together from these pieces, so that this is made sure of rather than believed.
pub fn is_sound(before: &Text, after: &Text, hunks: &[Hunk]) -> bool {
    let (mut left, mut right) = (0, 0);
    let end = Hunk::new(before.len()..before.len(), after.len()..after.len());
    for hunk in hunks.iter().chain([&end]) {
        if before.slice(left..hunk.before.start) != after.slice(right..hunk.after.start) {
            return false;
        }
        (left, right) = (hunk.before.end, hunk.after.end);
    }
    true
}
