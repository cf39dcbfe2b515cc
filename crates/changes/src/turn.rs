//! A turn of an agent, and what it changed: what is kept of it, and what became of each change.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pillion_discovery::{exact, real_path};
use pillion_protocol::Note;
use pillion_system::process;
use serde::{Deserialize, Serialize};

use crate::remark::Remark;
use crate::state::{FileState, FolderMode, Hash};

/// From a prompt to the end of what the agent did with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Its number, from 1: no other turn of this user's has it. 0 as long as it could not be written.
    pub number: u64,
    /// The short name of the agent.
    pub agent: String,
    /// The first words of the prompt, as the agent told them; empty if it did not.
    pub prompt: String,
    /// True if the agent runs no hooks of ours: the turn is what changed while the agent was connected, whoever did it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_without_hooks: bool,
    /// The time when it began: milliseconds since 1970.
    pub began: u64,
    /// The time when it ended; none if it goes on, or if nobody was there to see its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<u64>,
    /// The folders that were watched.
    #[serde(with = "exact::paths")]
    pub roots: Vec<PathBuf>,
    /// The things that were not watched, and why: a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub uncovered: Vec<String>,
    /// The process that watches.
    pub watcher: u32,
    /// The number by which that process knows the agent's session.
    #[serde(default)]
    pub session: u64,
    /// True if that process has ceased to watch before the turn ended.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_cut_off: bool,
    /// The calls that run, while it goes on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub running: Vec<Running>,
    /// The folders that came with its changes.
    #[serde(with = "exact::paths", skip_serializing_if = "Vec::is_empty", default)]
    pub new_folders: Vec<PathBuf>,
    /// The things that there are to say of it beside its changes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub remarks: Vec<Remark>,
    /// The changes in it, by number. They are kept in a log.
    #[serde(skip)]
    pub changes: Vec<Change>,
}

/// Returns true if one of these roots, which may be a link by now, is one of the folders, in one of them, or around one.
pub(crate) fn overlap(
    roots: &[PathBuf],
    folders: impl IntoIterator<Item = impl AsRef<Path>>,
) -> bool {
    let are_one = |root: &Path, folder: &Path| folder.starts_with(root) || root.starts_with(folder);
    let mut folders = folders.into_iter();
    folders.any(|folder| {
        let folder = folder.as_ref();
        let is_it = |root: &PathBuf| are_one(root, folder) || are_one(&real_path(root), folder);
        roots.iter().any(is_it)
    })
}

/// A call that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// The tool.
    pub tool: String,
    /// The one file that it changes; none if it may change any.
    #[serde(
        with = "exact::optional_path",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub path: Option<PathBuf>,
}

/// The change of one file in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Its number in the turn, from 1.
    pub number: u64,
    /// The file.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// As it was when the turn began, with what a person has saved in it since.
    pub before: FileState,
    /// As it was after the agent's last change of it in this turn.
    pub after: FileState,
    /// How often the agent has changed it again in this turn: what was taken back and made again is not taken back.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub made: u64,
    /// The author of the change.
    pub by: Author,
    /// The former place, if it was moved.
    #[serde(
        with = "exact::optional_path",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub moved_from: Option<PathBuf>,
    /// The state that a person has seen and accepted before it was written, if that is what was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accepted: Option<FileState>,
    /// What a person accepted or kept of it, if the agent has made more of it since: that begins there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decided: Option<DecidedText>,
    /// True if a person changed the same lines, so that their change is shown with the agent's.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_mixed: bool,
    /// The number of the file in its file system, if it was written into and had other names (hard links) then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shared: Option<u64>,
    /// True if it came as HEAD was moved, so that it may be the text of another commit.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_by_head: bool,
    /// True if no commit of git's has what was there then.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_lost: bool,
    /// The permissions of the folders around it, first those of its own, if some went with it or were exchanged.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub folder_modes: Vec<FolderMode>,
}

/// What a person accepted or kept of a change, with what they have saved in the file since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecidedText {
    /// The file with that.
    pub state: FileState,
    /// True if it was kept: that can be undone.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_kept: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The author of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Author {
    /// A call of this tool: the file was changed while it ran, and nothing else ran.
    Tool(String),
    /// Nobody can tell: it was changed between calls, or while several of them ran.
    Unclear,
}

impl Author {
    /// The file was changed again, by this one: of several tools of an agent, all are named.
    pub(crate) fn joins(&mut self, other: Self) {
        *self = match (&*self, other) {
            (Self::Tool(tools), Self::Tool(tool)) => match tools.split(", ").any(|it| it == tool) {
                true => return,
                false => Self::Tool(format!("{tools}, {tool}")),
            },
            _ => Self::Unclear,
        };
    }
}

/// A person's judgement of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Judgement {
    /// It stays as it is.
    Kept,
    /// It was taken back.
    TakenBack,
    /// A part of it was taken back, or it was edited.
    Edited,
    /// Some hunks were taken back, and nothing was decided about the others.
    Part,
}

impl Judgement {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => ChangeState::Kept.name(),
            Self::TakenBack => ChangeState::TakenBack.name(),
            Self::Edited => ChangeState::Edited.name(),
            Self::Part => "taken back in part",
        }
    }
}

/// A judgement as it is kept: it is about this text, and not about what is written later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// The judgement itself.
    pub judgement: Judgement,
    /// The change's `after` that was judged.
    pub after: FileState,
    /// Its `made`.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub made: u64,
    /// Its time: milliseconds since 1970.
    pub at: u64,
    /// For what was taken back: how the file was then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub overwritten: Option<FileState>,
    /// For what was taken back: what was written then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub written: Option<FileState>,
    /// For what was taken out of a text in an editor, which nobody has saved: that text, and what was left.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub in_editor: Option<(Hash, Hash)>,
    /// The permissions of the folders around the file, first those of its own, if they may be others since.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub folder_modes: Vec<FolderMode>,
    /// The folders, with nothing else in them, that stood in its place, with their permissions.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub made_way: Vec<(PathBuf, u32)>,
    /// The other name of the file, by which it had been taken back already: until then both were one file.
    #[serde(
        with = "exact::optional_path",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub linked: Option<PathBuf>,
    /// The person's words to the agent.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Note>,
    /// The judgement before this, maybe of another text: undoing this leads back to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub former: Option<Box<Judged>>,
}

impl Judged {
    /// This judgement, and those to which undoing leads back.
    fn steps(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |it| it.former.as_deref())
    }

    /// Those of them that are about the same text.
    fn steps_of_text(&self) -> impl Iterator<Item = &Self> {
        self.steps()
            .take_while(|it| it.after == self.after && it.made == self.made)
    }

    /// The judgement of the same text to which undoing it leads back.
    pub(crate) fn former_of_text(&self) -> Option<&Self> {
        self.steps_of_text().nth(1)
    }

    /// The names of the texts that undoing it needs, and of those that it is about.
    pub fn texts(&self) -> impl Iterator<Item = &Hash> {
        self.steps().flat_map(|it| {
            let written = [&it.overwritten, &it.written];
            let states = written.into_iter().flatten().chain([&it.after]);
            let in_editor = it.in_editor.iter().flat_map(|(with, left)| [with, left]);
            states.filter_map(FileState::text).chain(in_editor)
        })
    }

    /// The last step in which something was taken out of the file, or out of a text in an editor.
    pub(crate) fn last_taking(&self) -> Option<&Self> {
        self.steps_of_text()
            .find(|it| it.in_editor.is_some() || it.written.is_some())
    }

    /// Returns true if what is left of the change stays.
    fn stays(&self) -> bool {
        matches!(self.judgement, Judgement::Kept | Judgement::Edited)
    }

    /// Returns true if it keeps what is left of a change of which a part was taken back, or that was edited.
    fn is_of_the_rest(&self) -> bool {
        let former = self.former_of_text();
        let is_edit = |it: &Self| {
            matches!(it.judgement, Judgement::Part | Judgement::Edited) || it.is_of_the_rest()
        };
        self.judgement == Judgement::Kept && former.is_some_and(is_edit)
    }

    /// Returns true if something was taken back or edited that can be brought back.
    pub fn takes_back(&self) -> bool {
        self.judgement != Judgement::Kept || self.is_of_the_rest()
    }

    /// Its name in words.
    pub fn name(&self) -> &'static str {
        match self.is_of_the_rest() {
            true => Judgement::Edited.name(),
            false => self.judgement.name(),
        }
    }

    /// What was written last for it, or for what it keeps.
    pub fn last_written(&self) -> Option<&FileState> {
        self.steps_of_text().find_map(|it| it.written.as_ref())
    }

    /// What was overwritten and what was written in its place for it, the last step first.
    pub(crate) fn writes(&self) -> impl Iterator<Item = (&FileState, &FileState)> {
        self.steps_of_text()
            .filter_map(|it| it.overwritten.as_ref().zip(it.written.as_ref()))
    }

    /// The person's words to the agent, those of the last step first.
    pub fn all_notes(&self) -> impl Iterator<Item = &Note> {
        self.steps_of_text().flat_map(|it| &it.notes)
    }
}

/// The state of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeState {
    /// A person accepted it before it was written.
    Accepted,
    /// It was written without asking, and nobody has looked at it.
    Unseen,
    /// A person has looked at it and keeps it.
    Kept,
    /// A person has taken it back.
    TakenBack,
    /// A person has taken a part of it back, or edited it.
    Edited,
    /// Nobody has looked at it, and the file is as it was before it.
    Gone,
}

impl ChangeState {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Unseen => "unseen",
            Self::Kept => "kept",
            Self::TakenBack => "taken back",
            Self::Edited => "edited",
            Self::Gone => "gone",
        }
    }
}

impl Change {
    /// Its state, by a person's last judgement.
    pub fn state(&self, judged: Option<&Judged>) -> ChangeState {
        let judged = self.counting(judged);
        match judged.map(|judged| judged.judgement) {
            Some(Judgement::Kept) if judged.is_some_and(Judged::is_of_the_rest) => {
                ChangeState::Edited
            }
            Some(Judgement::Kept) => ChangeState::Kept,
            Some(Judgement::TakenBack) => ChangeState::TakenBack,
            Some(Judgement::Edited) => ChangeState::Edited,
            Some(Judgement::Part) => ChangeState::Unseen,
            None if self.accepted.as_ref() == Some(&self.after) => ChangeState::Accepted,
            None => ChangeState::Unseen,
        }
    }

    /// Returns true if, as a person made this of it last, something was taken back or edited that can be brought back.
    pub(crate) fn has_taken_back(&self, judged: Option<&Judged>) -> bool {
        self.counting(judged).is_some_and(Judged::takes_back)
    }

    /// This judgement, if it is one of the change as it is now: a person has not seen what the agent has made again since, but
    /// for a text that they kept.
    pub(crate) fn counting<'a>(&self, judged: Option<&'a Judged>) -> Option<&'a Judged> {
        let is_kept = |it: &Judged| !it.takes_back();
        judged.filter(|it| it.after == self.after && (it.made == self.made || is_kept(it)))
    }

    /// Its folders are others again.
    pub(crate) fn folders_become(&mut self, modes: Vec<FolderMode>) {
        for (at, found) in modes.into_iter().enumerate() {
            match self.folder_modes.get_mut(at) {
                Some(mode) => mode.after = found.after,
                None => self.folder_modes.push(found),
            }
        }
    }

    /// Returns true if a person has seen all of it who was shown, before that was written, what leads from one of these texts to
    /// the one after: it begins there, or what came before was accepted or kept.
    pub(crate) fn is_seen_from(&self, texts: &[String], judged: Option<&Judged>) -> bool {
        let decided = self.decided_part(judged);
        let seen = [Some(&self.before), self.accepted.as_ref(), decided];
        let mut seen = seen.into_iter().flatten();
        seen.any(|it| it.is_all_shown(texts, &self.after))
    }

    /// The agent is about to make more of the file than this state: what a person has decided about until now stays so.
    pub(crate) fn goes_on_from(&mut self, now: &FileState, judged: Option<&Judged>) {
        let state = self.state(judged);
        match state {
            // What a person has written since it was taken back is theirs.
            ChangeState::TakenBack if self.after != *now => {
                let has_part = self.decided_part(judged).is_some();
                match self.decided.as_mut().filter(|_| has_part) {
                    Some(decided) => decided.state = now.clone(),
                    None => (self.before, self.decided) = (now.clone(), None),
                }
            }
            ChangeState::Accepted | ChangeState::Kept | ChangeState::Edited => {
                let is_kept = state != ChangeState::Accepted;
                let state = now.clone();
                self.decided = Some(DecidedText { state, is_kept });
            }
            _ => {}
        }
    }

    /// What was decided of it, if a person has decided nothing about all of it, and has not undone that.
    pub(crate) fn decided_part(&self, judged: Option<&Judged>) -> Option<&FileState> {
        use ChangeState::{Accepted, Edited, Kept};
        let is_whole = matches!(self.state(judged), Accepted | Kept | Edited);
        let decided = self.decided.as_ref().filter(|_| !is_whole)?;
        let is_kept = |it: &Judged| it.after != self.after && it.stays();
        let stands = !decided.is_kept || judged.is_some_and(|it| it.steps().any(is_kept));
        (stands && decided.state != self.after).then_some(&decided.state)
    }

    /// Returns true if the file is as it was before.
    pub fn is_undone(&self) -> bool {
        self.before == self.after && self.after.is_known()
    }

    /// The names of the texts that it needs.
    pub fn texts(&self) -> impl Iterator<Item = &Hash> {
        let states = [
            Some(&self.before),
            Some(&self.after),
            self.accepted.as_ref(),
            self.decided.as_ref().map(|it| &it.state),
        ];
        states.into_iter().flatten().filter_map(FileState::text)
    }
}

impl Turn {
    /// The changes that are more than nothing.
    pub fn real_changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| !change.is_undone())
    }

    /// The change of this number.
    pub fn change(&self, number: u64) -> Option<&Change> {
        let is_it = |change: &&Change| change.number == number;
        let place = usize::try_from(number.wrapping_sub(1)).ok();
        let in_place = place.and_then(|place| self.changes.get(place));
        in_place
            .filter(is_it)
            .or_else(|| self.changes.iter().find(is_it))
    }

    /// Returns true if it goes on, and is watched.
    pub fn goes_on(&self) -> bool {
        self.ended.is_none() && !self.is_cut_off && process::is_alive(self.watcher)
    }

    /// Returns true if nobody watches it any more, and nobody has seen its end.
    pub(crate) fn was_cut_off(&self) -> bool {
        self.ended.is_none() && !self.goes_on()
    }

    /// The call that may be changing this file at this moment.
    pub fn call_on(&self, path: &Path) -> Option<&Running> {
        let is_on_it = |call: &&Running| call.path.as_deref().is_none_or(|it| it == path);
        self.running
            .iter()
            .filter(|_| self.goes_on())
            .find(is_on_it)
    }

    /// A path as it is shown: from the watched folder on, if it lies in one.
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        shown(&self.roots, path)
    }
}

/// A path as it is shown: if it lies in one of these folders, from it on, or, of several, from the folder on in which all of them
/// are. Two files are never shown as the same.
pub(crate) fn shown<'a>(roots: &[PathBuf], path: &'a Path) -> &'a Path {
    let holds_all = |folder: &&Path| roots.iter().all(|root| root.starts_with(folder));
    let common = roots
        .first()
        .and_then(|root| root.ancestors().find(holds_all));
    let is_inner = roots.iter().any(|root| path.starts_with(root));
    // What is in no folder that has a name is shown as a whole.
    let common = common.filter(|it| is_inner && (roots.len() == 1 || it.file_name().is_some()));
    let inner = common.and_then(|it| path.strip_prefix(it).ok());
    inner.unwrap_or(path)
}

/// Names a change (`7.2`) or all of a turn's (`7`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangeRef {
    /// The turn.
    pub turn: u64,
    /// The change; none if all are meant.
    pub change: Option<u64>,
}

impl fmt::Display for ChangeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.change {
            Some(change) => write!(f, "{}.{change}", self.turn),
            None => write!(f, "{}", self.turn),
        }
    }
}

/// A text names neither a turn nor a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a turn, such as 7, or a change of one, such as 7.2")]
pub struct NoChangeRef;

impl FromStr for ChangeRef {
    type Err = NoChangeRef;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse().map_err(|_| NoChangeRef);
        let (turn, change) = match text.split_once('.') {
            Some((turn, change)) => (turn, Some(number(change)?)),
            None => (text, None),
        };
        let turn = number(turn)?;
        Ok(Self { turn, change })
    }
}

/// The number of characters of a prompt that are kept.
const WORDS: usize = 80;

/// The first words of a prompt, in one line and without what a terminal would obey.
pub fn first_words(prompt: &str) -> String {
    let shown = pillion_text::visible::one_line(prompt.trim().lines().next().unwrap_or_default());
    let shown = shown.to_string();
    match shown.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_several_folders_are_told_apart() {
        for (roots, path, expected) in [
            (&["/w/a"][..], "/w/a/b/x", "b/x"),
            (&["/w/a"], "/w/c/x", "/w/c/x"),
            (&["/"], "/w/x", "w/x"),
            (&["/w/a", "/w/b"], "/w/b/x", "b/x"),
            (&["/w/a", "/w/a/b"], "/w/a/b/x", "b/x"),
            (&["/w/a/src", "/w/b/src"], "/w/b/src/x", "b/src/x"),
            (&["/w/a", "/v/a"], "/v/a/x", "/v/a/x"),
            (&["/w/a", "/w/b"], "/w/x", "/w/x"),
            (&[], "/w/x", "/w/x"),
        ] {
            let roots: Vec<_> = roots.iter().map(PathBuf::from).collect();
            let shown = shown(&roots, Path::new(path));
            assert_eq!(shown, Path::new(expected), "{roots:?} {path}");
        }
    }
}
