//! The names of agents in the review.

use pillion_judge::naming::Here;

use super::App;
use crate::view::View;

impl App {
    /// The name that people use for the proposer of `view`.
    pub fn agent_name(&self, view: &View) -> String {
        let diff = &view.diff;
        self.numbered.name(diff, diff.proposer.display_name())
    }

    /// The same in one word, for a tab.
    pub fn short_agent_name(&self, view: &View) -> String {
        let diff = &view.diff;
        self.numbered.name(diff, diff.proposer.name())
    }

    /// Who is here now.
    pub fn here(&self) -> Here<'_> {
        Here::new(&self.status.agents, &self.views)
    }

    /// Agents came or went.
    pub(super) fn number_agents(&mut self) {
        let here = Here::new(&self.status.agents, &self.views);
        self.numbered.renew(&here);
    }
}
