//! The doubts about an acceptance: the things that the person may not expect of it.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use pillion_protocol::runs_code::Runner;
use pillion_protocol::{Dialect, Proposer};
use pillion_text::damage::{count_unreadable, deletes_most};
use pillion_text::visible::one_line;
use pillion_text::{count_lines, fingerprint};
use pillion_view::decision::{FILE_CHANGED, TAKEN_FOR_REJECTION};
use pillion_view::{Against, Unseen};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The file is another one than the proposal was compared with, which this agent may refuse to write.
    FileChanged(Proposer),
    /// Another agent's acceptance for the same file has not been written yet: this one is older than that.
    OlderThanAccepted(Proposer),
    /// The disk does not answer.
    DiskSilent,
    /// So many hunks undo newer changes of the file.
    Undoes(usize),
    /// So many stand in place of what the person wrote.
    Overwrites(usize),
    /// So many were taken out, and are back as others.
    Back(usize),
    /// Hunks that were never on the screen.
    Unseen(Unseen),
    /// So many lines get U+FFFD in place of what was there.
    Unreadable(usize),
    /// The file of this name is deleted.
    DeletesFile(String),
    /// Lines are deleted: so many, of so many.
    Deleted { lines: usize, of: usize },
    /// The agent ignores an empty text and writes its own.
    IgnoresEmpty(Proposer),
    /// The agent takes the unchanged file for a rejection.
    TakenForRejection(Proposer),
    /// The agent has no way to write this text.
    Inexpressible(Proposer),
    /// Nothing is left of the proposal.
    Nothing,
    /// The file is not in a workspace folder.
    Outside,
    /// The file has other names, which may lie anywhere.
    OtherNames,
    /// A change of it is a change of what runs here.
    Runs(Runner),
}

/// An acceptance, to be weighed against the file as it is now.
#[derive(Debug)]
pub(crate) struct Weighed<'a> {
    pub(crate) proposer: Proposer,
    pub(crate) path: &'a Path,
    /// The program that runs or obeys the file.
    pub(crate) runner: Option<Runner>,
    pub(crate) deletes: bool,
    pub(crate) roots: &'a [PathBuf],
    pub(crate) has_other_names: bool,
    pub(crate) proposed: &'a str,
    pub(crate) accepted: &'a str,
    pub(crate) unseen: Option<Unseen>,
    pub(crate) against: Against,
    /// True if the file changed since the proposal came.
    pub(crate) has_changed: bool,
    /// The text that the person compared with last, if not with the one that came with the proposal.
    pub(crate) base: Option<&'a str>,
    /// The file's bytes now; none if it is not there.
    pub(crate) on_disk: Option<&'a [u8]>,
    /// The same as the agent reads it: the proposal is like this one.
    pub(crate) original: Option<Cow<'a, [u8]>>,
    /// Whose acceptance for this file has not been written yet.
    pub(crate) unwritten: Option<Proposer>,
    /// True if a hook's answer carries it: the agent takes any text then.
    pub(crate) is_of_hook: bool,
    /// True if its agent has no way to write it.
    pub(crate) is_inexpressible: bool,
    /// True if the agent asks in its own window, too: an empty new file is accepted there.
    pub(crate) is_asked: bool,
}

pub(crate) fn weigh(weighed: Weighed<'_>) -> Vec<Doubt> {
    let Weighed {
        proposer,
        accepted,
        proposed,
        ..
    } = weighed;
    let deletion = weighed.deletion();
    let is_deletion = deletion.is_some();
    let is_emptied = !weighed.is_of_hook && weighed.is_emptied();
    let mut doubts = Vec::from_iter(deletion);
    if let Some(other) = weighed.unwritten {
        doubts.push(Doubt::OlderThanAccepted(other));
    }
    let has_changed = match weighed.base {
        Some(base) => fingerprint::of(weighed.on_disk) != base,
        None => weighed.has_changed,
    };
    // Such an agent has not read what the person has merged with.
    if has_changed || (weighed.has_changed && proposer.is(Dialect::refuses_changed_file)) {
        doubts.push(Doubt::FileChanged(proposer));
    }
    doubts.extend(goes_against(weighed.against));
    doubts.extend(never_seen(weighed.unseen));
    let is_new = weighed.original.is_none();
    let is_answered_otherwise = weighed.is_of_hook || (is_new && weighed.is_asked);
    let is_rejection = !is_answered_otherwise
        && proposer.is(|agent| agent.takes_for_rejection(weighed.original.as_deref(), accepted));
    let original = weighed.original.unwrap_or_default();
    let unreadable = count_unreadable(&original, accepted);
    if unreadable > 0 {
        doubts.push(Doubt::Unreadable(unreadable));
    }
    let is_same = *original == *accepted.as_bytes();
    let is_unchanged = is_same && (!is_new || accepted.is_empty()) && accepted != proposed;
    if is_rejection {
        doubts.push(Doubt::TakenForRejection(proposer));
    } else if is_emptied {
        doubts.push(Doubt::IgnoresEmpty(proposer));
    } else if is_unchanged {
        doubts.push(Doubt::Nothing);
    } else if weighed.is_inexpressible {
        doubts.push(Doubt::Inexpressible(proposer));
    }
    let (of, left) = (count_lines(&original), count_lines(accepted.as_bytes()));
    if !is_deletion && deletes_most(of, left) {
        let lines = of.saturating_sub(left);
        doubts.push(Doubt::Deleted { lines, of });
    }
    doubts.extend(weighed.runner.map(Doubt::Runs));
    let is_below = |root: &PathBuf| weighed.path.starts_with(root);
    if !weighed.roots.is_empty() && !weighed.roots.iter().any(is_below) {
        doubts.push(Doubt::Outside);
    }
    if weighed.has_other_names && !is_deletion {
        doubts.push(Doubt::OtherNames);
    }
    doubts
}

/// Returns the doubts if the disk does not answer: that one, and those that need no look at the file.
pub(crate) fn weigh_blind(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let mut doubts = vec![Doubt::DiskSilent];
    doubts.extend(weighed.deletion());
    doubts.extend(never_seen(weighed.unseen));
    if weighed.is_emptied() {
        doubts.push(Doubt::IgnoresEmpty(weighed.proposer));
    }
    doubts.extend(weighed.runner.map(Doubt::Runs));
    doubts.extend(goes_against(weighed.against));
    doubts
}

impl Weighed<'_> {
    fn deletion(&self) -> Option<Doubt> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        (self.deletes && self.accepted.is_empty()).then(|| Doubt::DeletesFile(one_line(&name)))
    }

    fn is_emptied(&self) -> bool {
        let is_emptied = self.accepted.is_empty() && !self.proposed.is_empty();
        is_emptied && self.proposer.is(Dialect::ignores_empty_text)
    }
}

/// Returns the doubts about hunks that go against the file or the person.
fn goes_against(against: Against) -> impl Iterator<Item = Doubt> {
    let Against {
        newer,
        written,
        taken_out,
    } = against;
    let kinds = [
        (newer, Doubt::Undoes(newer)),
        (written, Doubt::Overwrites(written)),
        (taken_out, Doubt::Back(taken_out)),
    ];
    let found = kinds.into_iter().filter(|(hunks, _)| *hunks > 0);
    found.map(|(_, doubt)| doubt)
}

fn never_seen(unseen: Option<Unseen>) -> Option<Doubt> {
    unseen.filter(|unseen| unseen.hunks > 0).map(Doubt::Unseen)
}

impl Doubt {
    /// For programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::FileChanged(_) => FILE_CHANGED,
            Self::OlderThanAccepted(_) => "olderThanAccepted",
            Self::DiskSilent => "diskSilent",
            Self::Undoes(_) => "undoesNewer",
            Self::Overwrites(_) => "overwritesEdits",
            Self::Back(_) => "changedHunks",
            Self::Unseen(_) => "unseenHunks",
            Self::Unreadable(_) => "unreadable",
            Self::DeletesFile(_) => "deletesFile",
            Self::Deleted { .. } => "deleted",
            Self::IgnoresEmpty(_) => "ignoresEmptyText",
            Self::TakenForRejection(_) => TAKEN_FOR_REJECTION,
            Self::Inexpressible(_) => "inexpressible",
            Self::Nothing => "nothingLeft",
            Self::Outside => "outsideWorkspace",
            Self::OtherNames => "otherNames",
            Self::Runs(_) => "runsCode",
        }
    }

    /// Returns true if who accepts this accepts the other, too.
    pub(crate) fn is_more_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unseen(more), Self::Unseen(less)) => more.hunks >= less.hunks,
            _ => false,
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileChanged(proposer) => {
                let then = match proposer.is(Dialect::refuses_changed_file) {
                    true => format!("{proposer} may refuse to write this"),
                    false => "that change would be lost".to_owned(),
                };
                write!(
                    f,
                    "the file has changed on disk since this was proposed, and {then}"
                )
            }
            Self::OlderThanAccepted(proposer) => write!(
                f,
                "{proposer}'s change to this file was accepted and is not written yet, and this one does not contain it"
            ),
            Self::DiskSilent => write!(
                f,
                "the disk does not answer, so what would be overwritten is unknown"
            ),
            Self::Undoes(1) => write!(f, "one change undoes a newer one of the file"),
            Self::Undoes(hunks) => write!(f, "{hunks} changes undo newer ones of the file"),
            Self::Overwrites(1) => write!(f, "one change replaces what you wrote"),
            Self::Overwrites(hunks) => write!(f, "{hunks} changes replace what you wrote"),
            Self::Back(1) => write!(f, "what you took out is back as another change"),
            Self::Back(hunks) => write!(f, "{hunks} changes that you took out are back as others"),
            Self::Unseen(Unseen { hunks: 1, of: 1 }) => {
                write!(f, "the change has not been on the screen as a whole")
            }
            Self::Unseen(Unseen { hunks, of }) => {
                let have = if *hunks == 1 { "has" } else { "have" };
                write!(f, "{hunks} of {of} changes {have} not been on the screen")
            }
            Self::Unreadable(1) => write!(f, "one line gets \u{fffd} in place of its characters"),
            Self::Unreadable(lines) => {
                write!(f, "{lines} lines get \u{fffd} in place of their characters")
            }
            Self::DeletesFile(name) => write!(f, "accepting this deletes {name}"),
            Self::Deleted { lines, of } => {
                write!(f, "{lines} of the file's {of} lines are deleted")
            }
            Self::IgnoresEmpty(proposer) => {
                write!(f, "{proposer} ignores an empty text and writes its own")
            }
            Self::TakenForRejection(proposer) => {
                write!(
                    f,
                    "{proposer} treats this as a rejection and changes nothing"
                )
            }
            Self::Inexpressible(proposer) => write!(
                f,
                "{proposer} has no way to write this text, so it would write nothing to this file and be told of your changes"
            ),
            Self::Nothing => write!(f, "nothing is left of the change"),
            Self::Outside => write!(f, "this file is outside of the workspace"),
            Self::OtherNames => write!(
                f,
                "this file has other names (hard links), which may lie outside of the workspace and may get this text, too"
            ),
            Self::Runs(runner) => write!(f, "{}", runner.sentence()),
        }
    }
}
