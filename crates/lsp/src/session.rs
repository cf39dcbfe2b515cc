//! What there is between `initialize` and `shutdown`: the companion, the client's profile, and what
//! waits until the client is ready.

use std::path::PathBuf;

use anyhow::Context;
use crossbeam_channel::Sender;
use gen_lsp_types::MessageType;
use lsp_server::{ErrorCode, Message, Request, Response, ResponseError};
use pillion_companion::{
    Companion, EditorEvent, Forward, LostOutcome, Options as CompanionOptions, Reply,
};
use pillion_discovery::Environment;
use serde_json::Value;

use crate::disk::{self, Done, ProposalDir, ProposalFiles};
use crate::handshake::{InitializeParams, Wanted};
use crate::plain::{self, Plain};
use crate::plugin::Plugin;
use crate::profile::{Action, ClientProfile, Published};
use crate::roots::{DidChangeWorkspaceFolders, FoldersChanged, Roots};
use crate::{Options, message};

/// More messages than this wait only for an editor that hangs or is suspended. No proposal joins
/// them: agents that try again and again would fill the memory.
const MAX_UNREAD: usize = 256;

/// From the answer to `initialize` on.
pub struct Session {
    companion: Companion,
    pub profile: Box<dyn ClientProfile + Send>,
    /// Where proposals lie as files, if that is how they are shown.
    files: Option<ProposalFiles>,
    /// The workspace roots, and where their changes are worked out.
    roots: Vec<PathBuf>,
    changes: Sender<FoldersChanged>,
    /// What there is to say about the roots.
    notes: Vec<Message>,
    pub editor_pid: u32,
    is_initialized: bool,
    /// What happened before the client was ready to hear of it.
    held: Vec<EditorEvent>,
    /// What there was to say before that.
    unsaid: Vec<Message>,
}

/// What a session is made of.
#[derive(Debug)]
pub struct Start {
    pub params: InitializeParams,
    pub wanted: Wanted,
    pub options: Options,
    pub events: Sender<EditorEvent>,
    pub done: Sender<Done>,
}

impl Start {
    /// The session. Waits for disks.
    ///
    /// # Errors
    /// Why there can be none.
    pub fn session(self) -> Result<Session, ResponseError> {
        let session = self.start();
        session.map_err(|error| message::error(ErrorCode::InternalError, format!("{error:#}")))
    }

    fn start(self) -> anyhow::Result<Session> {
        let (params, wanted) = (self.params, self.wanted);
        let ide = params.editor(self.options.editor.as_deref());
        let mut roots = if params.has_no_root(&wanted) {
            Roots::default()
        } else {
            Roots::new(params.folders())
        };
        let (paths, notes) = (roots.paths(), roots.take_notes());
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
            roots: paths.clone(),
        };
        let events = self.events;
        let editor = Forward::new(move |event| drop(events.send(event)));
        let companion = Companion::start(options, editor).context("cannot start the companion")?;
        let encoding = params.encoding();
        let (profile, files): (Box<dyn ClientProfile + Send>, _) = match wanted {
            Wanted::Plugin { version } => (Box::new(Plugin::new(encoding, version)), None),
            Wanted::Plain => {
                let dir = ProposalDir::new(&environment);
                let setup = plain::Setup {
                    encoding,
                    quirks: params.quirks(),
                    folders: dir.folders().to_vec(),
                    open_with: self.options.open_with,
                };
                let files = ProposalFiles::start(dir, self.done.clone());
                let files = files.context("cannot start a thread")?;
                (Box::new(Plain::new(setup)), Some(files))
            }
        };
        let changes = disk::follow_roots(roots, self.done).context("cannot start a thread")?;
        Ok(Session {
            companion,
            profile,
            files,
            roots: paths,
            changes,
            notes,
            editor_pid,
            is_initialized: false,
            held: Vec::new(),
            unsaid: Vec::new(),
        })
    }
}

impl Session {
    pub fn initialized(&mut self, output: &Sender<Message>) {
        if self.is_initialized {
            return;
        }
        self.is_initialized = true;
        for note in std::mem::take(&mut self.notes) {
            self.say(note, output);
        }
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

    pub fn event(&mut self, event: EditorEvent, output: &Sender<Message>) {
        match event {
            EditorEvent::Open(_, shown) if output.len() > MAX_UNREAD => {
                shown.failed("the editor does not read its messages");
            }
            EditorEvent::Diagnostics(_, found) if output.len() > MAX_UNREAD => {
                found.done(Vec::new());
            }
            EditorEvent::Lost(lost) => self.say(warning(&lost), output),
            event if self.is_initialized => {
                let actions = self.profile.event(event);
                self.perform(actions, output);
            }
            event => self.hold(event),
        }
    }

    /// Keeps an event until the client is ready. Nothing is shown yet, so of a diff only its newest
    /// proposal matters, and nothing if it is closed; and of all that is told the last.
    fn hold(&mut self, event: EditorEvent) {
        if let EditorEvent::Diagnostics(_, found) = event {
            return found.done(Vec::new());
        }
        let diff = |event: &EditorEvent| match event {
            EditorEvent::Open(diff, _) => Some(diff.id),
            EditorEvent::Close(id, ..) => Some(*id),
            EditorEvent::Diagnostics(..)
            | EditorEvent::Status(_)
            | EditorEvent::Lost(_)
            | EditorEvent::Stopped => None,
        };
        let about = diff(&event);
        let kept = match event {
            // Before its proposal is dropped, which is an answer too.
            EditorEvent::Close(_, _, closed) => {
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

    /// The editor's folders changed: what the roots are then is worked out elsewhere.
    pub fn change_folders(&mut self, method: &str, params: Value, output: &Sender<Message>) {
        match message::params::<DidChangeWorkspaceFolders>(params) {
            // The thread lives as long as this sender.
            Ok(params) => drop(self.changes.send(params.event)),
            Err(why) => self.say(message::ignored(method, &why), output),
        }
    }

    /// Another thread has done something that waits for a disk.
    pub fn done(&mut self, done: Done, output: &Sender<Message>) {
        match done {
            Done::Roots { paths, notes } => {
                for note in notes {
                    self.say(note, output);
                }
                self.change_roots(paths, output);
            }
            done => {
                let actions = self.profile.done(done);
                self.perform(actions, output);
            }
        }
    }

    fn change_roots(&mut self, roots: Vec<PathBuf>, output: &Sender<Message>) {
        if roots == self.roots {
            return;
        }
        self.roots = roots;
        self.companion.handle().change_roots(self.roots.clone());
        // Before that the client is told with all the rest.
        if self.is_initialized {
            let published = self.published();
            let actions = self.profile.roots_changed(&published);
            self.perform(actions, output);
        }
    }

    fn published(&self) -> Published {
        Published {
            port: self.companion.port(),
            pid: std::process::id(),
            discovery_files: self.companion.files().to_vec(),
            roots: self.roots.clone(),
        }
    }

    pub fn perform(&mut self, actions: Vec<Action>, output: &Sender<Message>) {
        let companion = self.companion.handle();
        for action in actions {
            match action {
                Action::Send(message) => {
                    if let Message::Request(Request { id, method, .. }) = &message {
                        tracing::debug!(%id, method, "asked");
                    }
                    self.say(message, output);
                }
                // Not held back as messages are: whoever asks is ready for the answer.
                Action::Answer { id, result } => {
                    let response_result = result;
                    let response = Response {
                        id,
                        response_result,
                    };
                    let _ = output.send(response.into());
                }
                Action::Disk(job) => {
                    if let Some(files) = &self.files {
                        files.order(job);
                    }
                }
                Action::ReportContext { files, is_trusted } => {
                    companion.report_context(files, is_trusted);
                }
                Action::Mention {
                    request,
                    path,
                    lines,
                    answer,
                } => {
                    let output = output.clone();
                    let told = Reply::new(move |agent: Result<_, _>| {
                        let response = Response {
                            id: request,
                            // One that goes away in between has named nothing.
                            response_result: Ok(answer(agent.unwrap_or_default())),
                        };
                        let _ = output.send(response.into());
                    });
                    companion.mention(path, lines, told);
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

/// The person hears of it.
pub fn warning(lost: &LostOutcome) -> Message {
    message::show(MessageType::Warning, lost.to_string())
}
