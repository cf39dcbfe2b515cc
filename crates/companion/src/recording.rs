//! Keeps what agents change, on a thread of its own. A call that is to run waits until the texts before it are kept, but
//! not for a disk that does not answer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pillion_changes::recorder::Call;
use pillion_changes::{Recorder, Store, StoreError};
use pillion_discovery::{Environment, real_path};
use pillion_system::worker::Worker;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::event::{Event, Events, Kept};
use crate::sessions::SessionId;
use crate::turns::AcceptedText;

/// The variable that turns it off, and how.
const VARIABLE: &str = "PILLION_CHANGES";
const OFF: &str = "off";

/// How long a call waits: less than its agent waits for a hook.
const WAITS: Duration = Duration::from_secs(8);

/// How long the end of the companion waits for what is being kept.
const GRACE: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce(&mut Recorder) -> Result<(), StoreError> + Send>;

/// The way to the recorder.
pub(crate) struct Recording {
    worker: Option<Worker<Job>>,
    events: Events,
    sessions: HashMap<SessionId, u64>,
    count: u64,
    /// True while a job has not been done in time: nothing waits then.
    is_stuck: Arc<AtomicBool>,
    kept: Kept,
    roots: Vec<PathBuf>,
    /// True once an agent was there. Before that, no disk is touched.
    is_used: bool,
}

/// So many files, in words.
pub(crate) fn files(count: usize) -> String {
    match count {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    }
}

impl Recording {
    /// Nothing is looked at before an agent is there.
    /// Sessions get numbers that no other companion of this process gives, by its `port`.
    pub(crate) fn start(
        environment: Option<Environment>,
        roots: &[PathBuf],
        port: u16,
        events: Events,
    ) -> Self {
        let is_on = |it: &Environment| it.filled(VARIABLE).is_none_or(|it| it != OFF);
        let (worker, problem) = match environment.filter(is_on) {
            None => (None, None),
            Some(environment) => match open(&environment, roots, events.clone()) {
                Ok(worker) => (Some(worker), None),
                Err(problem) => (None, Some(problem)),
            },
        };
        Self {
            worker,
            events,
            sessions: HashMap::new(),
            count: u64::from(port) << 32,
            is_stuck: Arc::default(),
            kept: Kept { problem, unseen: 0 },
            roots: roots.to_vec(),
            is_used: false,
        }
    }

    /// Why nothing is kept at present, as a sentence for people.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.kept.problem.as_deref()
    }

    /// How many changes nobody has seen; none if they have not been counted.
    pub(crate) fn unseen(&self) -> Option<usize> {
        self.is_used.then_some(self.kept.unseen)
    }

    /// What came of the last job. Returns true if that is news.
    pub(crate) fn note(&mut self, kept: Kept) -> bool {
        let is_news = self.kept != kept;
        self.kept = kept;
        is_news
    }

    /// Counts anew what nobody has seen.
    pub(crate) fn count(&self) {
        if self.is_used {
            self.order(|_| Ok(()));
        }
    }

    /// The folders are others.
    pub(crate) fn watch(&mut self, roots: &[PathBuf]) {
        self.roots = roots.to_vec();
        if self.is_used {
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

    /// An agent is there that will change files.
    pub(crate) fn prepare(&mut self) {
        self.wake();
        self.order(|recorder| {
            recorder.prepare();
            Ok(())
        });
    }

    /// A turn begins, and `resume` comes when the texts before it are kept.
    pub(crate) fn begin(
        &mut self,
        session: &SessionId,
        agent: &'static str,
        prompt: String,
        resume: Event,
    ) {
        let session = self.number(session);
        let begin =
            move |recorder: &mut Recorder| recorder.begin(session, agent, &prompt).map(drop);
        self.hold(begin, resume);
    }

    /// A call is about to run, and `resume` comes when the texts before it are kept.
    pub(crate) fn before(
        &mut self,
        session: &SessionId,
        agent: &'static str,
        call: Call,
        resume: Event,
    ) {
        let session = self.number(session);
        self.hold(
            move |recorder| recorder.before(session, agent, call),
            resume,
        );
    }

    /// A call has run. `accepted` are the texts that people have accepted.
    pub(crate) fn after(&mut self, session: &SessionId, id: String, accepted: Vec<AcceptedText>) {
        let session = self.number(session);
        self.order(move |recorder| {
            let accepted = accepted.into_iter().map(|text| (text.real_path(), text));
            let accepted: Vec<_> = accepted.collect();
            let is_accepted = |path: &Path| {
                let mut of_file = accepted.iter().filter(|(file, _)| file == path);
                of_file.any(|(_, text)| text.is_text_of(path))
            };
            recorder.after(session, &id, is_accepted)
        });
    }

    /// A turn has ended.
    pub(crate) fn end(&mut self, session: &SessionId) {
        let session = self.number(session);
        self.order(move |recorder| recorder.end(session));
    }

    /// A subagent has ended.
    pub(crate) fn subagent_ended(&mut self, session: &SessionId, subagent: String) {
        let session = self.number(session);
        self.order(move |recorder| recorder.subagent_ended(session, &subagent));
    }

    /// An editor has read a file, or the person has saved it there.
    pub(crate) fn synced(&self, path: PathBuf, is_saved: bool) {
        if self.is_used {
            self.order(move |recorder| {
                let path = real_path(&path);
                match is_saved {
                    true => recorder.saved(&path),
                    false => recorder.seen(&path),
                }
            });
        }
    }

    /// A session has ended.
    pub(crate) fn left(&mut self, session: &SessionId) {
        if let Some(session) = self.sessions.remove(session) {
            self.order(move |recorder| recorder.left(session));
        }
    }

    /// The session of this number.
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

    fn order(&self, job: impl FnOnce(&mut Recorder) -> Result<(), StoreError> + Send + 'static) {
        if let Some(worker) = &self.worker {
            worker.order(Box::new(job));
        }
    }

    fn hold(
        &self,
        job: impl FnOnce(&mut Recorder) -> Result<(), StoreError> + Send + 'static,
        resume: Event,
    ) {
        let Some(worker) = &self.worker else {
            let _ = self.events.send(resume);
            return;
        };
        let (done, waiting) = oneshot::channel();
        let is_stuck = Arc::clone(&self.is_stuck);
        worker.order(Box::new(move |recorder| {
            let result = job(recorder);
            is_stuck.store(false, Ordering::Relaxed);
            let _ = done.send(());
            result
        }));
        let (events, unseen) = (self.events.clone(), self.kept.unseen);
        if self.is_stuck.load(Ordering::Relaxed) {
            let _ = events.send(resume);
            return;
        }
        let is_stuck = Arc::clone(&self.is_stuck);
        tokio::spawn(async move {
            if timeout(WAITS, waiting).await.is_err() {
                is_stuck.store(true, Ordering::Relaxed);
                let problem = Some("the disk does not answer".to_owned());
                let _ = events.send(Event::Kept(Kept { problem, unseen }));
            }
            let _ = events.send(resume);
        });
    }
}

/// What Pillion and agents themselves write while agents work. A workspace may be the home folder.
fn own_folders(environment: &Environment) -> Vec<PathBuf> {
    let mut folders = environment.state_dirs();
    folders.extend(environment.agent_folders());
    folders
}

fn open(
    environment: &Environment,
    roots: &[PathBuf],
    events: Events,
) -> Result<Worker<Job>, String> {
    let store = Store::of(environment).map_err(|error| error.to_string())?;
    let mut recorder = Recorder::new(store, roots, own_folders(environment));
    let perform = move |job: Job| {
        let problem = job(&mut recorder).err().map(|error| error.to_string());
        let unseen = recorder.unseen();
        let _ = events.send(Event::Kept(Kept { problem, unseen }));
    };
    Worker::start("changes", GRACE, perform).map_err(|error| error.to_string())
}
