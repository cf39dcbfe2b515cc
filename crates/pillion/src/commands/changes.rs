//! `pillion changes`, and what the commands about changes share.

pub mod decide;
pub mod forget;
pub mod look;
mod said;
pub mod show;
pub mod turns;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pillion_changes::{
    Author, Change, ChangeRef, FileState, Judged, Standing, Store, StoreError, Turn,
};
use pillion_discovery::{Environment, real_path};
use pillion_protocol::Dialect;
use pillion_text::{Text, hunks, visible};
use serde::Serialize;

use self::said::MAX_LINES;
use super::output::print_json;
use crate::failure::{Failure, Kind};

/// List changes by agents that you have not looked at yet
///
/// Whatever an agent changes in a turn is listed here, also what it wrote without asking: with its own tools, with shell
/// commands, with a formatter. `7.2` is the second file that was changed in turn 7; `pillion show 7.2` prints what, and
/// `pillion keep`, `pillion revert` and `pillion look` judge it. Without TURN, the changes of all turns in this folder
/// that nobody has seen are listed, the first hundred of each turn; with it, all of that turn.
///
/// This is known of agents whose hooks call Pillion over their own connection: Claude Code 2.1.118 or later, started with
/// `pillion run claude`. PILLION_CHANGES=off in the environment of the editor or review has nothing kept.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// All changes of this turn
    turn: Option<u64>,

    /// Those that are accepted, kept, edited or taken back, too
    #[arg(long)]
    all: bool,

    /// Print a JSON array of `{id, turn, path, state, by, movedFrom, added, removed}`; `state` is `unseen`, `accepted`,
    /// `kept`, `edited` or `taken back`, `by` the tool or null, and `added` and `removed` are lines, or null
    #[arg(long)]
    json: bool,
}

/// A turn with what became of its changes.
pub struct Kept {
    pub turn: Turn,
    judged: BTreeMap<u64, Judged>,
}

impl Kept {
    /// The turn of this number.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(store: &Store, number: u64) -> anyhow::Result<Self> {
        let turn = store.turn(number).map_err(failure)?;
        let judged = store.judged(number).map_err(failure)?;
        Ok(Self { turn, judged })
    }

    /// Those that were in this folder, or in one of its folders, oldest first. What cannot be read is left out, and that is said.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_folder(store: &Store, folder: &Path) -> anyhow::Result<Vec<Self>> {
        let folder = real_path(folder);
        let numbers = store.numbers().map_err(failure)?;
        let read = |number| match Self::read(store, number) {
            Ok(kept) => Some(kept),
            Err(error) => {
                // One that is begun at this moment is none yet.
                let is_unreadable = !matches!(store.turn(number), Err(StoreError::NoTurn(_)));
                if is_unreadable {
                    crate::failure::warn_of(&error);
                }
                None
            }
        };
        let turns = numbers.into_iter().filter_map(read);
        let is_here = |root: &PathBuf| folder.starts_with(root) || root.starts_with(&folder);
        Ok(turns
            .filter(|it| it.turn.roots.iter().any(is_here))
            .collect())
    }

    /// What people call the agent.
    pub fn agent(&self) -> &str {
        let agent = Dialect::from_name(&self.turn.agent);
        agent.map_or(&self.turn.agent, |it| it.display_name())
    }

    /// Where a change stands.
    pub fn standing(&self, change: &Change) -> Standing {
        change.standing(self.judged.get(&change.number))
    }

    /// What a person made of a change.
    pub fn judged(&self, change: &Change) -> Option<&Judged> {
        self.judged.get(&change.number)
    }

    /// The changes that are meant: one, or all of the turn.
    ///
    /// # Errors
    /// When there is no such change.
    pub fn named(&self, name: ChangeRef) -> anyhow::Result<Vec<&Change>> {
        let Some(number) = name.change else {
            return Ok(self.turn.real_changes().collect());
        };
        match self.turn.change(number) {
            Some(change) => Ok(vec![change]),
            None => Err(refused(format!("there is no change {name}")).into()),
        }
    }

    /// How many nobody has seen.
    pub fn unseen(&self) -> usize {
        let changes = self.turn.real_changes();
        changes
            .filter(|it| self.standing(it) == Standing::Unseen)
            .count()
    }
}

/// The store of this user.
///
/// # Errors
/// When there is no place for one.
pub fn store() -> anyhow::Result<Store> {
    Ok(Store::of(&Environment::current()).map_err(failure)?)
}

fn refused(message: impl Into<String>) -> Failure {
    Failure::new(Kind::Refused, message.into()).hint("`pillion changes --all` lists what is known.")
}

fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::NoTurn(_) => {
            Failure::new(Kind::Refused, error.to_string()).hint("`pillion turns` lists them.")
        }
        error => {
            let failure = Failure::new(Kind::Refused, error.to_string());
            match error.hint() {
                Some(hint) => failure.hint(format!("{hint}.")),
                None => failure,
            }
        }
    }
}

/// A change with `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed<'a> {
    id: String,
    turn: u64,
    path: &'a Path,
    state: &'static str,
    by: Option<&'a str>,
    moved_from: Option<&'a Path>,
    added: Option<usize>,
    removed: Option<usize>,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let store = store()?;
    let turns = match args.turn {
        Some(number) => vec![Kept::read(&store, number)?],
        None => Kept::of_folder(&store, Path::new("."))?,
    };
    let shows_all = args.all || args.turn.is_some();
    let is_meant =
        |kept: &Kept, change: &Change| shows_all || kept.standing(change) == Standing::Unseen;
    let mut out = io::stdout().lock();
    if args.json {
        let mut printed = Vec::new();
        for kept in &turns {
            let changes = kept.turn.real_changes().filter(|it| is_meant(kept, it));
            printed.extend(changes.map(|change| describe(&store, kept, change)));
        }
        drop(out);
        return print_json(&printed);
    }
    let mut is_empty = true;
    for kept in &turns {
        let changes: Vec<_> = kept
            .turn
            .real_changes()
            .filter(|it| is_meant(kept, it))
            .collect();
        if changes.is_empty() {
            continue;
        }
        if !is_empty {
            writeln!(out)?;
        }
        is_empty = false;
        writeln!(out, "{}", turns::title(kept))?;
        // All of a turn that is named.
        let (shown, more) = match args.turn {
            Some(_) => (changes.len(), 0),
            None => (MAX_LINES, changes.len().saturating_sub(MAX_LINES)),
        };
        for change in changes.into_iter().take(shown) {
            let printed = describe(&store, kept, change);
            writeln!(
                out,
                "  {:<7} {:<10} {:>9}  {}",
                printed.id,
                printed.state,
                lines(&printed),
                place(&kept.turn, change)
            )?;
        }
        if more > 0 {
            let turn = kept.turn.number;
            writeln!(
                out,
                "  … and {more} more: `pillion changes {turn}` lists all of the turn"
            )?;
        }
        for uncovered in &kept.turn.uncovered {
            writeln!(out, "  not watched: {}", visible::one_line(uncovered))?;
        }
    }
    if is_empty {
        writeln!(out, "there are no unseen changes here")?;
    }
    Ok(())
}

/// The file, what it was before, and who changed it if that is not clear.
fn place(turn: &Turn, change: &Change) -> String {
    let shown = |path: &Path| visible::one_line(&turn.shown(path).to_string_lossy());
    let mut place = shown(&change.path);
    match (&change.before, &change.after) {
        (FileState::Absent, _) => place += " (new)",
        (_, FileState::Absent) => place += " (deleted)",
        _ => {}
    }
    if let Some(from) = &change.moved_from {
        place = format!("{place}, moved from {}", shown(from));
    }
    if change.by == Author::Unclear {
        place += ", unclear who changed it";
    }
    if change.is_mixed {
        place += ", includes changes of yours";
    }
    place
}

fn lines(printed: &Printed<'_>) -> String {
    match (printed.added, printed.removed) {
        (Some(added), Some(removed)) => format!("+{added} -{removed}"),
        _ => String::new(),
    }
}

fn describe<'a>(store: &Store, kept: &'a Kept, change: &'a Change) -> Printed<'a> {
    let counted = texts(store, change).ok();
    let counted = counted.map(|(before, after)| {
        let hunks = hunks::between(&before, &after);
        let added: usize = hunks.iter().map(|it| it.after.len()).sum();
        let removed: usize = hunks.iter().map(|it| it.before.len()).sum();
        (added, removed)
    });
    Printed {
        id: name(&kept.turn, change),
        turn: kept.turn.number,
        path: &change.path,
        state: kept.standing(change).name(),
        by: match &change.by {
            Author::Tool(tool) => Some(tool),
            Author::Unclear => None,
        },
        moved_from: change.moved_from.as_deref(),
        added: counted.map(|(added, _)| added),
        removed: counted.map(|(_, removed)| removed),
    }
}

/// How commands name a change.
pub fn name(turn: &Turn, change: &Change) -> String {
    let change = Some(change.number);
    let turn = turn.number;
    ChangeRef { turn, change }.to_string()
}

/// A text, if these bytes are one.
pub fn as_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok();
    text.filter(|it| !it.contains('\0'))
}

/// The texts before and after a change; an empty one where there was no file.
///
/// # Errors
/// When one was not kept.
pub fn texts(store: &Store, change: &Change) -> anyhow::Result<(Text, Text)> {
    let text = |state: &FileState| -> anyhow::Result<Text> {
        match state.text() {
            Some(hash) => Ok(Text::new(store.get(hash).map_err(failure)?)),
            None if state.is_absent() => Ok(Text::default()),
            None => {
                let message = format!("the text of {} was not kept", change.path.display());
                Err(Failure::new(Kind::Refused, message).into())
            }
        }
    };
    Ok((text(&change.before)?, text(&change.after)?))
}
