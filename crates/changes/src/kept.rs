//! A turn as the store keeps it, with what people made of its changes, and how both are shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pillion_discovery::{real_path, regular_file};
use pillion_protocol::Dialect;
use pillion_text::{Text, fingerprint, hunks, visible};

use crate::state::FileState;
use crate::store::{MAX_TEXT, Store, StoreError};
use crate::turn::{Author, Change, ChangeRef, Judged, Judgement, Standing, Turn};

/// A turn with what became of its changes.
#[derive(Debug)]
pub struct Kept {
    /// The turn.
    pub turn: Turn,
    judged: BTreeMap<u64, Judged>,
}

impl Kept {
    /// The turn of this number.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(store: &Store, number: u64) -> Result<Self, StoreError> {
        let turn = store.turn(number)?;
        let judged = store.judged(number)?;
        Ok(Self { turn, judged })
    }

    /// Those that were in one of these folders, or in a folder of theirs, oldest first. What cannot be read is left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_folders(store: &Store, folders: &[PathBuf]) -> Result<Vec<Self>, StoreError> {
        let folders: Vec<_> = folders.iter().map(|it| real_path(it)).collect();
        let numbers = store.numbers()?;
        let turns = numbers
            .into_iter()
            .filter_map(|number| Self::read(store, number).ok());
        let is_here = |root: &PathBuf| {
            let mut folders = folders.iter();
            folders.any(|folder| folder.starts_with(root) || root.starts_with(folder))
        };
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

    /// Returns true if a person has taken back something of a change that can be brought back.
    pub fn has_taken_back(&self, change: &Change) -> bool {
        let judged = self.judged.get(&change.number);
        judged.is_some_and(|it| it.after == change.after && it.judgement != Judgement::Kept)
    }

    /// The changes that are meant: one, or all of the turn.
    ///
    /// # Errors
    /// When there is no such change.
    pub fn named(&self, name: ChangeRef) -> Result<Vec<&Change>, StoreError> {
        let Some(number) = name.change else {
            return Ok(self.turn.real_changes().collect());
        };
        match self.turn.change(number) {
            Some(change) => Ok(vec![change]),
            None => Err(StoreError::NoChange(name)),
        }
    }

    /// How many nobody has seen.
    pub fn unseen(&self) -> usize {
        let changes = self.turn.real_changes();
        changes
            .filter(|it| self.standing(it) == Standing::Unseen)
            .count()
    }

    /// How a change of the turn is named.
    pub fn name(&self, change: &Change) -> ChangeRef {
        ChangeRef {
            turn: self.turn.number,
            change: Some(change.number),
        }
    }

    /// The turn in one line: its number, whose it is, when it began, and the first words of its prompt.
    pub fn title(&self) -> String {
        let (turn, agent) = (&self.turn, self.agent());
        let began = SystemTime::UNIX_EPOCH + Duration::from_millis(turn.began);
        let ago = ago(SystemTime::now().duration_since(began).unwrap_or_default());
        let prompt = match turn.prompt.is_empty() {
            true => String::new(),
            false => format!(", {:?}", turn.prompt),
        };
        let title = format!("turn {} of {agent}, {ago}{prompt}", turn.number);
        visible::one_line(&title)
    }

    /// The file of a change in one line, with what it was before, and who changed it if that is not clear.
    pub fn place(&self, change: &Change) -> String {
        let shown = |path: &Path| visible::one_line(&self.turn.shown(path).to_string_lossy());
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
}

/// The texts before and after a change; an empty one where there was no file. None if one was not kept.
pub fn texts(store: &Store, change: &Change) -> Option<(Text, Text)> {
    let text = |state: &FileState| match state.text() {
        Some(hash) => store.get(hash).ok().map(Text::new),
        None => state.is_absent().then(Text::default),
    };
    Some((text(&change.before)?, text(&change.after)?))
}

/// How many lines a change added and removed.
pub fn lines((before, after): &(Text, Text)) -> (usize, usize) {
    let hunks = hunks::between(before, after);
    let added = hunks.iter().map(|it| it.after.len()).sum();
    let removed = hunks.iter().map(|it| it.before.len()).sum();
    (added, removed)
}

/// What a regular file has now; none if there is no such file, or nothing that the store would keep.
pub fn now(path: &Path) -> Option<Vec<u8>> {
    let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
    is_file.then(|| regular_file::read(path, MAX_TEXT).ok())?
}

/// A name of what is shown of a change: another one once the agent, or anybody else, has changed the file again.
pub fn revision(change: &Change, now: Option<&[u8]>) -> String {
    let after = serde_json::to_string(&change.after).unwrap_or_default();
    let all = format!("{after} {}", fingerprint::of(now));
    fingerprint::hash(all.as_bytes())[..16].to_owned()
}

fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86400),
    }
}
