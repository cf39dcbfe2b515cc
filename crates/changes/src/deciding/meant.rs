//! Which changes of a turn are meant by a name, in which order, and what was done last.

use std::path::{Path, PathBuf};

use super::{Act, DecideError, Deciding};
use crate::kept::Kept;
use crate::scan::identity;
use crate::store::Store;
use crate::turn::{Author, Change, ChangeRef, ChangeState, Judged};

impl<'a> Deciding<'a> {
    /// The changes with which this is to be done, in this order.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub fn meant(&mut self, act: Act, names: &[ChangeRef]) -> Result<Vec<&'a Change>, DecideError> {
        let mut meant = Vec::new();
        for name in names {
            match self.named(act, *name) {
                Ok(changes) => meant.extend(changes),
                // Another view has undone this one of several.
                Err(DecideError::NotTakenBack(_)) if names.len() > 1 => {}
                Err(error) => return Err(error),
            }
        }
        self.at_once.clear();
        meant.retain(|it: &&Change| self.at_once.insert(it.number));
        self.find_origins(act);
        self.sort(act, &mut meant);
        Ok(meant)
    }

    pub(super) fn named(&self, act: Act, name: ChangeRef) -> Result<Vec<&'a Change>, DecideError> {
        let kept = self.kept;
        let mut changes = kept.named(name)?;
        match act {
            Act::Keep if name.change.is_some() => {}
            Act::Keep => changes.retain(|it| self.is_unseen(it)),
            // What was done last is taken back first.
            Act::TakeBack => {
                let keeps_all = self.keeps_all();
                changes
                    .retain(|it| name.change.is_some() || self.left_out(it, keeps_all).is_none());
                changes.reverse();
            }
            Act::Undo => {
                let judged = |it: &Change| self.judged.of(it.number);
                let is_back = |it: &&Change| judged(it).is_some_and(Judged::takes_back);
                // To keep is undone with the other things only where that is what was done last.
                match changes.iter().any(is_back) && name.change.is_none() {
                    true => changes.retain(is_back),
                    false => changes.retain(|it| judged(it).is_some()),
                }
                if changes.is_empty() {
                    return Err(DecideError::NotTakenBack(name));
                }
            }
        }
        Ok(changes)
    }

    /// The reason why a change is not taken back with its turn, but only by its name or with all: its own, or that of a change that
    /// it would take back with it, by another name of the file.
    pub(super) fn left_out(&self, change: &Change, keeps_all: bool) -> Option<&'static str> {
        let file = identity(&change.path).filter(|(_, number)| change.shared == Some(*number));
        let is_other_name = |it: &&Change| {
            let is_file = |it: &Path| it.symlink_metadata().is_ok_and(|it| it.is_file());
            it.number != change.number && is_file(&it.path) && identity(&it.path) == file
        };
        let others = file.is_some().then(|| self.kept.turn.real_changes());
        let others = others.into_iter().flatten().filter(is_other_name);
        let mut all = std::iter::once(change).chain(others);
        all.find_map(|it| self.is_left_out(it, keeps_all))
    }

    fn is_left_out(&self, change: &Change, keeps_all: bool) -> Option<&'static str> {
        let is_unclear = change.by == Author::Unclear && !self.kept.turn.is_without_hooks;
        match () {
            () if self.takes_all => None,
            () if is_unclear => Some("left out, as it is unclear who changed it"),
            () if change.is_by_head && self.kept.went_with_work_tree(change) => {
                Some("left out, as it went with its git work tree")
            }
            () if change.is_by_head => Some("left out, as it came with the move of HEAD"),
            () if change.is_mixed && change.before.is_absent() => {
                Some("left out, as you have written in the new file, too")
            }
            () if self.came_from_elsewhere(change) => {
                Some("left out, as it was there before the turn, in another place")
            }
            () if !keeps_all && self.state(change) == ChangeState::Kept => {
                Some("left out, as you kept it")
            }
            () => None,
        }
    }

    /// Returns true if the person keeps all of the turn.
    pub(super) fn keeps_all(&self) -> bool {
        let mut changes = self.kept.turn.real_changes();
        changes.all(|it| self.state(it) == ChangeState::Kept)
    }

    /// Returns true if nobody has looked at a change that is in its file.
    pub(super) fn is_unseen(&self, change: &Change) -> bool {
        self.kept.in_file(change, self.state(change)) == ChangeState::Unseen
    }
}

/// The changes of a person's last act in these folders: those about which it was decided at once, in the order in which that
/// is undone.
///
/// # Errors
/// When there are none, or the store cannot be read.
pub fn last_act(store: &Store, folders: &[PathBuf]) -> Result<Vec<ChangeRef>, DecideError> {
    // What cannot be read cannot be undone.
    let turns = Kept::of_folders(store, folders, drop)?;
    let acts = turns.iter().flat_map(|kept| {
        kept.turn.changes.iter().filter_map(|change| {
            let judged = kept.judgements().of(change.number).map(|it| it.at);
            // Whoever did it may have been killed before it was kept.
            let cut_off = kept.cut_off(change).map(|it| it.act);
            Some((judged.max(cut_off)?, kept.name(change)))
        })
    });
    let acts: Vec<_> = acts.collect();
    let last = acts.iter().map(|(at, _)| *at).max();
    let last = last.ok_or(DecideError::NothingDecided)?;
    // It may have been about several turns, the newest of which was taken back first.
    Ok({ acts.into_iter() }
        .filter_map(|(at, name)| (at == last).then_some(name))
        .collect())
}

/// Returns true if a person was shown by a command what was taken back in one of these folders.
///
/// # Errors
/// When the store cannot be read.
pub fn is_any_taken_back_shown(store: &Store, folders: &[PathBuf]) -> Result<bool, DecideError> {
    let turns = Kept::of_folders(store, folders, drop)?;
    let is_shown = |kept: &Kept| store.shown(kept.turn.number).has_taken_back();
    Ok(turns.iter().any(is_shown))
}
