//! `pillion keep`, `pillion revert` and `pillion undo`: what a person makes of changes that are written already.

use std::io::{self, Write};

use pillion_changes::deciding::last_act;
use pillion_changes::{ChangeRef, Kept, Store, StoreError, kept};
use pillion_text::{stderr, visible};
use pillion_view::changes::{NOT_KEPT, Named, NamedAct, NotDone, Report};

use super::{
    COMPARING, all_of, catch_up, catch_up_or_warn, failure as refused, here, remember, show, store,
    turns_of, unkept,
};
use crate::commands::control_client;
use crate::commands::notes::Notes;
use crate::commands::output::say;
use crate::commands::pager::print_patch;
use crate::failure::{self, Failure, Kind};
use crate::progress;

/// Mark what an agent changed as seen, and keep it
///
/// The files stay as they are. What is changed later has to be looked at again. A change that is not what `pillion changes` or
/// `pillion show` printed last is not kept: it is printed, and the same command again keeps it.
#[derive(Debug, clap::Args)]
pub struct Keep {
    /// The changes (`7.2`), or all of a turn that nobody has seen (`7`)
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    change: Vec<ChangeRef>,

    /// Of all turns in this folder, what nobody has seen
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    notes: Notes,
}

/// Take back what an agent changed
///
/// The lines before the change are put into the file as it is now: what you have written in other places since stays.
/// If the same places were changed since, nothing is written. A new file is removed if it still is what the agent made of
/// it, and a deleted one comes back. Of a whole turn, what is unclear who changed it and what you kept by its name stays, and is
/// named; `--all` takes it back, too. What is no longer in the file is not taken back, and nobody is told. What is overwritten is kept, and `pillion undo` brings it back. Git is not used, and
/// nothing of it is changed.
///
/// The agent is told what was taken out, and why if you say so, with your next prompt. It is refused while the agent runs a
/// call that may change the same file, and once if the change is not what `pillion changes` or `pillion show` printed last.
#[derive(Debug, clap::Args)]
pub struct Revert {
    /// The changes (`7.2`), or all of a turn (`7`)
    #[arg(required = true)]
    change: Vec<ChangeRef>,

    /// Of a turn, also what may be somebody else's, and what you kept by its name
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    notes: Notes,
}

/// Undo `pillion revert`, `keep`, or what you changed in `look`
///
/// Without CHANGE, what you did last in this folder, and nothing before it: whole turns if that was about them. If that is not
/// what a command printed last, because something else was done meanwhile, it is not undone: it is printed, and the same
/// command again undoes it. Of a turn, what was taken back or edited; if nothing was, what was kept.
#[derive(Debug, clap::Args)]
pub struct Undo {
    /// The change (`7.2`), or all of a turn (`7`)
    change: Option<ChangeRef>,
}

/// Put what you accepted or kept into git's index
///
/// As `git add -p` does with a hunk: the change goes in, without what you took back of it, and nothing else that is in the file.
/// Of a whole turn, what nobody has accepted or kept is left out, and is named. `git apply --cached` writes the index; nothing else of git
/// is touched, and the files stay as they are. The review does the same by hunk with `+`.
#[derive(Debug, clap::Args)]
pub struct Stage {
    /// The changes (`7.2`), or all of a turn (`7`)
    #[arg(required = true)]
    change: Vec<ChangeRef>,
}

pub fn keep(mut args: Keep) -> anyhow::Result<()> {
    if args.all {
        catch_up_or_warn(&here()?);
        let store = store()?;
        let turns = turns_of(&store, &here()?)?;
        let is_unseen = |it: &&Kept| it.unseen() > 0 || !it.remarks().is_empty();
        let unseen = turns.iter().filter(is_unseen);
        args.change.extend(unseen.map(|it| all_of(it).1));
        if args.change.is_empty() {
            return say(&kept::none_unseen(&store, &turns));
        }
    }
    act(NamedAct::Keep, &args.change, &args.notes, false)
}

pub fn revert(args: Revert) -> anyhow::Result<()> {
    act(NamedAct::TakeBack, &args.change, &args.notes, args.all)
}

pub fn undo(args: &Undo) -> anyhow::Result<()> {
    let names = args.change.as_slice();
    act(NamedAct::Undo, names, &Notes::default(), false)
}

pub fn stage(args: &Stage) -> anyhow::Result<()> {
    act(NamedAct::Stage, &args.change, &Notes::default(), false)
}

/// Does this with changes. To undo what has no name is to undo what was taken back last.
fn act(act: NamedAct, names: &[ChangeRef], notes: &Notes, takes_all: bool) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let mut folders = here()?;
    for name in names {
        folders.extend(store.turn(name.turn).map_err(refused)?.roots);
    }
    if !catch_up(&folders) {
        let failure = Failure::new(Kind::Refused, format!("{COMPARING}: nothing was done"));
        return Err(failure.hint("Give the command again in a moment.").into());
    }
    let named = names.iter().map(ToString::to_string).collect();
    let names = match names.is_empty() {
        true => last_act(&store, &here()?).map_err(refused)?,
        false => names.to_vec(),
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
    // Nothing is done if one is not there, or if a note is about none of them.
    for (kept, names) in &turns {
        for name in names {
            kept.named(*name).map_err(|error| not_kept(*name, error))?;
        }
    }
    let on_lines = notes.on_lines(&turns)?.into_iter();
    note_elsewhere(&turns);
    let named = Named {
        act,
        names: named,
        takes_all,
        folders: here()?,
        notes: notes.on_all(),
        on_lines: on_lines.map(|(it, note)| (it.to_string(), note)).collect(),
    };
    let of_turns: Vec<_> = turns.iter().map(|(kept, _)| kept).collect();
    let report = carry_out(&store, &of_turns, &named);
    if let Ok(report) = &report
        && !report.changed.is_empty()
    {
        return Err(changed(&store, act, &report.changed)?);
    }
    for (kept, names) in &turns {
        remember_taken_back(&store, kept, names);
    }
    report.map(drop)
}

/// Why there is no such change: it may wait until it can be written.
fn not_kept(name: ChangeRef, error: StoreError) -> Failure {
    let unkept = unkept(&here().unwrap_or_default());
    let mut changes = unkept.iter().flat_map(|it| &it.changes);
    match changes.any(|it| it.id == name.to_string()) {
        true => Failure::new(Kind::Refused, format!("{name} is {NOT_KEPT}"))
            .hint("`pillion changes` says why. Try again when it can be written."),
        false => refused(error),
    }
}

/// Has it carried out, and prints what came of it.
///
/// # Errors
/// With the first that is not done.
pub(super) fn carry_out(store: &Store, turns: &[&Kept], named: &Named) -> anyhow::Result<Report> {
    progress::doing("at work");
    let done = control_client::act(store, turns, named);
    progress::pause();
    let mut report = done?;
    for line in report.said.drain(..) {
        writeln!(io::stdout(), "{line}")?;
    }
    let mut failed = report.failed.drain(..).map(not_done);
    let first = failed.next();
    failed.for_each(|error| failure::warn(&error));
    if report.more_failed > 0 {
        let more = report.more_failed;
        stderr::warn(format_args!("{more} more could not be done"));
    }
    first.map_or(Ok(report), Err)
}

fn not_done(it: NotDone) -> anyhow::Error {
    let failure = Failure::new(Kind::Refused, it.what);
    let failure = match it.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    let causes = it.why.into_iter().rev().map(anyhow::Error::msg);
    match causes.reduce(|cause, it| cause.context(it.to_string())) {
        Some(causes) => causes.context(failure),
        None => failure.into(),
    }
}

/// Prints what is not what the person was shown, and refuses it: the same command means it from now on.
fn changed(store: &Store, act: NamedAct, names: &[String]) -> anyhow::Result<anyhow::Error> {
    let mut problem = None;
    for name in names {
        let name: ChangeRef = name.parse()?;
        let kept = Kept::read(store, name.turn).map_err(refused)?;
        for change in kept.named(name).map_err(refused)? {
            print_patch(&show::diff(store, &kept, change))?;
        }
        problem = problem.or(remember(store, &[(&kept, name)]));
    }
    let names = names.join(", ");
    let message = match act {
        NamedAct::Undo => {
            format!("taken back since you were shown what was: {names}; nothing was undone")
        }
        _ => format!("changed since you were shown it: {names}; nothing was decided"),
    };
    let hint = match problem {
        None => "This is what is there now; the same command again means that.".to_owned(),
        Some(error) => format!(
            "This is what is there now, and no command means that until it can be noted: {}.",
            error.in_full()
        ),
    };
    Ok(Failure::new(Kind::Refused, message).hint(hint).into())
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
