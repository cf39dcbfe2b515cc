//! `pillion keep`, `pillion revert` and `pillion undo`: what a person makes of changes that are written already.

use std::cmp::Reverse;
use std::io::{self, IsTerminal, Write};

use pillion_changes::deciding::{is_any_taken_back_shown, last_taken_back};
use pillion_changes::{Act, Change, ChangeRef, Deciding, Kept, Store, Words};
use pillion_protocol::Note;
use pillion_text::{stderr, visible};
use pillion_view::ask::Judged;
use pillion_view::changes::judged_said;

use super::said::Said;
use super::{failure as refused, here, remember, show, store};
use crate::commands::control_client;
use crate::commands::notes::Notes;
use crate::commands::output::printable;
use crate::failure::{self, Failure, Kind};

/// Mark what an agent changed as seen, and keep it
///
/// The files stay as they are. What is changed later has to be looked at again. A change that is not what `pillion changes` or
/// `pillion show` printed last is not kept: it is printed, and the same command again keeps it.
#[derive(Debug, clap::Args)]
pub struct Keep {
    /// The changes (`7.2`), or all of a turn that nobody has seen (`7`)
    #[arg(required = true)]
    change: Vec<ChangeRef>,

    #[command(flatten)]
    notes: Notes,
}

/// Take back what an agent changed
///
/// The lines before the change are put into the file as it is now: what you have written in other places since stays.
/// If the same places were changed since, nothing is written. A new file is removed if it still is what the agent made of
/// it, and a deleted one comes back. What is overwritten is kept, and `pillion undo` brings it back. Git is not used, and
/// nothing of it is changed.
///
/// The agent is told what was taken out, and why if you say so, with your next prompt. It is refused while the agent runs a
/// call that may change the same file, and once if the change is not what `pillion changes` or `pillion show` printed last.
#[derive(Debug, clap::Args)]
pub struct Revert {
    /// The changes (`7.2`), or all of a turn (`7`)
    #[arg(required = true)]
    change: Vec<ChangeRef>,

    #[command(flatten)]
    notes: Notes,
}

/// Undo `pillion revert`, or what you changed in `pillion look`
///
/// Without CHANGE, what was taken back or edited last in this folder: a whole turn if that was taken back at once. If that is not
/// what a command printed last, because something else was taken back meanwhile, it is not undone: it is printed, and the same
/// command again undoes it.
#[derive(Debug, clap::Args)]
pub struct Undo {
    /// The change (`7.2`), or all of a turn (`7`)
    change: Option<ChangeRef>,
}

pub fn keep(args: Keep) -> anyhow::Result<()> {
    act(Act::Keep, &args.change, args.notes)
}

pub fn revert(args: Revert) -> anyhow::Result<()> {
    act(Act::TakeBack, &args.change, args.notes)
}

pub fn undo(args: &Undo) -> anyhow::Result<()> {
    act(Act::Undo, args.change.as_slice(), Notes::default())
}

/// Does this with changes, turn after turn. To undo what has no name is to undo what was taken back last.
fn act(act: Act, names: &[ChangeRef], notes: Notes) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let is_named = !names.is_empty();
    let names = match is_named {
        true => names.to_vec(),
        false => last_taken_back(&store, &here()?).map_err(refused)?,
    };
    let mut turns: Vec<(Kept, Vec<ChangeRef>)> = Vec::new();
    for name in &names {
        match turns.iter_mut().find(|(it, _)| it.turn.number == name.turn) {
            Some((_, names)) => names.push(*name),
            None => {
                let kept = Kept::read(&store, name.turn).map_err(refused)?;
                turns.push((kept, vec![*name]));
            }
        }
    }
    // What was done last is taken back first.
    if act == Act::TakeBack {
        turns.sort_by_key(|(kept, _)| Reverse(kept.turn.number));
    }
    // Nothing is done if one is not there, or if a note is about none of them.
    for (kept, names) in &turns {
        for name in names {
            kept.named(*name).map_err(refused)?;
        }
    }
    let words = notes.on_changes(&turns)?;
    match act {
        Act::Undo => refuse_other(&store, &turns, is_named)?,
        Act::Keep | Act::TakeBack => refuse_changed(&store, &turns)?,
    }
    note_elsewhere(&turns);
    let mut said = Said::default();
    let mut errors = Vec::new();
    let mut not_told = Vec::new();
    for ((kept, names), words) in turns.iter().zip(&words) {
        let mut deciding = Deciding::new(&store, kept);
        deciding.say(words.clone());
        let all = deciding.all(act, names, |decided| said.say(decided));
        errors.extend(all.err().map(|error| refused(error).into()));
        not_told.push(deciding.unsaid().into_iter().cloned().collect());
        // What has been done is told, even if the rest could not be.
        errors.extend(tell(kept, &mut deciding).err());
        remember_taken_back(&store, kept, names);
    }
    errors.extend(said.end().err());
    errors.extend(unsaid(&words, &not_told));
    let mut errors = errors.into_iter();
    let Some(first) = errors.next() else {
        return Ok(());
    };
    errors.for_each(|error| failure::warn(&error));
    Err(first)
}

/// Refuses what is not what the person was shown, and prints that: the same command means it from now on.
fn refuse_changed(store: &Store, turns: &[(Kept, Vec<ChangeRef>)]) -> anyhow::Result<()> {
    let names = print_again(store, turns, |kept, names| {
        kept.changed_since_shown(store, names)
    })?;
    match names.is_empty() {
        true => Ok(()),
        false => Err(shown_again(format!(
            "changed since you were shown it: {names}; nothing was decided"
        ))),
    }
}

/// Refuses to undo something else than the person was shown, in the same way. Without a name, they mean what was printed last.
fn refuse_other(
    store: &Store,
    turns: &[(Kept, Vec<ChangeRef>)],
    is_named: bool,
) -> anyhow::Result<()> {
    let is_unshown_meant =
        is_named || !is_any_taken_back_shown(store, &here()?).map_err(refused)?;
    let names = print_again(store, turns, |kept, names| {
        kept.taken_back_since_shown(store, names, is_unshown_meant)
    })?;
    match names.is_empty() {
        true => Ok(()),
        false => Err(shown_again(format!(
            "taken back since you were shown what was: {names}; nothing was undone"
        ))),
    }
}

/// Prints the changes that are not as the person was shown them, and returns their names.
fn print_again<'a>(
    store: &Store,
    turns: &'a [(Kept, Vec<ChangeRef>)],
    found: impl Fn(&'a Kept, &[ChangeRef]) -> Vec<&'a Change>,
) -> anyhow::Result<String> {
    let mut changed = Vec::new();
    for (kept, names) in turns {
        let of_turn = found(kept, names);
        changed.extend(of_turn.into_iter().map(|it| (kept, it)));
    }
    let mut out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    for (kept, change) in &changed {
        let diff = show::diff(store, kept, change);
        out.write_all(printable(&diff, is_terminal).as_bytes())?;
    }
    let shown: Vec<_> = { changed.iter() }
        .map(|(kept, change)| (*kept, kept.name(change)))
        .collect();
    remember(store, &shown);
    let names: Vec<_> = shown.iter().map(|(_, name)| name.to_string()).collect();
    Ok(names.join(", "))
}

fn shown_again(message: String) -> anyhow::Error {
    let hint = "This is what is there now; the same command again means that.";
    Failure::new(Kind::Refused, message).hint(hint).into()
}

/// The person was just told what was taken back of these, or that it was undone.
fn remember_taken_back(store: &Store, kept: &Kept, names: &[ChangeRef]) {
    let noted = Kept::read(store, kept.turn.number).and_then(|now| {
        let mut names = names.iter();
        names.try_for_each(|name| now.note_taken_back(store, *name))
    });
    if let Err(error) = noted {
        tracing::debug!(%error, "what was printed of turn {} is not kept", kept.turn.number);
    }
}

/// The error that names the words that no agent hears, of those that were said of each turn: nothing was decided about what
/// they say something of.
fn unsaid(words: &[Words], of_turns: &[Vec<Note>]) -> Option<anyhow::Error> {
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
    if texts.is_empty() {
        return None;
    }
    let texts = texts.join("; ");
    let message = format!("nothing was decided, and no agent is told: {texts}");
    let hint = "What was decided before can be kept again by its name (`pillion keep 7.2`), or undone (`pillion undo 7.2`).";
    Some(Failure::new(Kind::Refused, message).hint(hint).into())
}

/// Says which project turns belong to whose folders are not those that the command is run in.
fn note_elsewhere(turns: &[(Kept, Vec<ChangeRef>)]) {
    let here = here().unwrap_or_default();
    for (kept, _) in turns.iter().filter(|(kept, _)| !kept.is_of(&here)) {
        let roots: Vec<_> = { kept.turn.roots.iter() }
            .map(|root| visible::one_line(&root.to_string_lossy()))
            .collect();
        let (turn, roots) = (kept.turn.number, roots.join(", "));
        stderr::print(format_args!("note: turn {turn} was in {roots}"));
    }
}

/// Tells the agent, and says whether it hears that.
pub(super) fn tell(kept: &Kept, deciding: &mut Deciding<'_>) -> anyhow::Result<()> {
    let judged = Judged {
        watcher: kept.turn.watcher,
        session: kept.turn.session,
        told: deciding.take_told(),
    };
    let has_news = !judged.told.is_empty();
    let hearing = control_client::tell_judged(&judged);
    if !has_news {
        return Ok(());
    }
    Ok(writeln!(
        io::stdout(),
        "{}",
        judged_said(kept.agent(), kept.turn.is_without_hooks, hearing)
    )?)
}
