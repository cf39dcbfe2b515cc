//! The main loop: takes one event after the other, lets the state machines decide, and performs
//! their actions. Thin by design: no rule lives here. For a disk that hangs, shutting down waits one second before
//! anything else, and another at the end.

mod calls;
mod commands;
mod decisions;
mod front_ends;
mod hooks;
mod proposers;
mod sending;
mod unhooked;
mod work;

use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_changes::{WaitingNote, WriteOutcome};
use pillion_discovery::unended::Ended;
use pillion_discovery::{CompanionState, Environment};
use pillion_protocol::{Dialect, File, IdeContext, Outcome, ProcessChoice};
use pillion_system::{Signals, clock, duration, memory};
use pillion_view::ask::Focus;
use pillion_view::{
    Answering, CloseReason, Compares, DiffId, Leaving, ProposalKey, Proposed, Tell, Told,
};
use tokio::sync::{mpsc, watch};

use self::sending::Sending;
use crate::accepted_texts::AcceptedTexts;
use crate::agent::{Agent, Agents};
use crate::agents::ToolCall;
use crate::checks::FileChecks;
use crate::context::Context;
use crate::diffs::{Action, Diffs};
use crate::discovery::DiscoveryThread;
use crate::event::{Caller, Event, Events, Listing, Task};
use crate::gate::Gate;
use crate::judging::Judging;
use crate::kept_notes::KeptNotes;
use crate::last_decision::LastDecision;
use crate::lost::{self, KEPT_WITHIN, Losses, Lost};
use crate::numbers::Numbers;
use crate::outbox::{Delivery, Mention};
use crate::proposers::Proposers;
use crate::recording::Recording;
use crate::remark::Remark;
use crate::sessions::{SessionId, Sessions};
use crate::target;
use crate::tasks;
use crate::views::Views;
use crate::weighing::Weighing;
use crate::who::SeatedView;
use crate::written::{self, CameOf, Written};

/// The interval at which what agents have read by now is forgotten, while there is such.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(10);

/// The interval at which files that vanished leave the context: nothing else happens by itself.
const REST_INTERVAL: Duration = Duration::from_secs(60);

/// The most events that are handled before signals and deadlines have their turn.
const MAX_EVENTS: usize = 32;

/// The delay from the last call of an agent until freed memory is returned to the system.
const RELEASE_DELAY: Duration = Duration::from_secs(1);

/// The time that an agent has to act on a decision: text that comes into its prompt before that hides its question, and
/// the answer is lost.
const MENTION_DELAY: Duration = Duration::from_secs(1);

/// The time limit for the last outcomes to reach their agents when the companion stops.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(600);

/// The handling of proposals that are pending when the companion ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// They are rejected (C5.7).
    Rejects(Ended),
    /// Nothing is answered, and the agents ask in their own windows: the last front end was killed.
    Asks,
}

/// The calls that wait for an answer when the companion has ended.
pub(crate) struct Unanswered {
    _diffs: Diffs<Caller>,
    _agents: Agents,
}

/// Has changes that are written already shown, beside the loop: one, those of a turn, or without a name, of the newest turn.
pub(crate) type Looks = fn(Events, Option<String>);

pub(crate) struct MainLoop {
    /// The constant part of what the companion says of itself.
    state: CompanionState,
    views: Views,
    discovery: DiscoveryThread,
    context: Context,
    /// The number of contexts that agents were sent, for programs that wait for the next.
    contexts_sent: watch::Sender<u64>,
    /// Commands that focused a file which agents have not received yet.
    focusing: Vec<Answering<Focus>>,
    diffs: Diffs<Caller>,
    gate: Gate,
    /// The acceptances that are being weighed, and the lists of diffs that wait for them.
    weighing: Weighing<Listing>,
    roots: Arc<[PathBuf]>,
    /// The roots in which agents are to find another companion.
    withheld: Vec<PathBuf>,
    checks: FileChecks,
    sessions: Sessions,
    agents: Agents,
    proposers: Proposers,
    losses: Losses,
    last_decision: LastDecision,
    written: Written,
    accepted_texts: AcceptedTexts,
    kept_notes: KeptNotes,
    recording: Recording,
    judging: Judging,
    /// Shows changes that are written already.
    looks: Looks,
    /// The reason why the last look at what agents had written failed.
    look_problem: Option<String>,
    /// The reason why the person's own limit is not used.
    limit_problem: Option<String>,
    events: Events,
    sendings: Vec<Sending>,
    upkeep: Instant,
    /// The time at which freed memory is returned to the system.
    release: Option<Instant>,
    /// The agents that front ends know of.
    connected: Vec<Dialect>,
    /// The front end of this process, if it is the companion's own.
    own_view: Option<Arc<SeatedView>>,
}

/// The variable with the time after which a call is denied that waits for the person in a hook.
const HOOK_LIMIT: &str = "PILLION_LIMIT";

/// The person's own such limit, if they have set one.
///
/// # Errors
/// A sentence for them, if it cannot be read.
fn hook_limit(environment: &Environment) -> Result<Option<Duration>, String> {
    let Some(value) = environment.filled(HOOK_LIMIT) else {
        return Ok(None);
    };
    // What is not Unicode is no duration either.
    let limit = duration::parse(&value.to_string_lossy());
    limit
        .map(Some)
        .map_err(|why| format!("{HOOK_LIMIT} is {value:?}, and is not used: {why}"))
}

/// The parts of a companion that are there before its loop.
pub(crate) struct Parts {
    pub(crate) state: CompanionState,
    pub(crate) views: Views,
    pub(crate) events: Events,
    pub(crate) sessions: Sessions,
    pub(crate) discovery: DiscoveryThread,
    pub(crate) losses: Losses,
    pub(crate) diff_numbers: Numbers,
    pub(crate) looks: Looks,
    /// The person's choices for agents of the companion before this one.
    pub(crate) choices: Vec<ProcessChoice>,
    /// The front end of this process, if it is the companion's own.
    pub(crate) own_view: Option<Arc<SeatedView>>,
}

impl MainLoop {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts {
            state,
            views,
            events,
            sessions,
            discovery,
            losses,
            diff_numbers,
            looks,
            choices,
            own_view,
        } = parts;
        let proposers = Proposers::new(sessions.numbers());
        let environment = views.options().next().map(|it| it.environment.clone());
        let hook_limit = environment.as_ref().map_or(Ok(None), hook_limit);
        let limit_problem = hook_limit.as_ref().err().cloned();
        if let Some(problem) = &limit_problem {
            tracing::warn!("{problem}");
        }
        let judging = Judging::new(environment.as_ref(), events.clone());
        let kept_notes = KeptNotes::start(judging.store(), state.port, events.clone());
        kept_notes.find();
        let recording = Recording::start(environment, &views.roots(), state.port, events.clone());
        sessions.set_shows_diffs(views.shows_diffs());
        let compares = views.compares();
        let reads = compares != Compares::Nothing;
        let check = move |file_path: &str| target::check(file_path, reads);
        Self {
            checks: FileChecks::new(check, compares, events.clone()),
            gate: Gate::default(),
            weighing: Weighing::default(),
            roots: views.roots().into(),
            withheld: Vec::new(),
            views,
            state,
            discovery,
            context: Context::default(),
            contexts_sent: watch::Sender::default(),
            focusing: Vec::new(),
            diffs: Diffs::new(diff_numbers, hook_limit.unwrap_or_default()),
            sessions,
            proposers,
            losses,
            written: Written::default(),
            last_decision: LastDecision::default(),
            agents: Agents::with(choices, recording.is_on()),
            accepted_texts: AcceptedTexts::default(),
            kept_notes,
            recording,
            judging,
            looks,
            look_problem: None,
            limit_problem,
            events: events.clone(),
            sendings: Vec::new(),
            upkeep: Instant::now() + UPKEEP_INTERVAL,
            release: None,
            connected: Vec::new(),
            own_view,
        }
    }

    /// Runs until [`Event::Stop`], a signal or the end of the last front end, then shuts down. The returned value must outlive
    /// every connection: dropping it answers the calls that wait.
    pub(crate) async fn run(
        mut self,
        mut inbox: mpsc::UnboundedReceiver<Event>,
        mut signals: Signals,
    ) -> Unanswered {
        self.report_status();
        let mut ends: Option<Instant> = None;
        let ending = 'running: loop {
            let due = ends.into_iter().fold(self.due(), Instant::min);
            let due = tokio::time::Instant::from_std(due);
            tokio::select! {
                biased;
                signal = signals.next() => {
                    if let Some(needed) = self.views.signalled(signal) {
                        ends.get_or_insert(Instant::now() + needed);
                    }
                }
                Some(event) = inbox.recv() => {
                    // Together with the events that it leads to: a call is several, and waiting for each
                    // costs more than handling it.
                    let more = iter::from_fn(|| inbox.try_recv().ok());
                    for event in iter::once(event).chain(more).take(MAX_EVENTS) {
                        match event {
                            Event::Stop(true) => break 'running Ending::Rejects(Ended::NotByItself),
                            Event::Stop(false) => {
                                let ended = self.own_end(Leaving::now()).await;
                                break 'running Ending::Rejects(ended);
                            }
                            Event::Told(view, Tell::Leave(why)) if self.views.is_last(view) => {
                                break 'running Ending::Rejects(match self.views.is_agents(view) {
                                    true => Ended::ByStranger,
                                    false => self.own_end(why).await,
                                });
                            }
                            Event::Gone(view) if self.views.is_last(view) => {
                                break 'running Ending::Asks;
                            }
                            event => self.handle(event),
                        }
                    }
                }
                Some(lost) = self.losses.next() => self.report_lost(lost),
                () = tokio::time::sleep_until(due) => {}
            }
            let now = Instant::now();
            self.elapse(now);
            if ends.is_some_and(|ends| ends <= now) {
                break Ending::Rejects(self.own_end(Leaving::now()).await);
            }
        };
        self.shut_down(ending, &mut inbox).await
    }

    /// The part of a request that is the loop's.
    pub(crate) fn task(
        name: &'static str,
        run: impl FnOnce(&mut Self, Instant) + Send + 'static,
    ) -> Task {
        Task::new(name, move |it, now| {
            if let Some(it) = it.downcast_mut::<Self>() {
                run(it, now);
            }
        })
    }

    fn due(&self) -> Instant {
        let due = [
            self.context.due(),
            self.diffs.due(),
            self.sessions.due(),
            self.written.due(),
            self.views.due(),
            self.agents.due(),
            self.release,
        ];
        let earliest = due.into_iter().flatten().min();
        earliest.unwrap_or(self.upkeep).min(self.upkeep)
    }

    fn handle(&mut self, event: Event) {
        let now = Instant::now();
        match event {
            Event::StreamOpened(session) => self.stream_opened(&session),
            Event::Settled(session) => self.repeat_context(&session),
            Event::Identified(session, process) => {
                self.agent(&session);
                if self.agents.identified(&session, process) {
                    self.report_status();
                }
                self.give_notes(&session);
            }
            Event::QuestionRead {
                session,
                request,
                question,
                caller,
            } => self.subagent_asks(&session, request, question, caller, now),
            Event::StreamClosed => self.report_agents(),
            Event::SessionEnded(session) => self.session_gone(&session, now),
            Event::ToolCalled {
                session,
                request,
                tool,
                arguments,
                is_models,
                caller,
            } => {
                let call = self.parse_call(&session, tool, arguments, is_models);
                self.unhooked_is_heard(&session, now);
                self.called(&session, request, call, caller, now);
                self.release = Some(now + RELEASE_DELAY);
            }
            Event::Recorded {
                session,
                request,
                call,
                caller,
                coverage,
            } => {
                // An agent that does not wait any more has cancelled it.
                let is_cancelled = caller.is_closed();
                match call {
                    ToolCall::BeforeWrite(call) if is_cancelled => {
                        if let Some(agent) = self.agents.get_mut(&session) {
                            agent.guards.unanswered(&call.id);
                        }
                    }
                    ToolCall::BeforeWrite(call) => {
                        self.before_write(&session, request, call, caller, coverage, now);
                    }
                    _ if is_cancelled => {}
                    call => self.serve(&session, request, call, caller, now),
                }
            }
            Event::Stepped {
                session,
                takes_context,
                answer,
            } => self.stepped(&session, takes_context, answer),
            Event::HookedAgentEnded(session) => self.hooked_agent_ended(&session),
            Event::Kept(kept) => {
                if self.recording.note(kept) {
                    self.report_status();
                }
            }
            Event::Stirred => self.agents.stirred(now),
            Event::Glanced(glance) => self.glanced(&glance, now),
            Event::NotesFound(mut notes) => {
                notes.retain(|(_, note)| note.is_of(&self.roots));
                self.found_notes(notes);
            }
            Event::NotesOffered(key, notes) => self.views.offer_notes(key, &notes),
            Event::Offered(offers) => {
                for offer in offers {
                    let (id, revision) = (DiffId(offer.id), offer.revision);
                    self.views.offer(ProposalKey { id, revision }, &offer.text);
                }
            }
            Event::Acted(acted, reply) => self.acted(*acted, reply),
            Event::CallCancelled { session, request } => {
                if let Some(agent) = self.agents.get_mut(&session) {
                    agent.cancel(&request);
                }
                let actions = self.diffs.cancel(&session, &request);
                self.perform(actions);
            }
            Event::TargetChecked { key, result } => {
                let actions = self.diffs.checked(key, result, now);
                self.perform(actions);
            }
            Event::Looked { number, found } => {
                let (diffs, sessions) = (&self.diffs, &self.sessions);
                let is_busy = |session: &SessionId| {
                    let outbox = sessions.outbox(session);
                    let is_delivered = outbox.is_none_or(|outbox| outbox.is_delivered());
                    !is_delivered || !diffs.names(session, |_| true).is_empty()
                };
                let came_of = self.written.looked(number, found, is_busy, now);
                self.came_of(came_of);
            }
            Event::FileChecked { path, is_file } => self.context.checked(&path, is_file, now),
            Event::Shown(view, key, result) => {
                if let Some(result) = self.views.shown(view, key, result) {
                    self.tell_shown(key, result);
                }
            }
            Event::Closed(view, key, text) => {
                let closed = self.views.closed(view, key, text, now);
                self.tell_closed(key, closed);
            }
            Event::Weighed {
                number,
                decider,
                decide,
                finding,
                reply,
            } => {
                self.weighed(decider, decide, finding, reply, now);
                for listing in self.weighing.end(number) {
                    self.list_pending(listing);
                }
            }
            Event::SavedByPerson(file) => self.context.focus(file, now),
            Event::SavedInEditor(path, turns) => self.judging.saved(path, turns),
            Event::Attached(new) => self.attached(new, now),
            Event::DiscoveryFilesChanged { warnings } => {
                if self.discovery.note(warnings) {
                    self.report_status();
                }
            }
            Event::Asked(task) => task.run(self, now),
            #[cfg(unix)]
            Event::Withhold(roots) => self.withhold(roots),
            #[cfg(unix)]
            Event::LetGo(answer) => self.let_go(answer),
            #[cfg(unix)]
            Event::Choices(choices) => self.adopt(choices),
            Event::Told(view, tell) => self.told(view, tell, now),
            Event::OfAgent(view, is_agents) => self.is_of_agent(view, is_agents, now),
            Event::Gone(view) => self.left(view, now),
            // It ends the loop.
            Event::Stop(_) => {}
        }
    }

    /// Lets time pass for every state machine.
    fn elapse(&mut self, now: Instant) {
        self.elapse_context(now);
        let actions = self.diffs.expire(now);
        self.perform(actions);
        self.release_guards();
        for (session, held) in self.agents.late_calls(now) {
            self.hold(&session, held, now);
        }
        for (key, closed) in self.views.elapse(now) {
            self.tell_closed(key, closed);
        }
        for (number, accepted) in self.written.elapse(now) {
            self.checks.look(number, accepted);
        }
        for session in self.sessions.expired(now) {
            self.session_gone(&session, now);
        }
        self.elapse_unhooked(now);
        self.drop_told();
        if self.release.is_some_and(|at| at <= now) {
            self.release = None;
            memory::release_freed();
        }
        if self.upkeep <= now {
            let mut is_done = true;
            for outbox in self.sessions.outboxes() {
                is_done &= outbox.forget_outlived(now);
            }
            self.upkeep = now
                + if is_done {
                    REST_INTERVAL
                } else {
                    UPKEEP_INTERVAL
                };
            self.context.recheck(now);
            self.elapse_context(now);
        }
    }

    fn elapse_context(&mut self, now: Instant) {
        let steps = self.context.elapse(now);
        for path in steps.check {
            self.checks.check_file(path);
        }
        if let Some(context) = steps.send {
            self.send_context(&context);
        }
        self.answer_focusing();
    }

    /// A file was saved: the person works on it, unless an agent wrote it.
    fn saved(&mut self, file: File, now: Instant) {
        if self.agents.are_at_work(now) {
            return tracing::debug!(path = file.path, "written in a turn");
        }
        let accepted = self.accepted_texts.all();
        self.checks
            .check_saved(file, accepted, self.judging.store());
    }

    fn stream_opened(&mut self, session: &SessionId) {
        // On every stream: what the one before took may not have arrived.
        self.push_context(session, self.context.current());
        self.attend(session);
        self.give_notes(session);
        self.report_agents();
    }

    /// These wait in the store: the agents that are here are told. Returns one that is.
    pub(super) fn found_notes(&mut self, notes: Vec<(String, WaitingNote)>) -> Option<SessionId> {
        self.agents.found_notes(notes);
        let by_hooks = self.agents.all_by_hooks();
        let by_hooks = by_hooks.map(|(session, _)| Arc::clone(session));
        let mut all: Vec<_> = by_hooks.collect();
        all.extend(self.sessions.ids());
        all.retain(|it| self.give_notes(it));
        self.report_status();
        all.pop()
    }

    /// An agent is told what waits for it, or for one whose place it takes. Returns true if there is something.
    pub(super) fn give_notes(&mut self, session: &SessionId) -> bool {
        let Some(kind) = self.agent(session).map(|agent| agent.kind) else {
            return false;
        };
        // An agent that leaves without a word stays for a while.
        for away in self.sessions.away(kind) {
            self.agents.leave_notes(&away);
        }
        let context = self.context.current();
        let agents = &mut self.agents;
        let is_told = agents.give_notes(
            session,
            &context,
            Instant::now(),
            pillion_changes::agent_lives,
        );
        if is_told {
            self.push_context(session, context);
            self.report_status();
        }
        is_told
    }

    /// The person has decided about this proposal: their notes go with that.
    pub(super) fn forget_notes(&self, key: ProposalKey) {
        if let Some((agent, path)) = self.diffs.whose(key) {
            self.kept_notes.keep_on(agent.name(), &path, Vec::new());
        }
    }

    /// What agents have read by now is not kept any longer.
    fn drop_told(&mut self) {
        let told = self.agents.take_told();
        if !told.is_empty() {
            self.kept_notes.drop_all(told);
            self.report_status();
        }
    }

    /// The agent of a session, if that is open.
    fn agent(&mut self, session: &SessionId) -> Option<&mut Agent> {
        match self.sessions.agent(session) {
            Some(kind) => Some(self.agents.connected(session, kind)),
            None => self.agents.get_mut(session),
        }
    }

    fn session_gone(&mut self, session: &SessionId, now: Instant) {
        self.lose_undelivered(session);
        let gone = self.agents.remove(session, now);
        let process = gone.and_then(|agent| agent.process());
        for twin in process.map_or_else(Vec::new, |it| self.agents.of_process(it)) {
            self.give_notes(&twin);
        }
        if self.sessions.forget(session) {
            tracing::info!("session gone");
            self.recording.left(session);
            let actions = self.diffs.session_gone(session, now);
            self.perform(actions);
            self.report_agents();
        }
    }

    /// Carries the actions out, and returns the message about the notes that go with them.
    fn perform(&mut self, mut actions: Vec<Action<Caller>>) -> Option<Told> {
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
                    if self.diffs.is_logged(id) {
                        self.recording.proposed(&diff);
                    }
                    if let Some(agent) = diff.proposer.agent() {
                        self.kept_notes
                            .find_on(diff.key(), agent.name(), &diff.path);
                    }
                    self.views.open(diff);
                    if self.last_decision.proposed() {
                        self.report_status();
                    }
                }
                Action::Close { key, reason } => {
                    tracing::info!(id = %key.id, ?reason, "diff closed");
                    if !matches!(reason, CloseReason::Settled | CloseReason::Overruled) {
                        self.recording.closed(key.id);
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
                    if let Some(judgement) = judgement {
                        self.recording.decided(&session, *judgement);
                    }
                    let is_accepted = delivery.outcome != Outcome::Rejected;
                    self.last_decision
                        .decided(delivery.id, &delivery.file_path, is_accepted);
                    if !is_accepted && let Some(agent) = self.agents.get_mut(&session) {
                        agent.mode.settle(&delivery.file_path);
                    }
                    let awaited = accepted.as_ref().filter(|it| it.is_told);
                    let is_approved = self.approve_question(&session, awaited);
                    self.end_questions(&session, &delivery.file_path);
                    let method = delivery.outcome.method();
                    tracing::info!(delivery.file_path, method, "outcome");
                    // What an agent writes whose hook asks, only hooks tell.
                    let is_hooks = delivery.proposer.is_for_agent();
                    if let Some(accepted) = accepted.as_ref().filter(|_| is_hooks) {
                        self.accepted_texts.accepted(accepted);
                    }
                    let outbox = self.sessions.outbox(&session);
                    let is_known = outbox.is_some() || self.proposers.find(&session).is_some();
                    match outbox {
                        // An agent that gets both answers goes by the first.
                        Some(_) if is_approved => {}
                        Some(outbox) => outbox.push_outcome(delivery),
                        None => self.tell_proposer(&session, delivery),
                    }
                    if is_known {
                        let now = Instant::now();
                        self.agents.may_have_stirred(now);
                        if let Some(accepted) = awaited {
                            if !is_hooks {
                                self.accepted_texts.accepted(accepted);
                            }
                            self.note_edits(accepted, proposed);
                        }
                        self.upkeep = self.upkeep.min(now + UPKEEP_INTERVAL);
                        let former = accepted.and_then(|it| self.written.follow(it, now));
                        self.came_of(former);
                    }
                    let is_hooked = self.agents.is_hooked(&session);
                    if let Some(remark) = remark.filter(|remark| remark.is_taken(is_hooked)) {
                        self.remark(&session, *remark, is_hooked);
                    }
                    self.report_status();
                }
                Action::Lose(lost) => self.losses.add(lost),
            }
        }
        told
    }

    /// Loses what was accepted and never reached a session that is over.
    fn lose_undelivered(&mut self, session: &SessionId) {
        if let Some(outbox) = self.sessions.outbox(session) {
            let undelivered = outbox.take_undelivered();
            for delivery in &undelivered {
                self.written.withdraw(session, &delivery.file_path);
            }
            self.lose(undelivered);
        }
    }

    fn lose(&mut self, deliveries: impl IntoIterator<Item = Delivery>) {
        for delivery in deliveries {
            if let Some(lost) = Lost::new(delivery) {
                self.losses.add(lost);
            }
        }
    }

    /// This came of an acceptance, if that is known.
    fn came_of(&mut self, came_of: Option<CameOf>) {
        match came_of {
            Some(CameOf::Known(id, outcome)) => self.note_outcome(id, outcome),
            Some(CameOf::Lost(lost)) => self.losses.add(lost),
            None => {}
        }
    }

    /// Keeps what came of an acceptance, and shows it.
    fn note_outcome(&mut self, id: DiffId, outcome: WriteOutcome) {
        self.last_decision.came_of(id, &outcome);
        self.report_status();
        self.recording.came_of(id, outcome);
    }

    fn report_lost(&mut self, lost::Told { of, view, lost }: lost::Told) {
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

    fn send_context(&mut self, context: &Arc<IdeContext>) {
        self.contexts_sent.send_modify(|sent| *sent += 1);
        for session in self.sessions.ids() {
            self.push_context(&session, Arc::clone(context));
        }
        self.report_status();
    }

    fn push_context(&mut self, session: &SessionId, context: Arc<IdeContext>) {
        if let Some(outbox) = self.sessions.outbox(session) {
            let agent = self.agents.get_mut(session);
            let context = match agent {
                Some(agent) => agent.notes.with_context(context),
                None => context,
            };
            outbox.push_context(context);
        }
    }

    /// The person has something to say to an agent: its model reads that when it has written the file, or with the next
    /// prompt.
    fn remark(&mut self, session: &SessionId, remark: Remark, is_hooked: bool) {
        let context = self.context.current();
        let Some((agent, remark)) = self.keep(session, remark, is_hooked) else {
            return;
        };
        if is_hooked {
            agent.notes.add_for_hook(remark);
            return self.report_status();
        }
        let mention = remark.mention().map(|(path, lines)| Mention {
            path: path.to_owned(),
            lines,
        });
        agent.notes.add(remark, &context, Instant::now());
        self.push_context(session, context);
        if let Some((outbox, mention)) = self.sessions.outbox(session).zip(mention) {
            tasks::spawn(async move {
                tokio::time::sleep(MENTION_DELAY).await;
                outbox.push_mention(mention);
            });
        }
    }

    /// A hook of the agent has got this as its answer.
    fn handed(&mut self, session: &SessionId, remark: Remark) {
        if let Some((agent, remark)) = self.keep(session, remark, true) {
            agent.notes.add_handed(remark);
            self.report_status();
        }
    }

    /// Keeps in the store what this agent is told, until it has it.
    fn keep(
        &mut self,
        session: &SessionId,
        remark: Remark,
        is_for_hook: bool,
    ) -> Option<(&mut Agent, Remark)> {
        let roots = Arc::clone(&self.roots);
        let agent = self.agent(session)?;
        let (kind, process) = (agent.kind.name(), agent.process());
        let note = remark.to_waiting(kind, process, &roots, clock::now_ms(), is_for_hook);
        let remark = remark.named(self.kept_notes.keep(note));
        Some((self.agents.get_mut(session)?, remark))
    }

    /// Whose end it is that the last front end, which is no agent's, leaves. The hub has judged why, if it hosts this companion.
    async fn own_end(&mut self, why: Leaving) -> Ended {
        let Some(own) = self.own_view.take() else {
            return match why {
                Leaving::Closed => Ended::ByPerson,
                Leaving::Signalled(_) | Leaving::Killed => Ended::NotByItself,
            };
        };
        let judged = tasks::spawn_blocking(move || match own.judge() {
            Ok(()) if own.judge_end(why) == Leaving::Closed => Ended::ByPerson,
            Ok(()) => Ended::NotByItself,
            Err(_) => Ended::ByStranger,
        });
        judged.await.unwrap_or(Ended::NotByItself)
    }

    /// Carries out the person's decisions from before the end. The disk answers in time, or counts as silent.
    async fn finish_decisions(&mut self, inbox: &mut mpsc::UnboundedReceiver<Event>) {
        while let Ok(event) = inbox.try_recv() {
            self.handle(event);
        }
        while !self.weighing.is_empty()
            && let Some(event) = inbox.recv().await
        {
            self.handle(event);
        }
    }

    /// Files first: no agent may find a companion that is on its way out (C6.2). Then what is
    /// pending is rejected (C5.7), and agents get a moment to receive that. Everything that was accepted and is left
    /// over then is lost.
    async fn shut_down(
        mut self,
        ending: Ending,
        inbox: &mut mpsc::UnboundedReceiver<Event>,
    ) -> Unanswered {
        let ended = match ending {
            Ending::Rejects(ended) => ended,
            Ending::Asks => Ended::NotByItself,
        };
        self.discovery.remove(ended).await;
        self.finish_decisions(inbox).await;
        self.release_guards();
        if ending != Ending::Asks {
            for it in self.diffs.pending() {
                self.forget_notes(it.key);
            }
            let actions = self.diffs.stop();
            self.perform(actions);
            self.release_guards();
        }
        self.drop_told();
        self.recording.closed_all();
        self.views.send_stopped();
        let outboxes = self.sessions.outboxes();
        let delivered = async {
            for outbox in &outboxes {
                outbox.delivered().await;
            }
        };
        let proposers = self.proposers.end();
        let all = async { tokio::join!(delivered, proposers) };
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, all).await;
        for session in self.sessions.ids() {
            self.lose_undelivered(&session);
            self.recording.left(&session);
            self.sessions.forget(&session);
        }
        // Their turns do not go on here, whatever their agents do.
        let hooked = self.agents.all_by_hooks();
        let hooked: Vec<_> = hooked.map(|(session, _)| session.clone()).collect();
        for session in hooked {
            self.recording.left(&session);
        }
        let deadline = tokio::time::Instant::now() + KEPT_WITHIN;
        while let Ok(Some(lost)) = tokio::time::timeout_at(deadline, self.losses.next()).await {
            self.report_lost(lost);
        }
        Unanswered {
            _diffs: self.diffs,
            _agents: self.agents,
        }
    }
}
