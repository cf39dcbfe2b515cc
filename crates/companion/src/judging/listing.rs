//! The list of what agents have written, for views. Waits for the disk.

use std::path::PathBuf;

use pillion_changes::{Change, ChangeState, Kept, Store, history, kept, take_back};
use pillion_view::changes::{ChangesList, ListedChange, ListedHunk, ListedTurn};

/// No more changes are listed.
const MAX_CHANGES: usize = 2_000;

/// What there is below these folders.
pub(super) fn list(store: &Store, roots: &[PathBuf]) -> ChangesList {
    let kept = match Kept::of_folders(store, roots, drop) {
        Ok(kept) => kept,
        Err(error) => return ChangesList::failed(error.in_full()),
    };
    let mut list = ChangesList::default();
    let mut room = MAX_CHANGES;
    for kept in kept.iter().rev() {
        let count = kept.turn.real_changes().count();
        let listed: Vec<_> = kept
            .turn
            .real_changes()
            .take(room)
            .map(|change| listed(store, kept, change))
            .collect();
        room -= listed.len();
        list.left_out += count - listed.len();
        let remarks = kept.remarks();
        if listed.is_empty() && remarks.is_empty() {
            continue;
        }
        let title = [kept.title()].into_iter().chain(remarks);
        let turn = &kept.turn;
        list.turns.push(ListedTurn {
            id: turn.number.to_string(),
            agent: turn.agent.clone(),
            heading: kept.heading(),
            prompt: turn.prompt.clone(),
            began: turn.began,
            ended: turn.ended,
            title: title.collect::<Vec<_>>().join("; "),
            revision: kept.revision(),
            changes: listed,
        });
    }
    list
}

fn listed(store: &Store, kept: &Kept, change: &Change) -> ListedChange {
    let now = kept::now(&change.path);
    let state = kept.state(change);
    let lines = history::count(store, &change.before, &change.after);
    let revision = kept::revision(change, now.as_deref());
    let shows_hunks = lines.is_some() && state != ChangeState::TakenBack;
    let found = now.filter(|_| shows_hunks);
    let found = found.and_then(|now| take_back::hunks_in(store, change, now).ok());
    let hunks = found.iter().flat_map(|it| it.hunks());
    let (id, state_name) = (kept.name(change).to_string(), state.name());
    let count = lines.map(|(added, removed)| format!(" +{added} -{removed}"));
    ListedChange {
        label: format!("{id} {state_name}{}", count.unwrap_or_default()),
        id,
        revision,
        path: change.path.clone(),
        shown: kept.place(change),
        state: state_name.to_owned(),
        is_unseen: state == ChangeState::Unseen,
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        hunks: hunks
            .map(|hunk| ListedHunk {
                lines: hunk.after.clone(),
                removed: hunk.before.len(),
            })
            .collect(),
    }
}
