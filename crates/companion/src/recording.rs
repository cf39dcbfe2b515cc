//! Keeps what agents change, on a thread of its own. A call that is to run waits until the texts before it are kept, but
//! not for a disk that does not answer.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pillion_changes::recorder::{Call, Coverage, Decision, Glance, Spans};
use pillion_changes::{FileState, Offer, Recorder, Store, StoreError, Tally, Turn};
use pillion_discovery::{CompanionState, Environment, real_path};
use pillion_protocol::Proposer;
use pillion_system::Worker;
use pillion_text::counted;
use pillion_view::{Diff, DiffId, EndedTurn, ProposalKey};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::accepted_texts::AcceptedTexts;
use crate::agent::{Look, Record};
use crate::event::{Event, Events, Kept};
use crate::ids::ViewId;
use crate::sessions::SessionId;
use crate::tasks;
use crate::unkept::Unkept;
use crate::written::Accepted;

/// The variable that turns it off, and how.
const VARIABLE: &str = "PILLION_CHANGES";
const OFF: &str = "off";

/// The time limit for a call's wait: less than its agent waits for a hook. No command waits longer.
pub(crate) const WAITS: Duration = Duration::from_secs(8);

/// The problem for people if that passes.
const TOO_SLOW: &str = "the disk does not answer within 8 seconds: calls run without a record";

/// The time limit for the wait at the companion's end for what is being kept.
const GRACE: Duration = Duration::from_secs(1);

/// No more bytes of texts wait for the disk that people have decided about.
const MAX_WAITING: usize = 128 << 20;

/// Of a longer file, the text before is not kept with a decision: that would be one more copy of it in memory. 2 MiB.
const MAX_BEFORE: usize = 2 << 20;

type Work = Box<dyn FnOnce(&mut Recorder) -> Result<(), StoreError> + Send>;

/// Something to be done with the recorder.
struct Job {
    work: Work,
    /// The time when it was asked for: several that wait are answered by one look.
    asked: Instant,
    /// True if what nobody has seen may be another number afterwards.
    counts: bool,
}

impl Job {
    fn new(
        counts: bool,
        work: impl FnOnce(&mut Recorder) -> Result<(), StoreError> + Send + 'static,
    ) -> Self {
        Self {
            work: Box::new(work),
            asked: Instant::now(),
            counts,
        }
    }
}

/// An answer in an agent's own window.
struct Answer {
    session: SessionId,
    /// The call that asked, if one is known.
    call: Option<String>,
    accepted: Accepted,
}

/// So many answers are remembered.
const MAX_ANSWERS: usize = 64;

/// The way to the recorder.
pub(crate) struct Recording {
    worker: Option<(Worker<Job>, Spans)>,
    events: Events,
    sessions: HashMap<SessionId, u64>,
    count: u64,
    /// True while a job has not been done in time: nothing waits then.
    is_stuck: Arc<AtomicBool>,
    /// True if the loop was told something else than the last job said.
    is_contradicted: Arc<AtomicBool>,
    /// What people have accepted: what agents write of that, they have seen.
    pub(crate) accepted_texts: AcceptedTexts,
    /// What people may have accepted in agents' own windows, until the call that asked has ended.
    answers: VecDeque<Answer>,
    /// The number of bytes of texts that wait for the disk.
    waiting: Arc<AtomicUsize>,
    kept: Kept,
    roots: Vec<PathBuf>,
    /// True once an agent was there. Before that, no disk is touched,
    is_used: bool,
    /// unless a person has done something with what was written before.
    is_counted: bool,
    is_turned_off: bool,
    /// The user's folder below which all is kept.
    state_dir: Option<PathBuf>,
}

impl Recording {
    /// Nothing is looked at before an agent is there.
    pub(crate) fn start(
        environment: Option<Environment>,
        roots: &[PathBuf],
        port: u16,
        events: Events,
    ) -> Self {
        let (is_contradicted, accepted_texts) = (Arc::default(), AcceptedTexts::default());
        let is_turned_off = environment.as_ref().is_some_and(|it| !is_on(it));
        let state_dir = { environment.as_ref() }.and_then(Environment::user_state_dir);
        let (worker, problem) = match environment.filter(is_on) {
            None => (None, None),
            Some(environment) => match open(
                &environment,
                roots,
                events.clone(),
                Arc::clone(&is_contradicted),
                accepted_texts.clone(),
            ) {
                Ok(worker) => (Some(worker), None),
                Err(problem) => (None, Some(problem)),
            },
        };
        Self {
            worker,
            events,
            sessions: HashMap::new(),
            count: first_session(port),
            is_stuck: Arc::default(),
            is_contradicted,
            accepted_texts,
            answers: VecDeque::new(),
            waiting: Arc::default(),
            kept: Kept {
                problem,
                ..Kept::default()
            },
            roots: roots.to_vec(),
            is_used: false,
            is_counted: false,
            is_turned_off,
            state_dir,
        }
    }

    /// The folder below which it is kept.
    pub(crate) fn state_dir(&self) -> Option<&Path> {
        self.state_dir.as_deref()
    }

    /// Returns true if the view that came first turned it off.
    pub(crate) fn is_turned_off(&self) -> bool {
        self.is_turned_off
    }

    /// Returns true if what agents change is recorded, as far as the disk lets it.
    pub(crate) fn is_on(&self) -> bool {
        self.worker.is_some()
    }

    /// Returns the reason why nothing is kept at present, as a sentence for people.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.kept.problem.as_deref()
    }

    /// Returns the number of changes that nobody has seen; none if they have not been counted.
    pub(crate) fn unseen(&self) -> Option<usize> {
        (self.is_used || self.is_counted).then_some(self.kept.tally.unseen)
    }

    /// Another number once a list of the changes would show something else.
    pub(crate) fn list(&self) -> u64 {
        u64::from(self.kept.tally.list) + ((self.kept.unkept.0.turns.len() as u64) << 32)
    }

    /// What could not be written yet, and why.
    pub(crate) fn unkept(&self) -> Unkept {
        self.kept.unkept.clone()
    }

    /// The turn that was the last to end with changes that nobody had seen, for people.
    pub(crate) fn ended(&self) -> Option<EndedTurn> {
        let ended = self.kept.ended.as_ref()?;
        let agent = Proposer::display_name_of(&ended.agent);
        let files = counted(ended.unseen, "file");
        let text = match ended.is_without_hooks {
            true => format!("{files} to look at, changed while {agent} was connected"),
            false => format!("{agent} has ended its turn: {files} to look at"),
        };
        Some(EndedTurn {
            turn: ended.number,
            text,
        })
    }

    /// Notes the outcome of the last job. Returns true if that is news.
    pub(crate) fn note(&mut self, kept: Kept) -> bool {
        let is_news = self.kept != kept;
        self.kept = kept;
        is_news
    }

    /// Counts anew what nobody has seen.
    pub(crate) fn count(&mut self) {
        if !self.is_used && !self.is_counted {
            // What is counted is what lies in the folders.
            self.order_watching();
        }
        self.is_counted = true;
        self.order(|_| Ok(()));
    }

    /// Counts anew if it has been counted: nothing may be left in a file of what was unseen, or it may be back.
    pub(crate) fn count_again(&self) {
        if self.unseen().is_some() {
            self.order(|_| Ok(()));
        }
    }

    /// The folders are others.
    pub(crate) fn watch(&mut self, roots: &[PathBuf]) {
        self.roots = roots.to_vec();
        if self.is_used || self.is_counted {
            self.order_watching();
        }
    }

    fn order_watching(&self) {
        let roots = self.roots.clone();
        self.order(move |recorder| {
            recorder.watch(&roots);
            Ok(())
        });
    }

    fn wake(&mut self) {
        if !self.is_used {
            self.is_used = true;
            self.order_watching();
        }
    }

    /// This is heard of an agent of this kind, whose changes are looked for. Those that are found are an event, as below.
    pub(crate) fn heard(&mut self, session: &SessionId, agent: &'static str, record: Record) {
        if let Record::Left | Record::HadNoTurn = record {
            let Some(session) = self.sessions.remove(session) else {
                return;
            };
            return self.order(move |it| match record {
                Record::HadNoTurn => it.attended_had_no_turn(session),
                _ => it.left(session),
            });
        }
        let session = self.number(session);
        match record {
            Record::Attend => self.glance_with(move |it| it.attend(session, agent)),
            Record::Begins => self.glance_with(move |it| it.attended_begins(session)),
            _ => self.keep(move |it| {
                it.attended_is_heard(session);
                Ok(())
            }),
        }
    }

    /// Looks for what has changed, for agents without hooks.
    pub(crate) fn look(&mut self, look: Look) {
        match look {
            Look::Now => self.glance_with(Recorder::glance),
            Look::AtEnd(session) => {
                let session = self.number(&session);
                self.glance_with(move |it| it.attended_is_quiet(session));
            }
        }
    }

    fn glance_with(
        &self,
        job: impl FnOnce(&mut Recorder) -> Result<Glance, StoreError> + Send + 'static,
    ) {
        let events = self.events.clone();
        self.order(move |recorder| {
            let result = job(recorder);
            let glance = result.as_ref().cloned().unwrap_or_default();
            let _ = events.send(Event::Glanced(glance));
            result.map(drop)
        });
    }

    /// A turn begins, and `resume` comes when the texts before it are kept.
    pub(crate) fn begin(
        &mut self,
        session: &SessionId,
        agent: &'static str,
        prompt: String,
        resume: impl FnOnce(Coverage) -> Event + Send + 'static,
    ) {
        let session = self.number(session);
        let begin = move |recorder: &mut Recorder| {
            recorder.begin(session, agent, &prompt)?;
            Ok(Coverage::NotKept)
        };
        self.hold(session, begin, resume);
    }

    /// A hook has asked for a decision: a turn goes on, also if nobody has told that it begins.
    pub(crate) fn goes_on(&mut self, session: &SessionId, agent: &'static str) {
        let session = self.number(session);
        self.order(move |recorder| recorder.goes_on(session, agent));
    }

    /// A call is about to run, and `resume` comes when the texts before it are kept, with how the one of its file is. `is_nothing` waits
    /// for the disk, and tells whether the call leaves the file as it is.
    pub(crate) fn before(
        &mut self,
        session: &SessionId,
        agent: &'static str,
        call: Call,
        is_nothing: impl FnOnce() -> bool + Send + 'static,
        resume: impl FnOnce(Coverage) -> Event + Send + 'static,
    ) {
        let session = self.number(session);
        let before = move |recorder: &mut Recorder| {
            let path = call.path.clone();
            recorder.before(session, agent, call)?;
            Ok(match path {
                None => Coverage::Elsewhere,
                Some(_) if is_nothing() => Coverage::Unchanged,
                Some(path) => recorder.coverage(&path),
            })
        };
        self.hold(session, before, resume);
    }

    /// A call has run.
    pub(crate) fn after(&mut self, session: &SessionId, id: String) {
        // Who has answered there, nothing shows: what was written stays unseen.
        self.take_answer(session, &id);
        let (session, accepted) = (self.number(session), self.accepted_texts.until_now());
        self.call_ended(session, &id);
        self.order(move |recorder| {
            recorder.goes_on_from_accepted(session, &id, |path| {
                accepted.of(path).first()?.gone_on_from(path)
            });
            recorder.after(session, &id, |path| accepted.written_to(path))
        });
    }

    /// A call has failed, as [`after`](Self::after).
    pub(crate) fn failed(&mut self, session: &SessionId, id: String) {
        // It was allowed to run.
        if let Some(Accepted { id: DiffId(id), .. }) = self.take_answer(session, &id) {
            self.order(move |recorder| {
                recorder.forget_answer(id);
                Ok(())
            });
        }
        let (session, accepted) = (self.number(session), self.accepted_texts.until_now());
        self.call_ended(session, &id);
        self.order(move |recorder| {
            recorder.failed(session, &id, |path| {
                accepted.of(path).first().inspect(|it| it.call_failed(path));
            })
        });
    }

    /// A turn of this process has ended, and `resume` comes when what it has changed is put down: whatever ends this companion after
    /// that takes nothing of it along.
    pub(crate) fn end(
        &mut self,
        session: &SessionId,
        process: Option<u32>,
        resume: impl FnOnce(Coverage) -> Event + Send + 'static,
    ) {
        let session = self.number(session);
        let end = move |recorder: &mut Recorder| {
            if let Some(process) = process {
                recorder.is_process(session, process);
            }
            recorder.end(session)?;
            Ok(Coverage::NotKept)
        };
        self.hold(session, end, resume);
    }

    /// Nothing runs any more that the last turn of this session has left behind.
    pub(crate) fn left_behind_ended(&self, session: u64) {
        self.order(move |recorder| recorder.left_behind_ended(session));
    }

    pub(crate) fn subagent_ended(&mut self, session: &SessionId, subagent: String) {
        let session = self.number(session);
        self.order(move |recorder| recorder.subagent_ended(session, &subagent));
    }

    /// An editor has read a file, or the person has saved it there.
    pub(crate) fn synced(&self, path: PathBuf, is_saved: bool) {
        let (is_used, events) = (self.is_used, self.events.clone());
        if !is_used && !is_saved {
            return;
        }
        self.order(move |recorder| {
            let path = real_path(&path);
            let synced = match (is_used, is_saved) {
                (false, _) => Ok(()),
                (true, false) => recorder.seen(&path),
                (true, true) => recorder.saved(&path),
            };
            // Only now: what is judged otherwise by then would be put down otherwise.
            let turns = recorder.turns_of(&path);
            let _ = events.send(Event::SyncedInEditor {
                path,
                turns,
                is_saved,
            });
            synced
        });
    }

    /// The companion ends: if a person has closed its last view, the turns end with it.
    pub(crate) fn ends(&self, is_by_person: bool) {
        self.order(move |recorder| recorder.ends(is_by_person));
    }

    /// A proposal is shown. Texts that the person wrote for its file before, and nobody decided about, come as an event.
    pub(crate) fn proposed(&self, diff: &Diff) {
        let text = diff.original.text.as_ref();
        let text = text.filter(|text| text.len() <= MAX_BEFORE);
        let is_there = diff.original.stamp.is_some() && !diff.original_is_other;
        let proposal = pillion_changes::Proposal {
            agent: diff.proposer.name().to_owned(),
            path: diff.path.clone(),
            roots: self.roots.clone(),
            set: diff.set.map(|set| (set.place, set.of)),
            written: diff.written.clone(),
            before: match is_there {
                true => FileState::unknown(),
                false => FileState::Absent,
            },
            proposed: FileState::Absent,
        };
        let proposed = (!diff.deletes).then(|| Arc::clone(&diff.proposed));
        let texts = (text.cloned(), proposed);
        let bytes = text.map_or(0, Vec::len) + diff.proposed.len();
        let (id, revision, events) = (diff.id.0, diff.revision, self.events.clone());
        let asks_elsewhere = diff.proposer.itself().is_some();
        self.order_with(bytes, move |recorder| {
            recorder.proposed((id, revision), proposal, texts);
            if asks_elsewhere {
                recorder.asks_elsewhere(id)?;
            }
            send_offers(&events, recorder.offers(Some(id))?);
            Ok(())
        });
    }

    /// This stands in a view of a proposal; none if the person has changed nothing there.
    pub(crate) fn edited(&self, key: ProposalKey, view: ViewId, text: Option<String>) {
        let bytes = text.as_ref().map_or(0, String::len);
        self.order_with(bytes, move |recorder| {
            recorder.edited(key.id.0, key.revision, view.0.into(), text.as_deref())
        });
    }

    /// Tells when all is kept that was said until now, or will not be.
    pub(crate) fn is_kept(&self) -> oneshot::Receiver<()> {
        let (done, kept) = oneshot::channel();
        self.keep(move |_| {
            drop(done);
            Ok(())
        });
        kept
    }

    /// A person has decided about a proposal.
    pub(crate) fn decided(&self, session: &SessionId, id: DiffId, decided: Decision) {
        let bytes = decided.edited.as_ref().map_or(0, |it| it.len());
        let session = self.sessions.get(session).copied();
        let decided = Decision { session, ..decided };
        self.order_with(bytes, move |recorder| recorder.decided(id.0, decided));
    }

    /// A person has accepted a change of this session's.
    pub(crate) fn accepted(&self, session: &SessionId) {
        if let Some(session) = self.sessions.get(session).copied() {
            self.order(move |recorder| {
                recorder.accepted(session);
                Ok(())
            });
        }
    }

    /// A person answers in the agent's own window what this call of the session, if it is known, has asked: with yes, if the call
    /// runs and writes just that.
    pub(crate) fn answered(&mut self, session: &SessionId, call: Option<String>, it: &Accepted) {
        self.answers.push_back(Answer {
            session: Arc::clone(session),
            call,
            accepted: it.clone(),
        });
        if self.answers.len() > MAX_ANSWERS {
            self.answers.pop_front();
        }
        let (session, DiffId(id)) = (self.sessions.get(session).copied(), it.id);
        self.order(move |recorder| recorder.answered(id, session));
    }

    fn take_answer(&mut self, session: &SessionId, call: &str) -> Option<Accepted> {
        let is_it = |it: &Answer| it.session == *session && it.call.as_deref() == Some(call);
        let at = self.answers.iter().position(is_it)?;
        self.answers.remove(at).map(|it| it.accepted)
    }

    /// Nothing was written of what a person answered in the agent's own window: with no, and the call that asked is over.
    /// False if it is not known that they did.
    pub(crate) fn is_not_written(&mut self, id: DiffId) -> bool {
        let at = self.answers.iter().position(|it| it.accepted.id == id);
        let answer = at.and_then(|at| self.answers.remove(at));
        if let Some(answer) = &answer {
            self.rejected(&answer.session, &answer.accepted.file_path);
        }
        answer.is_some()
    }

    /// A person has rejected a change of this file: what they have made of it meanwhile is theirs.
    pub(crate) fn rejected(&self, session: &SessionId, path: &str) {
        if let Some(session) = self.sessions.get(session).copied() {
            let path = PathBuf::from(path);
            self.order(move |recorder| recorder.rejected(session, &path));
        }
    }

    /// Finds what nobody has decided about when a companion of these folders was killed: an event, if there is something.
    pub(crate) fn find_left(&self) {
        let (roots, events) = (self.roots.clone(), self.events.clone());
        self.order(move |recorder| {
            let left = recorder.take_left(&roots)?;
            if !left.is_empty() {
                let _ = events.send(Event::LeftUndecided(left));
            }
            Ok(())
        });
    }

    /// A view has left: what the person wrote in it can be offered in another.
    pub(crate) fn view_left(&self, view: ViewId) {
        self.keep(move |recorder| recorder.view_left(view.0.into()));
        self.offer();
    }

    /// Tells when everything is found that was to be looked for until now. The answer is false if the disk hangs.
    pub(crate) fn tell_when_done(&self, done: oneshot::Sender<bool>) {
        let is_stuck = self.is_stuck.load(Ordering::Relaxed);
        match self.worker.as_ref().filter(|_| !is_stuck) {
            None => drop(done.send(!is_stuck)),
            Some((worker, _)) => worker.order(Job::new(true, |recorder| {
                let caught_up = recorder.catch_up();
                // A command that does not wait any more needs no answer.
                let _ = done.send(true);
                caught_up
            })),
        }
    }

    /// Looks for what the person wrote in earlier proposals of the files that wait.
    pub(crate) fn offer(&self) {
        let events = self.events.clone();
        self.keep(move |recorder| {
            send_offers(&events, recorder.offers(None)?);
            Ok(())
        });
    }

    pub(crate) fn session(&self, number: u64) -> Option<SessionId> {
        let mut sessions = self.sessions.iter();
        let found = sessions.find(|(_, it)| **it == number);
        found.map(|(session, _)| Arc::clone(session))
    }

    fn number(&mut self, session: &SessionId) -> u64 {
        self.wake();
        self.count += 1;
        *self
            .sessions
            .entry(Arc::clone(session))
            .or_insert(self.count)
    }

    /// A call has ended at this moment, whatever is still to be done before it is looked at.
    fn call_ended(&self, session: u64, call: &str) {
        if let Some((_, spans)) = &self.worker {
            spans.ended(session, call);
        }
    }

    fn order(&self, job: impl FnOnce(&mut Recorder) -> Result<(), StoreError> + Send + 'static) {
        if let Some((worker, _)) = &self.worker {
            worker.order(Job::new(true, job));
        }
    }

    /// Does this with the recorder. What nobody has seen does not change by it.
    pub(crate) fn keep(
        &self,
        job: impl FnOnce(&mut Recorder) -> Result<(), StoreError> + Send + 'static,
    ) {
        self.order_with(0, job);
    }

    /// A job with so many bytes of texts, unless too many wait already, as when the disk hangs.
    fn order_with(
        &self,
        bytes: usize,
        job: impl FnOnce(&mut Recorder) -> Result<(), StoreError> + Send + 'static,
    ) {
        let Some((worker, _)) = &self.worker else {
            return;
        };
        let waiting = Arc::clone(&self.waiting);
        if waiting.fetch_add(bytes, Ordering::Relaxed) > MAX_WAITING {
            waiting.fetch_sub(bytes, Ordering::Relaxed);
            return tracing::warn!("the disk is too slow to keep what is decided");
        }
        let work = move |recorder: &mut Recorder| {
            let result = job(recorder);
            waiting.fetch_sub(bytes, Ordering::Relaxed);
            result
        };
        worker.order(Job::new(false, work));
    }

    /// Does a job for which a call of this session waits. Its result goes on with the call.
    fn hold(
        &self,
        session: u64,
        job: impl FnOnce(&mut Recorder) -> Result<Coverage, StoreError> + Send + 'static,
        resume: impl FnOnce(Coverage) -> Event + Send + 'static,
    ) {
        let Some((worker, _)) = &self.worker else {
            let _ = self.events.send(resume(Coverage::NotKept));
            return;
        };
        let (done, waiting) = oneshot::channel();
        let is_stuck = Arc::clone(&self.is_stuck);
        let work = move |recorder: &mut Recorder| {
            let result = job(recorder);
            is_stuck.store(false, Ordering::Relaxed);
            let coverage = *result.as_ref().unwrap_or(&Coverage::NotKept);
            match done.send(coverage) {
                Ok(()) => result.map(drop),
                // It runs already.
                Err(_) => result.and_then(|_| recorder.ran_unrecorded(session)),
            }
        };
        worker.order(Job::new(true, work));
        let (events, kept) = (self.events.clone(), self.kept.clone());
        if self.is_stuck.load(Ordering::Relaxed) {
            let _ = events.send(resume(Coverage::NotKept));
            return;
        }
        let is_stuck = Arc::clone(&self.is_stuck);
        let is_contradicted = Arc::clone(&self.is_contradicted);
        tasks::spawn(async move {
            let waited = timeout(WAITS, waiting).await;
            if waited.is_err() {
                is_stuck.store(true, Ordering::Relaxed);
                let problem = Some(TOO_SLOW.to_owned());
                let _ = events.send(Event::Kept(Kept { problem, ..kept }));
                // Only now: the job that ends next takes it back.
                is_contradicted.store(true, Ordering::Relaxed);
            }
            let coverage = waited.ok().and_then(Result::ok);
            let _ = events.send(resume(coverage.unwrap_or(Coverage::NotKept)));
        });
    }
}

/// Returns true if this companion knows the agent's session of a turn.
pub fn knows_session(companion: &CompanionState, turn: &Turn) -> bool {
    companion.pid == turn.watcher
        && first_session(companion.port) == turn.session & !u64::from(u32::MAX)
}

/// Sessions get numbers above this one, which no other companion of this process gives.
fn first_session(port: u16) -> u64 {
    u64::from(port) << 32
}

/// Returns true if the person has not turned it off.
pub(crate) fn is_on(environment: &Environment) -> bool {
    environment.filled(VARIABLE).is_none_or(|it| it != OFF)
}

fn send_offers(events: &Events, offers: Vec<Offer>) {
    if !offers.is_empty() {
        let _ = events.send(Event::Offered(offers));
    }
}

/// Returns the folders in which Pillion and agents themselves write while agents work. A workspace may be the home folder.
fn own_folders(environment: &Environment) -> Vec<PathBuf> {
    let mut folders = environment.state_dirs();
    folders.extend(environment.agent_folders());
    folders
}

fn open(
    environment: &Environment,
    roots: &[PathBuf],
    events: Events,
    is_contradicted: Arc<AtomicBool>,
    accepted_texts: AcceptedTexts,
) -> Result<(Worker<Job>, Spans), String> {
    let store = Store::of(environment).map_err(|error| error.to_string())?;
    let mut recorder = Recorder::new(store.clone(), roots, own_folders(environment));
    let (spans, stirred) = (recorder.spans(), events.clone());
    recorder.on_stir(move || {
        let _ = stirred.send(Event::Stirred);
    });
    recorder.on_accepted(move |path| accepted_texts.written_to(path));
    let ended = events.clone();
    recorder.on_left_behind_ended(move |session| {
        let _ = ended.send(Event::LeftBehindEnded(session));
    });
    let mut tally = Tally::default();
    let mut last = None;
    let mut said = None;
    let perform = move |job: Job| {
        recorder.asked_at(Some(job.asked));
        let failed = (job.work)(&mut recorder).err().map(|error| error.in_full());
        // It has more to say than why.
        let problem = recorder.problem().or(failed);
        // Most jobs keep nothing, and go well whatever the disk is like.
        let problem = problem.or_else(|| last.take().filter(|_| !store.takes_more()));
        last.clone_from(&problem);
        if job.counts {
            tally = recorder.tally();
        }
        let kept = Kept {
            problem,
            tally,
            ended: recorder.ended().cloned(),
            unkept: Unkept(Arc::new(recorder.unkept())),
        };
        // Most jobs change nothing of this, and an event wakes the loop.
        if is_contradicted.swap(false, Ordering::Relaxed) || said.as_ref() != Some(&kept) {
            said = Some(kept.clone());
            let _ = events.send(Event::Kept(kept));
        }
    };
    let worker = Worker::start("changes", GRACE, perform);
    worker
        .map(|it| (it, spans))
        .map_err(|error| error.to_string())
}
