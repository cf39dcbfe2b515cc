//! `pillion changes`, and what the commands about changes share.

pub mod decide;
mod disk;
pub mod forget;
pub mod log;
pub mod look;
pub mod show;
pub mod turns;
pub mod waiting;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pillion_changes::history::{self, as_text};
use pillion_changes::kept::{self, Kept};
use pillion_changes::{
    Author, Change, ChangeRef, ChangeState, DecideError, Entry, EntryRef, Store, StoreError,
    take_back,
};
use pillion_discovery::{CompanionState, Environment, depth_in};
use pillion_text::{stderr, visible};
use pillion_view::changes::{ListedChange, ListedTurn, NOT_KEPT};
use serde::Serialize;

use super::control_client;
use super::output::print_json;
use crate::choice::Running;
use crate::failure::{Failure, Kind};
use crate::workspace;

/// List changes by agents that you have not looked at yet
///
/// Whatever an agent changes in a turn is listed here, also what it wrote without asking: with its own tools, with shell
/// commands, with a formatter. `7.2` is the second file that was changed in turn 7; `pillion show 7.2` prints what, and
/// `pillion keep`, `pillion revert` and `pillion look` judge it. Without TURN, the changes of all turns in this folder
/// that nobody has seen are listed, the first hundred of each turn; with it, all of that turn, and the proposals that you
/// decided about in it, which `pillion log` lists for all turns.
///
/// This is known of agents that are connected, and of those whose hooks are installed (`pillion hook install`), while an editor or
/// a review is open in their folder. An agent without hooks does not say what it writes: what changes while it is connected is
/// listed, and it is unclear who made it. PILLION_CHANGES=off in the environment of the editor or review has nothing kept.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// All changes of this turn
    #[arg(value_parser = turn_number)]
    turn: Option<u64>,

    /// Those that are accepted, kept, edited or taken back, too
    #[arg(long)]
    all: bool,

    /// Print what is kept of which turn and folder, and how much room it takes. `PILLION_CHANGES_LIMIT` in the environment of the
    /// editor or review sets how much it may be, such as 500M; without, 2G
    #[arg(long, conflicts_with_all = ["turn", "all", "locations", "json"])]
    disk: bool,

    /// Print a line for each hunk as it stands in the file now, `path:line: 7.2 unseen +3 -1: its first words`, as editors can
    /// jump there
    #[arg(long, conflicts_with = "json")]
    locations: bool,

    /// Print a JSON array of `{id, turn, agent, at, path, kind, mode, state, by, movedFrom, added, removed, isRevertible, isMixed, reason}`;
    /// `at` is when the turn began, or when you decided, in milliseconds since 1970; `kind` is `new`, `deleted`, `changed`, `mode` (nothing
    /// but the mode) or `link` (it is one, or was), `mode` the modes before and after in octal, each null where there is no file; `isRevertible` is false if the
    /// contents before were not kept or the file is too long now, and `isMixed` true if the same lines have changes of yours; `state` is `unseen`,
    /// `accepted`, `kept`, `edited`, `taken back`, `gone` (nobody has seen it, and the file is as before), `rejected` or `not kept yet` (it cannot be written: `kind` is null, and nothing can be decided about it), `by` the tool or null, `added` and `removed` are lines, or
    /// null, and `reason` is what you told the agent with your decision, or null
    #[arg(long)]
    json: bool,
}

/// So many lines are printed of a turn.
const MAX_LINES: usize = 100;

/// Names a change, a turn, or an entry of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Change(ChangeRef),
    Entry(EntryRef),
}

impl FromStr for Named {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = match text.starts_with('d') {
            true => text.parse().ok().map(Self::Entry),
            false => text.parse().ok().map(Self::Change),
        };
        named.ok_or("expected a turn, such as 7, a change of one, such as 7.2, or an entry of the log, such as d12")
    }
}

/// The number of a turn.
fn turn_number(text: &str) -> Result<u64, &'static str> {
    let number = text.parse();
    number.map_err(|_| "expected the number of a turn, such as 7")
}

/// The store of this user.
///
/// # Errors
/// When there is no place for one.
pub fn store() -> anyhow::Result<Store> {
    Ok(Store::of(&Environment::current()).map_err(failure)?)
}

/// Why the store does not answer, with what can be done about it.
fn failure(error: impl Into<DecideError>) -> Failure {
    let error = error.into();
    let failure = Failure::new(Kind::Refused, error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The person is shown this: its names mean that from now on, to `keep` and `revert`. What an agent has printed is not what a
/// person was shown. Returns why that cannot be kept.
fn remember(store: &Store, shown: &[(&Kept, ChangeRef)]) -> Option<StoreError> {
    if shown.is_empty() || control_client::speak_for_the_person().is_err() {
        return None;
    }
    let mut problem = None;
    for (kept, name) in shown {
        if let Err(error) = kept.note_shown(store, *name) {
            tracing::debug!(%error, "what was shown of {name} is not kept");
            problem.get_or_insert(error);
        }
    }
    problem
}

/// All of a turn, as it is named.
fn all_of(kept: &Kept) -> (&Kept, ChangeRef) {
    let (turn, change) = (kept.turn.number, None);
    (kept, ChangeRef { turn, change })
}

/// The folder that commands are run in.
///
/// # Errors
/// When it is gone.
fn here() -> anyhow::Result<Vec<PathBuf>> {
    workspace::roots(&[])
}

/// Returns true if one of these roots is in one of the folders, or around one.
fn are_here(roots: &[PathBuf], folders: &[PathBuf]) -> bool {
    let is_around = |roots: &[PathBuf], all: &[PathBuf]| {
        { all.iter() }.any(|folder| depth_in(roots, folder).is_some())
    };
    is_around(roots, folders) || is_around(folders, roots)
}

/// Waits until it is known what agents have changed in these folders by now. Returns false if that takes long.
fn catch_up(folders: &[PathBuf]) -> bool {
    control_client::catch_up(|it| are_here(&it.roots, folders))
}

/// The same, and warns then.
fn catch_up_or_warn(folders: &[PathBuf]) -> bool {
    let is_caught_up = catch_up(folders);
    if !is_caught_up {
        stderr::warn(format_args!("{COMPARING}, and may be missing here"));
    }
    is_caught_up
}

/// Why not all is known yet.
const COMPARING: &str = "what an agent changed last is still being compared";

/// Warns if what agents change in these folders is not recorded or kept at present, or kept where it is not found from here, as their companions say. Returns true if so.
fn warn_unrecorded(folders: &[PathBuf]) -> bool {
    let environment = Environment::current();
    let running = Running::answering(&environment);
    let here = running.states().filter(|it| are_here(&it.roots, folders));
    let why = |it: &CompanionState| [it.unrecorded.clone(), it.kept_elsewhere(&environment)];
    let mut reasons: Vec<_> = here.flat_map(why).flatten().collect();
    reasons.dedup();
    reasons.iter().for_each(stderr::warn);
    !reasons.is_empty()
}

/// What cannot be written yet of what agents changed in these folders.
fn unkept(folders: &[PathBuf]) -> Vec<ListedTurn> {
    control_client::unkept(|it| are_here(&it.roots, folders))
}

/// The turns of these folders, oldest first.
///
/// # Errors
/// When the store cannot be read.
fn turns_of(store: &Store, folders: &[PathBuf]) -> anyhow::Result<Vec<Kept>> {
    let unreadable = |error| crate::failure::warn_of(&failure(error).into());
    Ok(Kept::of_folders(store, folders, unreadable).map_err(failure)?)
}

/// A change with `--json`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed<'a> {
    id: String,
    turn: u64,
    agent: &'a str,
    at: u64,
    path: Cow<'a, str>,
    kind: Option<&'static str>,
    mode: [Option<String>; 2],
    state: &'static str,
    by: Option<&'a str>,
    moved_from: Option<Cow<'a, str>>,
    added: Option<usize>,
    removed: Option<usize>,
    is_revertible: bool,
    is_mixed: bool,
    reason: Option<String>,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let store = store()?;
    if args.disk {
        return disk::print(&store);
    }
    let is_caught_up = catch_up_or_warn(&match args.turn {
        Some(number) => store.turn(number).map_err(failure)?.roots,
        None => here()?,
    });
    let mut turns = match args.turn {
        Some(number) => vec![Kept::read(&store, number).map_err(failure)?],
        None => turns_of(&store, &here()?)?,
    };
    let is_unrecorded = args.turn.is_none() && warn_unrecorded(&here()?);
    let mut unkept = unkept(&here()?);
    unkept.retain(|it| args.turn.is_none_or(|turn| it.id == turn.to_string()));
    let shows_all = args.all || args.turn.is_some();
    if shows_all && !args.locations {
        Kept::read_decisions(&mut turns, &store).map_err(failure)?;
    }
    let is_meant =
        |kept: &Kept, change: &Change| shows_all || kept.state(change) == ChangeState::Unseen;
    remember(&store, &turns.iter().map(all_of).collect::<Vec<_>>());
    let mut out = io::stdout().lock();
    if args.json {
        let mut printed = Vec::new();
        for kept in &turns {
            let changes = kept.turn.real_changes().filter(|it| is_meant(kept, it));
            printed.extend(changes.map(|change| describe(&store, kept, change)));
            printed.extend(
                kept.decisions()
                    .map(|it| describe_decision(&store, kept, it)),
            );
        }
        for turn in &unkept {
            printed.extend(turn.changes.iter().map(|it| describe_unkept(turn, it)));
        }
        drop(out);
        return print_json(&printed);
    }
    if args.locations {
        for kept in turns.iter().rev() {
            for change in kept.turn.real_changes().filter(|it| is_meant(kept, it)) {
                locations(&mut out, &store, kept, change)?;
            }
        }
        for change in unkept.iter().flat_map(|it| &it.changes) {
            let path = visible::one_line(&change.path.to_string_lossy());
            writeln!(out, "{path}:1: {}", change.label)?;
        }
        return Ok(());
    }
    let mut is_empty = true;
    for kept in &turns {
        let changes: Vec<_> = kept
            .turn
            .real_changes()
            .filter(|it| is_meant(kept, it))
            .collect();
        let decisions: Vec<_> = kept.decisions().collect();
        let remarks = kept.remarks();
        if changes.is_empty() && decisions.is_empty() && remarks.is_empty() {
            continue;
        }
        if !is_empty {
            writeln!(out)?;
        }
        is_empty = false;
        writeln!(out, "{}", kept.title())?;
        for remark in remarks {
            writeln!(out, "  {remark}")?;
        }
        // All of a turn that is named.
        let (shown, more) = match args.turn {
            Some(_) => (changes.len(), 0),
            None => (MAX_LINES, changes.len().saturating_sub(MAX_LINES)),
        };
        for change in changes.into_iter().take(shown) {
            let printed = describe(&store, kept, change);
            let (place, reason) = (kept.place(change), because(&printed));
            writeln!(out, "{}{place}{reason}", row(&printed))?;
        }
        for entry in decisions {
            let printed = describe_decision(&store, kept, entry);
            let shown = visible::one_line(&entry.proposal.shown().to_string_lossy());
            writeln!(out, "{}{shown}{}", row(&printed), because(&printed))?;
        }
        if more > 0 {
            let turn = kept.turn.number;
            writeln!(
                out,
                "  … and {more} more: `pillion changes {turn}` lists all of the turn"
            )?;
        }
        say_uncovered(&mut out, kept)?;
    }
    for turn in &unkept {
        if !is_empty {
            writeln!(out)?;
        }
        is_empty = false;
        writeln!(out, "{}", turn.title)?;
        for change in &turn.changes {
            let place = &change.shown;
            writeln!(out, "{}{place}", row(&describe_unkept(turn, change)))?;
        }
    }
    if is_empty && !is_unrecorded && is_caught_up {
        writeln!(out, "{}", kept::none_unseen(&store, &turns))?;
        turns
            .last()
            .map_or(Ok(()), |it| say_uncovered(&mut out, it))?;
    }
    Ok(())
}

fn say_uncovered(out: &mut impl Write, kept: &Kept) -> io::Result<()> {
    let mut uncovered = kept.turn.uncovered.iter();
    uncovered.try_for_each(|it| writeln!(out, "  not watched: {}", visible::one_line(it)))
}

/// The columns before the name of the file.
fn row(printed: &Printed<'_>) -> String {
    let lines = lines(printed.added.zip(printed.removed));
    format!("  {:<7} {:<10} {lines:>9}  ", printed.id, printed.state)
}

/// The reason, after the name of the file.
fn because(printed: &Printed<'_>) -> String {
    let reason = printed.reason.as_ref();
    reason.map_or_else(String::new, |it| format!(": {it}"))
}

/// The numbers of lines that were added and removed, in short; nothing where only the permissions have changed.
fn lines(counted: Option<(usize, usize)>) -> String {
    let counted = counted.filter(|it| *it != (0, 0));
    counted.map_or_else(String::new, |(added, removed)| {
        format!("+{added} -{removed}")
    })
}

fn describe_decision<'a>(store: &Store, kept: &Kept, entry: &'a Entry) -> Printed<'a> {
    let counted = history::count(store, &entry.proposal.before, entry.after());
    let reason = entry.reason();
    Printed {
        id: entry.name().to_string(),
        turn: kept.turn.number,
        agent: &entry.proposal.agent,
        at: entry.at,
        path: entry.proposal.path.to_string_lossy(),
        kind: Some(entry.proposal.before.kind_of_change(entry.after())),
        state: entry.shown_state(),
        added: counted.map(|(added, _)| added),
        removed: counted.map(|(_, removed)| removed),
        reason: (!reason.is_empty()).then_some(reason),
        ..Printed::default()
    }
}

/// A change that only the companion has until it can be written.
fn describe_unkept<'a>(turn: &'a ListedTurn, change: &'a ListedChange) -> Printed<'a> {
    Printed {
        // No command can name it before its turn has a number.
        id: match &*turn.id {
            "0" => "-".to_owned(),
            _ => change.id.clone(),
        },
        turn: turn.id.parse().unwrap_or_default(),
        agent: &turn.agent,
        at: turn.began,
        path: change.path.to_string_lossy(),
        state: NOT_KEPT,
        ..Printed::default()
    }
}

/// Prints where the hunks of a change stand now, or its file.
fn locations(
    out: &mut impl Write,
    store: &Store,
    kept: &Kept,
    change: &Change,
) -> anyhow::Result<()> {
    let printed = describe(store, kept, change);
    let now = kept::now(&change.path).filter(|now| as_text(now).is_some());
    let found = now.and_then(|now| take_back::hunks_in(store, change, now).ok());
    let path = visible::one_line(&change.path.to_string_lossy());
    let name = format!("{} {}", printed.id, printed.state);
    let labelled = found.iter().flat_map(|it| it.labelled(&name));
    let mut places: Vec<_> = labelled
        .map(|(hunk, label, _)| (hunk.after.start + 1, label))
        .collect();
    places.sort_unstable();
    if places.is_empty() {
        let what = format!("{name} {}", lines(printed.added.zip(printed.removed)));
        places.push((1, what.trim_end().to_owned()));
    }
    for (line, what) in places {
        writeln!(out, "{path}:{line}: {what}")?;
    }
    Ok(())
}

fn describe<'a>(store: &Store, kept: &'a Kept, change: &'a Change) -> Printed<'a> {
    let counted = history::count(store, &change.before, &change.after);
    Printed {
        id: kept.name(change).to_string(),
        turn: kept.turn.number,
        agent: &kept.turn.agent,
        at: kept.turn.began,
        path: change.path.to_string_lossy(),
        kind: Some(change.before.kind_of_change(&change.after)),
        mode: [&change.before, &change.after].map(|it| it.mode().map(|it| format!("{it:o}"))),
        state: kept.state(change).name(),
        by: match &change.by {
            Author::Tool(tool) => Some(tool),
            Author::Unclear => None,
        },
        moved_from: change.moved_from.as_deref().map(Path::to_string_lossy),
        added: counted.map(|(added, _)| added),
        removed: counted.map(|(_, removed)| removed),
        is_revertible: kept.is_revertible(change),
        is_mixed: change.is_mixed,
        reason: kept.reason(change),
    }
}
