//! The loop between a Kakoune session and its companion.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;
use crossbeam_channel::{Receiver, after, select, unbounded};
use pillion_companion::{
    CloseReason, Companion, Diff, DiffId, EditorEvent, Forward, Handle, Pending, ProposalKey,
    Reply, Stale, StartError, Status, now_ms,
};
use pillion_discovery::{Environment, kept_text};
use pillion_protocol::{IdeInfo, Outcome};
use pillion_system::process;

use crate::clients::Clients;
use crate::context::{Context, Report};
use crate::files::Files;
use crate::inbox::{self, Said, What};
use crate::reload::{self, Awaited};
use crate::removed::Removed;
use crate::session::Session;
use crate::view::{Refusal, View};
use crate::{Options, roots, script, status, tmux};

/// How often it is looked whether Kakoune lives: one that is killed says nothing.
const LIFE_INTERVAL: Duration = Duration::from_secs(1);

/// Whether the loop goes on.
enum Next {
    Continue,
    End,
}

/// A view that is being taken away because it was asked for.
struct Closing {
    view: View,
    reason: CloseReason,
    closed: Reply<String>,
}

/// The client in the pane for proposals.
struct Review {
    /// What it is told that it is.
    client: String,
    /// What it shows.
    view: DiffId,
}

struct Bridge {
    options: Options,
    environment: Environment,
    session: Session,
    files: Files,
    handle: Handle,
    port: u16,
    context: Context,
    clients: Clients,
    roots: Vec<PathBuf>,
    views: Pending<View>,
    closing: BTreeMap<DiffId, Closing>,
    /// The pane for proposals, while there is one.
    review: Option<Review>,
    awaited: Awaited,
    warned: Vec<String>,
}

/// Serves a session until it ends.
///
/// # Errors
/// When there is no private folder, no port or no thread.
pub fn run(options: Options) -> anyhow::Result<()> {
    // The session may outlive the terminal in which it began.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
    let environment = Environment::current();
    let files = Files::new(&environment).context("cannot make a private folder")?;
    let (said, hears) = unbounded();
    inbox::start(files.inbox(), said).context("cannot watch a private folder")?;
    let session = Session::new(&options.session).context("cannot start a thread")?;
    let roots = roots::find(
        environment.current_dir(),
        &[],
        environment.home().as_deref(),
    );
    let (send, events) = unbounded();
    let clients = Clients::of(options.server);
    let start = pillion_companion::Options {
        environment: environment.clone(),
        editor_pid: clients.editor(),
        ide: IdeInfo::new("kakoune", "Kakoune"),
        roots: roots.clone(),
    };
    let editor = Forward::new(move |event| drop(send.send(event)));
    let companion = match Companion::start(start, editor) {
        Err(StartError::Interrupted) => return Ok(()),
        started => started.context("cannot start the companion")?,
    };
    let port = companion.port();
    session.run(script::begin(files.path(), port));
    let mut bridge = Bridge {
        options,
        environment,
        session,
        files,
        handle: companion.handle(),
        port,
        context: Context::default(),
        clients,
        roots,
        views: Pending::default(),
        closing: BTreeMap::new(),
        review: None,
        awaited: Awaited::default(),
        warned: Vec::new(),
    };
    bridge.put_status(&Status::default());
    bridge.serve(&hears, &events);
    drop(companion);
    // What nobody received is said while there is somebody to say it to.
    while let Ok(event) = events.recv_timeout(Duration::from_millis(10)) {
        bridge.event(event);
    }
    Ok(())
}

impl Bridge {
    fn serve(&mut self, said: &Receiver<Said>, events: &Receiver<EditorEvent>) {
        let mut looked = Instant::now();
        loop {
            let timer = if self.awaited.is_empty() {
                after(LIFE_INTERVAL)
            } else {
                after(reload::POLL_INTERVAL)
            };
            let next = select! {
                recv(said) -> said => said.map_or(Next::End, |said| self.said(said)),
                recv(events) -> event => event.map_or(Next::End, |event| self.event(event)),
                recv(timer) -> _ => Next::Continue,
            };
            if matches!(next, Next::End) {
                return;
            }
            for (path, is_written) in self.awaited.look(Instant::now()) {
                self.session.run(script::reload(&path, is_written));
            }
            if looked.elapsed() >= LIFE_INTERVAL {
                looked = Instant::now();
                self.refresh_roots();
                if !process::is_alive(self.clients.server()) {
                    if !self.session.is_there() {
                        return;
                    }
                    self.session.run(script::ask_server());
                }
            }
        }
    }

    fn event(&mut self, event: EditorEvent) -> Next {
        match event {
            EditorEvent::Open(diff, shown) => self.open(diff, shown),
            EditorEvent::Close(id, reason, closed) => self.close(id, reason, closed),
            EditorEvent::Diagnostics(_, found) => found.done(Vec::new()),
            EditorEvent::Status(status) => self.status(&status),
            EditorEvent::Lost(lost) => self.tell(&lost.to_string()),
            EditorEvent::Stopped => return Next::End,
        }
        Next::Continue
    }

    fn said(&mut self, Said { what, at }: Said) -> Next {
        match what {
            What::Report(report) => self.reported(*report),
            What::Loaded(key, loaded) => self.loaded(key, loaded),
            What::Drawn(key, client) => {
                let id = key.id;
                if let Some(view) = self.views.find_mut(id) {
                    let was_drawn = view.is_drawn();
                    if view.key == key {
                        view.draw(at);
                    }
                    if !client.is_empty() {
                        self.review = Some(Review { client, view: id });
                    }
                    if !was_drawn {
                        self.is_ready(id);
                    }
                }
            }
            What::Focused(id) => {
                if let Some(view) = self.views.find_mut(id) {
                    view.focus(at);
                    self.is_ready(id);
                }
            }
            What::Accepted(key, text) => self.accept(key, text, at),
            What::Rejected(key, text) => self.reject(key, &text),
            What::Removed(id, text) => {
                // Whatever it showed.
                if let Some(view) = self.views.find(id) {
                    self.reject(view.key, &text);
                }
            }
            What::Given(id, text) => self.given(id, text),
            What::Untyped(id) => {
                let view = self.views.find_mut(id);
                if view.is_some_and(|view| !std::mem::replace(&mut view.is_untyped_told, true)) {
                    self.tell("only what you type accepts or rejects, such as :pillion-accept");
                }
            }
            What::ClientClosed(pid, review) => self.client_closed(pid, &review),
            What::Server(pid) => self.clients.change_server(pid),
            What::End => return Next::End,
        }
        if let Some(pid) = self.clients.changed_editor() {
            self.handle.change_editor(pid);
        }
        Next::Continue
    }

    fn reported(&mut self, report: Report) {
        self.session.rename(&report.session);
        // The pane for proposals is not where the person works.
        if !report.review.is_empty() {
            return;
        }
        if let Some(files) = self.context.update(&report, now_ms()) {
            self.handle.report_context(files, None);
        }
        self.clients.reported(report);
        self.refresh_roots();
    }

    fn refresh_roots(&mut self) {
        let Some(report) = self.clients.newest() else {
            return;
        };
        let files: Vec<PathBuf> = report.files().collect();
        let home = self.environment.home();
        let roots = roots::find(
            &self.clients.working_folder(report),
            &files,
            home.as_deref(),
        );
        if roots != self.roots {
            self.roots.clone_from(&roots);
            self.handle.change_roots(roots);
        }
    }

    fn open(&mut self, diff: Diff, shown: Reply<()>) {
        let mut view = View::new(diff, shown);
        let removed = Removed::between(view.original.as_deref(), &view.held);
        match self.files.put(&view, &removed) {
            Ok(file) => {
                let load = script::load(&view, &file, &removed.marks, removed.first);
                self.session.run(load);
                self.views.put(view);
            }
            Err(error) => {
                if let Some(shown) = view.shown.take() {
                    shown.failed(format!("the proposal cannot be shown: {error}"));
                }
            }
        }
    }

    fn loaded(&mut self, key: ProposalKey, loaded: Result<Vec<u8>, String>) {
        let Ok(view) = self.views.current_mut(key) else {
            return;
        };
        let shown = view.shown.take();
        let trouble = match loaded {
            Ok(text) if text == view.held.as_bytes() => None,
            Ok(_) => Some("Kakoune cannot hold this text byte for byte".to_owned()),
            Err(error) => Some(format!("Kakoune could not open it: {error}")),
        };
        if let Some(trouble) = trouble {
            if let Ok(view) = self.views.take(key) {
                self.take_away(&view);
            }
            if let Some(shown) = shown {
                shown.failed(trouble);
            }
            return;
        }
        view.is_loaded = true;
        let notes = view.notes.clone();
        let about = format!(
            "{} proposes {}: :w accepts, :q rejects, :pillion-show shows it",
            view.agent.display_name(),
            view.path.display()
        );
        self.show(key.id);
        if let Some(shown) = shown {
            shown.done(());
        }
        self.tell(&about);
        for note in notes {
            self.tell(&note);
        }
    }

    /// Puts a proposal in front of the person, unless another one is there: then it is its turn later.
    fn show(&mut self, id: DiffId) {
        let reviewed = self.review.as_ref().map(|review| review.view);
        let is_in_front =
            |view: &View| view.key.id != id && (view.is_drawn() || reviewed == Some(view.key.id));
        if self.views.iter().any(is_in_front) {
            return;
        }
        let Some(view) = self.views.find(id) else {
            return;
        };
        if let Some(review) = &mut self.review {
            self.session.run(script::display(view));
            review.view = id;
            return;
        }
        let report = self.clients.newest().filter(|_| self.options.may_split);
        if let Some(report) = report.filter(|report| !report.tmux.is_empty()) {
            let commands = script::first_display(view);
            let client = format!("{}-{id}", std::process::id());
            if tmux::split(report, &self.session.name(), &client, &commands) {
                self.session.run(script::waiting(Some(view)));
                self.review = Some(Review { client, view: id });
                return;
            }
        }
        self.session.run(script::offer(view, self.clients.name()));
    }

    fn accept(&mut self, key: ProposalKey, text: Vec<u8>, at: SystemTime) {
        let view = match self.views.current_mut(key) {
            Ok(view) => view,
            Err(stale) => return self.refuse(stale),
        };
        let Ok(held) = String::from_utf8(text) else {
            self.tell("the text is not UTF-8, so no agent can take it");
            return;
        };
        let text = view.form.text(&held);
        match view.accept(&text, at) {
            Ok(()) => self.settle(key, Outcome::accepted(text)),
            Err(refusal) => {
                if refusal == Refusal::Unseen {
                    self.show(key.id);
                }
                self.is_ready(key.id);
                self.tell(&refusal.to_string());
            }
        }
    }

    /// Has its buffer say from when on it may be accepted.
    fn is_ready(&self, id: DiffId) {
        let view = self.views.find(id);
        if let Some((view, at)) = view.and_then(|view| Some((view, view.ready_at()?))) {
            self.session.run(script::ready(view, at));
        }
    }

    fn reject(&mut self, key: ProposalKey, text: &[u8]) {
        match self.views.current(key) {
            Ok(view) => {
                self.keep_edits(view, text);
                self.settle(key, Outcome::Rejected);
            }
            Err(stale) => self.refuse(stale),
        }
    }

    /// A decision does not count. Of a proposal that is gone the person has heard.
    fn refuse(&self, stale: Stale) {
        if stale == Stale::Replaced {
            self.tell(&stale.to_string());
        }
    }

    /// What the person wrote is not lost with the view.
    fn keep_edits(&self, view: &View, held: &[u8]) {
        if held.is_empty() || held == view.held.as_bytes() {
            return;
        }
        let text = view.form.text(&String::from_utf8_lossy(held));
        match kept_text::keep(&self.environment.tmpdir(), &view.path, &text) {
            Ok(file) => {
                self.session.run(script::keep(&file));
                self.tell(&format!("your edits are kept in {}", file.display()));
            }
            Err(error) => self.tell(&format!("your edits are lost: {error}")),
        }
    }

    fn settle(&mut self, key: ProposalKey, outcome: Outcome) {
        let Ok(view) = self.views.take(key) else {
            return;
        };
        if matches!(outcome, Outcome::Accepted { .. }) {
            let path = self.awaited.add(&view.path, Instant::now());
            self.session.run(script::await_write(&path));
        }
        self.handle.resolve_diff(key, outcome);
        self.take_away(&view);
    }

    /// Removes a view's buffer, and shows the next proposal in its place.
    fn take_away(&mut self, view: &View) {
        let next = self.views.iter().find(|view| view.is_loaded);
        self.session.run(script::close(view, next));
        self.session.run(script::waiting(next));
        let next = next.map(|view| view.key.id);
        self.files.remove(view);
        match (&mut self.review, next) {
            (Some(review), Some(id)) => review.view = id,
            (Some(_), None) => self.review = None,
            (None, Some(id)) => self.show(id),
            (None, None) => {}
        }
    }

    fn close(&mut self, id: DiffId, reason: CloseReason, closed: Reply<String>) {
        let view = match self.views.close(id) {
            Ok(view) => view,
            Err(stale) => return closed.failed(stale.to_string()),
        };
        // Who closes it may have been allowed to write in its own window.
        if matches!(reason, CloseReason::Settled | CloseReason::ClosedByAgent) {
            let path = self.awaited.add(&view.path, Instant::now());
            self.session.run(script::await_write(&path));
        }
        self.take_away(&view);
        let closing = Closing {
            view,
            reason,
            closed,
        };
        self.closing.insert(id, closing);
    }

    fn given(&mut self, id: DiffId, text: Vec<u8>) {
        let Some(Closing {
            view,
            reason,
            closed,
        }) = self.closing.remove(&id)
        else {
            return;
        };
        // Whoever closes it in the agent's window takes the text from the answer.
        if matches!(reason, CloseReason::AgentGone | CloseReason::Overruled) {
            self.keep_edits(&view, &text);
        }
        match String::from_utf8(text) {
            // Its buffer was gone already.
            Ok(held) if held.is_empty() => closed.done(view.proposed.to_string()),
            Ok(held) => closed.done(view.form.text(&held)),
            Err(_) => closed.failed("the text in the view is not UTF-8"),
        }
    }

    fn client_closed(&mut self, pid: u32, client: &str) {
        self.clients.closed(pid);
        let Some(review) = self.review.take_if(|review| review.client == client) else {
            return;
        };
        let Some(view) = self.views.find(review.view) else {
            return;
        };
        self.session.run(match view.is_displayed {
            // Closing it rejects. Its buffer, edits and all, is read while it is taken away.
            true => script::close_as_person(view),
            // Another proposal was closed, and this one was to be next.
            false => script::offer(view, self.clients.name()),
        });
    }

    fn status(&mut self, status: &Status) {
        self.put_status(status);
        for warning in &status.warnings {
            if !self.warned.contains(warning) {
                self.tell(warning);
                self.warned.push(warning.clone());
            }
        }
    }

    fn put_status(&self, status: &Status) {
        let text = status::text(self.port, &status.agents, self.views.len(), &self.roots);
        self.files.put_status(&text);
    }

    fn tell(&self, text: &str) {
        self.session.run(script::tell(self.clients.name(), text));
    }
}
