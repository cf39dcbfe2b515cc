//! `pillion keep`, `pillion revert` and `pillion undo`: what a person makes of changes that are written already.

use std::io::{self, Write};

use pillion_changes::take_back::{self, Done};
use pillion_changes::{Change, ChangeRef, FileState, Judged, Judgement, Standing, Store};
use pillion_protocol::{Dialect, Note, remarks};
use pillion_system::clock;
use pillion_text::unified::unified;
use pillion_text::visible;
use pillion_view::commands;

use super::{Kept, failure, name, store};
use crate::commands::control_client;
use crate::failure::{Failure, Kind};

/// Keep what an agent changed: you have looked at it
///
/// The files stay as they are. What is changed later has to be looked at again.
#[derive(Debug, clap::Args)]
pub struct Keep {
    /// The change (`7.2`), or all of a turn that nobody has seen (`7`)
    change: ChangeRef,
}

/// Take back what an agent changed
///
/// The lines before the change are put into the file as it is now: what you have written in other places since stays.
/// If the same places were changed since, nothing is written. A new file is removed if it still is what the agent made of
/// it, and a deleted one comes back. What is overwritten is kept, and `pillion undo` brings it back. Git is not used, and
/// nothing of it is changed.
///
/// The agent is told what was taken out, with your next prompt. It is refused while the agent runs a call that may change
/// the same file.
#[derive(Debug, clap::Args)]
pub struct Revert {
    /// The change (`7.2`), or all of a turn (`7`)
    change: ChangeRef,
}

/// Undo `pillion revert`, or what you changed in `pillion look`
///
/// Without CHANGE, the one that was taken back or edited last.
#[derive(Debug, clap::Args)]
pub struct Undo {
    /// The change (`7.2`), or all of a turn (`7`)
    change: Option<ChangeRef>,
}

pub fn keep(args: &Keep) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let kept = Kept::read(&store, args.change.turn)?;
    for_each(&kept.named(args.change)?, &kept, |change, _| {
        if args.change.change.is_none() && kept.standing(change) != Standing::Unseen {
            return Ok(());
        }
        let judged = judged(Judgement::Kept, change, None);
        store
            .judge(kept.turn.number, change.number, &judged)
            .map_err(failure)?;
        say(&kept, change, "kept")
    })
}

pub fn revert(args: &Revert) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let kept = Kept::read(&store, args.change.turn)?;
    let mut changes = kept.named(args.change)?;
    // What was done last is taken back first.
    changes.reverse();
    for_each(&changes, &kept, |change, told| {
        if kept.standing(change) == Standing::TakenBack {
            return say(&kept, change, "taken back already");
        }
        refuse_running(&kept, change)?;
        let done = take_back::take_back(&store, &kept.turn.roots, change)?;
        told.add(&store, change, true, &done, &[]);
        let judged = judged(Judgement::TakenBack, change, Some(done));
        store
            .judge(kept.turn.number, change.number, &judged)
            .map_err(failure)?;
        say(&kept, change, "taken back")
    })
}

pub fn undo(args: &Undo) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let name = match args.change {
        Some(name) => name,
        None => last_taken_back(&store)?,
    };
    let kept = Kept::read(&store, name.turn)?;
    let is_back = |change: &&Change| {
        matches!(
            kept.standing(change),
            Standing::TakenBack | Standing::Edited
        )
    };
    let changes: Vec<_> = kept.named(name)?.into_iter().filter(is_back).collect();
    if changes.is_empty() {
        let message = format!("{name} was not taken back");
        return Err(Failure::new(Kind::Refused, message).into());
    }
    for_each(&changes, &kept, |change, _| {
        let Some(judged) = kept.judged(change) else {
            return Ok(());
        };
        refuse_running(&kept, change)?;
        take_back::undo(&store, &kept.turn.roots, change, judged)?;
        store
            .unjudge(kept.turn.number, change.number)
            .map_err(failure)?;
        say(&kept, change, "is as the agent left it")
    })
}

/// Refuses what a call of the agent may be writing at this moment.
pub(super) fn refuse_running(kept: &Kept, change: &Change) -> anyhow::Result<()> {
    let Some(call) = kept.turn.call_on(&change.path) else {
        return Ok(());
    };
    let agent = Dialect::from_name(&kept.turn.agent);
    let agent = agent.map_or(kept.turn.agent.as_str(), |it| it.display_name());
    let message = format!(
        "{agent} runs {}, which may change it at this moment",
        visible::one_line(&call.tool)
    );
    Err(Failure::new(Kind::Refused, message)
        .hint("Try again when it has ended.")
        .into())
}

pub(super) fn judged(judgement: Judgement, change: &Change, done: Option<Done>) -> Judged {
    let (overwritten, written) = done.map(|it| (it.overwritten, it.written)).unzip();
    Judged {
        judgement,
        after: change.after.clone(),
        at: clock::now_ms(),
        overwritten,
        written,
    }
}

fn last_taken_back(store: &Store) -> anyhow::Result<ChangeRef> {
    let mut last = None;
    for turn in store.numbers().map_err(failure)? {
        for (change, judged) in store.judged(turn).map_err(failure)? {
            let is_later = last.is_none_or(|(at, _)| judged.at >= at);
            if judged.judgement != Judgement::Kept && is_later {
                let change = Some(change);
                last = Some((judged.at, ChangeRef { turn, change }));
            }
        }
    }
    let none = || Failure::new(Kind::Refused, "nothing has been taken back");
    Ok(last.map(|(_, name)| name).ok_or_else(none)?)
}

/// Does all that can be done, and fails with the first that cannot.
fn for_each(
    changes: &[&Change],
    kept: &Kept,
    mut work: impl FnMut(&Change, &mut Told) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut told = Told::default();
    let mut first = Ok(());
    for change in changes {
        if let Err(error) = work(change, &mut told) {
            let message = format!("{} is as it was", name(&kept.turn, change));
            let error = error.context(Failure::new(Kind::Refused, message));
            match first.is_ok() {
                true => first = Err(error),
                false => crate::failure::warn(&error),
            }
        }
    }
    told.tell(kept)?;
    first
}

pub(super) fn say(kept: &Kept, change: &Change, what: &str) -> anyhow::Result<()> {
    let path = kept.turn.shown(&change.path).display().to_string();
    let path = visible::one_line(&path);
    Ok(writeln!(
        io::stdout(),
        "{} {path}: {what}",
        name(&kept.turn, change)
    )?)
}

/// What the agent is to hear.
#[derive(Debug, Default)]
pub(super) struct Told(Vec<(String, String)>);

impl Told {
    /// A change was taken back, all of it or a part. What is not text cannot be told.
    pub(super) fn add(
        &mut self,
        store: &Store,
        change: &Change,
        is_all: bool,
        done: &Done,
        notes: &[Note],
    ) {
        let text = |state: &FileState| match state.text() {
            Some(hash) => String::from_utf8(store.get(hash).ok()?).ok(),
            None => Some(String::new()),
        };
        if let (Some(before), Some(after)) = (text(&done.overwritten), text(&done.written)) {
            let path = change.path.to_string_lossy().into_owned();
            let told = remarks::taken_back(&path, is_all, &unified(&before, &after), notes, &after);
            self.0.push((path, told));
        }
    }

    /// A person has kept a change, or not, and has something to say.
    pub(super) fn add_notes(
        &mut self,
        change: &Change,
        is_kept: bool,
        notes: &[Note],
        shown: &str,
    ) {
        if !notes.is_empty() {
            let path = change.path.to_string_lossy().into_owned();
            let told = remarks::decided(is_kept, &path, notes, shown);
            self.0.push((path, told));
        }
    }

    /// Tells it, and says whether the agent hears it.
    pub(super) fn tell(self, kept: &Kept) -> anyhow::Result<()> {
        let has_news = !self.0.is_empty();
        let judged = commands::Judged {
            watcher: kept.turn.watcher,
            session: kept.turn.session,
            told: self.0,
        };
        let is_told = control_client::tell_judged(&judged);
        if !has_news {
            return Ok(());
        }
        let agent = Dialect::from_name(&kept.turn.agent);
        let agent = agent.map_or(kept.turn.agent.as_str(), |it| it.display_name());
        let said = match is_told {
            true => {
                format!("{agent} is told with your next prompt; `pillion send-notes` tells it now")
            }
            false => format!("{agent} is not connected any more, and is not told"),
        };
        Ok(writeln!(io::stdout(), "{said}")?)
    }
}
