//! The loop: messages of the editor and events of the companion come in, one after the other; what
//! the profile wants done goes out. Thin by design: no rule of a profile lives here.

use std::time::{Duration, Instant};
use std::{iter, thread};

use crossbeam_channel::{Receiver, RecvError, Sender, at, bounded, never, select, unbounded};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, ResponseError};
use pillion_system::{process, spawn, time_limit};
use pillion_text::stderr;
use pillion_view::{EditorEvent, Leaving, LostOutcome};
use serde_json::Value;

use crate::disk::{Done, READ_TIMEOUT};
use crate::framing::Frame;
use crate::handshake::{self, InitializeParams};
use crate::plugin::LEAVE;
use crate::session::{Session, Start, Told, warning};
use crate::transport::{self, Input, LAST_WORDS};
use crate::{Error, Options, message};

/// The interval between checks that the editor still lives, where the system does not tell. The end of the input
/// normally shows that first, unless another process holds the pipe.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// The time limit for the disks that a session needs. Longer than a companion takes to give up.
const START_TIMEOUT: Duration = Duration::from_secs(12);

/// The time limit for a line on standard error.
const STDERR_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves one editor until it leaves.
///
/// # Errors
/// When the editor left without `shutdown`, or did not use the protocol.
pub fn run(options: Options) -> anyhow::Result<()> {
    let transport = transport::connect(options.socket.as_deref())?;
    let (event_sender, events) = unbounded();
    let mut server = Server {
        options,
        events: event_sender,
        done: unbounded(),
        gone: unbounded(),
        output: transport.output.clone(),
        parent_pid: process::ancestors(std::process::id()).first().copied(),
        session: None,
        is_shut_down: false,
        unheard: transport.unheard,
    };
    let ending = server.serve(&transport.input, &events, &transport.written);
    tracing::info!(?ending, "the editor is no longer served");
    server.finish();
    // After `shutdown` there is none.
    if let Some(session) = &server.session {
        session.leave(Leaving::without_word());
    }
    // Stops the companion: its files go, and what is pending is rejected (C5.7, C6.2).
    drop(server);
    for told in events.try_iter() {
        if let EditorEvent::Lost(lost) = told.event {
            report_late(&lost, &transport.output);
        }
    }
    transport.close();
    Ok(ending?)
}

struct Server {
    options: Options,
    /// The channel of the companion's requests and reports.
    events: Sender<Told>,
    /// The channel of other threads' results.
    done: (Sender<Done>, Receiver<Done>),
    /// The channel of the processes that have ended.
    gone: (Sender<u32>, Receiver<u32>),
    output: Sender<Message>,
    /// The name that is used until the editor has sent its own.
    parent_pid: Option<u32>,
    session: Option<Session>,
    is_shut_down: bool,
    unheard: Option<&'static str>,
}

/// Why the loop ends: the editor asked for it or is gone, or a signal came; otherwise what went wrong.
type Ending = Result<(), Error>;

impl Server {
    fn serve(
        &mut self,
        input: &Receiver<Input>,
        events: &Receiver<Told>,
        written: &Receiver<()>,
    ) -> Ending {
        if let Some(pid) = self.parent_pid {
            self.watch(pid);
        }
        loop {
            let ending = select! {
                recv(input) -> input => self.input(input.unwrap_or(Ok(None))),
                recv(events) -> told => told.ok().and_then(|told| self.event(told)),
                // After `shutdown` they are dropped, and with an input its connection.
                recv(self.done.1) -> done => self.tell(done, Session::done),
                recv(written) -> _ => Some(self.last_words(input)),
                recv(self.gone.1) -> pid => {
                    let is_editor = pid.is_ok_and(|pid| self.is_editor(pid));
                    is_editor.then(|| self.last_words(input))
                }
                recv(self.timer()) -> now => self.tell(now, Session::elapse),
            };
            if let Some(ending) = ending {
                return ending;
            }
        }
    }

    fn input(&mut self, input: Input) -> Option<Ending> {
        match input {
            Ok(Some(Frame::Message(message, bytes))) => self.message(message, bytes),
            Ok(Some(Frame::Other)) => {
                tracing::warn!("ignored: JSON that is not a message");
                None
            }
            Ok(None) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        }
    }

    /// Reads what an editor has said that is gone, or reads no more: if it has asked for the end, its person has quit it.
    fn last_words(&mut self, input: &Receiver<Input>) -> Ending {
        let deadline = Instant::now() + LAST_WORDS;
        let said = iter::from_fn(|| input.recv_deadline(deadline).ok());
        said.filter_map(|input| self.input(input))
            .next()
            .unwrap_or(Ok(()))
    }

    fn message(&mut self, message: Message, bytes: usize) -> Option<Ending> {
        match message {
            Message::Request(request) => {
                tracing::debug!(id = %request.id, method = request.method, bytes, "request");
                self.request(request);
                None
            }
            Message::Notification(notification) => {
                tracing::debug!(method = notification.method, bytes, "notification");
                self.notification(notification)
            }
            Message::Response(response) => {
                let is_error = response.response_result.is_err();
                tracing::debug!(id = %response.id, bytes, is_error, "response");
                if let Some(session) = &mut self.session {
                    session.tell(|profile| profile.response(response));
                }
                None
            }
        }
    }

    fn request(&mut self, Request { id, method, params }: Request) {
        match method.as_str() {
            "shutdown" | LEAVE if self.session.is_some() => {
                self.is_shut_down = true;
                // Before the answer: Helix kills right after it. Then no agent finds us, each
                // has received the outcome of its diff, and no file is left.
                self.finish();
                if let Some(session) = self.session.take() {
                    session.leave(match method.as_str() {
                        LEAVE => Leaving::Kept,
                        _ => Leaving::Closed,
                    });
                }
                self.answer(id, Ok(Value::Null));
            }
            _ if self.is_shut_down => {
                let text = format!("{method} after shutdown");
                self.answer(id, Err(message::error(ErrorCode::InvalidRequest, text)));
            }
            "initialize" => self.initialize(id, params),
            _ => match &mut self.session {
                None => {
                    let text = format!("{method} before initialize");
                    let error = message::error(ErrorCode::ServerNotInitialized, text);
                    self.answer(id, Err(error));
                }
                Some(session) => {
                    session.tell(|profile| profile.request(Request { id, method, params }));
                }
            },
        }
    }

    fn notification(&mut self, Notification { method, params }: Notification) -> Option<Ending> {
        if method == "exit" {
            return Some(
                self.is_shut_down
                    .then_some(())
                    .ok_or(Error::ExitWithoutShutdown),
            );
        }
        let session = self.session.as_mut()?;
        match method.as_str() {
            "initialized" => session.initialized(),
            "workspace/didChangeWorkspaceFolders" => {
                session.change_folders(&method, params);
            }
            _ => {
                session.tell(|profile| profile.notification(&method, params));
            }
        }
        None
    }

    fn event(&mut self, told: Told) -> Option<Ending> {
        // What was answered before it comes first: an agent may propose right after it has heard of a decision, whose view
        // is still there until the ruling is known.
        while let Ok(done) = self.done.1.try_recv() {
            self.tell(Ok(done), Session::done);
        }
        if matches!((&told.guest, &told.event), (None, EditorEvent::Stopped)) {
            // After `shutdown` it was us who stopped it, and `exit` is to come.
            return (!self.is_shut_down).then_some(Ok(()));
        }
        match (&mut self.session, told) {
            (Some(session), told) => session.event(told),
            (
                None,
                Told {
                    event: EditorEvent::Lost(lost),
                    ..
                },
            ) => {
                report_late(&lost, &self.output);
            }
            (None, _) => {}
        }
        None
    }

    fn tell<T>(
        &mut self,
        happened: Result<T, RecvError>,
        tell: fn(&mut Session, T),
    ) -> Option<Ending> {
        if let (Ok(happened), Some(session)) = (happened, &mut self.session) {
            tell(session, happened);
        }
        None
    }

    /// An editor that accepts and exits at once has accepted: what is being decided is carried out first,
    /// as far as the disk answers.
    fn finish(&mut self) {
        let Some(session) = &mut self.session else {
            return;
        };
        session.tell(|profile| profile.finish());
        let deadline = Instant::now() + READ_TIMEOUT;
        while session.is_busy()
            && let Ok(done) = self.done.1.recv_deadline(deadline)
        {
            session.done(done);
        }
    }

    /// When the profile wants to be called because time has passed.
    fn timer(&self) -> Receiver<Instant> {
        let due = self.session.as_ref().and_then(Session::due);
        due.map_or_else(never, at)
    }

    /// Has the end of a process reported.
    fn watch(&self, pid: u32) {
        let gone = self.gone.0.clone();
        let wait = move || {
            while !process::wait_for_end(pid) && process::is_alive(pid) {
                thread::sleep(POLL_INTERVAL);
            }
            let _ = gone.send(pid);
        };
        if let Err(error) = spawn("editor", wait) {
            tracing::warn!(%error, pid, "its end will not be noticed");
        }
    }

    fn is_editor(&self, pid: u32) -> bool {
        let session = self.session.as_ref();
        let editor = session.map(|session| session.editor_pid);
        editor.or(self.parent_pid) == Some(pid)
    }

    fn initialize(&mut self, id: RequestId, params: Value) {
        let result = if self.session.is_some() {
            let text = "initialize was already sent";
            Err(message::error(ErrorCode::InvalidRequest, text))
        } else {
            self.start(params)
        };
        let result = result.map(|session| {
            let result = handshake::result(session.profile.as_ref());
            self.watch(session.editor_pid);
            self.session = Some(session);
            result
        });
        self.answer(id, result);
    }

    /// Waits for the disks that a session needs, while no agent is served yet.
    fn start(&self, params: Value) -> Result<Session, ResponseError> {
        let invalid = |text| message::error(ErrorCode::InvalidParams, text);
        let params: InitializeParams = message::params(params).map_err(invalid)?;
        let profile_kind = params.profile_kind().map_err(invalid)?;
        let shows = params.shows().map_err(invalid)?;
        let workspace = params.workspace().map_err(invalid)?;
        let start = Start {
            params,
            profile_kind,
            shows,
            workspace,
            options: self.options.clone(),
            output: self.output.clone(),
            events: self.events.clone(),
            done: self.done.0.clone(),
            unheard: self.unheard,
        };
        let (started, session) = bounded(1);
        // One that comes too late is dropped, and with it whatever it published.
        let thread = spawn("start", move || drop(started.send(start.session())));
        let failed = |text: String| message::error(ErrorCode::InternalError, text);
        thread.map_err(|error| failed(format!("cannot start a thread: {error}")))?;
        let silent = |_| {
            let text = "cannot start the companion: the disk did not respond within";
            failed(format!("{text} {START_TIMEOUT:?}"))
        };
        let session = session.recv_timeout(START_TIMEOUT).map_err(silent)?;
        session.map_err(|error| failed(format!("{error:#}")))
    }

    fn answer(&self, id: RequestId, result: Result<Value, ResponseError>) {
        let _ = self.output.send(message::answer(id, result));
    }
}

/// An editor that has sent `shutdown` may show no message any more, nor read standard error.
fn report_late(lost: &LostOutcome, output: &Sender<Message>) {
    let _ = output.send(warning(lost));
    let text = lost.to_string();
    time_limit::run(STDERR_TIMEOUT, move || stderr::warn(text));
}
