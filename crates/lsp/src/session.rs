//! The session between `initialize` and `shutdown`: the companion, the client's profile, and the events and messages
//! that wait until the client is ready.
//!
//! A thread makes the session, and only then does the loop wait, because no agent is served yet.

mod guests;
mod service;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use crossbeam_channel::Sender;
use lsp_server::{ErrorCode, Message, Request};
use pillion_discovery::Environment;
use pillion_discovery::state::{self, CompanionState};
use pillion_discovery::workspace::Workspace;
use pillion_system::{Worker, spawn};
use pillion_view::{
    Compares, EditorEvent, Leaving, LostOutcome, Options as CompanionOptions, Reply, Shows, Tell,
};
use serde_json::Value;

use self::guests::Guests;
pub use self::service::Told;
use self::service::{Plan, Service, State};
use crate::Options;
use crate::comparer;
use crate::disk::{self, Done, Job, RootChanges, proposal_dir};
use crate::handshake::{InitializeParams, ProfileKind};
use crate::message::{self, MessageType};
use crate::plain::{self, Plain};
use crate::plugin::{self, Plugin};
use crate::profile::{Action, ClientProfile, Published};
use crate::roots::{Change, DidChangeWorkspaceFolders, Roots};
use crate::watch;

/// More messages than this wait only for an editor that hangs or is suspended. No proposal joins
/// them: agents that try again and again would fill the memory.
const MAX_UNREAD: usize = 256;

/// In the environment of an editor with a plugin: the editor's process.
const PLUGIN_OF: &str = "PILLION_PLUGIN_OF";

/// From the answer to `initialize` on.
pub struct Session {
    service: Service,
    pub profile: Box<dyn ClientProfile + Send>,
    /// The worker for the files of proposals, if proposals are shown as files.
    files: Option<Worker<Job>>,
    output: Sender<Message>,
    /// The channel of other threads' results.
    done: Sender<Done>,
    guests: Guests,
    /// The workspace roots, the folder in which an agent starts, and where their changes are worked out.
    roots: Vec<PathBuf>,
    start: Option<PathBuf>,
    changes: RootChanges,
    /// The way to the thread that watches files, once there are any.
    watched: Option<Sender<Vec<String>>>,
    pub editor_pid: u32,
    is_initialized: bool,
    /// The events from before the client was ready.
    held: Vec<EditorEvent>,
    /// The messages from before that.
    unsent: Vec<Message>,
    /// False if another program may say all that the editor says.
    is_heard: bool,
}

/// The parts that a session is made of.
#[derive(Debug)]
pub struct Start {
    pub params: InitializeParams,
    pub profile_kind: ProfileKind,
    /// When the client wants to show diffs.
    pub shows: Shows,
    /// The facts that a plugin tells about its workspace, if it leaves it to us to work the roots out.
    pub workspace: Option<Workspace>,
    pub options: Options,
    pub output: Sender<Message>,
    pub events: Sender<Told>,
    pub done: Sender<Done>,
    /// Why nothing counts that the editor says, if nothing does.
    pub unheard: Option<&'static str>,
}

impl Start {
    pub fn session(self) -> anyhow::Result<Session> {
        let (params, profile_kind) = (self.params, self.profile_kind);
        let ide = params.editor(self.options.editor.as_deref());
        let environment = Environment::current();
        let home = environment.home();
        let mut roots = match &self.workspace {
            Some(workspace) => Roots::of(home, workspace),
            None if params.has_no_root(&profile_kind) => Roots::default(),
            // Such a plugin determines itself which folders are workspaces, and its user may have chosen any.
            None => {
                let home = home.filter(|_| profile_kind == ProfileKind::Plain);
                Roots::new(home, params.folders())
            }
        };
        let start = roots.start();
        let (paths, mut notes) = (roots.paths(), roots.take_notes());
        let editor_pid = params.editor_pid();
        tracing::info!(
            ?ide,
            version = params.editor_version(),
            editor_pid,
            ?profile_kind,
            "initialize"
        );
        let options = CompanionOptions {
            environment: environment.clone(),
            editor_pid,
            ide: ide.clone(),
            roots: paths.clone(),
            shows: if self.options.no_diffs {
                Shows::Never
            } else {
                self.shows
            },
        };
        let compares = match profile_kind {
            ProfileKind::Plugin { .. } => Compares::Hunks,
            // It compares what the editor shows.
            ProfileKind::Plain => Compares::Text,
        };
        let guests = Guests::new(
            environment.clone(),
            editor_pid,
            ide,
            self.events.clone(),
            self.done.clone(),
            self.unheard,
        );
        let plan = Plan {
            options,
            start_own: self.options.start_own,
            compares,
            events: self.events,
            done: self.done.clone(),
            unheard: self.unheard,
        };
        let encoding = params.encoding();
        let (profile, files, state): (Box<dyn ClientProfile + Send>, _, _) = match profile_kind {
            ProfileKind::Plugin { version } => {
                let profile = Plugin::new(encoding, version);
                (Box::new(profile), None, State::Running(plan.start()?))
            }
            ProfileKind::Plain => {
                let dir = proposal_dir::open(&environment);
                let is_for_another = paths.is_empty() || proposal_dir::has_others(&dir);
                let setup = plain::Setup {
                    encoding,
                    quirks: params.quirks(self.options.open_with.is_some()),
                    folders: dir.parents(),
                    open_with: self.options.open_with,
                };
                let files = disk::start(dir, self.done.clone());
                let files = files.context("cannot start a thread")?;
                let state = if has_plugin(&environment, editor_pid) {
                    tracing::info!("the editor's plugin serves agents, so this process does not");
                    State::Absent
                } else if params.folders().is_empty()
                    && is_served(&paths, &state::list(&environment), editor_pid)
                {
                    tracing::info!(
                        "another process serves agents for this editor, so this one does not"
                    );
                    State::Absent
                } else if is_for_another {
                    State::Waiting(Box::new(plan))
                } else {
                    State::Running(plan.start()?)
                };
                (Box::new(Plain::new(setup)), Some(files), state)
            }
        };
        let changes = RootChanges::follow(roots, self.done.clone());
        let changes = changes.context("cannot start a thread")?;
        let service = Service::new(state);
        notes.extend(other_version(&service));
        let unheard = self.unheard.map(|why| format!("Pillion: {why}"));
        notes.extend(unheard.map(|why| message::show(MessageType::Warning, why)));
        Ok(Session {
            service,
            profile,
            files,
            output: self.output,
            done: self.done,
            guests,
            roots: paths,
            start,
            changes,
            watched: None,
            editor_pid,
            is_initialized: false,
            held: Vec::new(),
            unsent: notes,
            is_heard: self.unheard.is_none(),
        })
    }
}

impl Session {
    pub fn initialized(&mut self) {
        if std::mem::replace(&mut self.is_initialized, true) {
            return;
        }
        for message in std::mem::take(&mut self.unsent) {
            self.say(message);
        }
        self.service.initialized(Instant::now());
        if let Some(published) = self.published() {
            self.tell(|profile| profile.initialized(&published));
        }
        for event in std::mem::take(&mut self.held) {
            self.tell(|profile| profile.event(event));
        }
    }

    pub fn event(&mut self, Told { guest, event }: Told) {
        let Some(guest) = guest else {
            return self.companion_event(event);
        };
        match self.guests.event(guest, event) {
            // That is about another workspace.
            None | Some(EditorEvent::Status(_)) => {}
            Some(EditorEvent::Stopped) => self.tell(|profile| profile.guest_left(guest)),
            Some(event) => self.companion_event(event),
        }
    }

    fn companion_event(&mut self, event: EditorEvent) {
        match event {
            EditorEvent::Open(_, shown) if self.output.len() > MAX_UNREAD => {
                shown.failed("the editor does not read its messages");
            }
            // Dropping the request answers that there are none.
            EditorEvent::Diagnostics(..) | EditorEvent::Text(..)
                if !self.is_initialized || self.output.len() > MAX_UNREAD => {}
            EditorEvent::Text(..) if !self.is_heard => {}
            EditorEvent::Close(id, reason, _) if !self.is_heard => {
                // As if it answered nothing.
                let unheard = Reply::new(|_: Result<String, String>| ());
                self.tell(|profile| profile.event(EditorEvent::Close(id, reason, unheard)));
            }
            EditorEvent::Lost(lost) => self.say(warning(&lost)),
            EditorEvent::Moved(_) => self.publish(),
            event if self.is_initialized => {
                self.tell(|profile| profile.event(event));
            }
            event => self.hold(event),
        }
    }

    /// Keeps an event until the client is ready, in the place of those that nobody needs to hear any more.
    fn hold(&mut self, event: EditorEvent) {
        self.held.retain_mut(|held| !replaces(&event, held));
        match event {
            // Its proposal is dropped, which is an answer too.
            EditorEvent::Close(_, _, closed) => closed.failed("the diff was never shown"),
            event => self.held.push(event),
        }
    }

    /// The editor has ended.
    pub fn leave(&self, why: Leaving) {
        let why = match why {
            // Hooks would ask nobody any more.
            Leaving::Closed if !self.is_heard => Leaving::Killed,
            why => why,
        };
        if let Some(companion) = self.service.handle() {
            companion.tell(Tell::Leave(why));
        }
    }

    /// Has the client told of changes to these files.
    fn watch(&mut self, uris: Vec<String>) {
        if self.watched.is_none() && !uris.is_empty() {
            let output = self.output.clone();
            let tell = move |uri: &str, size| drop(output.send(plugin::changed_file(uri, size)));
            let started = watch::start(tell);
            self.watched = started
                .inspect_err(|error| tracing::warn!(%error, "files are not watched"))
                .ok();
        }
        if let Some(watched) = &self.watched {
            let _ = watched.send(uris);
        }
    }

    /// Tells the companion, or that whose guest shows the proposal that it is about.
    fn tell_companion(&self, mut tell: Tell) {
        let of_guest = tell.key_mut().and_then(|key| {
            let (companion, meant) = self.guests.meant(*key)?;
            *key = meant;
            Some(companion)
        });
        if let Some(companion) = of_guest.or_else(|| self.service.handle()) {
            companion.tell(tell);
        }
    }

    fn say(&mut self, message: Message) {
        if self.is_initialized {
            // An editor that reads no more ends the loop by itself.
            let _ = self.output.send(message);
        } else {
            self.unsent.push(message);
        }
    }

    /// The editor's folders changed: what the roots are then is worked out elsewhere.
    pub fn change_folders(&mut self, method: &str, params: Value) {
        match message::params::<DidChangeWorkspaceFolders>(params) {
            Ok(params) => self.changes.order(Change::Folders(params.event)),
            Err(why) => self.say(message::ignored(method, &why)),
        }
    }

    pub fn done(&mut self, done: Done) {
        match done {
            Done::Roots {
                paths,
                start,
                notes,
                requests,
            } => {
                for note in notes {
                    self.say(note);
                }
                self.change_roots(paths, start);
                for request in requests {
                    let answer = message::answer(request, Ok(Value::Null));
                    let _ = self.output.send(answer);
                }
            }
            Done::Started(started) => {
                let started = self.service.started(started, &self.roots);
                self.check(started);
                if let Some(message) = other_version(&self.service) {
                    self.say(message);
                }
            }
            Done::Joined { id, joined } => {
                let Some((joined, held)) = self.guests.joined(id, joined) else {
                    return;
                };
                self.tell(|profile| profile.joined(id, joined));
                for event in held {
                    let guest = Some(id);
                    self.event(Told { guest, event });
                }
            }
            done => {
                self.tell(|profile| profile.done(done));
            }
        }
    }

    fn change_roots(&mut self, roots: Vec<PathBuf>, start: Option<PathBuf>) {
        let have_changed = roots != self.roots;
        if !have_changed && start == self.start {
            return;
        }
        (self.roots, self.start) = (roots, start);
        if have_changed {
            let changed = self.service.change_roots(self.roots.clone());
            self.check(changed);
        }
        self.publish();
    }

    /// Tells the client by what agents find the companion now.
    fn publish(&mut self) {
        // Before that, it is sent with all the rest.
        if let Some(published) = self.published().filter(|_| self.is_initialized) {
            self.tell(|profile| profile.published(&published));
        }
    }

    /// Shows the person that agents cannot connect.
    fn check(&mut self, result: Result<(), impl std::fmt::Display>) {
        if let Err(why) = result {
            let text = format!("Pillion: no agent can connect: {why:#}");
            self.say(message::show(MessageType::Error, text));
        }
    }

    fn published(&self) -> Option<Published> {
        let companion = self.service.companion()?;
        Some(Published {
            port: companion.port(),
            discovery_files: companion.files(),
            roots: self.roots.clone(),
            start: self.start.clone(),
        })
    }

    /// When [`Session::elapse`] wants to be called.
    pub fn due(&self) -> Option<Instant> {
        let service = self.service.due.into_iter();
        service.chain(self.profile.due()).min()
    }

    /// Time has passed.
    pub fn elapse(&mut self, now: Instant) {
        let started = self.service.elapse(now, self.profile.has_guests());
        self.check(started);
        self.tell(|profile| profile.elapse(now));
    }

    /// Returns true if something is under way that must not be cut off.
    pub fn is_busy(&self) -> bool {
        self.profile.is_deciding() || self.service.is_starting()
    }

    /// The profile handles something, and what it wants done is done.
    pub fn tell(&mut self, handle: impl FnOnce(&mut dyn ClientProfile) -> Vec<Action>) {
        let actions = handle(self.profile.as_mut());
        self.perform(actions);
    }

    fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                // A client that asks is ready for the answer.
                Action::Send(answer @ Message::Response(_)) => drop(self.output.send(answer)),
                Action::Send(message) => {
                    if let Message::Request(Request { id, method, .. }) = &message {
                        tracing::debug!(%id, method, "asked");
                    }
                    self.say(message);
                }
                Action::Disk(job) => {
                    if let Some(files) = &self.files {
                        files.order(job);
                    }
                }
                Action::Launch {
                    key,
                    program,
                    file,
                    line,
                } => {
                    disk::launch(key, program, file, line, self.done.clone());
                }
                Action::Compare(comparison) => {
                    if let Err(error) = comparer::start(comparison, self.done.clone()) {
                        tracing::warn!(%error, "cannot compare a proposal");
                    }
                }
                Action::Join { guest, owner, key } => self.guests.join(guest, owner, key),
                Action::Part(guest) => self.guests.part(guest),
                Action::ChangeWorkspace { request, workspace } => {
                    let requests = request.into_iter().collect();
                    self.changes.order(Change::Workspace {
                        workspace,
                        requests,
                    });
                }
                Action::ReportContext { files, is_trusted } => {
                    let reported = self.service.report(files, is_trusted);
                    self.check(reported);
                }
                Action::Watch(uris) => self.watch(uris),
                Action::Tell(tell) => self.tell_companion(tell),
                Action::Ask(asking) => {
                    asking.send(self.service.handle(), &self.output, &self.done);
                }
                Action::Decide(mut decide) => {
                    let (key, done) = (decide.key, self.done.clone());
                    let reply = Reply::told(move |ruling| {
                        drop(done.send(Done::Ruled { key, ruling }));
                    });
                    let own = || Some((self.service.handle()?, key));
                    if let Some((companion, key)) = self.guests.meant(key).or_else(own) {
                        decide.key = key;
                        companion.ask(decide, reply);
                    }
                }
                Action::WorkOut { request, answer } => {
                    let (id, output) = (request.clone(), self.output.clone());
                    let work_out = move || {
                        let answer = (answer.0)();
                        let answer = answer.map_err(message::failed);
                        let _ = output.send(message::answer(request, answer));
                    };
                    if let Err(error) = spawn("compare", work_out) {
                        let text = format!("cannot start a thread: {error}");
                        let error = message::error(ErrorCode::InternalError, text);
                        let _ = self.output.send(message::answer(id, Err(error)));
                    }
                }
            }
        }
    }
}

/// Returns true if agents find this editor by its plugin. An editor in the terminal of another one inherits the
/// variable, and is another process.
fn has_plugin(environment: &Environment, editor_pid: u32) -> bool {
    let plugin_of = environment.filled(PLUGIN_OF);
    plugin_of.is_some_and(|pid| pid == editor_pid.to_string().as_str())
}

/// Returns true if a companion serves the same editor and has all of these folders as its own. An editor that starts a
/// server for each project starts one more for a file that is in none, which would be a second view of it: proposals
/// would be shown in either.
fn is_served(paths: &[PathBuf], companions: &[CompanionState], editor_pid: u32) -> bool {
    let mut others = companions
        .iter()
        .filter(|it| it.editors().contains(&editor_pid));
    !paths.is_empty() && others.any(|it| paths.iter().all(|path| it.roots.contains(path)))
}

/// The message to the person if the companion runs in a program of another version.
fn other_version(service: &Service) -> Option<Message> {
    let mismatch = service.companion()?.mismatch()?;
    Some(message::mismatch(&mismatch))
}

/// The message to the person.
pub fn warning(lost: &LostOutcome) -> Message {
    message::show(MessageType::Warning, lost.to_string())
}

/// Nothing is shown yet: of a diff only its newest proposal matters, and nothing of it if it is closed; of status reports only the
/// last. All else is heard: a text that was kept, above all.
fn replaces(event: &EditorEvent, held: &mut EditorEvent) -> bool {
    match event {
        EditorEvent::Open(diff, _) => {
            matches!(held, EditorEvent::Open(older, _) if older.id == diff.id)
        }
        EditorEvent::Close(id, ..) => held.diff_mut() == Some(&mut id.clone()),
        EditorEvent::Status(_) => matches!(held, EditorEvent::Status(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use pillion_view::{CloseReason, DiffId, ProposalKey, Reply, Status};

    use super::*;

    #[test]
    fn what_was_kept_is_heard_whatever_comes_before_the_client_is_ready() {
        let key = |id| ProposalKey {
            id: DiffId(id),
            revision: 1,
        };
        let draft = |id| EditorEvent::Draft(key(id), "text".to_owned());
        let closed = |id| EditorEvent::Close(DiffId(id), CloseReason::AgentGone, Reply::new(drop));
        let status = || EditorEvent::Status(Status::default());
        for (event, mut held, expected) in [
            (status(), draft(1), false),
            (status(), EditorEvent::Notes(key(1), Vec::new()), false),
            (status(), EditorEvent::Moved(1), false),
            (status(), status(), true),
            (draft(1), status(), false),
            (closed(1), draft(1), true),
            (closed(2), draft(1), false),
        ] {
            let is_replaced = replaces(&event, &mut held);
            assert_eq!(is_replaced, expected, "{event:?} {held:?}");
        }
    }

    #[test]
    fn only_the_editor_s_own_plugin_counts() {
        for (variables, expected) in [
            (vec![(PLUGIN_OF, "42")], true),
            (vec![(PLUGIN_OF, "421")], false),
            (vec![(PLUGIN_OF, "")], false),
            (vec![], false),
        ] {
            let environment = Environment::from_pairs(variables.clone());
            assert_eq!(has_plugin(&environment, 42), expected, "{variables:?}");
        }
    }
}
