//! What a person accepted or kept goes into git's index, by a command or in a view.

use std::ops::Range;
use std::path::PathBuf;

use pillion_changes::staging::{self, StageError};
use pillion_changes::{ChangeRef, DecideError, Decided, Deciding, Kept, Store};
use pillion_protocol::verdict::Lines;
use pillion_view::changes::{ActDone, Named, Part};

use super::outcome::{Outcome, reported};
use super::{ActError, Acted, find, read_name, said, with_moved};

/// Stages what a command names.
pub(super) fn perform(store: &Store, wanted: &Named) -> Result<Acted, ActError> {
    let mut outcome = Outcome::default();
    for name in &wanted.names {
        let name = read_name(name)?;
        let mut decided = staged(store, name, None)?.into_iter().peekable();
        if decided.peek().is_none() {
            outcome.says(format!("there is nothing to stage in turn {}", name.turn));
        }
        decided.for_each(|it| outcome.add(it));
    }
    Ok(reported(outcome.report()))
}

/// Stages what is meant in a view.
pub(super) fn in_view(store: &Store, roots: &[PathBuf], part: &Part) -> Result<Acted, ActError> {
    let lines = part.lines.map(Lines::range);
    let mut last = Err(ActError::NothingMeant);
    // Of several changes of one file, the newest is meant that has something at these lines.
    for name in find(store, roots, &part.meant, lines.is_some())? {
        let mut decided = Vec::new();
        for name in with_moved(store, name, lines.is_some()) {
            decided.extend(staged(store, name, lines.clone())?);
        }
        let is_elsewhere = |it: &Decided| {
            let error = it.result.as_ref().err();
            error.is_some_and(|it| matches!(it, DecideError::Stage(StageError::NoHunk)))
        };
        let goes_on = !decided.is_empty() && decided.iter().all(is_elsewhere);
        last = Ok(Acted::of(ActDone {
            done: decided.iter().all(|it| it.result.is_ok()),
            message: said(&decided, &[]),
            ..ActDone::default()
        }));
        if !goes_on {
            break;
        }
    }
    last
}

/// What came of each change that this names. Of a turn, what is not in its files any more is left out without a word.
fn staged(
    store: &Store,
    name: ChangeRef,
    lines: Option<Range<usize>>,
) -> Result<Vec<Decided>, ActError> {
    let kept = Kept::read(store, name.turn)?;
    let deciding = Deciding::new(store, &kept);
    let staged = kept.named(name)?.into_iter().filter_map(|change| {
        let result = match staging::stage(store, &kept, change, lines.clone()) {
            Err(StageError::Gone) if name.change.is_none() => return None,
            Err(StageError::Unseen) if name.change.is_none() => {
                Ok("left out, as nobody has accepted or kept it")
            }
            Err(StageError::Ignored) if name.change.is_none() => Ok("left out, as git ignores it"),
            result => result.map_err(DecideError::from),
        };
        Some(deciding.decided(change, result))
    });
    Ok(staged.collect())
}
