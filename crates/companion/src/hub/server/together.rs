//! Brings front ends together whose folders have come to overlap: those that are to move lose their connection, attach again,
//! and join the companion that is left. Agents do not move: a companion with agents stays, and so does one where something
//! waits for a decision, until that has changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_discovery::{CompanionState, state};

use super::Shared;
use crate::hub::workspaces::{Stays, WorkspaceId};

/// Folders that overlap are looked at again after this time: agents may have gone meanwhile.
const AGAIN: Duration = Duration::from_secs(2);

/// The time for which nothing overlaps is waited through in one go.
const LONG: Duration = Duration::from_secs(3600);

impl Shared {
    /// Does so until the hub ends.
    pub(super) fn keep_together(self: Arc<Self>) {
        let mut seen = 0;
        loop {
            let overlap = self.lock().workspaces.overlap();
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
        let stays = self.who_stays();
        let mut state = self.lock();
        let stay = |id| stays.get(&id).copied().unwrap_or(Stays::Whole);
        let is_fixed = |view| state.views.get(&view).is_none_or(|it| it.is_fixed);
        for view in state.workspaces.movers(state.came, stay, is_fixed) {
            let link = state.views.get(&view).and_then(|it| it.link.upgrade());
            if let Some(link) = link {
                tracing::info!(view = view.0, "joins another companion of its folders");
                link.close();
            }
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

    /// Asks the companions which of them must stay. None is asked if nothing overlaps.
    fn who_stays(&self) -> HashMap<WorkspaceId, Stays> {
        let state = self.lock();
        if !state.workspaces.overlap() {
            return HashMap::new();
        }
        let companions = state.companions.iter();
        let asked: Vec<_> = companions
            .map(|(id, it)| (*id, it.commands().ask_state()))
            .collect();
        drop(state);
        let deadline = Instant::now() + state::STATE_WITHIN;
        let left = || deadline.saturating_duration_since(Instant::now());
        let told = asked
            .iter()
            .filter_map(|(id, state)| Some((*id, stays(&state.recv_timeout(left()).ok()?))));
        told.collect()
    }
}

fn stays(state: &CompanionState) -> Stays {
    if state.pending_diffs > 0 {
        Stays::Whole
    } else if state.agents.is_empty() {
        Stays::No
    } else {
        Stays::Open
    }
}
