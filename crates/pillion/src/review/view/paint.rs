//! What is worked out about lines once and kept: syntax colours, and where long lines break.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::review::proposal::Proposal;
use crate::review::syntax::{Colours, Span};
use crate::review::view::Side;
use crate::visible::{self, Place};

/// Breaking shorter lines is quicker than keeping the result.
const LONG: usize = 4_096;

/// Kept for one pair of texts.
pub struct Paint {
    left: Colours,
    right: Colours,
    breaks: HashMap<(Side, usize, usize), Rc<[Place]>>,
}

impl Paint {
    /// Nothing is worked out yet.
    pub fn new(path: &Path, proposal: &Proposal) -> Self {
        Self {
            left: Colours::new(path, proposal.before()),
            right: Colours::new(path, proposal.after()),
            breaks: HashMap::new(),
        }
    }

    /// The coloured parts of a line, as far as they are known.
    pub fn spans(&self, side: Side, line: usize) -> &[Span] {
        match side {
            Side::Left => self.left.line(line),
            Side::Right => self.right.line(line),
        }
    }

    /// Works on the colours down to these lines. Answers whether there is more to do.
    pub fn work(&mut self, proposal: &Proposal, left: usize, right: usize) -> bool {
        let mut budget = 16 * 1024;
        let more = self.right.work(proposal.after(), right, &mut budget);
        self.left.work(proposal.before(), left, &mut budget) || more
    }

    /// Where the rows of a line begin when it is broken every `step` columns.
    pub fn breaks(&mut self, side: Side, line: usize, text: &str, step: usize) -> Rc<[Place]> {
        if text.len() < LONG {
            return visible::breaks(text, step).into();
        }
        // A resize makes the rows of another width useless.
        if self.breaks.len() > 256 {
            self.breaks.clear();
        }
        let known = self.breaks.entry((side, line, step));
        Rc::clone(known.or_insert_with(|| visible::breaks(text, step).into()))
    }
}
