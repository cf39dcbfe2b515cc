//! Owns the answers that agents get of their diffs, and the edits that they do not take.

use std::sync::Arc;

use pillion_changes::recorder;
use pillion_protocol::{Decision, Dialect, Outcome};
use pillion_text::fingerprint;
use pillion_view::decision::takes_no_edits;
use pillion_view::{Decide, DiffId, Loss, Stamp};

use crate::sessions::SessionId;

use super::{Action, Answer, Answered, Diffs, Entry, MAX_UNWRITTEN, Proposal, State};
use crate::line_endings::Tool;
use crate::lost::Lost;
use crate::outbox::Delivery;
use crate::remark::{self, Remark};
use crate::written::{Accepted, Fingerprints, Over};

impl<C> Diffs<C> {
    pub(super) fn notify(&mut self, id: DiffId, outcome: Outcome) -> Option<Action<C>> {
        let entry = self.entries.remove(id)?;
        let is_edited = matches!(&outcome, Outcome::Accepted { content, .. } if **content != *entry.proposal.proposed);
        let accepted = entry.accepted(&outcome, is_edited);
        let edited = outcome.text().cloned();
        let judgement = entry.notes.clone().map(|notes| recorder::Decision {
            is_accepted: edited.is_some(),
            edited: edited.clone(),
            notes,
            unsaid: entry.unsaid.clone(),
            session: None,
        });
        let remark = entry.remark(&outcome);
        let outcome = match (outcome, &entry.as_written) {
            (Outcome::Accepted { .. }, Some(as_written))
                if !is_edited && entry.tool != Some(Tool::Write) =>
            {
                Outcome::Accepted {
                    content: Arc::clone(as_written),
                    base: None,
                }
            }
            (outcome, _) => outcome,
        };
        let outcome = entry.over_what_was_decided(entry.with_last_line_feed(outcome));
        let stand_in = entry.proposal.stand_in.as_ref();
        if let Some(content) = &edited
            && stand_in.is_none_or(|it| it.is_to_be_written())
        {
            self.note_accepted(&entry, content);
        }
        let words = entry.words(&outcome, is_edited, remark.as_ref());
        let (proposal, notes) = (entry.proposal, entry.notes.unwrap_or_default());
        let proposed = is_edited.then_some(proposal.proposed);
        let delivery = Delivery {
            id: Some(id),
            file_path: proposal.file_path,
            tab: proposal.tab,
            proposer: proposal.proposer,
            outcome,
            is_edited,
            notes: match proposal.proposer.itself() {
                Some(_) => Vec::new(),
                None => notes,
            },
            stand_in: proposal.stand_in,
            words,
        };
        Some(Action::Notify {
            session: proposal.session,
            delivery,
            accepted,
            proposed,
            remark: remark.map(|it| Box::new(it.about(id))),
            judgement: judgement.map(Box::new),
        })
    }

    /// The person's edits in a view that its agent closed, where the agent does not take them.
    pub(super) fn unused(&self, id: DiffId, content: &str) -> Option<Action<C>> {
        let proposal = &self.entries.get(id)?.proposal;
        let is_unused = proposal.tab.is_some() && *content != *proposal.proposed;
        is_unused.then(|| {
            Action::Lose(Lost {
                of: None,
                proposer: proposal.proposer,
                file_path: proposal.file_path.clone(),
                content: content.to_owned(),
                is_kept: true,
                how: Loss::Unused,
                view: None,
            })
        })
    }

    /// The text that an agent may write which closes its diff of this name, because the person answers in its own window. If its
    /// hook asks for just that next, they have said yes.
    pub(crate) fn answered(&mut self, session: &SessionId, name: &str) -> Option<Accepted> {
        let entry = self.entries.get(self.entries.find(session, name)?)?;
        let is_open =
            matches!(entry.state, State::Pending) && entry.proposal.proposer.itself().is_some();
        let outcome = Outcome::Accepted {
            content: Arc::clone(&entry.proposal.proposed),
            base: None,
        };
        let accepted = is_open.then(|| entry.accepted(&outcome, false)).flatten()?;
        if let Some(opened) = &entry.opened {
            let answered = Answered {
                session: Arc::clone(session),
                on_disk: opened.on_disk.clone(),
                text: fingerprint::of(Some(entry.proposal.proposed.as_bytes())),
            };
            self.answered.push(answered);
            let too_many = self.answered.len().saturating_sub(MAX_UNWRITTEN);
            self.answered.drain(..too_many);
        }
        Some(Accepted {
            is_told: false,
            is_answer: true,
            ..accepted
        })
    }

    /// Returns why a person who accepts what stands in their view cannot have that, if so.
    pub(crate) fn refused_edits(&self, decide: &Decide) -> Option<String> {
        let Decision::Accept {
            content: Some(content),
        } = &decide.verdict.decision
        else {
            return None;
        };
        let entry = self.entries.get(decide.key.id)?;
        entry
            .refuses_edits(content)
            .or_else(|| self.loses_edits(entry, content))
    }

    /// The same of an agent that makes another accepted change of the file first, and loses the edits of this one then.
    fn loses_edits(&self, entry: &Entry<C>, content: &str) -> Option<String> {
        let Proposal {
            proposer,
            proposed,
            tab: None,
            ..
        } = &entry.proposal
        else {
            return None;
        };
        let is_its = |it: &Dialect| it.loses_later_edits() && *content != **proposed;
        let agent = proposer.itself().filter(is_its)?;
        let opened = entry.opened.as_ref()?;
        let (then, _) = self.not_written_yet(&entry.proposal, &opened.on_disk)?;
        (then == opened.on_disk).then(|| {
            format!("{agent} makes the change first that you accepted before, and loses edits of this one: accept it as it is, or reject it and say what you want")
        })
    }

    /// The answer to the call that waits for the outcome of this diff, whose view its agent is about to close: a hook
    /// waits for it in any case, other calls if `waits` is set.
    pub(crate) fn release(
        &self,
        session: &SessionId,
        name: &str,
        waits: bool,
    ) -> Option<Action<C>> {
        let id = self.entries.find(session, name)?;
        let entry = self.entries.get(id)?;
        (waits || entry.proposal.held().is_some())
            .then(|| entry.reject_call())
            .flatten()
    }

    pub(super) fn lose(&mut self, id: DiffId, content: String) -> Option<Action<C>> {
        let proposal = self.entries.remove(id)?.proposal;
        let is_edited = *content != *proposal.proposed;
        Some(Action::Lose(Lost {
            of: None,
            proposer: proposal.proposer,
            file_path: proposal.file_path,
            content,
            is_kept: is_edited,
            how: Loss::Undelivered,
            view: None,
        }))
    }
}

impl<C> Entry<C> {
    /// Returns why this text cannot be accepted, if so: the agent would write another.
    pub(super) fn refuses_edits(&self, content: &str) -> Option<String> {
        let Proposal {
            proposer, proposed, ..
        } = &self.proposal;
        let why = proposer.itself().and_then(takes_no_edits)?;
        let way = "take your changes back, or decide in its terminal";
        (*content != **proposed).then(|| format!("{why}; {way}"))
    }

    /// Returns the text that is to be written, by the agent or by a command of Pillion's. Of an agent whose hook asks, the person
    /// hears only where it may refuse.
    fn accepted(&self, outcome: &Outcome, is_edited: bool) -> Option<Accepted> {
        let Outcome::Accepted { content, base } = outcome else {
            return None;
        };
        let proposal = &self.proposal;
        let refuses = proposal
            .proposer
            .agent()
            .is_some_and(Dialect::refuses_changed_file);
        let is_itself = proposal.proposer.itself().is_some();
        let is_whole = proposal.stand_in.is_none();
        let is_told = is_whole && (is_itself || (refuses && self.has_changed()));
        // What somebody has written before the decision is not the agent's.
        let file = match (&self.decided, is_itself) {
            (None, true) => self.opened.as_ref(),
            (decided, _) => Some(decided.as_ref()?),
        };
        // A notebook is more than the text of its cell, and a command is no file.
        let cell = { proposal.held().cloned() }.zip(self.beside.clone());
        let forms = [content].into_iter().chain(&self.as_written).cloned();
        let both = { self.together.iter() }.map(|it| Arc::clone(&it.text));
        let fingerprints = Fingerprints::of(forms.chain(both.clone())).of_cell(cell.clone());
        let over = self.over().map(|text| {
            Box::new(Over {
                text: text.clone(),
                both: match &self.together {
                    Some(_) => Fingerprints::of(both),
                    None => fingerprints.clone(),
                },
            })
        });
        (is_whole || cell.is_some()).then(|| Accepted {
            id: self.key.id,
            session: proposal.session.clone(),
            proposer: proposal.proposer,
            file_path: proposal.file_path.clone(),
            content: Arc::clone(content),
            fingerprints,
            is_edited,
            before: file.and_then(|it| it.on_disk.stamp.clone()),
            over,
            former: None,
            shown_beside: base.clone().or_else(|| self.text_beside()),
            told: Arc::default(),
            deletes: proposal.deletes,
            is_told,
            is_answer: false,
        })
    }

    /// The fingerprint of the file's text beside which it was shown, if that was the same when the person decided: of one that
    /// has changed meanwhile nobody knows which the view had.
    fn text_beside(&self) -> Option<String> {
        let opened = self.opened.as_ref()?;
        let Some(decided) = &self.decided else {
            return opened.text.clone();
        };
        let is_same = opened.on_disk == decided.on_disk || opened.text == decided.text;
        decided.text.clone().filter(|_| is_same)
    }

    /// Returns true if the file was another one when somebody decided than when the agent proposed.
    fn has_changed(&self) -> bool {
        match (&self.opened, &self.decided) {
            (Some(opened), Some(decided)) => {
                opened.on_disk != decided.on_disk && opened.text != decided.text
            }
            _ => false,
        }
    }

    /// Returns the file's stamp when the agent proposed; none if it was not there.
    fn stamp_before(&self) -> Option<&Stamp> {
        self.opened.as_ref()?.on_disk.stamp.as_ref()
    }

    /// Returns what a hook's answer tells the model: the edits, and the notes; of what is written already, what came of it.
    fn words(&self, outcome: &Outcome, is_edited: bool, remark: Option<&Remark>) -> Option<String> {
        let is_rejected_question =
            self.proposal.question().is_some() && *outcome == Outcome::Rejected;
        if self.proposal.held().is_none() && !is_rejected_question {
            return self.done.clone();
        }
        let edits = match outcome {
            Outcome::Accepted { content, .. } if is_edited => {
                let Proposal {
                    file_path,
                    proposed,
                    ..
                } = &self.proposal;
                Some(remark::edits(file_path, proposed, content))
            }
            _ => None,
        };
        let notes = remark.map(|remark| remark.text().to_owned());
        let words: Vec<_> = edits.into_iter().chain(notes).collect();
        (!words.is_empty()).then(|| words.join("\n"))
    }

    /// Returns the remark of the person who has decided.
    fn remark(&self, outcome: &Outcome) -> Option<Remark> {
        let proposal = &self.proposal;
        if proposal.written().is_some() {
            // Its agent has been told by whoever carried it out.
            return None;
        }
        let shown = outcome.text().unwrap_or(&proposal.proposed);
        let is_there = self.stamp_before().is_some();
        Remark::new(
            proposal.proposer,
            &proposal.file_path,
            outcome,
            shown,
            is_there,
            self.notes.as_deref().unwrap_or_default(),
        )
    }

    /// The outcome with the text of the file that the person knew of: of an agent's hook that is the one beside which the gate
    /// weighed it, because its answer is to replace that whole text. `pillion diff` writes over no text that was not shown.
    fn over_what_was_decided(&self, outcome: Outcome) -> Outcome {
        let known = self.decided.as_ref().and_then(|file| file.text.clone());
        match outcome {
            Outcome::Accepted { content, base } if self.proposal.proposer.is_for_agent() => {
                let base = known.or(base);
                Outcome::Accepted { content, base }
            }
            outcome => outcome,
        }
    }

    /// The outcome with one line feed more, where the agent's release drops one: from the text of a new
    /// file, of one that did not end with one, or one that it writes whole.
    pub(super) fn with_last_line_feed(&self, outcome: Outcome) -> Outcome {
        let is_dropped = !self.ends_with_line_feed || self.tool == Some(Tool::Write);
        match outcome {
            Outcome::Accepted { mut content, base }
                if self.is_of_dropping_release() && is_dropped && content.ends_with('\n') =>
            {
                Arc::make_mut(&mut content).push('\n');
                Outcome::Accepted { content, base }
            }
            outcome => outcome,
        }
    }

    /// Returns true if the last line feed is dropped if the agent writes the file whole, and nobody knows
    /// whether it does: one more would be written if it does not.
    pub(super) fn may_lose_line_feed(&self) -> bool {
        self.is_of_dropping_release()
            && self.ends_with_line_feed
            && self.tool.is_none()
            && self.proposal.proposed.ends_with('\n')
    }

    fn is_of_dropping_release(&self) -> bool {
        let tab = self.proposal.tab.as_ref();
        tab.is_some_and(|tab| tab.drops_last_line_feed)
    }

    /// The answer to the call that waits for its outcome, if another proposal takes its place.
    pub(super) fn reject_call(&self) -> Option<Action<C>> {
        let is_waiting = !matches!(
            self.state,
            State::Checking { .. } | State::Opening { .. } | State::AgentGone { .. }
        );
        let proposal = &self.proposal;
        let tab = proposal.tab.clone().filter(|_| is_waiting)?;
        Some(Action::Notify {
            session: proposal.session.clone(),
            delivery: Delivery::rejection(
                proposal.proposer,
                proposal.file_path.clone(),
                tab,
                proposal.stand_in.clone(),
            ),
            accepted: None,
            proposed: None,
            remark: None,
            judgement: None,
        })
    }
}

/// The answer to a `closeDiff` for a name that is not pending.
pub(super) fn closed_answer(name: &str, decided: Option<Outcome>) -> Result<Answer, String> {
    match decided {
        Some(Outcome::Accepted { content, .. }) => {
            Ok(Answer::Closed(Arc::unwrap_or_clone(content)))
        }
        Some(Outcome::Rejected) => Err(format!("the diff of {name} was rejected")),
        None => Err(format!("no diff of {name} is open")),
    }
}
