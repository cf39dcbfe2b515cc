//! The main loop: takes one event after the other, lets the state machines decide, and performs
//! their actions. Thin by design: no rule lives here.

mod calls;
mod commands;
mod context;
mod decisions;
mod ending;
mod front_ends;
mod hooks;
mod notes;
mod outcomes;
mod proposers;
mod unconnected;
mod work;

use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_changes::log::Entry;
use pillion_changes::store::limit;
use pillion_discovery::unended::Ended;
use pillion_discovery::{CompanionState, Environment};
use pillion_protocol::{Dialect, ProcessChoice};
use pillion_system::{Signals, duration, memory};
use pillion_view::ask::Focus;
use pillion_view::{Answering, Compares, DiffId, Leaving, ProposalKey, Tell};
use tokio::sync::{mpsc, watch};

use self::ending::Ending;
pub(crate) use self::ending::Unanswered;
use self::notes::Sending;
use crate::agent::{Agents, Record, Signal};
use crate::checks::FileChecks;
use crate::context::Context;
use crate::diffs::Diffs;
use crate::discovery::DiscoveryThread;
use crate::event::{Caller, Event, Events, Listing, Task};
use crate::gate::Gate;
use crate::judging::Judging;
use crate::kept_notes::KeptNotes;
use crate::last_decision::LastDecision;
use crate::lost::Losses;
use crate::numbers::Numbers;
use crate::proposers::Proposers;
use crate::recording::Recording;
use crate::sessions::{SessionId, Sessions};
use crate::target;
use crate::views::Views;
use crate::weighing::Weighing;
use crate::who::SeatedView;
use crate::written::Written;

/// The interval at which what agents have read by now is forgotten, while there is such.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(10);

/// The interval at which files that vanished leave the context: nothing else happens by itself.
const REST_INTERVAL: Duration = Duration::from_secs(60);

/// The most events that are handled before signals and deadlines have their turn.
const MAX_EVENTS: usize = 32;

/// The delay from the last call of an agent until freed memory is returned to the system.
const RELEASE_DELAY: Duration = Duration::from_secs(1);

/// Has changes that are written already shown, beside the loop: one, those of a turn, or without a name, of the newest turn.
pub(crate) type Looks = fn(Events, Option<String>);

pub(crate) struct MainLoop {
    /// The constant part of what the companion says of itself.
    state: CompanionState,
    views: Views,
    discovery: DiscoveryThread,
    context: Context,
    /// Another number once a list of changes shows something else.
    lists: watch::Sender<u64>,
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
    kept_notes: KeptNotes,
    recording: Recording,
    judging: Judging,
    /// Shows changes that are written already.
    looks: Looks,
    /// The reason why the last look at what agents had written failed.
    look_problem: Option<String>,
    /// The reasons why the person's own limits are not used.
    limit_problems: Vec<String>,
    events: Events,
    sendings: Vec<Sending>,
    upkeep: Instant,
    /// The time at which freed memory is returned to the system.
    release: Option<Instant>,
    /// The agents that front ends know of.
    connected: Vec<Dialect>,
    /// The proposals about which their agents may still ask, and that nobody is shown here.
    left_undecided: Vec<Entry>,
    /// The agents that run in the folders and may have to be told to connect.
    running: Vec<unconnected::Running>,
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
        let Parts { views, events, .. } = parts;
        let proposers = Proposers::new(parts.sessions.numbers());
        let environment = views.options().next().map(|it| it.environment.clone());
        let hook_limit = environment.as_ref().map_or(Ok(None), hook_limit);
        let changes_limit = environment.as_ref().map(limit);
        let limit_problems = { hook_limit.as_ref().err().cloned().into_iter() }
            .chain(changes_limit.and_then(Result::err));
        let limit_problems: Vec<String> = limit_problems.collect();
        for problem in &limit_problems {
            tracing::warn!("{problem}");
        }
        let judging = Judging::new(environment.as_ref(), events.clone());
        let kept_notes = KeptNotes::start(judging.store(), parts.state.port, events.clone());
        kept_notes.find();
        let recording = Recording::start(
            environment,
            &views.roots(),
            parts.state.port,
            events.clone(),
        );
        parts.sessions.set_shows_diffs(views.shows_diffs());
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
            state: parts.state,
            discovery: parts.discovery,
            context: Context::default(),
            lists: watch::Sender::default(),
            contexts_sent: watch::Sender::default(),
            focusing: Vec::new(),
            diffs: Diffs::new(parts.diff_numbers, hook_limit.unwrap_or_default()),
            sessions: parts.sessions,
            proposers,
            losses: parts.losses,
            written: Written::default(),
            last_decision: LastDecision::default(),
            agents: Agents::with(parts.choices, recording.is_on()),
            kept_notes,
            recording,
            judging,
            looks: parts.looks,
            look_problem: None,
            limit_problems,
            events: events.clone(),
            sendings: Vec::new(),
            upkeep: Instant::now() + UPKEEP_INTERVAL,
            release: None,
            connected: Vec::new(),
            left_undecided: Vec::new(),
            running: Vec::new(),
            own_view: parts.own_view,
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
        self.look_for_running();
        self.recording.find_left();
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
                                let ended = match self.views.is_agents(view) {
                                    true => Ended::ByStranger,
                                    false => self.own_end(why).await,
                                };
                                break 'running match why {
                                    Leaving::Kept => Ending::Asks(ended),
                                    _ => Ending::Rejects(ended),
                                };
                            }
                            Event::Gone(view) if self.views.is_last(view) => {
                                break 'running Ending::Asks(Ended::NotByItself);
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

    /// Has the loop do something. One that stops drops it, which is an answer.
    pub(crate) fn send(
        events: &Events,
        name: &'static str,
        run: impl FnOnce(&mut Self, Instant) + Send + 'static,
    ) {
        let _ = events.send(Event::Asked(Self::task(name, run)));
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
                self.agents.identified(&session, process);
                self.report_status();
                self.give_notes(&session);
            }
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
                self.called(&session, request, call, caller, now);
                self.release_soon(now);
            }
            Event::Kept(kept) => {
                if self.recording.note(kept) {
                    self.lists.send_replace(self.recording.list());
                    self.report_status();
                }
            }
            Event::LeftBehindEnded(session) => self.recording.left_behind_ended(session),
            Event::LeftUndecided(left) => {
                self.left_undecided.extend(left);
                self.report_status();
            }
            Event::Stirred => {
                self.agents.stirred(now);
                self.recording.count_again();
            }
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
                self.signal(&session, Signal::Cancels(&request), now);
                if !self.question_is_over(&session, |tab| tab.request == request, now) {
                    let actions = self.diffs.cancel(&session, &request);
                    self.perform(actions);
                }
            }
            Event::TargetChecked { key, result } => {
                let actions = self.diffs.checked(key, result, now);
                self.perform(actions);
            }
            Event::Looked { number, found } => self.looked(number, found, now),
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
            Event::Weighed(number, deciding, finding) => {
                self.weighed(deciding, finding, now);
                for listing in self.weighing.end(number) {
                    self.list_pending(listing);
                }
            }
            Event::SavedByPerson(file) => self.context.focus(file, now),
            Event::SyncedInEditor {
                path,
                turns,
                is_saved,
            } => self.judging.synced(path, turns, is_saved),
            Event::Attached(new) => self.attached(new, now),
            Event::DiscoveryFilesChanged { files, warnings } => {
                if self.discovery.note(files, warnings) {
                    self.report_status();
                }
            }
            Event::Asked(task) => task.run(self, now),
            Event::Told(view, tell) => self.told(view, tell, now),
            Event::OfAgent(view, is_agents) => self.is_of_agent(view, is_agents, now),
            Event::Gone(view) => self.left(view, now),
            // It ends the loop.
            Event::Stop(_) => {}
        }
    }

    /// What is freed by then goes back to the system.
    fn release_soon(&mut self, now: Instant) {
        self.release = Some(now + RELEASE_DELAY);
    }

    /// Lets time pass for every state machine.
    fn elapse(&mut self, now: Instant) {
        self.elapse_context(now);
        let actions = self.diffs.expire(now);
        self.perform(actions);
        self.release_guards();
        for (session, effect) in self.agents.late_calls(now) {
            self.carry_out(&session, effect, now);
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
        if let Some(look) = self.agents.next_look(now) {
            self.recording.look(look);
        }
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

    fn stream_opened(&mut self, session: &SessionId) {
        // On every stream: what the one before took may not have arrived.
        self.push_context(session, self.context.current());
        if self.recording.is_on() {
            self.signal(session, Signal::Listens, Instant::now());
        }
        self.give_notes(session);
        self.report_agents();
    }

    fn session_gone(&mut self, session: &SessionId, now: Instant) {
        self.lose_undelivered(session);
        let gone = self.agents.remove(session, now);
        let process = gone.and_then(|agent| agent.process);
        for twin in process.map_or_else(Vec::new, |it| self.agents.of_process(it)) {
            self.give_notes(&twin);
        }
        if self.sessions.forget(session) {
            tracing::info!("session gone");
            self.record(session, Record::Left);
            let actions = self.diffs.session_gone(session, now);
            self.perform(actions);
            self.report_agents();
        }
    }
}
