//! Brings front ends together whose folders have come to overlap: those that are to move lose their connection, attach again,
//! and join the companion that is left. Agents do not move, and nothing that is open does: nobody leaves a companion with
//! agents, or where something waits, until that has changed. Its own loop says so, and lets them go.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use pillion_discovery::state;

use super::{Shared, State};
use crate::hub::workspaces::{Move, WorkspaceId};

/// Folders that overlap are looked at again after this time: agents may have gone meanwhile.
const AGAIN: Duration = Duration::from_secs(2);

/// The time for which nothing overlaps is waited through in one go.
const LONG: Duration = Duration::from_secs(3600);

impl Shared {
    /// Does so until the hub ends.
    pub(super) fn keep_together(self: Arc<Self>) {
        let mut seen = 0;
        loop {
            let overlap = !self.lock().workspaces.with_overlap().is_empty();
            let until = Instant::now() + if overlap { AGAIN } else { LONG };
            self.wait_while(until, |state| !state.is_over && state.changes == seen);
            if self.lock().is_over {
                return;
            }
            seen = self.lock().changes;
            self.bring_together();
        }
    }

    fn bring_together(&self) {
        let free = self.who_may_be_left();
        let mut state = self.lock();
        let is_fixed = |view| state.views.get(&view).is_none_or(|it| it.is_fixed);
        let may_be_left = |id| free.contains(&id);
        if let Some(found) = state.workspaces.movers(state.came, may_be_left, is_fixed) {
            state.bring(&found);
        }
        let state = &mut *state;
        state
            .withheld
            .retain(|id, _| state.companions.contains_key(id));
        for (id, companion) in &state.companions {
            let withheld = state.workspaces.withheld(*id);
            let told = state.withheld.entry(*id).or_default();
            if *told != withheld {
                companion.commands().withhold(withheld.clone());
                *told = withheld;
            }
        }
    }

    /// Asks the companions whose folders overlap which of them front ends may leave.
    fn who_may_be_left(&self) -> HashSet<WorkspaceId> {
        let state = self.lock();
        let asked = state.workspaces.with_overlap().into_iter();
        let asked: Vec<_> = asked
            .filter_map(|id| Some((id, state.companions.get(&id)?.commands().ask_to_leave())))
            .collect();
        drop(state);
        let deadline = Instant::now() + state::STATE_WITHIN;
        let left = || deadline.saturating_duration_since(Instant::now());
        let may = |answer: &Receiver<bool>| answer.recv_timeout(left()).unwrap_or(false);
        let free = asked.iter().filter(|(_, answer)| may(answer));
        free.map(|(id, _)| *id).collect()
    }
}

impl State {
    /// Has front ends come again, unless their companion is needed meanwhile.
    fn bring(&self, found: &Move) {
        let companion = |id| self.companions.get(id).map(|it| it.commands().clone());
        let (Some(from), Some(to)) = (companion(&found.from), companion(&found.to)) else {
            return;
        };
        let views = found.views.iter().filter_map(|view| self.views.get(view));
        let links: Vec<_> = views.map(|it| it.link.clone()).collect();
        from.let_go(move |choices| {
            tracing::info!(
                count = links.len(),
                "join another companion of their folders"
            );
            links
                .iter()
                .filter_map(Weak::upgrade)
                .for_each(|it| it.close());
            if !choices.is_empty() {
                to.choose(choices);
            }
        });
    }
}
