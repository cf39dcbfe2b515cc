//! The companion of a session, and when it starts: at once, unless the editor may have been started for the
//! proposal of another one alone. That one's agents must not find it, so it waits until the editor has
//! opened a file of its own, or nothing at all for a while. Without a workspace root it never starts, nor for an
//! editor whose plugin has one.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::Sender;
use pillion_protocol::File;
use pillion_system::spawn;
use pillion_view::{
    Attached, Compares, DiffId, Editor, EditorEvent, Handle, Options, StartOwn, Tell, attach,
};

use crate::disk::Done;

/// The time limit for an editor that is ready to open its first file.
const FIRST_FILE_TIMEOUT: Duration = Duration::from_millis(500);

/// A companion that runs, or may later.
#[derive(Debug)]
pub struct Service {
    state: State,
    /// The context to send to agents as soon as it runs.
    context: Option<(Vec<File>, Option<bool>)>,
    /// True if the editor is known to have files of its own.
    is_wanted: bool,
    /// When it is taken to have some, by [`Service::elapse`].
    pub due: Option<Instant>,
}

/// The stage of a companion.
#[derive(Debug)]
pub enum State {
    /// It starts later, if at all.
    Waiting(Box<Plan>),
    /// With these roots.
    Starting(Vec<PathBuf>),
    Running(Attached),
    /// It failed, or is not to run.
    Absent,
}

/// The plan for starting a companion.
#[derive(Debug)]
pub struct Plan {
    pub options: Options,
    pub start_own: StartOwn,
    pub compares: Compares,
    /// The channel of the companion's requests and reports.
    pub events: Sender<Told>,
    /// The channel on which its start is reported.
    pub done: Sender<Done>,
    pub unheard: Option<&'static str>,
}

impl Plan {
    /// Starts it now. Waits for disks.
    pub fn start(self) -> anyhow::Result<Attached> {
        let editor = Client {
            guest: None,
            compares: self.compares,
            events: self.events,
        };
        let attached = attach(self.options, editor, self.start_own);
        let attached = attached.context("cannot start the companion")?;
        Ok(attached.not_for_person(self.unheard))
    }
}

impl Service {
    /// One in this state.
    pub fn new(state: State) -> Self {
        Self {
            state,
            context: None,
            is_wanted: false,
            due: None,
        }
    }

    pub fn companion(&self) -> Option<&Attached> {
        match &self.state {
            State::Running(companion) => Some(companion),
            _ => None,
        }
    }

    /// The handle for reports to it, if it runs.
    pub fn handle(&self) -> Option<Handle> {
        self.companion().map(Attached::handle)
    }

    /// Returns true if it is about to run.
    pub fn is_starting(&self) -> bool {
        matches!(self.state, State::Starting(_))
    }

    pub fn initialized(&mut self, now: Instant) {
        if matches!(self.state, State::Waiting(_)) {
            self.due = Some(now + FIRST_FILE_TIMEOUT);
        }
    }

    /// Time has passed. An editor that has only the proposal of another one open has no files of its own.
    pub fn elapse(&mut self, now: Instant, has_guests: bool) -> anyhow::Result<()> {
        if self.due.take_if(|due| *due <= now).is_some() && !has_guests {
            self.is_wanted = true;
            return self.start_if_wanted();
        }
        Ok(())
    }

    /// The files that are open and focused.
    pub fn report(&mut self, files: Vec<File>, is_trusted: Option<bool>) -> anyhow::Result<()> {
        if let Some(companion) = self.handle() {
            companion.tell(Tell::context(files, is_trusted));
            return Ok(());
        }
        self.is_wanted |= !files.is_empty();
        self.context = Some((files, is_trusted));
        self.start_if_wanted()
    }

    pub fn change_roots(&mut self, roots: Vec<PathBuf>) -> anyhow::Result<()> {
        match &mut self.state {
            State::Running(companion) => companion.handle().tell(Tell::Roots(roots)),
            State::Waiting(plan) => plan.options.roots = roots,
            State::Starting(_) | State::Absent => {}
        }
        self.start_if_wanted()
    }

    fn start_if_wanted(&mut self) -> anyhow::Result<()> {
        match &self.state {
            State::Waiting(plan) if self.is_wanted && !plan.options.roots.is_empty() => {}
            _ => return Ok(()),
        }
        let State::Waiting(plan) = std::mem::replace(&mut self.state, State::Absent) else {
            return Ok(());
        };
        let (roots, done) = (plan.options.roots.clone(), plan.done.clone());
        let run = move || {
            let started = plan.start().map_err(|error| format!("{error:#}"));
            // One that comes too late is dropped, and with it whatever it published.
            let _ = done.send(Done::Started(started));
        };
        spawn("start", run).context("cannot start a thread")?;
        (self.due, self.state) = (None, State::Starting(roots));
        Ok(())
    }

    /// It runs now, or cannot. `roots` are those of now.
    pub fn started(
        &mut self,
        started: Result<Attached, String>,
        roots: &[PathBuf],
    ) -> Result<(), String> {
        let state = std::mem::replace(&mut self.state, State::Absent);
        let companion = started?;
        let handle = companion.handle();
        if !matches!(state, State::Starting(known) if known == roots) {
            handle.tell(Tell::Roots(roots.to_vec()));
        }
        if let Some((files, is_trusted)) = self.context.take() {
            handle.tell(Tell::context(files, is_trusted));
        }
        self.state = State::Running(companion);
        Ok(())
    }
}

/// The time limit for the server to read the editor's last words, and to leave, when a signal ends it.
const ENDING: Duration = Duration::from_secs(3);

/// A companion's request or report.
#[derive(Debug)]
pub struct Told {
    /// The guest that it is for; none if it is for the editor's own view.
    pub guest: Option<DiffId>,
    pub event: EditorEvent,
}

pub struct Client {
    pub guest: Option<DiffId>,
    pub compares: Compares,
    pub events: Sender<Told>,
}

impl Editor for Client {
    fn event(&mut self, mut event: EditorEvent) {
        let guest = self.guest;
        // Those of different companions have the same numbers.
        if let Some((own, number)) = guest.zip(event.diff_mut()) {
            *number = own;
        }
        let _ = self.events.send(Told { guest, event });
    }

    fn compares(&self) -> Compares {
        self.compares
    }

    /// The server leaves once it has read what the editor had still to say.
    fn ending(&mut self) -> Duration {
        ENDING
    }
}
