//! Unfolding the unchanged lines of a diff: some more beside a hunk, a whole gap between hunks, or all.

use super::View;

/// So many more lines are shown at each end of a gap at once.
const STEP: usize = 20;

impl View {
    /// Shows more of the gaps beside the current hunk. Returns false if nothing of them is hidden.
    pub fn unfold_more(&mut self) -> bool {
        let (above, below) = self.gaps();
        let is_hidden = above.iter().chain(&below).any(|gap| self.hides(*gap));
        if let Some(gap) = above {
            self.show(gap, (0, STEP));
        }
        if let Some(gap) = below {
            self.show(gap, (STEP, 0));
        }
        is_hidden
    }

    /// Shows the gaps beside the current hunk as a whole, or folds them again.
    pub fn toggle_gaps(&mut self) {
        let (above, below) = self.gaps();
        let gaps = Vec::from_iter(above.into_iter().chain(below));
        if gaps.iter().any(|gap| self.hides(*gap)) {
            for gap in gaps {
                self.show(gap, (usize::MAX, 0));
            }
        } else {
            self.unfolding.all = false;
            self.unfolding.gaps.retain(|gap, _| !gaps.contains(gap));
        }
    }

    /// Shows all lines, or folds everything that can be.
    pub fn toggle_folds(&mut self) {
        let is_folded = !self.is_unfolded();
        self.unfolding.gaps.clear();
        self.unfolding.all = is_folded;
    }

    /// Returns true if lines are shown that usually are not.
    pub fn is_unfolded(&self) -> bool {
        self.unfolding.all || !self.unfolding.gaps.is_empty()
    }

    /// Shows the gap with this line before as a whole.
    pub fn unfold_at(&mut self, line: usize) {
        self.show(self.gap_of(line), (usize::MAX, 0));
    }

    /// Where the gaps above and below the current hunk begin, if there are lines.
    fn gaps(&self) -> (Option<usize>, Option<usize>) {
        let hunk = self.current_hunk();
        let last = hunk.and_then(|hunk| hunk.before.start.checked_sub(1));
        (
            last.map(|line| self.gap_of(line)),
            hunk.map(|hunk| hunk.before.end),
        )
    }

    /// Where the gap begins in which an unchanged line before lies.
    fn gap_of(&self, line: usize) -> usize {
        let hunks = self.proposal.hunks();
        let above = hunks.partition_point(|hunk| hunk.before.end <= line);
        above.checked_sub(1).map_or(0, |at| hunks[at].before.end)
    }

    fn hides(&self, gap: usize) -> bool {
        self.rows().folds().any(|line| self.gap_of(line) == gap)
    }

    fn show(&mut self, gap: usize, more: (usize, usize)) {
        let shown = self.unfolding.gaps.entry(gap).or_default();
        shown.0 = shown.0.saturating_add(more.0);
        shown.1 = shown.1.saturating_add(more.1);
    }
}
