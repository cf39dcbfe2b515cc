//! The facts about lines that are worked out once and kept: syntax colours as they arrive, which words changed,
//! and where long lines break.

use std::collections::HashMap;
use std::rc::Rc;

use pillion_judge::highlight::Colours;
use pillion_judge::proposal::{Proposal, Side};
use pillion_judge::syntax::{Coloured, Heading, Span};
use pillion_text::visible::{self, Breaks, Place};
pub use pillion_text::words::content;
use pillion_text::words::{self, Ranges};

/// Breaks and changed words of so many lines are kept. A resize makes those of another width useless.
const MAX_KEPT: usize = 4_096;

/// So many bytes of lines are compared word by word in one frame.
const WORDS_BUDGET: usize = 64 << 10;

/// So many bytes of lines are broken into rows for one frame or movement.
const BREAKS_BUDGET: usize = 2 << 20;

/// The words that changed of a line before, and of the line after that is a version of it.
pub type Changed = Rc<(Ranges, Ranges)>;

/// A line of one of the two texts.
#[derive(Debug, Clone, Copy)]
pub struct LineOf<'a> {
    pub side: Side,
    /// Its number, from 0.
    pub line: usize,
    /// Its content, without its end.
    pub content: &'a str,
}

impl<'a> LineOf<'a> {
    /// A line of a proposal.
    pub fn new(proposal: &'a Proposal, side: Side, line: usize) -> Self {
        let content = content(proposal.side(side).shown(line));
        Self {
            side,
            line,
            content,
        }
    }

    /// The columns that it takes, as far as there are no more than `most`.
    pub fn columns_up_to(&self, most: usize) -> usize {
        // Nearly every line of code: one column for each byte.
        if self.content.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.content.len();
        }
        let pieces = visible::pieces(self.content, Place::default());
        let ends = pieces.map(|piece| piece.at.column + piece.width);
        // The first that is beyond says enough.
        let mut last = 0;
        for end in ends {
            last = end;
            if end > most {
                break;
            }
        }
        last
    }
}

/// Kept for one pair of texts.
#[derive(Default)]
pub struct Paint {
    left: Colours,
    right: Colours,
    words: HashMap<(usize, usize), Changed>,
    words_budget: usize,
    breaks: HashMap<(Side, usize, usize), Breaks>,
    breaks_budget: usize,
    /// The sum that was taken from all budgets so far.
    #[cfg(test)]
    pub effort: usize,
}

impl Paint {
    /// The coloured parts of a line, as far as they are known.
    pub fn spans(&self, side: Side, line: usize) -> &[Span] {
        self.colours(side).spans(line)
    }

    /// The lines that name what they begin, in order, as far as those above a line are known.
    pub fn headings(&self, side: Side, line: usize) -> &[Heading] {
        self.colours(side).headings(line)
    }

    /// Returns true if the colours of a line may still come.
    pub fn lacks_colours(&self, side: Side, line: usize) -> bool {
        self.colours(side).lacks(line)
    }

    /// Takes in colours that were worked out.
    pub fn colour(&mut self, side: Side, coloured: Coloured) {
        side.of((&mut self.left, &mut self.right)).take(coloured);
    }

    fn colours(&self, side: Side) -> &Colours {
        side.of((&self.left, &self.right))
    }

    /// A frame or a movement begins: so much may be worked out for it.
    pub fn refill(&mut self) {
        self.words_budget = WORDS_BUDGET;
        self.breaks_budget = BREAKS_BUDGET;
    }

    /// The words that changed between two lines; `None` when this frame has worked out enough.
    pub fn words_in_budget(
        &mut self,
        proposal: &Proposal,
        pair: (usize, usize),
    ) -> Option<Changed> {
        if !self.words.contains_key(&pair) {
            let (left, right) = (proposal.before(), proposal.after());
            let size = left.line(pair.0).len().max(right.line(pair.1).len());
            // The first pair is worked out however long it is: its comparison is bounded.
            if size > self.words_budget && self.words_budget < WORDS_BUDGET {
                return None;
            }
            self.words_budget = self.words_budget.saturating_sub(size);
        }
        Some(self.words(proposal, pair))
    }

    /// The words that changed between two lines.
    pub fn words(&mut self, proposal: &Proposal, pair: (usize, usize)) -> Changed {
        if self.words.len() > MAX_KEPT {
            self.words.clear();
        }
        let known = self.words.entry(pair).or_insert_with(|| {
            let left = proposal.before().shown(pair.0);
            let right = proposal.after().shown(pair.1);
            let changed = words::changed(content(left), content(right));
            Rc::new(changed.unwrap_or_default())
        });
        Rc::clone(known)
    }

    /// The places where the rows of a line begin when it is broken every `step` columns, until one begins that
    /// `is_enough`, or as far as may be worked out at once.
    pub fn extended(
        &mut self,
        line: LineOf<'_>,
        step: usize,
        is_enough: impl Fn(Place) -> bool,
    ) -> &Breaks {
        let key = (line.side, line.line, step);
        if self.breaks.len() > MAX_KEPT && !self.breaks.contains_key(&key) {
            self.breaks.clear();
        }
        let breaks = self.breaks.entry(key).or_insert_with(|| Breaks::new(step));
        let mut budget = self.breaks_budget;
        breaks.extend(line.content, &mut budget, is_enough);
        #[cfg(test)]
        {
            self.effort += self.breaks_budget - budget;
        }
        self.breaks_budget = budget;
        breaks
    }
}
