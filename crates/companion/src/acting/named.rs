//! What a command names: changes and turns that are kept, taken back or brought back, and what is forgotten.

use std::cmp::Reverse;
use std::time::{Duration, SystemTime};

use pillion_changes::deciding::{is_any_taken_back_shown, last_act};
use pillion_changes::{Act, ChangeRef, Decided, EntryRef, Kept, Store, StoreError, Words};
use pillion_protocol::{Note, verdict};
use pillion_text::counted;
use pillion_view::changes::{Named, NamedAct, NotDone, Report};

use super::outcome::{Outcome, reported};
use super::{ActError, Acted, How, OfTurn, of_turn, read_name, staging, untold, with_moved};

pub(super) fn perform(store: &Store, named: Named) -> Result<Acted, ActError> {
    let act = match named.act {
        NamedAct::Keep => Act::Keep,
        NamedAct::TakeBack => Act::TakeBack,
        NamedAct::Undo => Act::Undo,
        NamedAct::Stage => return staging::perform(store, &named),
        NamedAct::Forget => return forget(store, &named.names),
    };
    let turns = turns(store, act, &named)?;
    let changed = changed(store, act, &named, &turns)?;
    if !changed.is_empty() {
        return Ok(reported(Report {
            changed,
            ..Report::default()
        }));
    }
    let said = words(&named, &turns)?;
    let (mut outcome, mut told) = (Outcome::default(), Vec::new());
    let mut unsaid = Vec::new();
    let how = How {
        takes_all: named.takes_all,
        ..How::new(act)
    };
    for ((turn, names), words) in turns.iter().zip(&said) {
        let of_turn = of_turn(store, how, names, words.clone(), None);
        let of_turn = of_turn.unwrap_or_else(|error| OfTurn {
            failed: Some(error),
            ..OfTurn::default()
        });
        let is_whole = names.iter().any(|it| it.change.is_none());
        let left = Kept::read(store, *turn).ok().filter(|_| is_whole);
        let left = left.and_then(|it| it.left(store));
        if let Some(left) = left {
            outcome.fails(NotDone {
                what: format!("not all of turn {turn} is known: {left}"),
                ..NotDone::default()
            });
        } else if of_turn.decided.is_empty() && of_turn.failed.is_none() {
            let what = match act {
                Act::Keep => "to keep",
                Act::TakeBack => "to take back",
                Act::Undo => "to undo",
            };
            let nothing = format!("there is nothing {what} in turn {turn}");
            outcome.says(nothing);
        }
        if !of_turn.decided.is_empty() && of_turn.decided.iter().all(Decided::is_left_out) {
            outcome.fails(NotDone {
                what: format!("nothing of turn {turn} was taken back"),
                hint: Some(format!("`pillion revert --all {turn}` takes it back.")),
                ..NotDone::default()
            });
        }
        of_turn.decided.into_iter().for_each(|it| outcome.add(it));
        if let Some(error) = of_turn.failed {
            outcome.fails(NotDone {
                what: error.to_string(),
                hint: error.hint(),
                ..NotDone::default()
            });
        }
        unsaid.push(of_turn.unsaid);
        told.extend(of_turn.told);
    }
    unsaid_of(&said, &unsaid)
        .into_iter()
        .for_each(|it| outcome.fails(it));
    let acted = reported(outcome.report());
    Ok(Acted { told, ..acted })
}

/// What is named, turn by turn. Nothing is done if one is not there.
fn turns(store: &Store, act: Act, wanted: &Named) -> Result<Vec<(u64, Vec<ChangeRef>)>, ActError> {
    let names = wanted.names.iter().map(|it| read_name(it));
    let mut names = names.collect::<Result<Vec<_>, _>>()?;
    if names.is_empty() && act == Act::Undo {
        names = last_act(store, &wanted.folders)?;
    }
    let mut turns: Vec<(u64, Vec<ChangeRef>)> = Vec::new();
    let is_named = |name: &ChangeRef| names.contains(name);
    // As in the lists: who takes back what a file has become wants the file back.
    let moved = names
        .iter()
        .flat_map(|it| with_moved(store, *it, false).split_off(1));
    let moved: Vec<_> = moved.filter(|it| !is_named(it)).collect();
    for name in names.into_iter().chain(moved) {
        match turns.iter_mut().find(|(turn, _)| *turn == name.turn) {
            Some((_, names)) => names.push(name),
            None => turns.push((name.turn, vec![name])),
        }
    }
    // What was done last is taken back first.
    if act == Act::TakeBack {
        turns.sort_by_key(|(turn, _)| Reverse(*turn));
    }
    for (turn, names) in &turns {
        let kept = Kept::read(store, *turn)?;
        for name in names {
            kept.named(*name)?;
        }
    }
    Ok(turns)
}

/// Those of these changes that are not what the person was shown, or of which something else was taken back. To undo what has
/// no name means what was printed last.
fn changed(
    store: &Store,
    act: Act,
    named: &Named,
    turns: &[(u64, Vec<ChangeRef>)],
) -> Result<Vec<String>, ActError> {
    let is_unshown_meant = act != Act::Undo
        || !named.names.is_empty()
        || !is_any_taken_back_shown(store, &named.folders)?;
    let mut changed = Vec::new();
    for (turn, names) in turns {
        let kept = Kept::read(store, *turn)?;
        let of_turn = match act {
            Act::Undo => kept.taken_back_since_shown(store, names, is_unshown_meant),
            Act::Keep | Act::TakeBack => kept.changed_since_shown(store, names),
        };
        let of_turn = of_turn.into_iter();
        changed.extend(of_turn.map(|it| kept.name(it).to_string()));
    }
    Ok(changed)
}

/// The person's words, for each of these turns.
fn words(wanted: &Named, turns: &[(u64, Vec<ChangeRef>)]) -> Result<Vec<Words>, ActError> {
    let mut notes = wanted.notes.clone();
    let on_lines = wanted.on_lines.iter();
    let mut all: Vec<_> = { notes.iter() }
        .chain(on_lines.clone().map(|(_, note)| note))
        .cloned()
        .collect();
    verdict::tidy(&mut all).map_err(ActError::TooLong)?;
    // No longer than all of it.
    let _ = verdict::tidy(&mut notes);
    let mut words: Vec<_> = { turns.iter() }
        .map(|(_, names)| Words::on(names, notes.clone()))
        .collect();
    for (name, note) in on_lines {
        let ChangeRef { turn, change } = read_name(name)?;
        let at = turns.iter().position(|(it, _)| *it == turn);
        let (at, change) = at
            .zip(change)
            .ok_or_else(|| ActError::NoName(name.clone()))?;
        let of_change = words[at].on_lines.entry(change).or_default();
        of_change.push(note.clone());
    }
    Ok(words)
}

/// The words that no agent hears, of those that were said of each turn: nothing was decided about what they say something of.
fn unsaid_of(words: &[Words], of_turns: &[Vec<Note>]) -> Option<NotDone> {
    let is_said = |note: &Note| {
        let mut turns = words.iter().zip(of_turns);
        turns.any(|(words, unsaid)| words.has(note) && !unsaid.contains(note))
    };
    let unsaid = of_turns.iter().flatten().filter(|it| !is_said(it));
    let hint = "What was decided before can be kept again by its name (`pillion keep 7.2`), or undone (`pillion undo 7.2`).";
    untold(unsaid).map(|untold| NotDone {
        what: format!("nothing was decided, and {untold}"),
        why: Vec::new(),
        hint: Some(hint.to_owned()),
    })
}

/// Forgets turns, with what was decided in them, and entries of the log; all of them without a name.
fn forget(store: &Store, names: &[String]) -> Result<Acted, ActError> {
    let (mut turns, mut entries) = (Vec::new(), Vec::new());
    let known = store.entries()?;
    for name in names {
        match name.parse::<EntryRef>() {
            Ok(name) => {
                if store.entry(name)?.is_pending() {
                    return Err(ActError::Pending(name));
                }
                entries.push(name);
            }
            Err(_) => match read_name(name)? {
                ChangeRef { turn, change: None } => {
                    turns.push(turn);
                    let of_turn = known.iter().filter(|it| it.turn == Some(turn));
                    entries.extend(of_turn.map(pillion_changes::Entry::name));
                }
                change => return Err(ActError::OneChange(change)),
            },
        }
    }
    if names.is_empty() {
        turns = store.numbers()?;
        let over = known.iter().filter(|it| !it.is_pending());
        entries = over.map(pillion_changes::Entry::name).collect();
    }
    for number in &turns {
        if store.turn(*number).is_ok_and(|it| it.goes_on()) {
            return Err(ActError::GoesOn(*number));
        }
    }
    let texts = store.forget_all(&turns, &entries)?;
    let removed = match names.is_empty() {
        true => store.remove_texts(SystemTime::now(), Duration::ZERO, |_| false),
        false => store.remove(&texts),
    };
    let unread = store.forget_notes(&turns)?;
    let mut said = vec![forgotten(turns.len(), entries.len(), removed)];
    if unread > 0 {
        let notes = counted(unread, "note");
        said.push(format!("With them {notes} went that no agent has read"));
    }
    let done = reported(Report {
        said,
        ..Report::default()
    });
    Ok(Acted {
        forgotten: turns,
        ..done
    })
}

fn forgotten(turns: usize, decisions: usize, removed: Result<(), StoreError>) -> String {
    let what = match (turns, decisions) {
        (turns, 0) => counted(turns, "turn"),
        (0, decisions) => counted(decisions, "decision"),
        (turns, decisions) => format!(
            "{} and {}",
            counted(turns, "turn"),
            counted(decisions, "decision")
        ),
    };
    let is = match turns + decisions {
        1 => "is",
        _ => "are",
    };
    let texts = match removed {
        Ok(()) => String::new(),
        Err(error) => format!("; the texts stay: {}", error.in_full()),
    };
    format!("{what} {is} forgotten{texts}")
}
