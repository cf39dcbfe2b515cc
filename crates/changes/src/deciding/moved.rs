//! Files that a turn has moved. The one place goes only once the text is back in the other, so that it is in some file at
//! each moment.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use super::error::{MOST_NAMED, Together};
use super::{Act, DecideError, Deciding};
use crate::scan::{Stat, has_other_names, is_one_file};
use crate::state::{FileState, Hash};
use crate::take_back::{self, TakeBackError};
use crate::turn::{Change, ChangeState, Turn};

/// With more changes at once, it is not asked which others are in their way.
const MAX_EXPLAINED: usize = 1000;

/// What an act brings back where there is no such file, by its text: the numbers of the changes.
pub(super) type Origins = HashMap<Hash, Vec<u64>>;

/// A change with which something could not be done, and why.
pub(super) type Failed<'a> = (&'a Change, DecideError);

/// The files in whose places the turn has left none, of which a text is kept.
#[derive(Debug)]
pub(super) struct Gone<'a> {
    texts: HashSet<(bool, &'a Hash)>,
    /// True if of one of them nobody knows another place.
    has_others: bool,
}

impl<'a> Gone<'a> {
    fn of(turn: &'a Turn) -> Self {
        let moved = turn.changes.iter().filter_map(|it| it.moved_from.as_ref());
        let moved: HashSet<_> = moved.collect();
        let has_gone = |it: &&Change| match (&it.before, &it.after) {
            (FileState::File { .. }, FileState::File { .. }) => false,
            (before, _) => before.text().is_some(),
        };
        let gone: Vec<_> = turn.real_changes().filter(has_gone).collect();
        Self {
            texts: gone.iter().filter_map(|it| content(&it.before)).collect(),
            has_others: gone.iter().any(|it| !moved.contains(&it.path)),
        }
    }
}

/// A text that can be lost: that of a file or of a link.
fn content(state: &FileState) -> Option<(bool, &Hash)> {
    match state {
        FileState::Absent | FileState::File { size: 0, .. } => None,
        FileState::File { text, .. } => text.as_ref().map(|it| (false, it)),
        FileState::Link { text } => text.as_ref().map(|it| (true, it)),
    }
}

/// Returns true if the act brings a text back to where no such file is, so that another one may hold it meanwhile.
fn is_origin((from, to): (&FileState, &FileState)) -> bool {
    match content(to) {
        // With links in the place of links, two could wait for each other.
        Some((true, _)) => from.is_absent(),
        Some((false, _)) => !matches!(from, FileState::File { .. }),
        None => false,
    }
}

/// Returns true if one of these files is to be where a folder of the other one is.
pub(super) fn is_nested(change: &Change, other: &Change) -> bool {
    let (path, other) = (&change.path, &other.path);
    path != other && (path.starts_with(other) || other.starts_with(path))
}

/// Returns true if a change is as it was because another one is in its way, or is not back.
fn waits(error: &DecideError) -> bool {
    match error {
        DecideError::OnlyCopy { .. } => true,
        DecideError::TakeBack(TakeBackError::Io { source, .. }) => {
            source.kind() == io::ErrorKind::NotADirectory
        }
        DecideError::TakeBack(error) => {
            matches!(
                error,
                TakeBackError::Folder(_) | TakeBackError::Elsewhere(_)
            )
        }
        _ => false,
    }
}

/// Returns true if nothing else is in a folder that stands at this path than these, and folders.
fn has_only(path: &Path, known: &HashSet<&Path>) -> bool {
    if !path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
        return true;
    }
    let mut entries = fs::read_dir(path).into_iter().flatten();
    entries.all(|entry| {
        entry.is_ok_and(|it| {
            let is_folder = it.file_type().is_ok_and(|it| it.is_dir());
            known.contains(&*it.path()) || (is_folder && has_only(&it.path(), known))
        })
    })
}

impl<'a> Deciding<'a> {
    /// The state from which an act leads, and the one to which; none if it is done or not to be done.
    fn sides<'b>(&'b self, act: Act, change: &'b Change) -> Option<(&'b FileState, &'b FileState)> {
        match act {
            Act::Keep => None,
            Act::TakeBack => (self.state(change) != ChangeState::TakenBack)
                .then_some((&change.after, &change.before)),
            Act::Undo => {
                let judged = self.judged.of(change.number);
                let judged = judged?;
                judged.written.as_ref().zip(judged.overwritten.as_ref())
            }
        }
    }

    /// Finds what an act brings back of this turn.
    pub(super) fn find_origins(&mut self, act: Act) {
        let mut origins = Origins::new();
        for change in &self.kept.turn.changes {
            let sides = self.sides(act, change).filter(|it| is_origin(*it));
            if let Some((_, hash)) = sides.and_then(|(_, to)| content(to)) {
                origins.entry(hash.clone()).or_default().push(change.number);
            }
        }
        self.origins = Some((act, origins));
    }

    /// As [`find_origins`](Self::find_origins), unless that is known.
    pub(super) fn know_origins(&mut self, act: Act) {
        let is_known = self.origins.as_ref().is_some_and(|it| it.0 == act);
        if !is_known || act == Act::Undo {
            self.find_origins(act);
        }
    }

    /// The text that an act takes out of the file of a change, and the changes whose text it is, too.
    fn held<'b>(
        &'b self,
        act: Act,
        change: &'b Change,
    ) -> Option<((bool, &'b Hash), impl Iterator<Item = &'b Change>)> {
        let (from, to) = self.sides(act, change)?;
        let text = content(from).filter(|it| content(to) != Some(*it))?;
        let (_, origins) = self.origins.as_ref().filter(|it| it.0 == act)?;
        let numbers = origins.get(text.1)?.iter();
        let origins = numbers.filter_map(|it| self.kept.turn.change(*it));
        let mut origins = origins
            .filter(move |it| {
                let sides = self.sides(act, it).filter(|sides| is_origin(*sides));
                sides.is_some_and(|(_, to)| content(to) == Some(text))
                    && !self.makes_way(change, it)
            })
            .peekable();
        origins.peek()?;
        Some((text, origins))
    }

    /// Returns true if one of these files is in the way of the other, which comes back at once with it, or if that takes more of
    /// them, which wait for each other in a circle.
    fn makes_way(&self, change: &Change, origin: &Change) -> bool {
        let is_at_once = self.at_once.contains(&origin.number);
        let is_in_way = is_nested(change, origin) || self.opens_circle.contains(&change.number);
        change.path == origin.path || (is_in_way && is_at_once)
    }

    /// Of changes that have all failed, as each waits for another one, one that may go first: a file holds the text of another one,
    /// which comes back, in the end, once this one has gone. Until then the store alone has that text.
    pub(super) fn first_in_circle(&self, act: Act, failed: &[Failed<'a>]) -> Option<&'a Change> {
        let mut copies = failed.iter().filter(|(change, error)| {
            let is_new = !self.opens_circle.contains(&change.number);
            is_new && matches!(error, DecideError::OnlyCopy { .. })
        });
        let first = copies.find(|(it, _)| self.is_in_circle(act, it, failed));
        first.map(|(it, _)| *it)
    }

    /// Returns true if all that this one waits for comes back, or is in the way and goes, once this one has gone.
    fn is_in_circle(&self, act: Act, first: &Change, failed: &[Failed<'a>]) -> bool {
        let of_number = |number| failed.iter().find(|(it, _)| it.number == number);
        let paths: HashSet<&Path> = failed.iter().map(|(it, _)| it.path.as_path()).collect();
        let (mut seen, mut next, mut is_closed) = (HashSet::new(), vec![first.number], false);
        while let Some(number) = next.pop() {
            let waiting = of_number(number).filter(|(_, error)| waits(error));
            let Some((change, _)) = waiting.filter(|(it, _)| has_only(&it.path, &paths)) else {
                return false;
            };
            let origins = self.held(act, change).map(|(_, origins)| origins);
            let origins = origins.into_iter().flatten();
            let in_its_way = failed.iter().map(|(it, _)| *it);
            let in_its_way = in_its_way.filter(|it| is_nested(it, change));
            let needed: Vec<_> = origins.chain(in_its_way).map(|it| it.number).collect();
            is_closed |= needed.contains(&first.number);
            next.extend(needed.into_iter().filter(|it| seen.insert(*it)));
        }
        is_closed
    }

    /// Puts changes in the order in which nothing waits for what comes after it: what only goes, and may be in the way of
    /// others; what another file holds; those that hold it, links before the files for which they stand; and the rest.
    pub(super) fn sort(&self, act: Act, changes: &mut [&'a Change]) {
        let held = |it: &'a Change| self.held(act, it).map(|(text, _)| text);
        let all: HashSet<_> = changes.iter().filter_map(|it| held(it)).collect();
        let rank = |it: &&'a Change| {
            let sides = self.sides(act, it);
            match (held(it), sides) {
                (Some((is_link, _)), _) => 3 - u8::from(is_link),
                (None, Some((_, FileState::Absent))) => 0,
                (None, Some((_, to))) if content(to).is_some_and(|it| all.contains(&it)) => 1,
                _ => 4,
            }
        };
        if !all.is_empty() {
            changes.sort_by_cached_key(rank);
        }
    }

    /// Returns true if another file of the turn has this text, about which nothing is decided at once with this change.
    fn stays_elsewhere(&self, change: &Change, text: (bool, &Hash)) -> bool {
        let is_known = |it: &Change| {
            let mut states = [&it.before, &it.after].into_iter();
            states.any(|state| content(state) == Some(text))
        };
        let others = self.kept.turn.changes.iter();
        let mut others = others.filter(|it| !self.at_once.contains(&it.number) && is_known(it));
        others.any(|it| {
            it.number != change.number
                && take_back::has_text(&self.kept.turn.roots, &it.path, text)
                && !is_one_file(&change.path, &it.path)
        })
    }

    /// A file of the turn that is gone and of which no text is kept, if this new one may be it.
    fn may_be_moved(&self, change: &Change) -> Option<&Change> {
        let size = |state: &FileState| match state {
            FileState::File { size, .. } => Some(*size).filter(|size| *size > 0),
            _ => None,
        };
        let is_new = change.before.is_absent();
        let size_now = size(&change.after).filter(|_| is_new)?;
        self.kept.turn.real_changes().find(|it| {
            it.after.is_absent()
                && it.before.text().is_none()
                && size(&it.before) == Some(size_now)
                && it.path.symlink_metadata().is_err()
        })
    }

    /// Returns true if a new file was made before the turn and has come from where nobody looks: it may be the only copy of what
    /// somebody else has made.
    pub(super) fn came_from_elsewhere(&self, change: &Change) -> bool {
        let turn = &self.kept.turn;
        let is_new = change.before.is_absent() && change.moved_from.is_none();
        // Without hooks a turn begins with what is found first.
        if !is_new || turn.is_without_hooks || has_other_names(&change.path) {
            return false;
        }
        let since_1970 = |it: SystemTime| it.duration_since(UNIX_EPOCH).ok();
        let made = change.path.symlink_metadata().and_then(|it| it.created());
        let began = Duration::from_millis(turn.began);
        let is_older = made.ok().and_then(since_1970).is_some_and(|it| it < began);
        if !is_older {
            return false;
        }
        let folders = change.path.ancestors().skip(1);
        let has_come = Stat::at(&change.path)
            .is_ok_and(|it| it.is_some_and(|it| it.changed >= began))
            || { folders }.any(|it| self.new_folders.contains(it));
        // Nor is it what stood where something else is now, under another name.
        let gone = self.gone.get_or_init(|| Gone::of(turn));
        let is_this = content(&change.after).is_some_and(|it| gone.texts.contains(&it));
        has_come && self.may_be_moved(change).is_none() && !gone.has_others && !is_this
    }

    /// Refuses to take the only copy of a text away that belongs to another file of the turn.
    pub(super) fn refuse_only_copy(&self, act: Act, change: &Change) -> Result<(), DecideError> {
        if act == Act::TakeBack
            && let Some(gone) = self.may_be_moved(change)
        {
            return Err(DecideError::MayBeMoved {
                path: self.shown(change),
                of: self.shown(gone),
            });
        }
        let Some((text, mut origins)) = self.held(act, change) else {
            return Ok(());
        };
        let has_it = |it: &Change| take_back::has_text(&self.kept.turn.roots, &it.path, text);
        let Some(first) = origins.next().filter(|_| has_it(change)) else {
            return Ok(());
        };
        // To delete it by one name would delete it by the other. A name behind a link to its folder is none.
        if has_it(first) && is_one_file(&change.path, &first.path) {
            return Err(DecideError::OneFile {
                path: self.shown(change),
                of: self.shown(first),
            });
        }
        if has_it(first) || origins.any(has_it) || self.stays_elsewhere(change, text) {
            return Ok(());
        }
        Err(DecideError::OnlyCopy {
            path: self.shown(change),
            of: self.shown(first),
            both: self.together(act, change),
        })
    }

    /// The changes, without those with which the act is done now, that are in the place of a file or of its folders.
    fn in_its_way<'b>(&'b self, act: Act, change: &'b Change) -> impl Iterator<Item = &'b Change> {
        let stays = move |it: &&Change| {
            is_nested(it, change)
                && !self.at_once.contains(&it.number)
                && self.sides(act, it).is_some()
        };
        let found = self.kept.turn.real_changes().filter(stays);
        found.filter(|it| it.path.symlink_metadata().is_ok())
    }

    /// A change with those that it waits for, and what these wait for, as far as they are to be named.
    fn together(&self, act: Act, change: &Change) -> Together {
        let mut all = vec![change.number];
        let mut at = 0;
        while let Some(change) = { all.get(at) }.and_then(|it| self.kept.turn.change(*it))
            && all.len() <= MOST_NAMED
        {
            let origins = self.held(act, change).map(|(_, origins)| origins.take(1));
            let needed = origins
                .into_iter()
                .flatten()
                .chain(self.in_its_way(act, change));
            for it in needed {
                if !all.contains(&it.number) {
                    all.push(it.number);
                }
            }
            at += 1;
        }
        let changes = all.iter().filter_map(|it| self.kept.turn.change(*it));
        let names = changes.map(|it| self.kept.name(it)).collect();
        Together { act, names }
    }

    /// The error, or, where other changes are in the way with which the act is not done, which ones.
    pub(super) fn explained(&self, act: Act, change: &Change, error: DecideError) -> DecideError {
        let is_blocked = matches!(error, DecideError::TakeBack(_)) && waits(&error);
        // Of thousands, it is not asked for each.
        if !is_blocked || self.at_once.len() > MAX_EXPLAINED {
            return error;
        }
        match self.in_its_way(act, change).next() {
            None => error,
            Some(first) => DecideError::InTheWay {
                path: self.shown(change),
                by: self.shown(first),
                all: self.together(act, change),
            },
        }
    }
}
