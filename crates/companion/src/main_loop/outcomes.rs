//! The loop's work when a proposal goes its way: it carries the actions out that follow, and finds out what came of what was accepted.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pillion_changes::WriteOutcome;
use pillion_changes::recorder::Decision;
use pillion_protocol::Outcome;
use pillion_view::ask::Lost as LostByHook;
use pillion_view::{CloseReason, DiffId, Loss, ProposalKey, Proposed, Told};

use super::{MainLoop, UPKEEP_INTERVAL};
use crate::agent::Signal;
use crate::diffs::Action;
use crate::event::Caller;
use crate::lost::{self, Lost};
use crate::outbox::Delivery;
use crate::sessions::SessionId;
use crate::written::{self, Accepted, CameOf, Found};

impl MainLoop {
    /// Carries the actions out, and returns the message about the notes that go with them.
    pub(super) fn perform(&mut self, mut actions: Vec<Action<Caller>>) -> Option<Told> {
        let told = self.pass_notes(&mut actions);
        for action in actions {
            match action {
                Action::Check(key) => {
                    if let Some(proposal) = self.diffs.proposal(key) {
                        self.checks.check_target(key, proposal);
                    }
                }
                Action::Show(diff) => {
                    let ProposalKey { id, revision } = diff.key();
                    tracing::info!(%id, revision, path = ?diff.path, "diff opened");
                    self.recording.proposed(&diff);
                    if let Some((of, path)) = self.diffs.notes_of(diff.key()) {
                        self.kept_notes.find_on(diff.key(), &of, path);
                    }
                    self.views.open(diff);
                    if self.last_decision.proposed() {
                        self.report_status();
                    }
                }
                Action::Close { key, reason } => {
                    tracing::info!(id = %key.id, ?reason, "diff closed");
                    if !matches!(reason, CloseReason::Settled | CloseReason::Overruled) {
                        self.recording.keep(move |it| it.closed(key.id.0));
                    }
                    self.views.close(key, reason);
                }
                // An agent that does not wait any more needs no answer.
                Action::Answer { caller, answer } => drop(caller.send(answer)),
                Action::Notify {
                    session,
                    delivery,
                    accepted,
                    proposed,
                    remark,
                    judgement,
                } => {
                    self.person_decided(&session, &delivery, judgement);
                    let turn_of = self.proposers.turn_of(&session);
                    let turn_of = turn_of.map(|(turn_of, _)| Arc::clone(turn_of));
                    self.notify(&session, delivery, accepted, proposed);
                    let is_hooked = self.agents.is_hooked(&session);
                    match (remark, turn_of) {
                        (Some(remark), Some(turn_of)) => {
                            self.answered(&turn_of, &session, *remark);
                        }
                        (Some(remark), None) if remark.is_taken(is_hooked) => {
                            self.remark(&session, *remark, is_hooked);
                        }
                        _ => {}
                    }
                    self.report_status();
                }
                Action::Lose(lost) => self.losses.add(lost),
            }
        }
        told
    }

    /// A person has decided, if there is a judgement of theirs: that is kept, and said.
    pub(super) fn person_decided(
        &mut self,
        session: &SessionId,
        delivery: &Delivery,
        judgement: Option<Box<Decision>>,
    ) {
        let Some((id, judgement)) = delivery.id.zip(judgement) else {
            return;
        };
        let (path, is_accepted) = (&delivery.file_path, judgement.is_accepted);
        self.last_decision.decided(id, path, is_accepted);
        let its = match self.proposers.turn_of(session) {
            Some((turn_of, proposer)) => {
                self.recording.goes_on(turn_of, proposer.name());
                turn_of
            }
            None => session,
        };
        self.recording.decided(its, id, *judgement);
        match is_accepted {
            true => self.recording.accepted(its),
            false => self.recording.rejected(session, path),
        }
    }

    /// An agent gets the outcome of its proposal, and what it is to write is awaited.
    fn notify(
        &mut self,
        session: &SessionId,
        delivery: Delivery,
        accepted: Option<Accepted>,
        proposed: Option<Arc<String>>,
    ) {
        let now = Instant::now();
        let path = delivery.file_path.clone();
        let is_accepted = delivery.outcome != Outcome::Rejected;
        let awaited = accepted.as_ref().filter(|it| it.is_told);
        let is_approved = self.approve_question(session, awaited);
        let decided = Signal::IsDecided {
            path: &path,
            is_accepted,
        };
        self.signal(session, decided, now);
        tracing::info!(path, method = delivery.outcome.method(), "outcome");
        let outbox = self.sessions.outbox(session);
        let is_known = outbox.is_some() || self.proposers.find(session).is_some();
        // What an agent writes whose hook asks, only hooks tell.
        let is_hooks = delivery.proposer.is_for_agent();
        if let Some(accepted) = accepted
            .as_ref()
            .filter(|it| is_hooks || (is_known && (it.is_told || it.is_of_cell())))
        {
            self.recording.accepted_texts.accepted(accepted);
        }
        match outbox {
            // An agent that gets both answers goes by the first.
            Some(_) if is_approved => {}
            Some(outbox) => outbox.push_outcome(delivery),
            None => self.tell_proposer(session, delivery),
        }
        if !is_known {
            return;
        }
        self.agents.may_have_stirred(now);
        if let Some(accepted) = awaited {
            self.note_edits(accepted, proposed);
        }
        self.upkeep = self.upkeep.min(now + UPKEEP_INTERVAL);
        let followed = accepted.filter(Accepted::is_to_be_written);
        let former = followed.and_then(|it| self.written.follow(it, now));
        self.came_of(former);
    }

    /// Loses what was accepted and never reached a session that is over.
    pub(super) fn lose_undelivered(&mut self, session: &SessionId) {
        if let Some(outbox) = self.sessions.outbox(session) {
            let undelivered = outbox.take_undelivered();
            for delivery in &undelivered {
                self.written.withdraw(session, &delivery.file_path);
            }
            self.lose(undelivered);
        }
    }

    pub(super) fn lose(&mut self, deliveries: impl IntoIterator<Item = Delivery>) {
        for delivery in deliveries {
            if let Some(lost) = Lost::new(delivery) {
                self.losses.add(lost);
            }
        }
    }

    /// This came of an acceptance, if that is known.
    pub(super) fn came_of(&mut self, came_of: Option<CameOf>) {
        match came_of {
            Some(CameOf::Known(id, outcome)) => self.note_outcome(id, outcome),
            Some(CameOf::Lost(lost)) => self.losses.add(lost),
            None => {}
        }
    }

    /// Keeps what came of an acceptance, and shows it.
    fn note_outcome(&mut self, id: DiffId, outcome: WriteOutcome) {
        let is_rejected = outcome.why().is_some() && self.recording.is_not_written(id);
        self.last_decision.came_of(id, &outcome, is_rejected);
        self.diffs.came_of(id, &outcome);
        for remark in self.agents.came_of(id, &outcome) {
            self.kept_notes.keep_as(remark.name(), remark.note.clone());
        }
        self.report_status();
        self.recording.keep(move |it| it.came_of(id.0, outcome));
    }

    pub(super) fn report_lost(&mut self, lost::Told { of, view, lost }: lost::Told) {
        if let Some(id) = of {
            let how = lost
                .as_ref()
                .map(|it| written::outcome_of(it.how, it.proposer));
            let outcome = how.unwrap_or(WriteOutcome::Written);
            self.note_outcome(id, outcome);
        }
        if let Some(lost) = lost {
            tracing::info!(proposer = %lost.proposer, path = ?lost.path, text = ?lost.text, "not written");
            self.views.send_lost(view, lost);
        }
    }

    /// A file was looked at that an agent was to write.
    pub(super) fn looked(&mut self, number: u64, found: Found, now: Instant) {
        let (diffs, sessions, agents) = (&self.diffs, &self.sessions, &self.agents);
        let is_busy = |accepted: &Accepted| {
            let session = &accepted.session;
            let outbox = sessions.outbox(session);
            let is_delivered = outbox.is_none_or(|outbox| outbox.is_delivered());
            let kind = accepted.proposer.agent();
            let file = Path::new(&accepted.file_path);
            let is_busy = !is_delivered
                || kind.is_some_and(|kind| agents.may_write(kind, file, now))
                || !diffs.names(session, |_| true).is_empty()
                || diffs.goes_on_with(&accepted.fingerprints);
            is_busy && !accepted.is_answer
        };
        let came_of = self.written.looked(number, found, is_busy, now);
        // Its text is let go by then.
        self.release_soon(now);
        self.came_of(came_of);
    }

    /// An accepted text is not written after all: the person is told.
    pub(crate) fn lost(&mut self, LostByHook(lost): LostByHook) {
        // What was not shown was not accepted.
        let is_accepted = lost.how != Loss::Unshown;
        let withdrawn = is_accepted.then(|| self.written.withdraw_last(&lost.path));
        if let Some(id) = withdrawn.flatten() {
            let outcome = written::outcome_of(lost.how, lost.proposer);
            self.note_outcome(id, outcome);
        }
        self.views.send_lost(None, lost);
    }
}
