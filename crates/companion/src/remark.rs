//! What a person says to an agent beside a decision, and what they are told of the way that it takes.
//!
//! The context that hooks carry may be of any length. Claude Code puts one of more than 10,000 characters into a file of its own
//! and gives its model the beginning and the path; the model reads that file in every permission mode without a question.
//! It would have to ask for a file of ours, which is outside the workspace. A reason for a rejection arrives whole up to
//! 50 kB, and with that all that a person may write.

use std::path::PathBuf;

use pillion_changes::{WaitingNote, WriteOutcome};
use pillion_protocol::remarks::{self, FileRemark, InShort};
use pillion_protocol::{AgentProcess, Dialect, Note, Outcome, Proposer};
use pillion_system::clock;
use pillion_text::unified::unified;
use pillion_view::{DiffId, Told};

use crate::outbox::Mention;

/// No agent's model is shown much more characters of a selection.
pub(crate) const MAX_TEXT: usize = 1_900;

/// A person's words for an agent, about a proposal that was decided or a change that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    proposer: Proposer,
    /// It as it is kept until the agent has it.
    pub(crate) note: WaitingNote,
    /// The name by which it is kept; empty before that.
    name: String,
    /// The diff whose acceptance it is about, until it is known what came of that.
    awaits: Option<DiffId>,
}

impl Remark {
    /// The notes of a decision about a proposal for this file, whose text in the view was `shown`; none without
    /// notes. `is_there` tells whether the file exists.
    pub(crate) fn new(
        proposer: impl Into<Proposer>,
        file_path: &str,
        outcome: &Outcome,
        shown: &str,
        is_there: bool,
        notes: &[Note],
    ) -> Option<Self> {
        let is_accepted = matches!(outcome, Outcome::Accepted { .. });
        if notes.is_empty() {
            return None;
        }
        let lines = notes.iter().find_map(|note| note.lines);
        let note = WaitingNote {
            file_path: file_path.to_owned(),
            // Of a text that was rejected, the file does not have them.
            lines: lines.filter(|_| is_accepted),
            text: remarks::decided(is_accepted, file_path, notes, shown),
            is_accepted,
            is_awaited: is_accepted,
            is_there: is_there || is_accepted,
            ..WaitingNote::default()
        };
        Some(Self::of(proposer.into(), note))
    }

    fn of(proposer: Proposer, note: WaitingNote) -> Self {
        Self {
            proposer,
            note,
            name: String::new(),
            awaits: None,
        }
    }

    /// The same about the decision on this diff.
    pub(crate) fn about(self, id: DiffId) -> Self {
        let awaits = Some(id).filter(|_| self.note.is_awaited);
        Self { awaits, ..self }
    }

    /// This came of the acceptance of a diff. Returns true if it is about that.
    pub(crate) fn came_of(&mut self, id: DiffId, outcome: &WriteOutcome) -> bool {
        let is_meant = self.awaits.take_if(|it| *it == id).is_some();
        if is_meant {
            self.note.is_awaited = false;
            self.say(Some(!matches!(outcome, WriteOutcome::NotWritten { .. })));
        }
        is_meant
    }

    /// Its agent may not come back: nobody reads that a change was accepted which may not be written.
    pub(crate) fn left_by(mut self, process: Option<AgentProcess>) -> Self {
        self.note.process = process;
        self.without_outcome()
    }

    pub(crate) fn without_outcome(mut self) -> Self {
        if self.note.is_awaited {
            self.say(None);
        }
        self
    }

    fn say(&mut self, is_written: Option<bool>) {
        let WaitingNote {
            text, file_path, ..
        } = &self.note;
        self.note.text = remarks::with_outcome(text, file_path, is_written);
    }

    /// The person's judgement of changes that were written already, one file at least.
    pub(crate) fn written(agent: Dialect, told: &[FileRemark]) -> Self {
        let texts: Vec<&str> = told.iter().map(|it| it.text.as_str()).collect();
        let first = told.iter().find(|it| !it.is_gone);
        let file = first.or(told.first()).map(|it| it.path.clone());
        let note = WaitingNote {
            file_path: file.unwrap_or_default(),
            text: texts.join("\n"),
            is_accepted: true,
            is_there: first.is_some(),
            ..WaitingNote::default()
        };
        Self::of(agent.into(), note)
    }

    /// The same for an agent without hooks, which is shown little. Returns true with it if some of the person's words are left out.
    pub(crate) fn written_in_short(agent: Dialect, told: &[FileRemark]) -> (Self, bool) {
        let mut remark = Self::written(agent, told);
        if remark.is_taken(false) {
            return (remark, false);
        }
        let InShort { text, is_cut } = remarks::judged_in_short(told);
        remark.note.text = text;
        (remark, is_cut)
    }

    /// The one that is kept by this name, if its agent is known.
    pub(crate) fn of_waiting(name: String, note: WaitingNote) -> Option<Self> {
        let agent = Dialect::from_name(&note.agent)?;
        let remark = Self::of(agent.into(), note).named(name);
        Some(remark.without_outcome())
    }

    /// The same for an agent of this kind and process, by a hook or in place of the selection, said now in these folders.
    pub(crate) fn to(
        mut self,
        agent: Dialect,
        process: Option<AgentProcess>,
        roots: &[PathBuf],
        is_for_hook: bool,
    ) -> Self {
        self.note = WaitingNote {
            agent: agent.name().to_owned(),
            process,
            roots: roots.to_vec(),
            at: clock::now_ms(),
            is_for_hook,
            ..self.note
        };
        self
    }

    /// The same about what was written in this turn.
    pub(crate) fn about_turn(mut self, turn: u64) -> Self {
        self.note.turn = Some(turn);
        self
    }

    /// The same, kept by this name.
    pub(crate) fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The same beside this file, which is there.
    pub(crate) fn beside(mut self, file_path: &str) -> Self {
        file_path.clone_into(&mut self.note.file_path);
        self.note.is_there = true;
        self
    }

    /// All notes, as the agent's model reads them.
    pub(crate) fn text(&self) -> &str {
        &self.note.text
    }

    /// The number of characters that its agent shows its model of a selection.
    pub(crate) fn room(&self) -> usize {
        let agent = self.proposer.agent();
        agent.and_then(Dialect::cuts_selection).unwrap_or(MAX_TEXT)
    }

    /// Returns true if its agent shows its model only the beginning, in place of a selection.
    pub(crate) fn is_cut(&self) -> bool {
        self.note.text.chars().count() > self.room()
    }

    pub(crate) fn kind(&self) -> Option<Dialect> {
        self.proposer.agent()
    }

    /// Returns what the person is told if the agent is answered with it.
    pub(crate) fn told_now(&self) -> Told {
        said(format!(
            "your note was sent to {} with the answer",
            self.proposer.display_name()
        ))
    }

    /// Returns what they are told otherwise. `is_hooked` tells whether the agent runs hooks of ours, and `can_wake` whether it
    /// can be woken.
    pub(crate) fn told(&self, is_hooked: bool, can_wake: bool) -> Told {
        let agent = match self.proposer {
            Proposer::Agent(agent) => agent,
            Proposer::For(_) => return self.told_now(),
            Proposer::Pillion => {
                return said("your note is printed by the command that proposed the change".into());
            }
        };
        if !self.is_taken(is_hooked) {
            return self.left();
        }
        if is_hooked {
            let next = format!("{agent} gets your note with your next prompt");
            return said(match (self.note.is_accepted, can_wake) {
                (true, _) => format!("{agent} reads your note when it has written the file"),
                (false, true) => next + ", or when you send it",
                (false, false) => next,
            });
        }
        if self.is_cut() {
            let until = if self.note.is_accepted {
                ""
            } else {
                " it proposes a change,"
            };
            return said(format!(
                "{agent} gets the beginning of your note with each prompt, until{until} it asks for all of it or you select something"
            ));
        }
        let when = match agent.misses_context_after_rejection() && !self.note.is_accepted {
            true => " but one (it adds nothing to the prompt right after a rejection)",
            false => "",
        };
        said(format!(
            "{agent} gets your note with your next prompt{when}, unless you select something before"
        ))
    }

    /// The same where its agent does not get it.
    pub(crate) fn left(&self) -> Told {
        let agent = self.proposer.display_name();
        Told {
            message: format!("{agent} cannot be told your note: it is on the clipboard"),
            clipboard: Some(self.note.text.clone()),
        }
    }

    /// Returns true if its agent gets it. `is_hooked` tells whether the agent runs hooks of ours.
    pub(crate) fn is_taken(&self, is_hooked: bool) -> bool {
        let fits = self.note.text.chars().count() <= MAX_TEXT;
        // The companion contract allows no context with a file that does not exist (C4.4).
        let is_shown = |agent: Dialect| self.note.is_there || agent.reads_selection_of_no_file();
        self.proposer
            .is(|agent| is_hooked || (fits && is_shown(agent)))
    }

    /// The file to mention in the prompt of an agent without hooks, and its lines: the person sees there that something
    /// goes with it.
    pub(crate) fn mention(&self) -> Option<Mention> {
        // A name that stands in the prompt with each of them joins what one types.
        let knows_mentions = { self.proposer }
            .is(|agent| agent.knows_mentions() && agent.cuts_selection().is_none());
        let is_shown = knows_mentions && self.note.is_there && self.is_taken(false);
        is_shown.then(|| Mention {
            path: self.note.file_path.clone(),
            lines: self.note.lines.map(|lines| (lines.first, lines.last)),
        })
    }
}

/// A message without a text for the clipboard.
fn said(message: String) -> Told {
    Told {
        message,
        clipboard: None,
    }
}

/// Returns the message about notes on a proposal whose agent went away in that moment; nothing without notes.
pub(crate) fn left_over(notes: &[Note]) -> Option<Told> {
    let texts: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
    (!notes.is_empty()).then(|| Told {
        message: "the agent is gone: your note is on the clipboard".to_owned(),
        clipboard: Some(texts.join("\n")),
    })
}

/// Returns the person's edits in a change of this file, as the agent's model reads them.
pub(crate) fn edits(file_path: &str, proposed: &str, accepted: &str) -> String {
    remarks::edited(file_path, &unified(proposed, accepted))
}

#[cfg(test)]
pub(crate) mod tests;
