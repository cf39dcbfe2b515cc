//! A person's decisions, newest first: about proposals, and about changes that were written already. For lists, and to be
//! opened again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_discovery::real_path;
use pillion_protocol::{Note, Proposer};
use pillion_system::clock;
use pillion_text::{Text, hunks, visible};

use crate::log::{Entry, EntryState};
use crate::patch;
use crate::state::FileState;
use crate::store::{Store, StoreError};
use crate::turn::{Change, ChangeRef, Judged, Judgement, Turn, first_words, overlap};

/// What came of a judgement that the person has undone.
pub const UNDONE: &str = "undone";

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// About a proposal, or what was written in one that nobody decided about.
    Entry(Box<Entry>),
    /// About a change that was written already.
    Change(Box<JudgedChange>),
}

/// A change that a person has judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedChange {
    /// Its name.
    pub name: ChangeRef,
    /// The short name of the agent.
    pub agent: String,
    /// The path as it is shown.
    pub shown: PathBuf,
    /// The change.
    pub change: Change,
    /// Their judgement.
    pub judged: Judged,
    /// True if they have undone it.
    pub is_undone: bool,
}

/// The decisions in these folders and in those around them, newest first, but no more than `limit`. What cannot be read is
/// left out.
pub fn read(
    store: &Store,
    folders: &[impl AsRef<Path>],
    limit: usize,
) -> Result<Vec<Item>, StoreError> {
    let folders: Vec<PathBuf> = folders.iter().map(|it| real_path(it.as_ref())).collect();
    let is_here = |roots: &[PathBuf]| overlap(roots, &folders);
    let entries = store.entries()?.into_iter();
    let entries = entries.filter(|it| is_here(&it.proposal.roots));
    let mut items: Vec<Item> = entries.map(|it| Item::Entry(Box::new(it))).collect();
    for number in store.numbers()? {
        let Ok(judged) = store.judged(number) else {
            continue;
        };
        if judged.all().chain(judged.undone()).next().is_none() {
            continue;
        }
        let turn = store.turn(number).ok();
        let Some(turn) = turn.filter(|turn| is_here(&turn.roots)) else {
            continue;
        };
        let judgements =
            { judged.all().map(|it| (it, false)) }.chain(judged.undone().map(|it| (it, true)));
        let changes = judgements.filter_map(|((change, judged), is_undone)| {
            let change = turn.change(change)?.clone();
            let judged = judged.clone();
            Some(JudgedChange::new(&turn, change, judged, is_undone))
        });
        items.extend(changes.map(|it| Item::Change(Box::new(it))));
    }
    items.sort_by_key(|item| std::cmp::Reverse(item.at()));
    items.truncate(limit);
    Ok(items)
}

impl JudgedChange {
    fn new(turn: &Turn, change: Change, judged: Judged, is_undone: bool) -> Self {
        Self {
            name: ChangeRef {
                turn: turn.number,
                change: Some(change.number),
            },
            agent: turn.agent.clone(),
            shown: turn.shown(&change.path).to_owned(),
            change,
            judged,
            is_undone,
        }
    }
}

impl Item {
    /// The name that commands use for it.
    pub fn id(&self) -> String {
        match self {
            Self::Entry(entry) => entry.name().to_string(),
            Self::Change(it) => it.name.to_string(),
        }
    }

    /// The time of the decision: milliseconds since 1970.
    pub fn at(&self) -> u64 {
        match self {
            Self::Entry(entry) => entry.at,
            Self::Change(it) => it.judged.at,
        }
    }

    /// The short name of the agent.
    pub fn agent(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.proposal.agent,
            Self::Change(it) => &it.agent,
        }
    }

    /// The name that people use for the agent.
    pub fn agent_name(&self) -> &str {
        Proposer::display_name_of(self.agent())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Entry(entry) => &entry.proposal.path,
            Self::Change(it) => &it.change.path,
        }
    }

    /// The path as it is shown.
    pub fn shown(&self) -> &Path {
        match self {
            Self::Entry(entry) => entry.proposal.shown(),
            Self::Change(it) => &it.shown,
        }
    }

    /// The decision.
    pub fn state(&self) -> &'static str {
        match self {
            Self::Entry(entry) => entry.shown_state(),
            Self::Change(it) => it.judged.name(),
        }
    }

    /// What came of it, and the first words of what the person said to the agent: what stands after the name of the file.
    pub fn remark(&self) -> String {
        let outcome = match self {
            Self::Entry(entry) => match &entry.proposal.written {
                Some(change) => Some(format!("in the view of {change}")),
                None => entry.remark(),
            },
            Self::Change(it) => it.is_undone.then(|| UNDONE.to_owned()),
        };
        let outcome = outcome.map_or_else(String::new, |it| format!(", {it}"));
        match self.reason() {
            reason if reason.is_empty() => outcome,
            reason => format!("{outcome}: {reason}"),
        }
    }

    /// The first words of what the person said to the agent; empty if nothing.
    pub fn reason(&self) -> String {
        match self {
            Self::Entry(entry) => entry.reason(),
            Self::Change(it) => it.judged.reason(),
        }
    }

    /// The file before, and as it was decided.
    pub fn sides(&self) -> (&FileState, &FileState) {
        match self {
            Self::Entry(entry) => (&entry.proposal.before, entry.after()),
            Self::Change(it) => {
                let written = it.judged.last_written();
                let written = written.filter(|_| it.judged.name() == Judgement::Edited.name());
                (&it.change.before, written.unwrap_or(&it.judged.after))
            }
        }
    }

    /// It as a patch, below lines with `# ` that tell what was decided, when and why.
    pub fn diff(&self, store: &Store) -> Vec<u8> {
        let mut text = format!(
            "# {} {}, {}, {}\n",
            self.id(),
            self.state(),
            self.agent_name(),
            ago(self.at())
        );
        text += &match self {
            Self::Entry(entry) => entry.remarks(),
            Self::Change(it) => it.judged.remarks(),
        };
        let (before, after) = self.sides();
        let patch = patch::of(store, self.shown(), before, after);
        [text.into_bytes(), patch].concat()
    }
}

impl Judged {
    /// The first words of what the person said to the agent; empty if nothing.
    pub fn reason(&self) -> String {
        reason(self.all_notes())
    }

    /// The person's words to the agent, in lines with `# `.
    pub fn remarks(&self) -> String {
        self.all_notes().map(remark).collect()
    }
}

fn reason<'a>(notes: impl Iterator<Item = &'a Note>) -> String {
    let first_lines = notes.filter_map(|note| note.text.trim().lines().next());
    first_words(&first_lines.collect::<Vec<_>>().join("; "))
}

/// A note of the person's, in lines with `# `.
fn remark(note: &Note) -> String {
    let lines = note.lines.map(|lines| match lines.first == lines.last {
        true => format!("line {}: ", u64::from(lines.first) + 1),
        false => format!(
            "lines {}-{}: ",
            u64::from(lines.first) + 1,
            u64::from(lines.last) + 1
        ),
    });
    let note = lines.unwrap_or_default() + &note.text;
    let lines = note.lines().map(visible::one_line);
    lines.map(|line| format!("# {line}\n")).collect()
}

impl Entry {
    /// The first words of what the person said to the agent; empty if nothing.
    pub fn reason(&self) -> String {
        reason(self.notes.iter())
    }

    /// What came of it, and where it was answered if that is the agent's own window.
    fn remark(&self) -> Option<String> {
        let outcome = self.shown_outcome().map(str::to_owned);
        let agent = Proposer::display_name_of(&self.proposal.agent);
        let place = { self.is_elsewhere }.then(|| format!("in {agent}'s own window"));
        let both: Vec<_> = outcome.into_iter().chain(place).collect();
        (!both.is_empty()).then(|| both.join(", "))
    }

    /// The facts about it beside the texts, in lines with `# `.
    fn remarks(&self) -> String {
        let mut text = String::new();
        if let Some(outcome) = self.remark() {
            text += &format!("# {outcome}\n");
        }
        if let Some((place, of)) = self.proposal.set {
            text += &format!("# {place} of {of} files\n");
        }
        if self.state == EntryState::Undecided {
            text += "# this is what you had written\n";
        }
        text.extend(self.notes.iter().map(remark));
        text
    }
}

/// The numbers of lines that were added and removed; none if that is not text, or if it was not kept.
pub fn count(store: &Store, before: &FileState, after: &FileState) -> Option<(usize, usize)> {
    let texts = store.texts_of(before, after).ok()?;
    let is_text = [&texts.0, &texts.1].map(|it| as_text(it.bytes()).is_some());
    (is_text == [true, true]).then(|| lines(&texts))
}

/// The numbers of lines that were added and removed between two texts.
fn lines((before, after): &(Text, Text)) -> (usize, usize) {
    let hunks = hunks::between(before, after);
    let added = hunks.iter().map(|it| it.after.len()).sum();
    let removed = hunks.iter().map(|it| it.before.len()).sum();
    (added, removed)
}

/// A text, if these bytes are one.
pub fn as_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok();
    text.filter(|it| !it.contains('\0'))
}

/// The time that has passed since a time that is given in milliseconds since 1970.
pub fn ago(at: u64) -> String {
    let seconds = Duration::from_millis(clock::now_ms().saturating_sub(at)).as_secs();
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86400),
    }
}
