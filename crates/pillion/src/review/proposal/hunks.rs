//! Finding the hunks between two texts: line by line, with lines placed where people expect them.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::review::text::Text;

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
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
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
        vec![Hunk {
            before: 0..before.len(),
            after: 0..after.len(),
            out: false,
        }]
    }
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
