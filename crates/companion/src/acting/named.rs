//! What a command names: changes and turns that are kept, taken back or brought back, and what is forgotten.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::error::Error;
use std::iter;
use std::time::{Duration, SystemTime};

use pillion_changes::deciding::{is_any_taken_back_shown, last_act};
use pillion_changes::{
    Act, ChangeRef, DecideError, Decided, EntryRef, Kept, Store, StoreError, Words,
};
use pillion_protocol::{Note, verdict};
use pillion_text::{counted, visible};
use pillion_view::changes::{ActDone, Named, NamedAct, NotDone, Report};

use super::{ActError, Acted, How, OfTurn, named, of_turn, remains, staging};

/// So many changes are told of one by one, and so many that failed.
const MAX_LINES: usize = 100;

/// So many names are told of several that failed for the same reason.
const MAX_NAMES: usize = 5;

/// Does it.
pub(super) fn perform(store: &Store, named: Named) -> Result<Acted, ActError> {
    let act = match named.act {
        NamedAct::Keep => Act::Keep,
        NamedAct::TakeBack => Act::TakeBack,
        NamedAct::Undo => Act::Undo,
        NamedAct::Stage => return staging::perform(store, &named),
        NamedAct::Forget => return forget(store, &named.names).map(reported),
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
        if of_turn.decided.is_empty() && of_turn.failed.is_none() {
            let what = match act {
                Act::Keep => "to keep",
                Act::TakeBack => "to take back",
                Act::Undo => "to undo",
            };
            let nothing = format!("there is nothing {what} in turn {turn}");
            outcome.says(nothing);
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

pub(super) fn reported(report: Report) -> Acted {
    let done = ActDone {
        done: report.failed.is_empty() && report.changed.is_empty(),
        report,
        ..ActDone::default()
    };
    let told = Vec::new();
    Acted { done, told }
}

/// What is named, turn by turn. Nothing is done if one is not there.
fn turns(store: &Store, act: Act, wanted: &Named) -> Result<Vec<(u64, Vec<ChangeRef>)>, ActError> {
    let names = wanted.names.iter().map(|it| named(it));
    let mut names = names.collect::<Result<Vec<_>, _>>()?;
    if names.is_empty() && act == Act::Undo {
        names = last_act(store, &wanted.folders)?;
    }
    let mut turns: Vec<(u64, Vec<ChangeRef>)> = Vec::new();
    for name in names {
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
        let ChangeRef { turn, change } = named(name)?;
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
    let mut texts = Vec::new();
    for note in of_turns.iter().flatten().filter(|it| !is_said(it)) {
        let text = visible::one_line(&note.text.replace('\n', " "));
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let hint = "What was decided before can be kept again by its name (`pillion keep 7.2`), or undone (`pillion undo 7.2`).";
    (!texts.is_empty()).then(|| NotDone {
        what: format!(
            "nothing was decided, and no agent is told: {}",
            texts.join("; ")
        ),
        why: Vec::new(),
        hint: Some(hint.to_owned()),
    })
}

/// The outcome of many changes: a line for each of the first, and then how many more there are.
#[derive(Default)]
pub(super) struct Outcome {
    report: Report,
    /// The results of which nothing was said, with how often each happened.
    more: BTreeMap<&'static str, usize>,
    /// Those that failed, for the same reason each.
    same: Vec<Failed>,
}

/// Changes that are as they were, for the reason of the first.
struct Failed {
    names: Vec<ChangeRef>,
    failed: NotDone,
}

impl Failed {
    /// Returns true if what the system says is the same, such as that the disk is full, and so is what to do.
    fn is_as(&self, other: &NotDone) -> bool {
        let reason = |it: &NotDone| (it.why.len() > 1).then(|| it.why.last().cloned()).flatten();
        let is_same = reason(other).is_some() && reason(&self.failed) == reason(other);
        is_same && self.failed.hint == other.hint
    }

    /// One message about all.
    fn into_one(self) -> NotDone {
        let Self { names, mut failed } = self;
        let [_, others @ ..] = &*names else {
            return failed;
        };
        if !others.is_empty() {
            let shown = others.iter().take(MAX_NAMES).map(ToString::to_string);
            let shown: Vec<_> = shown.collect();
            let more = match others.len().saturating_sub(MAX_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            failed.what = format!("{}; so are {}{more}", failed.what, shown.join(", "));
        }
        failed
    }
}

impl Outcome {
    pub(super) fn says(&mut self, said: String) {
        self.report.said.push(said);
    }

    pub(super) fn add(&mut self, decided: Decided) {
        let Decided { name, path, result } = decided;
        match result {
            Ok(what) if self.report.said.len() < MAX_LINES => {
                self.report.said.push(format!("{name} {path}: {what}"));
            }
            Ok(what) => *self.more.entry(what).or_default() += 1,
            Err(error) => {
                let failed = not_done(name, &error);
                match self.same.iter_mut().find(|it| it.is_as(&failed)) {
                    Some(same) => same.names.push(name),
                    None => self.same.push(Failed {
                        names: vec![name],
                        failed,
                    }),
                }
            }
        }
    }

    fn fails(&mut self, failed: NotDone) {
        match self.report.failed.len() < MAX_LINES {
            true => self.report.failed.push(failed),
            false => self.report.more_failed += 1,
        }
    }

    pub(super) fn report(mut self) -> Report {
        for same in std::mem::take(&mut self.same) {
            self.fails(same.into_one());
        }
        let mut report = self.report;
        let more = self.more.into_iter();
        report
            .said
            .extend(more.map(|(what, count)| format!("… and {count} more: {what}")));
        report
    }
}

fn not_done(name: ChangeRef, error: &DecideError) -> NotDone {
    let first: &dyn Error = error;
    let causes = iter::successors(Some(first), |it| (*it).source());
    NotDone {
        what: format!("{name} {}", remains(error)),
        why: causes.map(ToString::to_string).collect(),
        hint: error.hint(),
    }
}

/// Forgets turns, with what was decided in them, and entries of the log; all of them without a name.
fn forget(store: &Store, names: &[String]) -> Result<Report, ActError> {
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
            Err(_) => match named(name)? {
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
    let said = vec![forgotten(turns.len(), entries.len(), removed)];
    Ok(Report {
        said,
        ..Report::default()
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

#[cfg(test)]
mod tests {
    use std::io;

    use pillion_changes::take_back::TakeBackError;

    use super::*;

    fn failed(change: u64, kind: io::ErrorKind) -> Decided {
        let path = format!("/work/{change}").into();
        let (action, source) = ("replace", kind.into());
        let error = TakeBackError::Io {
            action,
            path,
            source,
        };
        Decided {
            name: format!("7.{change}").parse().unwrap(),
            path: change.to_string(),
            result: Err(error.into()),
        }
    }

    #[test]
    fn a_full_disk_is_said_once_and_other_reasons_for_themselves() {
        let mut outcome = Outcome::default();
        (1..=31).for_each(|it| outcome.add(failed(it, io::ErrorKind::StorageFull)));
        outcome.add(failed(40, io::ErrorKind::PermissionDenied));
        outcome.add(Decided {
            result: Err(DecideError::NothingDecided),
            ..failed(41, io::ErrorKind::Other)
        });
        let report = outcome.report();
        let what: Vec<_> = report.failed.iter().map(|it| &*it.what).collect();
        let full = "7.1 is as it was; so are 7.2, 7.3, 7.4, 7.5, 7.6 and 25 more";
        assert_eq!(what, [full, "7.40 is as it was", "7.41 is as it was"]);
        assert!(report.failed[0].why.concat().contains("no storage space"));
        assert_eq!(report.more_failed, 0);
    }
}
