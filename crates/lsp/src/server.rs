//! The loop: messages of the editor and events of the companion come in, one after the other; what
//! the profile wants done goes out. Thin by design: no rule of a profile lives here.

use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, at, never, select, tick};
use gen_lsp_types::MessageType;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use pillion_companion::{Companion, LostOutcome, Options as CompanionOptions};
use pillion_discovery::{Environment, process};
use pillion_text::stderr;
use serde_json::Value;

use crate::framing::Malformed;
use crate::frontend::{self, Event, FrontendHandle};
use crate::handshake::{self, InitializeParams, Wanted};
use crate::plain::{self, Plain};
use crate::plugin::Plugin;
use crate::profile::{Action, ClientProfile, Published};
use crate::roots::{DidChangeWorkspaceFolders, Roots};
use crate::transport::{self, Input};
use crate::{Error, Options, message};

/// How often it is looked whether the editor still lives. The end of the input normally says so
/// first, unless somebody else holds the pipe.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// More messages than this wait only for an editor that hangs or is suspended. No proposal joins
/// them: agents that try again and again would fill the memory.
const MAX_UNREAD: usize = 256;

/// Serves one editor until it leaves.
///
/// # Errors
/// When the editor left without a word, or spoke no protocol.
pub fn run(options: Options) -> anyhow::Result<()> {
    let transport = transport::stdio()?;
    let (frontend, events) = frontend::channel();
    let mut server = Server {
        options,
        frontend,
        output: transport.output.clone(),
        parent_pid: process::ancestors(std::process::id()).first().copied(),
        session: None,
        is_shut_down: false,
    };
    let ending = server.serve(&transport.input, &events, &transport.written);
    tracing::info!(?ending, "the editor is no longer served");
    // Stops the companion: its files go, and what is pending is rejected (C5.7, C6.2).
    drop(server);
    for event in events.try_iter() {
        if let Event::Lost(lost) = event {
            tell_too_late(&lost, &transport.output);
        }
    }
    transport.close();
    Ok(ending.into_result()?)
}

struct Server {
    options: Options,
    frontend: FrontendHandle,
    output: Sender<Message>,
    /// Who is looked for until the editor has said who it is.
    parent_pid: Option<u32>,
    session: Option<Session>,
    is_shut_down: bool,
}

/// From the answer to `initialize` on.
struct Session {
    companion: Companion,
    profile: Box<dyn ClientProfile>,
    roots: Roots,
    editor_pid: u32,
    is_initialized: bool,
    /// What happened before the client was ready to hear of it.
    held: Vec<Event>,
    /// What there was to say before that.
    unsaid: Vec<Message>,
}

/// Why the loop ends.
#[derive(Debug)]
enum Ending {
    /// The editor asked for it, or is gone, or a signal came.
    Done,
    /// The editor said `exit` without `shutdown`.
    Hasty,
    /// Nothing that the editor says can be trusted any more.
    Malformed(Malformed),
}

impl Server {
    fn serve(
        &mut self,
        input: &Receiver<Input>,
        events: &Receiver<Event>,
        written: &Receiver<()>,
    ) -> Ending {
        let looks = tick(POLL_INTERVAL);
        loop {
            let ending = select! {
                recv(input) -> input => match input {
                    Ok(Input::Message(message, bytes)) => self.message(message, bytes),
                    Ok(Input::Other) => {
                        tracing::warn!("ignored: JSON that is not a message");
                        None
                    }
                    Ok(Input::Malformed(error)) => Some(Ending::Malformed(error)),
                    Ok(Input::End | Input::Signal) | Err(_) => Some(Ending::Done),
                },
                recv(events) -> event => event.ok().and_then(|event| self.event(event)),
                recv(written) -> _ => Some(Ending::Done),
                recv(looks) -> _ => self.look(),
                recv(self.timer()) -> now => now.ok().and_then(|now| self.elapse(now)),
            };
            if let Some(ending) = ending {
                return ending;
            }
        }
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
                    let actions = session.profile.response(response);
                    session.perform(actions, &self.output);
                }
                None
            }
        }
    }

    fn request(&mut self, Request { id, method, params }: Request) {
        match method.as_str() {
            "shutdown" if self.session.is_some() => {
                self.is_shut_down = true;
                // Before the answer: Helix kills right after it. Then no agent finds us, each
                // heard what became of its diff, and no file is left.
                self.session = None;
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
                    let answer = session.profile.request(&method, params);
                    let response_result = answer.result;
                    let response = Response {
                        id,
                        response_result,
                    };
                    let _ = self.output.send(response.into());
                    session.perform(answer.actions, &self.output);
                }
            },
        }
    }

    fn notification(&mut self, Notification { method, params }: Notification) -> Option<Ending> {
        if method == "exit" {
            let is_polite = self.is_shut_down;
            return Some(if is_polite {
                Ending::Done
            } else {
                Ending::Hasty
            });
        }
        let session = self.session.as_mut()?;
        match method.as_str() {
            "initialized" => session.initialized(&self.output),
            "workspace/didChangeWorkspaceFolders" => {
                session.change_roots(&method, params, &self.output);
            }
            _ => {
                let actions = session.profile.notification(&method, params);
                session.perform(actions, &self.output);
            }
        }
        None
    }

    fn event(&mut self, event: Event) -> Option<Ending> {
        if matches!(event, Event::Stopped) {
            // After `shutdown` it was us who stopped it, and `exit` is to come.
            return (!self.is_shut_down).then_some(Ending::Done);
        }
        match (&mut self.session, event) {
            (Some(session), event) => session.event(event, &self.output),
            (None, Event::Lost(lost)) => tell_too_late(&lost, &self.output),
            (None, _) => {}
        }
        None
    }

    /// When the profile wants to hear that time has passed.
    fn timer(&self) -> Receiver<Instant> {
        let due = self
            .session
            .as_ref()
            .and_then(|session| session.profile.due());
        due.map_or_else(never, at)
    }

    fn elapse(&mut self, now: Instant) -> Option<Ending> {
        let session = self.session.as_mut()?;
        let actions = session.profile.elapse(now);
        session.perform(actions, &self.output);
        None
    }

    fn look(&self) -> Option<Ending> {
        let session = self.session.as_ref();
        let pid = session.map(|session| session.editor_pid);
        let is_gone = |pid| !process::is_alive(pid);
        pid.or(self.parent_pid)
            .is_some_and(is_gone)
            .then_some(Ending::Done)
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
            self.session = Some(session);
            serde_json::to_value(result).unwrap_or_default()
        });
        self.answer(id, result);
    }

    fn start(&self, params: Value) -> Result<Session, ResponseError> {
        let invalid = |text| message::error(ErrorCode::InvalidParams, text);
        let params: InitializeParams = message::params(params).map_err(invalid)?;
        let wanted = params.wanted().map_err(invalid)?;
        let ide = params.editor(self.options.editor.as_deref());
        let roots = if params.has_no_root(&wanted) {
            Roots::default()
        } else {
            Roots::new(params.folders())
        };
        let editor_pid = params.editor_pid();
        tracing::info!(
            ?ide,
            version = params.editor_version(),
            editor_pid,
            ?wanted,
            "initialize"
        );
        let environment = Environment::current();
        let options = CompanionOptions {
            environment: environment.clone(),
            editor_pid,
            ide: ide.clone(),
            roots: roots.paths(),
        };
        let companion = Companion::start(options, self.frontend.clone())
            .context("cannot start the companion")
            .map_err(|error| message::error(ErrorCode::InternalError, format!("{error:#}")))?;
        let encoding = params.encoding();
        let profile: Box<dyn ClientProfile> = match wanted {
            Wanted::Plugin { version } => Box::new(Plugin::new(encoding, version)),
            Wanted::Plain => Box::new(Plain::new(plain::Setup {
                encoding,
                client: ide.name,
                environment,
                open_with: self.options.open_with.clone(),
            })),
        };
        Ok(Session {
            companion,
            profile,
            roots,
            editor_pid,
            is_initialized: false,
            held: Vec::new(),
            unsaid: Vec::new(),
        })
    }

    fn answer(&self, id: RequestId, response_result: Result<Value, ResponseError>) {
        let response = Response {
            id,
            response_result,
        };
        let _ = self.output.send(response.into());
    }
}

impl Session {
    fn initialized(&mut self, output: &Sender<Message>) {
        if self.is_initialized {
            return;
        }
        self.is_initialized = true;
        self.tell_notes(output);
        let published = self.published();
        let actions = self.profile.initialized(&published);
        self.perform(actions, output);
        for message in std::mem::take(&mut self.unsaid) {
            let _ = output.send(message);
        }
        for event in std::mem::take(&mut self.held) {
            let actions = self.profile.event(event);
            self.perform(actions, output);
        }
    }

    fn event(&mut self, event: Event, output: &Sender<Message>) {
        match event {
            Event::Open(_, shown) if output.len() > MAX_UNREAD => {
                shown.failed("the editor does not read its messages");
            }
            Event::Lost(lost) => self.say(warning(&lost), output),
            event if self.is_initialized => {
                let actions = self.profile.event(event);
                self.perform(actions, output);
            }
            event => self.hold(event),
        }
    }

    /// Keeps an event until the client is ready. Nothing is shown yet, so of a diff only its newest
    /// proposal matters, and nothing if it is closed; and of all that is told the last.
    fn hold(&mut self, event: Event) {
        let diff = |event: &Event| match event {
            Event::Open(diff, _) => Some(diff.id),
            Event::Close(id, ..) => Some(*id),
            Event::Status(_) | Event::Lost(_) | Event::Stopped => None,
        };
        let about = diff(&event);
        let kept = match event {
            // Before its proposal is dropped, which is an answer too.
            Event::Close(_, _, closed) => {
                closed.failed("the diff was never shown");
                None
            }
            event => Some(event),
        };
        self.held.retain(|held| diff(held) != about);
        self.held.extend(kept);
    }

    fn say(&mut self, message: Message, output: &Sender<Message>) {
        if self.is_initialized {
            // An editor that reads no more ends the loop by itself.
            let _ = output.send(message);
        } else {
            self.unsaid.push(message);
        }
    }

    fn change_roots(&mut self, method: &str, params: Value, output: &Sender<Message>) {
        let params: DidChangeWorkspaceFolders = match message::params(params) {
            Ok(params) => params,
            Err(why) => {
                self.say(message::ignored(method, &why), output);
                return;
            }
        };
        let before = self.roots.paths();
        self.roots.change(&params.event);
        self.tell_notes(output);
        let roots = self.roots.paths();
        let roots_changed = roots != before;
        if roots_changed {
            self.companion.handle().change_roots(roots);
        }
        // Before that the client is told with all the rest.
        if roots_changed && self.is_initialized {
            let published = self.published();
            let actions = self.profile.roots_changed(&published);
            self.perform(actions, output);
        }
    }

    fn tell_notes(&mut self, output: &Sender<Message>) {
        for note in self.roots.take_notes() {
            self.say(note, output);
        }
    }

    fn published(&self) -> Published {
        Published {
            port: self.companion.port(),
            pid: std::process::id(),
            discovery_files: self.companion.files().to_vec(),
            roots: self.roots.paths(),
        }
    }

    fn perform(&mut self, actions: Vec<Action>, output: &Sender<Message>) {
        let companion = self.companion.handle();
        for action in actions {
            match action {
                Action::Send(message) => {
                    if let Message::Request(Request { id, method, .. }) = &message {
                        tracing::debug!(%id, method, "asked");
                    }
                    self.say(message, output);
                }
                Action::ReportContext { files, is_trusted } => {
                    companion.report_context(files, is_trusted);
                }
                Action::Resolve {
                    id,
                    revision,
                    outcome,
                } => companion.resolve_diff(id, revision, outcome),
            }
        }
    }
}

fn warning(lost: &LostOutcome) -> Message {
    message::show(MessageType::Warning, lost.to_string())
}

/// An editor that has said `shutdown` may show no message any more.
fn tell_too_late(lost: &LostOutcome, output: &Sender<Message>) {
    let _ = output.send(warning(lost));
    stderr::warn(lost);
}

impl Ending {
    fn into_result(self) -> Result<(), Error> {
        match self {
            Self::Done => Ok(()),
            Self::Hasty => Err(Error::Hasty),
            Self::Malformed(error) => Err(Error::Malformed(error)),
        }
    }
}
