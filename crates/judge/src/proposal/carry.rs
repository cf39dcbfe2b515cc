//! The reviewer's decisions about the hunks of a proposal, or own text in it, taken over to a newer one.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use pillion_text::hunks::Mark;
use pillion_text::readable::is_binary;
use pillion_text::{Text, merge};

use super::Hunk;
use super::places::Places;
use super::state::State;
use super::texts::Texts;

/// A hunk by what it does, and where.
type Key<'a> = (usize, &'a [u8], &'a [u8]);

/// A newer text with the reviewer's edits.
pub struct Carried {
    pub text: Text,
    /// The lines that stand in place of what the reviewer wrote.
    pub conflicts: Vec<Range<usize>>,
    /// True if all of it could be taken along.
    pub is_whole: bool,
}

/// Takes along to `newer` what the reviewer made of `base`.
pub fn edits(base: &Text, edited: &Text, newer: &Text) -> Carried {
    // Of what cannot be shown, nobody could see what became of it.
    if [base, edited, newer].into_iter().any(is_binary) {
        return Carried {
            text: Text::new(newer.bytes()),
            conflicts: Vec::new(),
            is_whole: false,
        };
    }
    let carried = merge::carry(base, edited, newer);
    Carried {
        text: Text::new(carried.text),
        is_whole: carried.conflicts.is_empty(),
        conflicts: carried.conflicts,
    }
}

/// Marks the hunks that stand in place of what the reviewer wrote.
pub fn mark_conflicts(conflicts: &[Range<usize>], next: &mut State) {
    if conflicts.is_empty() {
        return;
    }
    let touches = |hunk: &Hunk, place: &Range<usize>| {
        place.start <= hunk.after.end && hunk.after.start <= place.end
    };
    for hunk in Arc::make_mut(&mut next.hunks) {
        if conflicts.iter().any(|place| touches(hunk, place)) {
            hunk.mark = Some(Mark::Overwrites);
        }
    }
}

/// Hunks of `next` that its forerunners had are in or out as they were there; what differs from the
/// last one is marked. `forerunners` begin with the last.
pub fn decisions<'a>(forerunners: impl Iterator<Item = &'a State>, next: &mut State) {
    let texts = Arc::clone(&next.texts);
    let mut found = next.hunks.as_ref().clone();
    let mut compared = Vec::new();
    let mut is_decided = Vec::new();
    for state in forerunners {
        if compared
            .iter()
            .any(|texts| Arc::ptr_eq(texts, &state.texts))
        {
            continue;
        }
        compared.push(Arc::clone(&state.texts));
        let is_last = compared.len() == 1;
        let places = Places::new(&state.texts.before, &texts.before);
        if is_last {
            found = split_again(state, &places, &texts, &found);
            is_decided = vec![false; found.len()];
        }
        let known = known(state, &places);
        for (hunk, is_decided) in found.iter_mut().zip(&mut is_decided) {
            let former = known.get(&key(&texts, hunk, hunk.before.start));
            // A hunk that was in, went away and came back still counts as new.
            let counts = |former: &&&Hunk| !*is_decided && (is_last || former.out);
            if let Some(former) = former.filter(counts) {
                (hunk.out, hunk.mark) = (former.out, former.mark);
                *is_decided = true;
            }
        }
        if is_last {
            mark(state, &places, &mut found, &is_decided);
        }
    }
    next.hunks = Arc::new(found);
}

/// These hunks, as the reviewer had split those of them that do the same as before.
fn split_again(state: &State, places: &Places, texts: &Texts, found: &[Hunk]) -> Vec<Hunk> {
    let moved = state.hunks.iter().filter_map(|it| {
        let start = places.moved(&it.before)?;
        Some((start..start + it.before.len(), it))
    });
    let moved: Vec<_> = moved.collect();
    let again = found.iter().flat_map(|hunk| {
        let first = moved.partition_point(|(lines, _)| lines.start < hunk.before.start);
        let inside = moved[first..].iter();
        let inside: Vec<_> = inside
            .take_while(|(lines, _)| lines.end <= hunk.before.end)
            .cloned()
            .collect();
        match is_made_of(state, texts, hunk, &inside) {
            true => pieces(hunk, &inside),
            false => vec![hunk.clone()],
        }
    });
    again.collect()
}

/// A former hunk, and the lines before that it has now.
type Moved<'a> = (Range<usize>, &'a Hunk);

/// Returns true if former hunks that follow each other do together what this one does.
fn is_made_of(state: &State, texts: &Texts, hunk: &Hunk, parts: &[Moved<'_>]) -> bool {
    let (Some((start, first)), Some((end, last))) = (parts.first(), parts.last()) else {
        return false;
    };
    let follow = |pair: &[Moved<'_>]| {
        let [(above, former), (below, next)] = pair else {
            return false;
        };
        above.end == below.start && former.after.end == next.after.start
    };
    let after = first.after.start..last.after.end;
    (start.start, end.end) == (hunk.before.start, hunk.before.end)
        && parts.windows(2).all(follow)
        && state.texts.after.slice(after) == texts.after.slice(hunk.after.clone())
}

fn pieces(hunk: &Hunk, parts: &[Moved<'_>]) -> Vec<Hunk> {
    let mut start = hunk.after.start;
    let piece = |(before, former): &Moved<'_>| {
        let after = start..start + former.after.len();
        start = after.end;
        Hunk {
            before: before.clone(),
            after,
            ..hunk.clone()
        }
    };
    parts.iter().map(piece).collect()
}

fn known<'a>(state: &'a State, places: &Places) -> HashMap<Key<'a>, &'a Hunk> {
    let hunks = state.hunks.iter().filter_map(|hunk| {
        let start = places.moved(&hunk.before)?;
        Some((key(&state.texts, hunk, start), hunk))
    });
    hunks.collect()
}

fn key<'a>(texts: &'a Texts, hunk: &Hunk, start: usize) -> Key<'a> {
    let before = texts.before.slice(hunk.before.clone());
    (start, before, texts.after.slice(hunk.after.clone()))
}

/// Marks what the last proposal did not have.
fn mark(last: &State, places: &Places, found: &mut [Hunk], is_known: &[bool]) {
    let judged = last.hunks.iter().filter(|hunk| hunk.out);
    let judged: Vec<_> = judged.map(|hunk| places.around(&hunk.before)).collect();
    for (hunk, _) in found.iter_mut().zip(is_known).filter(|(_, known)| !**known) {
        let touches =
            |place: &Range<usize>| place.start <= hunk.before.end && hunk.before.start <= place.end;
        let is_changed = judged.iter().any(touches);
        hunk.mark = Some(if is_changed { Mark::Changed } else { Mark::New });
    }
}
