//! The loop between a Kakoune session and its companion.

mod decisions;
mod done;
mod told;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use crossbeam_channel::{Receiver, Sender, at, never, select, tick, unbounded};
use pillion_companion::{
    CloseReason, Companion, Diff, DiffId, EditorEvent, Handle, Pending, ProposalKey, Proposed,
    Reply, StartError, Status, now_ms,
};
use pillion_discovery::Environment;
use pillion_protocol::IdeInfo;
use pillion_system::{Worker, process, spawn};

use self::done::Decided;
use crate::clients::Clients;
use crate::context::{Context, Report};
use crate::disk::{self, Done, Job};
use crate::files::Files;
use crate::inbox::{self, Received, What};
use crate::session::Session;
use crate::view::View;
use crate::{Options, roots, script, status, tmux};

/// How often it is checked what nothing reports: that Kakoune works in another folder, and, where the system does not
/// tell, that it was killed.
const LIFE_INTERVAL: Duration = Duration::from_secs(10);

/// A view that is being taken away because it was asked for.
struct Closing {
    view: View,
    reason: CloseReason,
    closed: Reply<String>,
}

/// The client in the pane for proposals.
struct Review {
    /// The name that it was started with.
    client: String,
    /// What it shows.
    view: DiffId,
}

struct Bridge {
    options: Options,
    environment: Environment,
    session: Session,
    worker: Worker<Job>,
    /// Where the system tells that the server's process has ended.
    ends: (Sender<()>, Receiver<()>),
    /// Where threads that wait for a disk report their results.
    done: (Sender<Done>, Receiver<Done>),
    handle: Handle,
    port: u16,
    context: Context,
    clients: Clients,
    roots: Vec<PathBuf>,
    root_requests: Sender<roots::Request>,
    views: Pending<View>,
    closing: BTreeMap<DiffId, Closing>,
    /// Who wants to know what stands in which view.
    asked: Vec<(ProposalKey, Reply<String>)>,
    decided: BTreeMap<DiffId, Decided>,
    /// Accepted, and not ruled about; with what stood in the buffer if the person has closed it since.
    ruling: HashMap<DiffId, Option<Vec<u8>>>,
    /// The files that agents are about to write, each with the last decision about it.
    followed: HashMap<PathBuf, ProposalKey>,
    /// How many texts are being kept.
    keeping: usize,
    /// The pane for proposals, while there is one or about to be.
    review: Option<Review>,
    warned: Vec<String>,
    /// Whether the loop is to end.
    is_over: bool,
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
    let (sender, messages) = unbounded();
    inbox::start(files.inbox(), sender).context("cannot watch a private folder")?;
    let done = unbounded();
    let session = Session::new(&options.session, done.0.clone());
    let session = session.context("cannot start a thread")?;
    let home = environment.home();
    let roots = roots::find(environment.current_dir(), &[], home.as_deref());
    let root_requests = roots::follow(home, done.0.clone()).context("cannot start a thread")?;
    let (send, events) = unbounded();
    let clients = Clients::of(options.server);
    let start = pillion_companion::Options {
        environment: environment.clone(),
        editor_pid: clients.editor,
        ide: IdeInfo::new("kakoune", "Kakoune"),
        roots: roots.clone(),
    };
    let editor = move |event: EditorEvent| drop(send.send(event));
    let companion = match Companion::start(start, editor) {
        Err(StartError::Interrupted) => return Ok(()),
        started => started.context("cannot start the companion")?,
    };
    let port = companion.port();
    session.run(script::begin(files.path(), port));
    let worker = disk::start(files, done.0.clone()).context("cannot start a thread")?;
    let mut bridge = Bridge {
        options,
        environment,
        session,
        worker,
        ends: unbounded(),
        done,
        handle: companion.handle(),
        port,
        context: Context::default(),
        clients,
        roots,
        root_requests,
        views: Pending::default(),
        closing: BTreeMap::new(),
        asked: Vec::new(),
        decided: BTreeMap::new(),
        ruling: HashMap::new(),
        followed: HashMap::new(),
        keeping: 0,
        review: None,
        warned: Vec::new(),
        is_over: false,
    };
    bridge.put_status(&Status::default());
    bridge.serve(&messages, &events);
    bridge.finish();
    drop(companion);
    // What no agent received is reported while the session is there.
    for event in events.try_iter() {
        bridge.event(event);
    }
    Ok(())
}

impl Bridge {
    fn serve(&mut self, messages: &Receiver<Received>, events: &Receiver<EditorEvent>) {
        let checks = tick(LIFE_INTERVAL);
        let (done, ends) = (self.done.1.clone(), self.ends.1.clone());
        self.watch_server();
        while !self.is_over {
            let due = self.decided.values().map(|decided| decided.due).min();
            let due = due.map_or_else(never, at);
            let handled = select! {
                recv(messages) -> message => message.map(|message| self.received(message)),
                recv(events) -> event => event.map(|event| self.event(event)),
                recv(done) -> done => done.map(|done| self.done(done)),
                recv(due) -> now => now.map(|now| self.resolve_due(now)),
                recv(checks) -> now => now.map(|_| self.check_server()),
                recv(ends) -> end => end.map(|()| self.check_server()),
            };
            self.is_over |= handled.is_err();
        }
    }

    /// Has it told when the server's process ends.
    fn watch_server(&self) {
        let (ends, server) = (self.ends.0.clone(), self.clients.server);
        let wait = move || {
            if process::wait_until_ended(server) {
                let _ = ends.send(());
            }
        };
        // Without a thread it is noticed later.
        let _ = spawn("server's end", wait);
    }

    /// Checks what is not reported.
    fn check_server(&self) {
        self.refresh_roots();
        if !process::is_alive(self.clients.server) {
            self.session.probe(script::ask_server());
        }
    }

    fn event(&mut self, event: EditorEvent) {
        match event {
            EditorEvent::Open(diff, shown) => self.open(diff, shown),
            EditorEvent::Close(id, reason, closed) => self.close(id, reason, closed),
            // Dropping the request answers that there are none.
            EditorEvent::Diagnostics(..) => {}
            EditorEvent::Text(key, told) => self.ask_text(key, told),
            EditorEvent::Status(status) => self.status(&status),
            EditorEvent::Lost(lost) => self.show_message(&lost.to_string()),
            EditorEvent::Stopped => self.is_over = true,
        }
    }

    fn received(&mut self, Received { what, at }: Received) {
        match what {
            What::Report(report) => self.reported(*report),
            What::Loaded(key, loaded) => self.loaded(key, loaded),
            What::Drawn(key, client) => {
                let id = key.id;
                if let Some(view) = self.views.find_mut(id) {
                    let was_drawn = view.is_drawn();
                    if view.key() == key {
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
                    self.reject(view.key(), &text);
                }
            }
            What::Given(id, text) => self.given(id, text),
            What::Told(key, text) => self.told(key, text),
            What::Untyped(id) => {
                let view = self.views.find_mut(id);
                if view.is_some_and(|view| !std::mem::replace(&mut view.is_untyped_reported, true))
                {
                    self.show_message(
                        "only what you type accepts or rejects, such as :pillion-accept",
                    );
                }
            }
            What::ClientClosed(pid, review) => self.client_closed(pid, &review),
            What::Server(pid) => {
                self.clients.server = pid;
                self.watch_server();
            }
            What::End => self.is_over = true,
        }
        if let Some(pid) = self.clients.changed_editor() {
            self.handle.change_editor(pid);
        }
    }

    fn reported(&mut self, report: Report) {
        self.session.rename(&report.session);
        // The pane for proposals is not where the person works.
        if !report.review.is_empty() || self.clients.is_late(&report) {
            return;
        }
        if let Some(files) = self.context.update(&report, now_ms()) {
            self.handle.report_context(files, None);
        }
        self.clients.reported(report);
        self.refresh_roots();
    }

    fn refresh_roots(&self) {
        if let Some(report) = self.clients.newest() {
            // Asked again soon, if the thread is still at it.
            let _ = self.root_requests.try_send(roots::Request {
                server: self.clients.server,
                folder: report.folder.clone(),
                files: report.files().collect(),
            });
        }
    }

    fn open(&mut self, diff: Diff, shown: Reply<()>) {
        let view = View::new(diff, shown);
        self.worker.order(Job::Write(Arc::downgrade(&view.diff)));
        self.views.put(view);
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
        let diff = Arc::clone(&view.diff);
        self.show(key.id);
        if let Some(shown) = shown {
            shown.done(());
        }
        let (agent, path) = (diff.agent.display_name(), diff.path.display());
        self.show_message(&format!(
            "{agent} proposes {path}: :w accepts, :q rejects, :pillion-show shows it"
        ));
        for note in &diff.notes {
            self.show_message(note);
        }
    }

    /// Puts a proposal in front of the person, unless another one is there: then it is its turn later.
    fn show(&mut self, id: DiffId) {
        let reviewed = self.review.as_ref().map(|review| review.view);
        let is_in_front =
            |view: &View| view.diff.id != id && (view.is_drawn() || reviewed == Some(view.diff.id));
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
            let client = format!("{}-{id}", std::process::id());
            let commands = script::first_display(view);
            let session = self.session.name();
            tmux::split(report, &session, &client, &commands, &self.done.0);
            self.session.run(script::waiting(Some(view)));
            self.review = Some(Review { client, view: id });
            return;
        }
        self.session.run(script::offer(view, self.clients.name()));
    }

    /// Removes a view's buffer, and shows the next proposal in its place.
    fn take_away(&mut self, view: &View) {
        let next = self.views.iter().find(|view| view.is_loaded);
        self.session.run(script::close(view, next));
        self.session.run(script::waiting(next));
        let next = next.map(|view| view.diff.id);
        self.worker.order(Job::Remove(view.diff.id));
        match (&mut self.review, next) {
            (Some(review), Some(id)) => review.view = id,
            (Some(_), None) => self.review = None,
            (None, Some(id)) => self.show(id),
            (None, None) => {}
        }
    }

    fn close(&mut self, id: DiffId, reason: CloseReason, closed: Reply<String>) {
        // First: what the person decided stands.
        self.resolve(id);
        let view = match self.views.close(id) {
            Ok(view) => view,
            Err(stale) => return closed.failed(stale.to_string()),
        };
        // Who closes it may have been allowed to write in its own window.
        if matches!(reason, CloseReason::Settled | CloseReason::ClosedByAgent) {
            self.follow(&view);
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
        // If it is closed in the agent's window, the agent takes the text from the answer.
        let is_unused = matches!(reason, CloseReason::AgentGone | CloseReason::Overruled);
        if let Some(edits) = view.edits(&text).filter(|_| is_unused) {
            self.keep(view.diff.path.clone(), edits);
        }
        match String::from_utf8(text) {
            // Its buffer was gone already.
            Ok(held) if held.is_empty() => closed.done(view.diff.proposed.to_string()),
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
        for warning in status.unasked.iter().chain(&status.warnings) {
            if !self.warned.contains(warning) {
                self.show_message(warning);
                self.warned.push(warning.clone());
            }
        }
    }

    fn put_status(&self, status: &Status) {
        let text = status::text(self.port, status, self.views.len(), &self.roots);
        self.worker.order(Job::Status(text));
    }

    fn show_message(&self, text: &str) {
        self.session.run(script::message(self.clients.name(), text));
    }
}
