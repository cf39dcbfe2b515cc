//! `pillion keep`, `pillion revert` and `pillion undo`: what a person makes of changes that are written already.

use std::io::{self, Write};

use pillion_changes::save::SaveError;
use pillion_changes::take_back::{self, Done, Present, TakeBackError};
use pillion_changes::{Change, ChangeRef, FileState, Judged, Judgement, Standing, Store};
use pillion_protocol::{Note, remarks};
use pillion_system::clock;
use pillion_text::unified::unified;
use pillion_text::visible;
use pillion_view::commands;

use super::said::Said;
use super::{Kept, failure, name, store};
use crate::commands::control_client;
use crate::failure::{Failure, Kind};

/// So many files are written before what became of them is kept.
const PART: usize = 64;

/// An agent is told no more than this of what became of its changes, in bytes: it reads more elsewhere.
const MAX_TOLD: usize = 64 << 10;

/// Mark what an agent changed as seen, and keep it
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
    let (store, kept) = open(args.change)?;
    let mut deciding = Deciding::new(&store, &kept);
    for change in kept.named(args.change)? {
        if args.change.change.is_some() || kept.standing(change) == Standing::Unseen {
            deciding.decide(change, |it| it.judge(change, Judgement::Kept, None));
        }
    }
    deciding.end()
}

pub fn revert(args: &Revert) -> anyhow::Result<()> {
    let (store, kept) = open(args.change)?;
    let mut deciding = Deciding::new(&store, &kept);
    // What was done last is taken back first.
    let changes: Vec<_> = kept.named(args.change)?.into_iter().rev().collect();
    let is_back = |change: &Change| kept.standing(change) == Standing::TakenBack;
    let roots = &kept.turn.roots;
    for part in changes.chunks(PART) {
        let done = take_back::side_by_side(part, |change| {
            let is_free = !is_back(change) && kept.turn.call_on(&change.path).is_none();
            is_free.then(|| take_back::take_back(&store, roots, change).ok())?
        });
        for (change, done) in part.iter().zip(done) {
            deciding.decide(change, |it| match (is_back(change), done) {
                (true, _) => it.say(change, "taken back already"),
                (false, Some(done)) => it.took_back(change, done, &[]),
                // Another file of these may have been in its way.
                (false, None) => it.take_back(change, &[]),
            });
        }
    }
    deciding.end()
}

pub fn undo(args: &Undo) -> anyhow::Result<()> {
    let store = store()?;
    let name = match args.change {
        Some(name) => name,
        None => last_taken_back(&store)?,
    };
    let (store, kept) = open(name)?;
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
    let mut deciding = Deciding::new(&store, &kept);
    let roots = &kept.turn.roots;
    for part in changes.chunks(PART) {
        let is_undone = take_back::side_by_side(part, |change| {
            let judged = kept.judged(change)?;
            let is_free = kept.turn.call_on(&change.path).is_none();
            is_free.then(|| take_back::undo(&store, roots, change, judged).ok())?
        });
        for (change, is_undone) in part.iter().zip(is_undone) {
            deciding.decide(change, |it| match is_undone {
                Some(_) => it.undid(change),
                None => it.undo(change),
            });
        }
    }
    deciding.end()
}

/// The turn that is meant, if this command may decide about it.
fn open(name: ChangeRef) -> anyhow::Result<(Store, Kept)> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let kept = Kept::read(&store, name.turn)?;
    Ok((store, kept))
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

/// What a person makes of the changes of one turn, one after the other.
pub(super) struct Deciding<'a> {
    store: &'a Store,
    kept: &'a Kept,
    /// What the agent is to hear: the file, and a text, each.
    told: Vec<(String, String)>,
    /// Why the first did not succeed, if one did not.
    result: anyhow::Result<()>,
    said: Said,
    /// Of how many files the agent does not hear by name.
    untold: usize,
}

impl<'a> Deciding<'a> {
    pub(super) fn new(store: &'a Store, kept: &'a Kept) -> Self {
        Self {
            store,
            kept,
            told: Vec::new(),
            result: Ok(()),
            said: Said::default(),
            untold: 0,
        }
    }

    /// Decides about one change. If that fails, the others can be decided nevertheless.
    pub(super) fn decide(
        &mut self,
        change: &Change,
        work: impl FnOnce(&mut Self) -> anyhow::Result<()>,
    ) {
        let Err(error) = work(self) else {
            return;
        };
        let name = name(&self.kept.turn, change);
        let take_back = error.downcast_ref::<TakeBackError>();
        let message = match take_back {
            Some(TakeBackError::Save(SaveError::Incomplete { .. })) => {
                format!("{name} is not done yet")
            }
            _ => format!("{name} is as it was"),
        };
        let mut failure = Failure::new(Kind::Refused, message);
        if let Some(hint) = take_back.and_then(hint) {
            failure = failure.hint(hint);
        }
        let error = error.context(failure);
        match self.result.is_ok() {
            true => self.result = Err(error),
            false if self.said.fails() => crate::failure::warn(&error),
            false => {}
        }
    }

    /// Takes all of a change back. `notes` are what the person has to say of it.
    pub(super) fn take_back(&mut self, change: &Change, notes: &[Note]) -> anyhow::Result<()> {
        self.refuse_running(change)?;
        let done = take_back::take_back(self.store, &self.kept.turn.roots, change)?;
        self.took_back(change, done, notes)
    }

    /// All of a change has been taken back.
    fn took_back(&mut self, change: &Change, done: Done, notes: &[Note]) -> anyhow::Result<()> {
        self.tell_what_became(change, true, &done, notes);
        self.judge(change, Judgement::TakenBack, Some(done))
    }

    /// Writes what the person made of a change that they have seen beside this.
    pub(super) fn rewrite(
        &mut self,
        change: &Change,
        seen: &Present,
        text: &str,
        notes: &[Note],
    ) -> anyhow::Result<()> {
        self.refuse_running(change)?;
        let roots = &self.kept.turn.roots;
        let done = take_back::rewrite(self.store, roots, change, seen, text.as_bytes())?;
        self.tell_what_became(change, false, &done, notes);
        self.judge(change, Judgement::Edited, Some(done))
    }

    fn undo(&mut self, change: &Change) -> anyhow::Result<()> {
        let Some(judged) = self.kept.judged(change) else {
            return Ok(());
        };
        self.refuse_running(change)?;
        let turn = &self.kept.turn;
        take_back::undo(self.store, &turn.roots, change, judged)?;
        self.undid(change)
    }

    /// What was taken back is there again.
    fn undid(&mut self, change: &Change) -> anyhow::Result<()> {
        let turn = &self.kept.turn;
        self.store
            .unjudge(turn.number, change.number)
            .map_err(failure)?;
        self.say(change, "is as the agent left it")
    }

    /// Keeps what the person decided.
    pub(super) fn judge(
        &mut self,
        change: &Change,
        judgement: Judgement,
        done: Option<Done>,
    ) -> anyhow::Result<()> {
        let (overwritten, written) = done.map(|it| (it.overwritten, it.written)).unzip();
        let judged = Judged {
            judgement,
            after: change.after.clone(),
            at: clock::now_ms(),
            overwritten,
            written,
        };
        self.store
            .judge(self.kept.turn.number, change.number, &judged)
            .map_err(failure)?;
        self.say(change, judgement.name())
    }

    /// Refuses what a call of the agent may be writing at this moment.
    fn refuse_running(&self, change: &Change) -> anyhow::Result<()> {
        let Some(call) = self.kept.turn.call_on(&change.path) else {
            return Ok(());
        };
        let message = format!(
            "{} is running {}, which may be changing it",
            self.kept.agent(),
            visible::one_line(&call.tool)
        );
        Err(Failure::new(Kind::Refused, message)
            .hint("Try again when it has ended.")
            .into())
    }

    /// The agent is to hear what became of the file. What is not text cannot be told.
    fn tell_what_became(&mut self, change: &Change, is_all: bool, done: &Done, notes: &[Note]) {
        let text = |state: &FileState| match state.text() {
            Some(hash) => String::from_utf8(self.store.get(hash).ok()?).ok(),
            None => Some(String::new()),
        };
        if let (Some(before), Some(after)) = (text(&done.overwritten), text(&done.written)) {
            let path = change.path.to_string_lossy().into_owned();
            let diff = unified(&before, &after);
            let told = remarks::taken_back(&path, is_all, &diff, notes, &after);
            self.hear(path, told);
        }
    }

    /// The agent is to hear what the person has to say of a change that stays, or about which they have not decided.
    pub(super) fn tell_notes(
        &mut self,
        change: &Change,
        is_kept: bool,
        notes: &[Note],
        shown: &str,
    ) {
        if !notes.is_empty() {
            let path = change.path.to_string_lossy().into_owned();
            let told = remarks::decided(is_kept, &path, notes, shown);
            self.hear(path, told);
        }
    }

    /// The agent is to hear this of a file. After many, one sentence says how many more there are.
    fn hear(&mut self, path: String, told: String) {
        let length: usize = self.told.iter().map(|(_, text)| text.len()).sum();
        match length + told.len() > MAX_TOLD && !self.told.is_empty() {
            true => self.untold += 1,
            false => self.told.push((path, told)),
        }
    }

    /// Tells the agent, and says whether it hears that.
    pub(super) fn tell(&mut self) -> anyhow::Result<()> {
        if let Some((_, told)) = self.told.last_mut().filter(|_| self.untold > 0) {
            let untold = std::mem::take(&mut self.untold);
            *told += &format!("\n\nThe user did the same with {untold} more of your files.");
        }
        let judged = commands::Judged {
            watcher: self.kept.turn.watcher,
            session: self.kept.turn.session,
            told: std::mem::take(&mut self.told),
        };
        let has_news = !judged.told.is_empty();
        let is_told = control_client::tell_judged(&judged);
        if !has_news {
            return Ok(());
        }
        let agent = self.kept.agent();
        let said = match is_told {
            true => {
                format!("{agent} is told with your next prompt; `pillion send-notes` tells it now")
            }
            false => format!("{agent} is no longer connected, and is not told"),
        };
        Ok(writeln!(io::stdout(), "{said}")?)
    }

    /// All is decided. Fails with the first that could not be.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        self.said.end()?;
        self.tell()?;
        self.result
    }

    fn say(&mut self, change: &Change, what: &'static str) -> anyhow::Result<()> {
        let path = self.kept.turn.shown(&change.path).display().to_string();
        let (name, path) = (name(&self.kept.turn, change), visible::one_line(&path));
        Ok(self.said.say(&format!("{name} {path}"), what)?)
    }
}

/// What a person can do about it, if there is something.
fn hint(error: &TakeBackError) -> Option<String> {
    match error {
        TakeBackError::Store(error) => error.hint().map(|hint| format!("{hint}.")),
        TakeBackError::Save(SaveError::Incomplete { .. }) => {
            Some("Give the command again when the disk lets you: its texts are kept.".to_owned())
        }
        TakeBackError::Save(SaveError::Io { source, .. } | SaveError::Unusable { source, .. })
        | TakeBackError::Io { source, .. } => match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Some("Free some space on that file system, and give the command again.".to_owned())
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Some(
                "Make the file and its folder writable, and give the command again.".to_owned(),
            ),
            _ => None,
        },
        _ => None,
    }
}
