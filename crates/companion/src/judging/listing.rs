//! The list of what agents have written, for views. Waits for the disk.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::unkept::Unkept;
use pillion_changes::current_hunks::{CurrentHunks, line_of};
use pillion_changes::{Change, ChangeState, Kept, Store, history, kept, take_back};
use pillion_text::visible;
use pillion_view::changes::{ChangesList, ListedChange, ListedHunk, ListedTurn, NOT_KEPT};

/// No more changes are listed.
const MAX_CHANGES: usize = 2_000;

/// No more of the lines that were removed in a hunk are listed, and no more of each of them.
const MAX_BEFORE: (usize, usize) = (50, 400);

/// What there is below these folders.
pub(super) fn list(store: &Store, roots: &[PathBuf], unkept: &Unkept) -> ChangesList {
    let kept = match Kept::of_folders(store, roots, drop) {
        Ok(kept) => kept,
        Err(error) => return ChangesList::failed(error.in_full()),
    };
    let mut list = ChangesList::default();
    let mut room = MAX_CHANGES;
    for kept in kept.iter().rev() {
        // What was moved is one entry.
        let moved: HashMap<u64, &Change> = { kept.turn.real_changes() }
            .filter_map(|it| Some((it.number, kept.moved_with(it)?)))
            .collect();
        let gone: HashSet<u64> = moved.values().map(|it| it.number).collect();
        let listed: Vec<_> = { kept.turn.real_changes() }
            .filter(|it| !gone.contains(&it.number))
            .take(room)
            .map(|change| listed(store, kept, change, moved.get(&change.number).copied()))
            .collect();
        room -= listed.len();
        list.left_out += kept.turn.real_changes().count() - gone.len() - listed.len();
        if !listed.is_empty() || !kept.remarks().is_empty() {
            list.turns.push(listed_turn(kept, listed));
        }
    }
    add_unkept(&mut list, unkept);
    // What cannot be read waits for the next list.
    list.notes = store.notes_on_rows().unwrap_or_default();
    list
}

fn listed_turn(kept: &Kept, changes: Vec<ListedChange>) -> ListedTurn {
    let title = [kept.title()].into_iter().chain(kept.remarks());
    let turn = &kept.turn;
    ListedTurn {
        id: turn.number.to_string(),
        agent: turn.agent.clone(),
        heading: kept.heading(),
        prompt: turn.prompt.clone(),
        began: turn.began,
        ended: turn.ended,
        title: title.collect::<Vec<_>>().join("; "),
        revision: kept.revision(),
        changes,
    }
}

/// Adds what the store does not have yet.
fn add_unkept(list: &mut ChangesList, unkept: &Unkept) {
    let unkept = &unkept.0;
    for turn in &unkept.turns {
        let kept = Kept::unwritten(turn.clone());
        let changes = turn.changes.iter().map(|it| listed_unkept(&kept, it));
        let changes: Vec<_> = changes.collect();
        let id = turn.number.to_string();
        let mut known = list.turns.iter();
        let known = known.position(|it| turn.number != 0 && it.id == id);
        let turn = match known {
            Some(at) => {
                let known = &mut list.turns[at];
                let is_other = |it: &ListedChange| changes.iter().all(|new| new.id != it.id);
                known.changes.retain(is_other);
                known.changes.extend(changes);
                known
            }
            None => {
                list.turns.insert(0, listed_turn(&kept, changes));
                &mut list.turns[0]
            }
        };
        turn.title += &format!("; {NOT_KEPT}: {}", unkept.why);
    }
}

fn listed_unkept(kept: &Kept, change: &Change) -> ListedChange {
    let id = kept.name(change).to_string();
    ListedChange {
        label: format!("{id} {NOT_KEPT}"),
        id,
        revision: kept::revision(change, None),
        path: change.path.clone(),
        shown: kept.place(change),
        state: NOT_KEPT.to_owned(),
        is_unseen: true,
        mode: None,
        added: None,
        removed: None,
        hunks: Vec::new(),
    }
}

fn listed(store: &Store, kept: &Kept, change: &Change, from: Option<&Change>) -> ListedChange {
    let now = kept::now(&change.path);
    let state = kept.state(change);
    let before = from.map_or(&change.before, |it| &it.before);
    let lines = history::count(store, before, &change.after);
    let revision = kept::revision(change, now.as_deref());
    let shows_hunks = lines.is_some() && state != ChangeState::TakenBack;
    let found = now.filter(|_| shows_hunks);
    let found = found.and_then(|now| take_back::hunks_in(store, change, now).ok());
    let is_unseen = state == ChangeState::Unseen;
    let (id, state_name) = (kept.name(change).to_string(), state.name());
    let count = lines
        .filter(|it| *it != (0, 0))
        .map(|(added, removed)| format!(" +{added} -{removed}"));
    let name = format!("{id} {state_name}");
    let of_change = found
        .iter()
        .flat_map(|found| listed_hunks(&name, found, is_unseen));
    let mut hunks: Vec<_> = of_change.collect();
    hunks.sort_by_key(|hunk| hunk.lines.start);
    ListedChange {
        hunks,
        label: format!("{id} {state_name}{}", count.unwrap_or_default()),
        id,
        revision,
        path: change.path.clone(),
        shown: from.map_or_else(|| kept.place(change), |from| kept.places(change, from)),
        state: state_name.to_owned(),
        is_unseen,
        mode: kept::mode(change),
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
    }
}

/// The hunks of a change, named so. What was there before is for people who have not seen it.
fn listed_hunks<'a>(
    name: &'a str,
    found: &'a CurrentHunks,
    is_unseen: bool,
) -> impl Iterator<Item = ListedHunk> + 'a {
    let (lines, width) = MAX_BEFORE;
    found
        .labelled(name)
        .map(move |(hunk, label, is_changed_since)| {
            let end = hunk.before.start + hunk.before.len().min(lines);
            let is_told = is_unseen && !is_changed_since;
            let before = hunk.before.start..if is_told { end } else { hunk.before.start };
            ListedHunk {
                lines: hunk.after.clone(),
                removed: hunk.before.len(),
                before: before
                    .map(|line| visible::head(&line_of(found.before(), line), width))
                    .collect(),
                label,
                is_changed_since,
            }
        })
}
