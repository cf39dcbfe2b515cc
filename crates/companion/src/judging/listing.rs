//! The list of what agents have written, for views. Waits for the disk.

use std::ops::Range;
use std::path::PathBuf;

use crate::unkept::Unkept;
use pillion_changes::current_hunks::CurrentHunks;
use pillion_changes::{Change, ChangeState, Kept, Store, history, kept, take_back};
use pillion_text::hunks::Hunk;
use pillion_text::{Text, visible};
use pillion_view::changes::{ChangesList, ListedChange, ListedHunk, ListedTurn, NOT_KEPT};

/// No more changes are listed.
const MAX_CHANGES: usize = 2_000;

/// No more of the lines that were removed in a hunk are listed, and no more of each of them.
const MAX_BEFORE: (usize, usize) = (50, 400);

/// No more of a line is in a label.
const MAX_LABEL: usize = 60;

/// What there is below these folders.
pub(super) fn list(store: &Store, roots: &[PathBuf], unkept: &Unkept) -> ChangesList {
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
        if !listed.is_empty() || !kept.remarks().is_empty() {
            list.turns.push(listed_turn(kept, listed));
        }
    }
    add_unkept(&mut list, unkept);
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
    for turn in &*unkept.turns {
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
        added: None,
        removed: None,
        hunks: Vec::new(),
    }
}

fn listed(store: &Store, kept: &Kept, change: &Change) -> ListedChange {
    let now = kept::now(&change.path);
    let state = kept.state(change);
    let lines = history::count(store, &change.before, &change.after);
    let revision = kept::revision(change, now.as_deref());
    let shows_hunks = lines.is_some() && state != ChangeState::TakenBack;
    let found = now.filter(|_| shows_hunks);
    let found = found.and_then(|now| take_back::hunks_in(store, change, now).ok());
    let is_unseen = state == ChangeState::Unseen;
    let (id, state_name) = (kept.name(change).to_string(), state.name());
    let count = lines.map(|(added, removed)| format!(" +{added} -{removed}"));
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
        shown: kept.place(change),
        state: state_name.to_owned(),
        is_unseen,
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
    }
}

/// The hunks of a change, named so.
fn listed_hunks<'a>(
    name: &'a str,
    found: &'a CurrentHunks,
    is_unseen: bool,
) -> impl Iterator<Item = ListedHunk> + 'a {
    let hunks = found.hunks().iter();
    let hunks = hunks.map(move |hunk| listed_hunk(name, found, hunk, is_unseen));
    let changed = found.changed_since().iter().map(move |hunk| ListedHunk {
        is_changed_since: true,
        ..listed_hunk(&format!("{name}, changed since,"), found, hunk, false)
    });
    hunks.chain(changed)
}

/// A hunk of a change, named so. What was there before is for people who have not seen it.
fn listed_hunk(name: &str, found: &CurrentHunks, hunk: &Hunk, is_unseen: bool) -> ListedHunk {
    let (added, removed) = (hunk.after.len(), hunk.before.len());
    let says = match hunk.after.is_empty() {
        true => first_words(found.before(), &hunk.before),
        false => first_words(found.now(), &hunk.after),
    };
    let (lines, width) = MAX_BEFORE;
    let end = hunk.before.start + removed.min(lines);
    let before = hunk.before.start..if is_unseen { end } else { hunk.before.start };
    ListedHunk {
        lines: hunk.after.clone(),
        removed,
        before: before
            .map(|line| visible::head(&line_of(found.before(), line), width))
            .collect(),
        label: format!("{name} +{added} -{removed}: {says}"),
        is_changed_since: false,
    }
}

/// The beginning of the first of these lines that says something.
fn first_words(text: &Text, lines: &Range<usize>) -> String {
    let mut said = lines.clone().map(|line| line_of(text, line));
    let says = said.find(|line| !line.trim().is_empty());
    visible::head(
        &visible::one_line(says.unwrap_or_default().trim()),
        MAX_LABEL,
    )
}

/// A line without its end.
fn line_of(text: &Text, line: usize) -> String {
    let line = String::from_utf8_lossy(text.slice(line..line + 1));
    line.trim_end_matches(['\n', '\r']).to_owned()
}
