//! Owns the pairing of each removed line of a hunk with the added line that is its newer version.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use pillion_text::{Text, words};

use crate::proposal::{Hunk, Side};

/// Hunks with more pairs to compare than this are lined up from the top.
const MAX_PAIRS: usize = 4_096;

/// Longer lines are not compared.
const MAX_LINE: usize = 400;

/// The lines of a hunk, lined up. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pairs {
    before: Range<usize>,
    after: Range<usize>,
    /// The rows, when they are not simply the first beside the first and so on.
    rows: Option<Rc<[Beside]>>,
}

type Beside = (Option<usize>, Option<usize>);

impl Pairs {
    /// Lines up `hunk`, with at most so many comparisons, which are taken from the number.
    pub fn new(before: &Text, after: &Text, hunk: &Hunk, comparisons: &mut usize) -> Self {
        let (removed, added) = (hunk.before.len(), hunk.after.len());
        let worth_it = removed > 0 && added > 0 && (removed, added) != (1, 1);
        let needed = removed.saturating_mul(added);
        let rows = if worth_it && needed <= MAX_PAIRS.min(*comparisons) {
            *comparisons -= needed;
            Some(rows(before, after, hunk).into())
        } else {
            None
        };
        Self {
            before: hunk.before.clone(),
            after: hunk.after.clone(),
            rows,
        }
    }

    /// The number of rows that the lines take side by side.
    pub fn len(&self) -> usize {
        match &self.rows {
            Some(rows) => rows.len(),
            None => self.before.len().max(self.after.len()),
        }
    }

    /// The lines in a row.
    pub fn get(&self, row: usize) -> Beside {
        match &self.rows {
            Some(rows) => rows.get(row).copied().unwrap_or_default(),
            None => (self.before.clone().nth(row), self.after.clone().nth(row)),
        }
    }

    /// The row of a line of one side.
    pub fn row_of(&self, side: Side, line: usize) -> Option<usize> {
        let lines = self.lines(side);
        match &self.rows {
            Some(rows) => rows.iter().position(|row| side.of(*row) == Some(line)),
            None => lines.contains(&line).then(|| line - lines.start),
        }
    }

    /// A line of one side, and the one of the other side that is beside it.
    pub fn beside(&self, side: Side, line: usize) -> Beside {
        self.row_of(side, line)
            .map(|row| self.get(row))
            .unwrap_or_default()
    }

    /// The lines of one side.
    pub fn lines(&self, side: Side) -> Range<usize> {
        side.of((&self.before, &self.after)).clone()
    }
}

/// Finds the pairs that are most alike without crossing, and fills up the lines between them from
/// the top.
fn rows(before: &Text, after: &Text, hunk: &Hunk) -> Vec<Beside> {
    let bags = |text, lines: &Range<usize>| -> Vec<_> {
        lines.clone().map(|line| Bag::new(text, line)).collect()
    };
    let (left, right) = (bags(before, &hunk.before), bags(after, &hunk.after));
    let width = right.len() + 1;
    // best[i][j]: how alike the lines from i and from j on can be.
    let mut best = vec![0_u32; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            let here = left[i].alike(&right[j]);
            let skip = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            let pair = if here > 0 {
                here + best[(i + 1) * width + j + 1]
            } else {
                0
            };
            best[i * width + j] = skip.max(pair);
        }
    }
    let mut rows = Vec::new();
    let mut rest = (hunk.before.clone(), hunk.after.clone());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        let here = left[i].alike(&right[j]);
        if here > 0 && best[i * width + j] == here + best[(i + 1) * width + j + 1] {
            let pair = (hunk.before.start + i, hunk.after.start + j);
            fill(&mut rows, rest.0.start..pair.0, rest.1.start..pair.1);
            rows.push((Some(pair.0), Some(pair.1)));
            (rest.0.start, rest.1.start) = (pair.0 + 1, pair.1 + 1);
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    fill(&mut rows, rest.0, rest.1);
    rows
}

fn fill(rows: &mut Vec<Beside>, mut left: Range<usize>, mut right: Range<usize>) {
    loop {
        match (left.next(), right.next()) {
            (None, None) => return,
            row => rows.push(row),
        }
    }
}

/// The words of a line, without their order.
struct Bag {
    words: HashMap<String, u32>,
    total: u32,
}

impl Bag {
    fn new(text: &Text, line: usize) -> Self {
        let mut words = HashMap::new();
        let mut total = 0;
        if text.line(line).len() <= MAX_LINE {
            for word in words::split(text.shown(line)) {
                if word.trim().is_empty() {
                    continue;
                }
                let weight = u32::try_from(word.len()).unwrap_or(u32::MAX);
                *words.entry(word.to_owned()).or_default() += weight;
                total += weight;
            }
        }
        Self { words, total }
    }

    /// The likeness of two lines, from 55 to 100; 0 when they are less alike.
    fn alike(&self, other: &Self) -> u32 {
        let common: u32 = self
            .words
            .iter()
            .filter_map(|(word, weight)| other.words.get(word).map(|other| weight.min(other)))
            .sum();
        let percent = 200 * common / (self.total + other.total).max(1);
        if percent >= 55 { percent } else { 0 }
    }
}
