//! The loop's work when a person has decided: the gate rules, once the file was looked at.

use std::sync::Arc;
use std::time::Instant;

use pillion_changes::ChangeRef;
use pillion_changes::looking::Shown;
use pillion_protocol::{Decision, Outcome, Verdict};
use pillion_text::counted;
use pillion_view::ask::{DiffRef, Refused};
use pillion_view::changes::ActDone;
use pillion_view::{Answering, Decide, ProposalKey, Refusal, Reply, Ruling, Told};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::MainLoop;
use crate::acceptance::Finding;
use crate::agent::{Agent, AskedBeside, Signal};
use crate::agents::hooks;
use crate::diffs::{Action, Answer, EDITOR_TIMEOUT};
use crate::disk::CHECK_TIMEOUT;
use crate::event::{By, Caller, Deciding};
use crate::gate;
use crate::ids::Decider;
use crate::remark::{self, Remark};
use crate::sessions::SessionId;
use crate::tasks;
use crate::written::Accepted;

/// The reason why a second decision about a change does not count.
const BEING_DECIDED: &str = "somebody else is deciding about it: look at what comes of that";

/// The reason why a command cannot accept what stands in a view.
const NO_TEXT: &str =
    "the editor does not tell what stands in the view: try again, or decide there";

/// An answer to who has decided: it is given when this is dropped, whatever happens. Whoever gets it believes that what they wrote
/// is kept, though the hub be killed then.
struct Settled(Option<(Answering<Decide>, Option<Told>)>);

impl Settled {
    fn once(self, kept: oneshot::Receiver<()>) {
        tasks::spawn(async move {
            let _ = timeout(CHECK_TIMEOUT, kept).await;
            drop(self);
        });
    }
}

impl Drop for Settled {
    fn drop(&mut self) {
        if let Some((reply, told)) = self.0.take() {
            reply.done(Ruling::Settled(told));
        }
    }
}

impl MainLoop {
    /// The person decides, at this moment: two decisions that follow each other at once come from a held key.
    pub(crate) fn decide(&mut self, decide: Decide, by: By, reply: Answering<Decide>) {
        match (by.view, &decide.by) {
            (Some(view), _) => {
                let decider = Decider::View(view);
                self.decided(Deciding::new(decider, decide, reply), by.at);
            }
            (None, pillion_view::By::Named { .. }) => self.decide_named(decide, reply),
            (None, _) => reply.failed("only a view knows what its person has seen"),
        }
    }

    /// A command decides. Without a text, it is about the one that stands in the view: that is asked for.
    fn decide_named(&mut self, mut decide: Decide, reply: Answering<Decide>) {
        let ProposalKey { id, revision } = decide.key;
        if let Err(refused) = self.find_pending(DiffRef::exactly(id.0, revision)) {
            return reply.failed(refused);
        }
        if decide.verdict.decision != (Decision::Accept { content: None }) {
            let decider = Decider::Command { is_standing: false };
            let deciding = Deciding::new(decider, decide, reply);
            return self.decided(deciding, Instant::now());
        }
        let (answer, told) = oneshot::channel();
        self.ask_text(decide.key, answer);
        let events = self.events.clone();
        tasks::spawn(async move {
            // A command waits a little longer.
            let told = timeout(EDITOR_TIMEOUT, told).await;
            let Some(text) = told.ok().and_then(Result::ok).flatten() else {
                return reply.failed(NO_TEXT);
            };
            Self::send(&events, "standing text", move |it, now| {
                let key = decide.key;
                let is_meant = it.diffs.is_meant(key, &text);
                let content = Some(text);
                decide.verdict.decision = Decision::Accept { content };
                let decider = Decider::Command { is_standing: true };
                let deciding = Deciding::new(decider, decide, reply);
                match is_meant {
                    true => it.decided(deciding, now),
                    false => deciding.refuse(gate::text_changed(key)),
                }
            });
        });
    }

    fn decided(&mut self, mut deciding: Deciding, now: Instant) {
        if let Err(stale) = self.diffs.check_current(deciding.key()) {
            return deciding.reply.done(Ruling::stale(stale));
        }
        let decide = Arc::make_mut(&mut deciding.decide);
        if let Err(bytes) = decide.verdict.tidy_notes() {
            return deciding.refuse(Refusal::too_long(bytes));
        }
        if let Err(refusal) = self.gate.look(decide, now) {
            return deciding.refuse(refusal);
        }
        if let Some(why) = self.diffs.refused_edits(decide) {
            return deciding.refuse(gate::refuses_edits(&why));
        }
        match self.written_to_decide(&deciding.decide) {
            Some(shown) => self.look_again(shown.name, deciding),
            None => self.weigh(deciding, now),
        }
    }

    /// The change that is written and that this decides about. To reject it without a word changes nothing, and closes the view.
    fn written_to_decide(&self, decide: &Decide) -> Option<Arc<Shown>> {
        let changes_nothing = decide.verdict.is_rejection() && decide.verdict.notes.is_empty();
        let written = self.diffs.written_change(decide.key);
        written.filter(|_| !changes_nothing).map(Arc::clone)
    }

    /// A change that is written may have been forgotten or taken back elsewhere: nothing is decided about it then, and the view
    /// keeps the person's words.
    fn look_again(&mut self, change: ChangeRef, deciding: Deciding) {
        let events = self.events.clone();
        let is_accepted = !deciding.decide.verdict.is_rejection();
        let looking = self.judging.why_over(change, is_accepted);
        tasks::spawn(async move {
            let why = looking.await;
            Self::send(&events, "change that is shown", move |it, now| match why {
                Some(why) => deciding.refuse(gate::is_over(&why)),
                None => match it.diffs.check_current(deciding.key()) {
                    // Another view was faster.
                    Err(stale) => deciding.reply.done(Ruling::stale(stale)),
                    Ok(()) => it.weigh(deciding, now),
                },
            });
        });
    }

    fn weigh(&mut self, deciding: Deciding, now: Instant) {
        match self.diffs.acceptance(&deciding.decide, &self.roots) {
            Some(mut acceptance) => {
                let asked = self.diffs.newest(deciding.key().id);
                acceptance.is_asked =
                    asked.is_some_and(|it| self.can_answer_question(&it.session, &it.file_path));
                let number = self.weighing.begin();
                self.checks.weigh(number, deciding, acceptance);
            }
            None => self.settle(deciding, now),
        }
    }

    pub(super) fn weighed(&mut self, deciding: Deciding, finding: Finding, now: Instant) {
        let (key, decide) = (deciding.key(), &deciding.decide);
        // The agent may have taken it away meanwhile, or replaced it.
        if let Err(stale) = self.diffs.check_current(key) {
            return deciding.reply.done(Ruling::stale(stale));
        }
        let is_current = |key| self.diffs.check_current(key).is_ok();
        self.gate.forget_others(is_current);
        let (doubts, text) = (finding.doubts, &finding.fingerprint);
        if let Err(refusal) = self.gate.ask(decide, text, doubts, now) {
            return deciding.refuse(refusal);
        }
        if let Some(file) = finding.file {
            self.diffs.note_file(key.id, file);
        }
        self.diffs.note_together(key.id, finding.together);
        self.settle(deciding, now);
    }

    /// A change that is written is decided about at once: where that fails, it stays on the screen with the person's words.
    fn settle(&mut self, deciding: Deciding, now: Instant) {
        let Some(shown) = self.written_to_decide(&deciding.decide) else {
            return self.settled(deciding, None, now);
        };
        if self.judging.is_deciding(shown.name) {
            return deciding.refuse(gate::not_done(BEING_DECIDED));
        }
        let (events, name) = (self.events.clone(), shown.name);
        let decide = Arc::clone(&deciding.decide);
        let reply = Reply::new(move |act: Result<ActDone, Refused>| {
            let act = act.unwrap_or_else(|refused| ActDone::refused(refused.to_string()));
            Self::send(&events, "decided change", move |it, now| {
                it.judging.decided(name);
                match act.done {
                    true => it.settled(deciding, Some(act), now),
                    false => {
                        deciding.refuse(gate::not_done(&act.message));
                        // It may be over by now.
                        it.lists.send_modify(|_| {});
                    }
                }
            });
        });
        self.judging.decide(shown, decide, reply);
    }

    fn settled(&mut self, deciding: Deciding, act: Option<ActDone>, now: Instant) {
        let Deciding {
            decider,
            decide,
            reply,
        } = deciding;
        // A disk that hangs may still hold it.
        let decide = Arc::unwrap_or_clone(decide);
        let (key, id) = (decide.key, decide.key.id);
        let Verdict { decision, notes } = decide.verdict;
        let outcome = match decision {
            Decision::Accept { content } => {
                let newest = self.diffs.newest(id);
                let proposed = || newest.map(|it| Arc::clone(&it.proposed));
                let content = content.map(Arc::new).or_else(proposed).unwrap_or_default();
                let base = decide.base;
                Outcome::Accepted { content, base }
            }
            Decision::Reject => Outcome::Rejected,
        };
        let accepted = outcome.text().cloned();
        let view = match decider {
            Decider::View(view) => Some(view),
            Decider::Command { .. } => None,
        };
        let unsaid = self.forget_notes(key, view, &notes);
        let is_said = |it: &ActDone| accepted.is_none() || !it.report.said.is_empty();
        let told_of_act = act.as_ref().filter(|it| is_said(it)).map(|it| Told {
            message: it.message.clone(),
            clipboard: None,
        });
        if let Some(act) = act {
            self.diffs.note_done(key, act.message);
        }
        let left_over = remark::left_over(&notes);
        let is_as_proposed = { self.diffs.newest(id).zip(accepted.as_ref()) }
            .is_none_or(|(newest, accepted)| newest.proposed == *accepted);
        let is_written = !notes.is_empty() || !is_as_proposed;
        self.diffs.note(id, notes, unsaid);
        let actions = self.diffs.resolved(key, outcome);
        let told = self.perform(actions).or(told_of_act).or(left_over);
        let settled = Settled(Some((reply, told)));
        match is_written {
            true => settled.once(self.recording.is_kept()),
            false => drop(settled),
        }
        self.views.decided(decider, key, accepted, now);
    }

    /// Sends the notes of a decision by whichever way reaches the agent first. Returns what the person is told about them.
    pub(super) fn pass_notes(&mut self, actions: &mut Vec<Action<Caller>>) -> Option<Told> {
        let mut all = actions.iter().enumerate();
        let (at, session, delivery, remark) = all.find_map(|(at, action)| match action {
            Action::Notify {
                session,
                delivery,
                remark: Some(remark),
                ..
            } => Some((at, session.clone(), delivery, remark.clone())),
            _ => None,
        })?;
        let (path, told_now) = (delivery.file_path.clone(), remark.told_now());
        if delivery.takes_words() {
            if let Action::Notify { remark, .. } = &mut actions[at] {
                *remark = None;
            }
        } else if delivery.outcome == Outcome::Rejected
            && delivery.tab.is_some()
            && self.answer_question(&session, &path, |_| hooks::deny(remark.text()))
        {
            let decided = Signal::IsDecided {
                path: &path,
                is_accepted: false,
            };
            self.signal(&session, decided, Instant::now());
            // It is no less a decision.
            if let Action::Notify {
                delivery,
                judgement,
                ..
            } = actions.remove(at)
            {
                self.person_decided(&session, &delivery, judgement);
            }
        } else {
            return Some(self.tell_later_of(&session, &remark));
        }
        self.answered(&session, &session, *remark);
        Some(told_now)
    }

    /// What the person is told where their notes reach the agent after the decision.
    fn tell_later_of(&self, session: &SessionId, remark: &Remark) -> Told {
        let agent = self.agents.get(session);
        let is_hooked = agent.is_some_and(|it| it.mode.is_hooked());
        let mut told = remark.told(is_hooked, agent.is_some_and(Agent::can_wake));
        let is_shown = !is_hooked && remark.is_taken(false);
        let others = agent.filter(|_| is_shown);
        let others = others.map_or(0, |it| it.notes.displaced_by(remark));
        if others > 0 {
            let others = counted(others, "older note");
            told.message += &format!(" · after that, {others}");
        }
        told
    }

    /// Keeps the person's edits of an accepted text for the agent's hook, if it runs hooks of ours.
    pub(super) fn note_edits(&mut self, accepted: &Accepted, proposed: Option<Arc<String>>) {
        let agent = self.agents.get_mut(&accepted.session);
        let agent = agent.filter(|it| it.mode.is_hooked());
        if let Some((agent, proposed)) = agent.zip(proposed) {
            let (path, content) = (&accepted.file_path, &accepted.content);
            agent.notes.add_edits(path, &proposed, content);
        }
    }

    /// Answers the question that the agent asks beside its decided proposal for this file, and returns true if it did. The proposal's
    /// own call must stay unanswered then: an agent that got both answers may write a file that the person rejected.
    fn answer_question(
        &mut self,
        session: &SessionId,
        path: &str,
        answer: impl FnOnce(Value) -> Value,
    ) -> bool {
        // Another proposal for the file may be the one that it is about.
        let others = self.diffs.names(session, |other| other.file_path == *path);
        let agent = self.agents.get_mut(session);
        let asked = agent.and_then(|agent| agent.questions.take(path));
        let Some(AskedBeside { caller, input }) = asked.filter(|_| others.is_empty()) else {
            return false;
        };
        let answer = Answer::Text(answer(input).to_string());
        let is_answered = caller.send(Ok(answer)).is_ok();
        tracing::info!(path, is_answered, "decided by the agent's own question");
        is_answered
    }

    /// Returns true if the agent asks beside its one proposal for this file, so that the question can be answered in place of it.
    pub(super) fn can_answer_question(&self, session: &SessionId, path: &str) -> bool {
        let proposals = self.diffs.names(session, |it| it.file_path == *path);
        let agent = self.agents.get(session);
        proposals.len() == 1 && agent.is_some_and(|it| it.questions.has_one(path))
    }

    /// Approves by that question, if what is accepted is an empty new file.
    pub(super) fn approve_question(
        &mut self,
        session: &SessionId,
        accepted: Option<&Accepted>,
    ) -> bool {
        let is_rejection = |it: &&Accepted| {
            let is_new = it.before.is_none();
            is_new && { it.proposer }.is(|agent| agent.takes_for_rejection(None, &it.content))
        };
        let Some(accepted) = accepted.filter(is_rejection) else {
            return false;
        };
        self.answer_question(session, &accepted.file_path, |mut input| {
            let edited = accepted.is_edited.then(|| {
                input["content"] = "".into();
                input
            });
            hooks::approve(edited)
        })
    }
}
