//! Changes that agents have written already, as views list them, and what a person does with them there. The companion
//! answers, from the store of this user; `7` names a turn, and `7.2` a change of it.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use pillion_discovery::exact;
use pillion_protocol::Note;
use pillion_protocol::ask::Refused;
use pillion_protocol::verdict::Lines;
use serde::{Deserialize, Serialize};

use crate::decision::{GLANCE, LOOK};

/// The turns below the folders of a companion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangesList {
    /// The newest first.
    pub turns: Vec<ListedTurn>,
    /// The number of changes that are left out, of the oldest turns.
    pub left_out: usize,
    /// The reason why there is nothing, if it cannot be known.
    pub problem: Option<String>,
    /// The person's words on turns and changes, by name, which no decision has taken along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<(String, Vec<Note>)>,
}

impl From<Refused> for ChangesList {
    fn from(why: Refused) -> Self {
        Self::failed(why)
    }
}

impl ChangesList {
    /// No list, and why there is none.
    pub fn failed(problem: impl Into<String>) -> Self {
        Self {
            problem: Some(problem.into()),
            ..Self::default()
        }
    }
}

/// A turn of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedTurn {
    /// Its name: `7`.
    pub id: String,
    /// The short name of the agent.
    pub agent: String,
    /// Whose turn it is, or may be, in a few words for people.
    #[serde(default)]
    pub heading: String,
    /// The first words of the prompt.
    pub prompt: String,
    /// The time at which it began: milliseconds since 1970.
    pub began: u64,
    /// The time at which it ended; none if it goes on.
    pub ended: Option<u64>,
    /// All that in one line for people.
    pub title: String,
    /// Another one once a change has come, has gone or was written again.
    pub revision: String,
    /// The changes in it.
    pub changes: Vec<ListedChange>,
}

/// The state of a change that is listed and cannot be written yet: nothing can be decided about it.
pub const NOT_KEPT: &str = "not kept yet";

/// The note of the first diff of what is in its file already: what deciding does there. A view whose buttons have other names has words of
/// its own in its place.
pub const IS_WRITTEN: &str = "This change is already in the file. Accept to keep it. What you exclude or edit is written to the file when you accept. Rejecting changes nothing, unless you give a reason: that takes the change back.";

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedChange {
    /// Its name: `7.2`.
    pub id: String,
    /// Another one once the file was changed again, by whomever.
    pub revision: String,
    /// The file.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// The file in one line for people, with what there is to say of it: `src/a.rs (new)`.
    pub shown: String,
    /// The change in one line for people, without its file: its name, its state, and how many lines there are.
    pub label: String,
    /// Its state, as `pillion changes` says it.
    pub state: String,
    /// True if nobody has decided about it.
    pub is_unseen: bool,
    /// What it made of the permissions, if they are others: `mode 644→755`.
    #[serde(default)]
    pub mode: Option<String>,
    /// The number of lines that the agent added; none if it is not text.
    pub added: Option<usize>,
    /// The number of lines that it removed.
    pub removed: Option<usize>,
    /// The hunks of it that stand in the file now, unless it was taken back.
    pub hunks: Vec<ListedHunk>,
}

/// A hunk as it stands in the file now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedHunk {
    /// The lines of the file, from 0; none where lines were removed.
    pub lines: Range<usize>,
    /// The number of lines that were there before.
    pub removed: usize,
    /// The first of these lines, as far as they are short enough to be shown beside what stands there now.
    #[serde(default)]
    pub before: Vec<String>,
    /// The hunk in one line for people, without its file: the name of the change, its state, the number of lines, and what
    /// the first of them says.
    #[serde(default)]
    pub label: String,
    /// True if somebody has changed it again since: it is shown, and cannot be taken back by itself.
    #[serde(default)]
    pub is_changed_since: bool,
}

/// An act of a person on changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangesAct {
    /// Shows them as diffs: a change, what nobody has seen of a turn, or of the newest turn that has something.
    Look(Option<String>),
    /// They stay, and count as seen.
    Keep(Meant),
    /// They are taken back.
    TakeBack(Part),
    /// The change that was taken back comes back; without a name, the one that was taken back last.
    Undo(Option<String>),
    /// What was accepted or kept of it goes into git's index.
    Stage(Part),
    /// What a command names.
    Named(Named),
}

impl ChangesAct {
    /// The person's words to the agent.
    pub fn notes(&self) -> &[Note] {
        match self {
            Self::Keep(meant) => &meant.notes,
            Self::TakeBack(it) => &it.meant.notes,
            Self::Named(named) => &named.notes,
            Self::Look(_) | Self::Undo(_) | Self::Stage(_) => &[],
        }
    }

    /// Checks that the person can have meant the row of a list about which this is.
    ///
    /// # Errors
    /// The sentence that says what to do.
    pub fn check_row(&self) -> Result<(), &'static str> {
        match self {
            Self::Keep(meant) | Self::TakeBack(Part { meant, .. }) => {
                meant.row.as_ref().map_or(Ok(()), Row::check)
            }
            _ => Ok(()),
        }
    }
}

/// An act of a person on what they name in a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Named {
    /// What is done with it.
    pub act: NamedAct,
    /// Turns, and changes of them; to be forgotten also entries of the log.
    pub names: Vec<String>,
    /// True if nothing of a turn is left out that may be somebody else's, or that was kept by its name.
    #[serde(default)]
    pub takes_all: bool,
    /// The folders of the command: without a name, what is undone was done last in one of these.
    #[serde(with = "exact::paths")]
    pub folders: Vec<PathBuf>,
    /// The person's words to the agent about all of it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Note>,
    /// Those on lines of some changes, with the names of these.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub on_lines: Vec<(String, Note)>,
}

/// The act of a [`Named`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NamedAct {
    /// They stay, and count as seen.
    Keep,
    /// They are taken back.
    TakeBack,
    /// What was taken back comes back.
    Undo,
    /// What was accepted or kept of them goes into git's index.
    Stage,
    /// They are forgotten, with the texts that were kept of them; all of them without a name.
    Forget,
}

/// The changes that are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meant {
    /// A change or a turn; without it, the newest change of the file that nobody has decided about.
    pub id: Option<String>,
    /// The file, if there is no `id`.
    #[serde(with = "exact::optional_path", default)]
    pub path: Option<PathBuf>,
    /// The lines at which the person is in that file, if what stands there is kept, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Lines>,
    /// The files that are open in the editor and were changed there, and the one whose lines are meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<BufferText>,
    /// The files that the editor has read less than [`LOOK`] before, and not because the person saved them. Its companion
    /// knows, and no message has it.
    #[serde(skip)]
    pub just_read: Vec<PathBuf>,
    /// What the person typed after the command, as it is: a change, which is meant then wherever the cursor is, words to the
    /// agent, or both.
    pub typed: Option<String>,
    /// The revision that was on the screen: nothing is done if it has another one by now.
    pub revision: Option<String>,
    /// The row of a list that the person decided about, if they did that in a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<Row>,
    /// The person's words to the agent about it.
    #[serde(default)]
    pub notes: Vec<Note>,
}

/// How a row of a list came under the cursor, as far as its view knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// For how long it has stood there as it is, without a key that decides; none if it was never drawn.
    #[serde(rename = "restedMs", with = "exact::milliseconds::optional", default)]
    pub rested_for: Option<Duration>,
    /// True if the person went to it since they last decided in the list. Otherwise it moved up under their key.
    #[serde(rename = "isChosen")]
    pub is_chosen: bool,
}

impl Row {
    /// Checks that the person can have meant this row: a key that is held down comes to the next one, which nobody has
    /// looked at, and repeats at the latest after [`LOOK`].
    ///
    /// # Errors
    /// The sentence that says what to do.
    pub fn check(&self) -> Result<(), &'static str> {
        let needed = if self.is_chosen { GLANCE } else { LOOK };
        match self.rested_for {
            Some(rested) if rested >= needed => Ok(()),
            _ => Err(
                "this line has only just come under the cursor: release the key, look at the line, then decide again",
            ),
        }
    }
}

/// The part that is taken back, or staged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// The changes.
    #[serde(flatten)]
    pub meant: Meant,
    /// The hunks that touch these lines of the file; all without it.
    pub lines: Option<Lines>,
}

/// A file as it is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferText {
    /// The file.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// The text that saving would write.
    pub content: String,
    /// True if the text, and not the file, is to be changed: it is not saved.
    pub is_modified: bool,
}

/// A new text for a file that is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferEdit {
    /// The file.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// The change that was taken out of it: undoing it is right if the editor does not take the text.
    pub id: String,
    /// The whole text.
    pub content: String,
}

/// The outcome of a [`ChangesAct`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActDone {
    /// True if all of it is done.
    pub done: bool,
    /// A sentence for the person, or several.
    pub message: String,
    /// The edits that the editor is to put into its buffers, each of which it can undo.
    pub edits: Vec<BufferEdit>,
    /// The same for a command to print.
    #[serde(default, skip_serializing_if = "Report::is_empty")]
    pub report: Report,
}

/// The outcome of a [`Named`] act, in lines for a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// What was done.
    pub said: Vec<String>,
    /// What was not.
    pub failed: Vec<NotDone>,
    /// The number of changes that failed, too, and of which nothing is said.
    pub more_failed: usize,
    /// The changes that are not what the person was shown last: then nothing was done.
    pub changed: Vec<String>,
}

impl Report {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This came of it, too.
    pub fn add(&mut self, other: Self) {
        self.said.extend(other.said);
        self.failed.extend(other.failed);
        self.more_failed += other.more_failed;
        self.changed.extend(other.changed);
    }
}

/// Something that was not done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotDone {
    /// It, as a sentence.
    pub what: String,
    /// Why: each because of the next.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub why: Vec<String>,
    /// The person's next step, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
}

impl From<Refused> for ActDone {
    fn from(why: Refused) -> Self {
        Self::refused(why)
    }
}

impl ActDone {
    /// Nothing is done, and why: for a view and for a command.
    pub fn failed(why: String) -> Self {
        let failed = vec![NotDone {
            what: why.clone(),
            ..NotDone::default()
        }];
        Self {
            report: Report {
                failed,
                ..Report::default()
            },
            ..Self::refused(why)
        }
    }

    /// Nothing is done, and why.
    pub fn refused(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }
}

/// The part of a person's judgement that its agent is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Hearing {
    /// Nothing: the agent is not connected any more, or takes nothing.
    Nothing,
    /// The decision, and the beginning of the person's words, in place of the selection: there is no room for more.
    Beginning,
    /// All of it, once it is back: it is not here.
    Later,
    /// All of it, in place of the selection.
    Shown,
    /// All of it, with the next prompt.
    Prompt,
    /// All of it, with the next prompt or when it is sent.
    All,
}

/// Returns the sentence that tells the person whether an agent hears what was taken back.
pub fn judged_said(agent: &str, hearing: Hearing) -> String {
    let is_told = format!("{agent} is told with your next prompt");
    match hearing {
        Hearing::All => format!("{is_told}, or when you send your notes"),
        Hearing::Prompt => is_told,
        Hearing::Shown => format!("{is_told}, unless you select something before"),
        Hearing::Beginning => format!(
            "{is_told}, unless you select something before, but only the beginning of your words: there is no room for more"
        ),
        Hearing::Later => {
            format!("{agent} is not connected now, and is told when it works here again")
        }
        Hearing::Nothing => format!("{agent} is no longer connected, and is not told"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_looked_at_and_one_that_moved_up_under_the_key_for_longer() {
        let check = |ms: Option<u64>, is_chosen| {
            let row = Row {
                rested_for: ms.map(Duration::from_millis),
                is_chosen,
            };
            let meant = Meant {
                row: Some(row),
                ..Meant::default()
            };
            ChangesAct::Keep(meant).check_row().is_ok()
        };
        for (ms, is_chosen, counts) in [
            (None, true, false),
            (Some(299), true, false),
            (Some(300), true, true),
            // X repeats a key that is held down after 660 ms.
            (Some(660), false, false),
            (Some(700), false, true),
        ] {
            assert_eq!(check(ms, is_chosen), counts, "{ms:?} {is_chosen}");
        }
        let named = ChangesAct::Keep(Meant::default());
        assert!(named.check_row().is_ok(), "it is no row");
    }
}
