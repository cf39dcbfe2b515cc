//! What a person is told of a diff: its facts, and what agents, disks and they themselves have done with it.

use std::cmp::Ordering;
use std::time::Duration;

use pillion_protocol::verdict::takes_back;
use pillion_text::hunks::Mark;
use pillion_text::visible;
use pillion_view::decision::takes_no_edits;
use pillion_view::{CloseReason, Decide, Diff, Seen};

use super::{Disk, Judged, Step, Target};
use crate::keys::Keys;
use crate::marks;
use crate::proposal::{Change, Edits, NotText};

impl Judged {
    /// The agent's next proposal takes the place of this one. Its texts are yet to be compared.
    pub fn renew(&mut self, diff: Diff, target: Target) {
        (self.diff, self.target) = (diff, target);
        // What is being read was the file of the former proposal.
        (self.is_rereading, self.is_gone) = (false, false);
    }

    /// A decision is on its way to the gate; the message is for when that lets it through.
    pub fn begin_decision(&mut self, decide: &Decide, message: String) {
        self.deciding = Some(message);
        let verdict = &decide.verdict;
        self.is_act = !verdict.is_rejection() || takes_back(&verdict.notes);
    }

    /// What the person has seen of it, for the gate: it was drawn for so long, and this does or does not answer the gate's question.
    pub fn seen(&self, drawn_for: Option<Duration>, pauses: Vec<Duration>, answers: bool) -> Seen {
        Seen {
            drawn_for,
            is_typed: true,
            pauses,
            unseen_hunks: Some(self.unseen()),
            against: marks::against(self.proposal.hunks()),
            answers: Some(answers),
        }
    }

    /// The facts that are to be known about it, the most important first. `has_roots`: a file may be outside of them.
    pub fn facts(&self, has_roots: bool, keys: &Keys) -> Vec<String> {
        let runner = self.diff.runner.clone();
        let unreadable = match self.unreadable.len() {
            0 => None,
            1 => Some("1 line gets � in place of its characters".to_owned()),
            lines => Some(format!("{lines} lines get � in place of their characters")),
        };
        let facts = runner.into_iter().chain(unreadable);
        facts.chain(self.fact(has_roots, keys)).collect()
    }

    /// The reason why nothing can be edited or taken out, if that is so.
    pub fn takes_no_edits(&self) -> Option<String> {
        self.diff.proposer.itself().and_then(takes_no_edits)
    }

    /// Checks that what would be accepted may become something else, by an act that writes or not.
    ///
    /// # Errors
    /// The sentence that says why not.
    pub fn may_change(&self, writes: bool) -> Result<(), String> {
        if self.deciding.is_some() {
            return Err(DECIDING.to_owned());
        }
        if self.is_rereading {
            // What would be changed now is about to be merged.
            return Err("still reading the file on disk".to_owned());
        }
        let why = writes.then(|| self.takes_no_edits()).flatten();
        why.map_or(Ok(()), Err)
    }

    /// The file was read again, to merge with it. The step to take; none if the file is gone, which is to be said first.
    ///
    /// # Errors
    /// It could not be read.
    pub fn reread(
        &mut self,
        original: Result<Option<Vec<u8>>, String>,
    ) -> Result<Option<Step>, String> {
        self.is_rereading = false;
        let original = original?;
        let is_gone = original.is_none() && !self.proposal.is_new_file() && !self.is_gone;
        if is_gone {
            (self.disk, self.is_gone) = (Disk::Gone, true);
            return Ok(None);
        }
        (self.disk, self.is_gone) = (Disk::Same, false);
        Ok(Some(Step::Rebase(original)))
    }

    /// Returns true if merging it with the file on disk may change something.
    pub fn can_merge(&self) -> bool {
        self.diff.written.is_none() && (self.disk != Disk::Same || !self.proposal.is_current())
    }

    fn fact(&self, has_roots: bool, keys: &Keys) -> Option<String> {
        let disk = match self.disk {
            Disk::Same => None,
            Disk::Changed => Some("changed on disk since this diff opened"),
            Disk::Gone => Some("deleted on disk since this diff opened"),
            Disk::Appeared => Some("appeared on disk since this diff opened"),
        };
        let older = "compared with an older version of the file";
        let disk = disk.or_else(|| (!self.proposal.is_current()).then_some(older));
        if let Some(what) = disk {
            let how = match self.disk {
                _ if self.diff.written.is_some() => "<reject> closes it, <list> opens it anew",
                Disk::Gone => "<merge> makes it a new file",
                _ => "<merge> merges both",
            };
            return Some(format!("{what} · {}", keys.fill(how)));
        }
        if let Some(marks) = marks::note(self.proposal.hunks()) {
            return Some(marks);
        }
        if self.target.is_outside && has_roots {
            return Some("this file is outside the workspace".to_owned());
        }
        if let Some(bytes) = self.proposal.hidden_before() {
            return Some(format!("the file is not shown: binary, {bytes} bytes"));
        }
        if !self.proposal.before().is_utf8() {
            return Some("the file is not UTF-8: invalid bytes are shown as �".to_owned());
        }
        let note = "the file has CRLF, the proposal LF: line endings are not compared";
        self.proposal.ignores_endings().then(|| note.to_owned())
    }

    /// The proposer's notes, as one line each, without the one on its permissions, which has a place of its own.
    pub fn notes_of_agent(&self) -> impl Iterator<Item = String> {
        let mode = self.diff.mode.map(|it| it.to_string());
        let notes = self.diff.notes.iter();
        let notes = notes.filter(move |note| mode.as_ref() != Some(note));
        notes.map(|note| visible::one_line(note))
    }

    /// A newer proposal is there; with a text if what the person wrote is not in it, which is to be kept.
    pub fn say_newer(
        &self,
        agent: &str,
        edits: Edits,
        how: &str,
        keys: &Keys,
    ) -> (String, Option<String>) {
        let name = &self.target.shown;
        let newer = format!("{agent} has a newer proposal for {name}");
        match edits {
            Edits::None => (format!("{newer} · {how}"), None),
            Edits::Carried => (format!("{newer}, with your edits · {how}"), None),
            Edits::Conflict(text) => {
                let restores = keys.fill("<undo> restores that");
                let why = format!(
                    "{agent}'s newer proposal for {name} changes what you wrote ({restores})"
                );
                (why, Some(text))
            }
        }
    }

    /// What the person had made of the file before can be had again, by `redo`.
    pub fn say_offered(&self, redo: &str) -> String {
        let name = &self.target.shown;
        match self.offered {
            ..=1 => format!("what you had changed in {name} was kept · {redo} brings it back"),
            count => format!(
                "{count} texts of yours for {name} were kept · {redo} brings back the last one, then the one before"
            ),
        }
    }

    /// It was merged with the file on disk, unless that had no other text.
    pub fn say_merged(&self, is_changed: bool, keys: &Keys) -> String {
        match is_changed {
            true if self.proposal.is_new_file() => {
                keys.fill("this is a new file now: <accept> creates it")
            }
            true => {
                let hunks = self.proposal.hunks().iter();
                let out = hunks.filter(|hunk| hunk.mark == Some(Mark::Conflict) && hunk.out);
                match out.count() {
                    0 => "merged with the file on disk".to_owned(),
                    1 => "merged with the file on disk · 1 hunk conflicts with it and is excluded"
                        .to_owned(),
                    more => format!(
                        "merged with the file on disk · {more} hunks conflict with it and are excluded"
                    ),
                }
            }
            false => "the file is unchanged".to_owned(),
        }
    }

    /// What is to be said when something was taken out, or back in.
    pub fn say_toggled(&self, toggled: Result<bool, NotText>, keys: &Keys) -> Option<String> {
        let text = match (toggled, &self.diff.written) {
            (Err(NotText), _) => return Some(NOT_TEXT.to_owned()),
            (Ok(_), _) if !self.proposal.is_nothing() => return None,
            (Ok(_), None) => {
                "all hunks excluded: <reject> rejects, <accept> accepts the file unchanged"
            }
            (Ok(_), Some(_)) => {
                "all hunks excluded: <accept> takes the change out of the file, <reject> leaves it"
            }
        };
        Some(keys.fill(text))
    }

    /// Undoes the person's last act, or redoes the one that was undone last. Answers what to say.
    pub fn go_back_and_say(&mut self, back: bool, keys: &Keys) -> String {
        let out = self.proposal.count().out;
        let (change, note) = self.go_back(back);
        let how = if back { "undone" } else { "redone" };
        let more = keys.fill(" · <redo> redoes it");
        let more = if back { &more } else { "" };
        match (change, self.proposal.count().out.cmp(&out)) {
            (None, _) if let Some(notes) = note => {
                let is = match notes {
                    Ordering::Less => "removed",
                    Ordering::Equal => "as it was",
                    Ordering::Greater => "there again",
                };
                format!("{how}: your note is {is}{more}")
            }
            (None, _) => format!("nothing is to be {how}"),
            (Some(Change::Toggled), Ordering::Less) => format!("{how}: included again{more}"),
            (Some(Change::Toggled), Ordering::Greater) => format!("{how}: excluded again{more}"),
            (Some(change), _) => format!("{change} {how}{more}"),
        }
    }

    /// It is gone without a decision in this view.
    pub fn say_closed(&self, reason: CloseReason, agent: &str) -> String {
        let name = &self.target.shown;
        match (reason, &self.diff.written) {
            (CloseReason::ClosedByAgent, Some(change)) => format!(
                "{change} {name} was taken back or forgotten elsewhere, or is no longer in the file"
            ),
            (CloseReason::AgentGone, Some(_)) => {
                format!("whoever showed {name} has ended; nothing is decided about it")
            }
            (CloseReason::AgentGone | CloseReason::ClosedByAgent, None) => reason
                .undecided(agent, name)
                .unwrap_or_else(|| format!("{agent} closed its diff of {name}")),
            (CloseReason::Settled | CloseReason::Overruled, _) => {
                format!("the diff of {name} was decided by a command")
            }
            (CloseReason::AcceptedElsewhere, _) => {
                format!("the diff of {name} was accepted in another window")
            }
            (CloseReason::RejectedElsewhere, _) => {
                format!("the diff of {name} was rejected in another window")
            }
            (CloseReason::NotShown, _) => {
                format!("the diff of {name} could not be opened in time")
            }
        }
    }

    /// The person's notes that no decision has taken along, now that it is gone for this reason: what to say of them.
    pub fn say_untold(&self, reason: CloseReason, agent: &str) -> Option<String> {
        use CloseReason::{AcceptedElsewhere, RejectedElsewhere, Settled};
        let notes = self.untold_notes()?;
        let is_kept = self.diff.written.is_some()
            || matches!(reason, Settled | AcceptedElsewhere | RejectedElsewhere);
        let kept = if is_kept { " (the log has them)" } else { "" };
        Some(format!("{agent} was not told your notes{kept}: {notes}"))
    }

    /// The person's own text that would be lost, now that it is gone for this reason.
    pub fn lost_edits(&self, reason: CloseReason) -> Option<String> {
        match reason {
            // The text is taken as it stands.
            CloseReason::Settled | CloseReason::ClosedByAgent => None,
            // The companion keeps it.
            CloseReason::AcceptedElsewhere | CloseReason::RejectedElsewhere => None,
            CloseReason::AgentGone | CloseReason::Overruled | CloseReason::NotShown => {
                self.edited_text()
            }
        }
    }
}

/// The gate has it.
pub const DECIDING: &str = "this is being decided";

/// A hunk cannot be taken out.
const NOT_TEXT: &str = "the old lines are not UTF-8: this hunk stays";
