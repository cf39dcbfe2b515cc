//! The loop between a Kakoune session and its companion.
//!
//! A text that does not come back from a buffer byte for byte is not shown.

mod decisions;
mod done;
mod drafts;
mod front;
mod gone;
mod taking;
mod written;

use std::collections::{BTreeMap, HashMap};
use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use crossbeam_channel::{Receiver, Sender, at, never, select, tick, unbounded};
use pillion_discovery::Environment;
use pillion_discovery::version::Mismatch;
use pillion_discovery::workspace::Workspace;
use pillion_protocol::IdeInfo;
use pillion_system::now_ms;
use pillion_system::{Worker, process, spawn};
use pillion_view::{
    Diff, DiffId, EditorEvent, Handle, Leaving, Pending, ProposalKey, Proposed, Reply, SetPlace,
    Shows, StartError, Status, Tell, TurnNews, attach,
};

use self::decisions::Asked;
use self::done::Decided;
use self::gone::{Closing, Gone};
use self::taking::Listed;
use crate::clients::Clients;
use crate::context::{Context, Report};
use crate::disk::{self, Done, Job};
use crate::files::Files;
use crate::inbox::{self, Received, What};
use crate::offer::Offer;
use crate::said::{self, Server};
use crate::script::Settled;
use crate::session::Session;
use crate::view::View;
use crate::{Options, script};

/// The interval between checks of the things that nothing reports: that Kakoune works in another folder, and, where the
/// system does not tell, that it was killed.
const LIFE_INTERVAL: Duration = Duration::from_secs(10);

/// The time limit for the last word of a session that is gone.
const WORD_WITHIN: Duration = Duration::from_secs(1);

/// The client in the pane for proposals.
struct Review {
    client: String,
    /// The proposal that it shows.
    view: DiffId,
}

struct Bridge {
    options: Options,
    environment: Environment,
    session: Session,
    worker: Worker<Job>,
    /// The channel on which the system tells that the server's process has ended.
    ends: (Sender<()>, Receiver<()>),
    /// The channel of the results of threads that wait for a disk.
    done: (Sender<Done>, Receiver<Done>),
    handle: Handle,
    port: u16,
    context: Context,
    clients: Clients,
    roots: Vec<PathBuf>,
    root_requests: Sender<disk::RootsRequest>,
    views: Pending<View>,
    closing: BTreeMap<DiffId, Closing>,
    /// The requests for the text of a view.
    asked: Vec<(ProposalKey, Reply<String>)>,
    decided: BTreeMap<DiffId, Decided>,
    /// Accepted, and not ruled about.
    ruling: HashMap<DiffId, Asked>,
    /// Settled, and perhaps in Kakoune still.
    gone: BTreeMap<DiffId, Gone>,
    /// The display of the next proposal, held back until the person pauses.
    offer: Offer,
    /// Until when what is typed to decide does nothing in other buffers.
    guarded: Option<Instant>,
    /// The files that agents are about to write, each with the last decision about it.
    followed: HashMap<PathBuf, ProposalKey>,
    /// The flags of what agents have written and nobody has looked at, and those that Kakoune has.
    written: HashMap<PathBuf, Vec<String>>,
    flagged: HashMap<PathBuf, Vec<String>>,
    /// The row of the list of changes that the person looks at.
    listed: Option<Listed>,
    /// The changes that are being taken out of buffers.
    taking: BTreeMap<u64, String>,
    /// The number of texts that are being kept.
    keeping: usize,
    /// The pane for proposals, while there is one or about to be.
    review: Option<Review>,
    warned: Vec<String>,
    turn_news: TurnNews,
    /// When agents ask, as the session was told last.
    review_mode: Option<String>,
    /// What was decided last, as the mode line has it.
    phrase: Option<String>,
    /// The number of the list of changes, as the session has it.
    changes: u64,
    /// What a person is told who quits now, as the session has it.
    at_quit: Option<String>,
    /// The message about the hub's version, shown as soon as a client can show it.
    mismatch: Option<Mismatch>,
    is_over: bool,
    /// True if the session is gone, and has not said that it ends.
    is_gone: bool,
}

/// Serves a session until it ends.
///
/// # Errors
/// When there is no private folder, no port or no thread.
pub fn run(options: Options) -> anyhow::Result<()> {
    // The session may outlive the terminal in which it began: what hangs up there is another group of processes. Of the same
    // session of the system it stays, because that shows whose it is.
    #[cfg(unix)]
    let _ = rustix::process::setpgid(None, None);
    let environment = Environment::current();
    let files = Files::new(&environment).context("cannot make a private folder")?;
    let (sender, messages) = unbounded();
    inbox::start(files.inbox().path().to_owned(), sender.clone())
        .context("cannot watch a private folder")?;
    let done = unbounded();
    let session = Session::new(&options.session, done.0.clone());
    let session = session.context("cannot start a thread")?;
    let server = Server::of(options.server);
    if !server.is_known() {
        // It goes on as another process since: that one starts another companion.
        session.run("pillion-enable".to_owned());
        return Ok(());
    }
    said::start(files.inbox(), server, sender)?;
    let home = environment.home();
    let workspace = Workspace {
        folders: vec![environment.current_dir().to_owned()],
        ..Workspace::default()
    };
    let roots = workspace.roots(home.as_deref()).paths;
    let root_requests =
        disk::follow_roots(home, done.0.clone()).context("cannot start a thread")?;
    let (send, events) = unbounded();
    let clients = Clients::of(options.server);
    let start = pillion_view::Options {
        environment: environment.clone(),
        editor_pid: clients.editor,
        ide: IdeInfo::new("kakoune", "Kakoune"),
        roots: roots.clone(),
        shows: Shows::LastUsed,
    };
    let editor = move |event: EditorEvent| drop(send.send(event));
    let companion = match attach(start, editor, options.start_own) {
        Err(StartError::Interrupted) => return Ok(()),
        started => started.context("cannot start the companion")?,
    };
    let port = companion.port();
    let program = std::env::current_exe().context("cannot find this program")?;
    session.run(script::begin(files.path(), &program, port));
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
        gone: BTreeMap::new(),
        offer: Offer::default(),
        guarded: None,
        followed: HashMap::new(),
        written: HashMap::new(),
        flagged: HashMap::new(),
        listed: None,
        taking: BTreeMap::new(),
        keeping: 0,
        review: None,
        warned: Vec::new(),
        turn_news: TurnNews::default(),
        review_mode: None,
        phrase: None,
        changes: 0,
        at_quit: None,
        mismatch: companion.mismatch(),
        is_over: false,
        is_gone: false,
    };
    bridge.put_status(&Status::default());
    bridge.serve(&messages, &events);
    bridge.finish();
    if bridge.is_gone && !has_ended(&messages) {
        bridge.handle.tell(Tell::Leave(Leaving::without_word()));
    }
    drop(companion);
    // What no agent received is reported while the session is there.
    for event in events.try_iter() {
        bridge.event(event);
    }
    Ok(())
}

/// Returns true if the session has said that it ends, which may be read late.
fn has_ended(messages: &Receiver<Received>) -> bool {
    let deadline = Instant::now() + WORD_WITHIN;
    let mut said = iter::from_fn(|| messages.recv_deadline(deadline).ok());
    said.any(|it| it.what == What::End)
}

impl Bridge {
    fn serve(&mut self, messages: &Receiver<Received>, events: &Receiver<EditorEvent>) {
        let checks = tick(LIFE_INTERVAL);
        let (done, ends) = (self.done.1.clone(), self.ends.1.clone());
        self.watch_server();
        while !self.is_over {
            let due = self.decided.values().map(|decided| decided.due).min();
            let due = due.map_or_else(never, at);
            let offer = self.offer.due().map_or_else(never, at);
            let unlock = self.unlock_due().map_or_else(never, at);
            let guarded = self.guarded.map_or_else(never, at);
            let handled = select! {
                recv(messages) -> message => message.map(|message| self.received(message)),
                recv(events) -> event => event.map(|event| self.event(event)),
                recv(done) -> done => done.map(|done| self.done(done)),
                recv(due) -> now => now.map(|now| self.resolve_due(now)),
                recv(offer) -> now => now.map(|_| self.make_offer()),
                recv(unlock) -> now => now.map(|_| self.unlock()),
                recv(guarded) -> now => now.map(|_| self.end_guard()),
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
            if process::wait_for_end(server) {
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
        // What was answered before it comes first, as the ruling about a proposal does before the next proposal.
        while let Ok(done) = self.done.1.try_recv() {
            self.done(done);
        }
        match event {
            EditorEvent::Open(diff, shown) => self.open(diff, shown),
            EditorEvent::Close(id, reason, closed) => self.close(id, reason, closed),
            // Dropping the request answers that there are none.
            EditorEvent::Diagnostics(..) | EditorEvent::Shared(_) | EditorEvent::Notes(..) => {}
            EditorEvent::Draft(key, text) => self.offered(key, text),
            EditorEvent::Text(key, told) => self.ask_text(key, told),
            EditorEvent::Status(status) => self.status(&status),
            EditorEvent::Moved(port) => {
                self.port = port;
                self.session.run(script::port(port));
            }
            EditorEvent::Lost(lost) => self.show_message(&lost.to_string()),
            EditorEvent::Stopped => self.is_over = true,
        }
    }

    fn received(&mut self, Received { what, at }: Received) {
        match what {
            What::Report(report) => self.reported(*report),
            What::Here(pid, session) => {
                self.session.rename(&session);
                self.clients.come(pid);
            }
            What::Loaded(key, loaded) => self.loaded(key, loaded),
            What::Later(key) => self.later(key),
            What::Former(key, text) => self.former(key, &text),
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
            What::Saw(key, window) => {
                if let Ok(view) = self.views.current_mut(key) {
                    view.see(*window, at);
                }
            }
            What::Draft(key, text) => self.drafted(key, &text),
            What::BringBack(key, client) => self.bring_back(key, client),
            What::Merge(key, text, client) => self.merge(key, text, client),
            What::TakeOut(taking, line) => self.take(taking, line, at),
            What::Act(client, act, line) => self.act(client, *act, line, at),
            What::Row(client, line, is_same) => self.looks_at(client, line, is_same, at),
            What::TakenOut(number) => drop(self.taking.remove(&number)),
            What::NotTakenOut(number) => self.not_taken(number),
            What::Next(key, client) => self.next(key, &client),
            What::Locked(id, is_locked) => {
                if let Some(view) = self.views.find_mut(id) {
                    view.lock(is_locked);
                }
            }
            What::Asked(id) => {
                if let Some(view) = self.views.find_mut(id) {
                    view.ask(at);
                }
            }
            What::Focused(id) => {
                if let Some(view) = self.views.find_mut(id) {
                    view.focus(at);
                    self.is_ready(id);
                    self.is_shown();
                }
            }
            What::Accepted(key, text, said) => self.accept(key, text, at, said),
            What::Rejected(key, text, said) => self.reject(key, text, at, said),
            What::Noted(key, said, selection) => self.note(key, said, &selection),
            What::Removed(key, text) => self.removed(key, text),
            What::Given(key, text) => self.given(key, text),
            What::Left(id, text) => self.left(id, text),
            What::Told(key, text) => self.told(key, text),
            What::Untyped(id, client) => {
                let view = self.views.find_mut(id);
                if view.is_some_and(|view| !std::mem::replace(&mut view.is_untyped_reported, true))
                {
                    let how = "only what you type accepts or rejects, such as :pillion-accept";
                    self.answer(&client, how);
                }
            }
            What::ClientClosed(pid, review) => self.client_closed(pid, &review),
            What::Synced(path, is_saved) => {
                self.lines_move(&path);
                self.handle.tell(Tell::Synced { path, is_saved });
            }
            What::Server(pid) => {
                self.clients.server = pid;
                self.watch_server();
            }
            What::End => self.is_over = true,
        }
        if let Some(pid) = self.clients.changed_editor() {
            self.handle.tell(Tell::Editor(pid));
        }
    }

    fn reported(&mut self, report: Report) {
        // Anybody can write a report.
        if !self.clients.is_there(report.pid) {
            return;
        }
        self.offer.idle(Instant::now());
        self.clear_left(DiffId(report.view));
        // The pane for proposals is not where the person works.
        if !report.review.is_empty() {
            return;
        }
        if let Some(files) = self.context.update(&report, now_ms()) {
            self.handle.tell(Tell::context(files, None));
        }
        self.clients.reported(report);
        self.flag();
        if let Some(mismatch) = self.mismatch.take() {
            self.show_message(&mismatch.to_string());
        }
        self.refresh_roots();
    }

    fn refresh_roots(&self) {
        if let Some(report) = self.clients.newest() {
            // Asked again soon, if the thread is still at it.
            let _ = self.root_requests.try_send(disk::RootsRequest {
                server: self.clients.server,
                folder: report.folder.clone(),
                files: report.files().collect(),
            });
        }
    }

    fn open(&mut self, diff: Diff, shown: Reply<()>) {
        let view = View::new(diff, shown);
        let id = view.diff.id;
        self.worker.order(Job::Write(Arc::downgrade(&view.diff)));
        let former = self.views.put(view);
        if let Some((view, former)) = self.views.find_mut(id).zip(former) {
            view.replace(former);
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
                self.take_away(view, Settled::Elsewhere);
            }
            if let Some(shown) = shown {
                shown.failed(trouble);
            }
            return;
        }
        view.is_loaded = true;
        let diff = Arc::clone(&view.diff);
        self.announce();
        self.show(key.id, false);
        if let Some(shown) = shown {
            shown.done(());
        }
        let agent = diff.proposer.display_name();
        // Short, so that what the mode line says stays to be seen.
        let name = diff.path.file_name().unwrap_or_default().display();
        let place = SetPlace::after_name(diff.set);
        let said = format!("{agent} {} {name}{place}", diff.does());
        for text in iter::once(&said).chain(&diff.notes) {
            let announce = script::announce(self.clients.name(), key.id, text);
            self.session.run(announce);
        }
        self.tell_kept(key);
    }

    /// Shows the number of waiting proposals on the screen for as long as they wait.
    fn announce(&self) {
        let mut loaded = self.views.iter().filter(|view| view.is_loaded);
        let count = loaded.clone().count();
        self.session.run(script::waiting(loaded.next(), count));
    }

    fn status(&mut self, status: &Status) {
        self.put_status(status);
        let label = status.review.as_ref().map(|review| review.label.clone());
        if label != self.review_mode {
            self.session
                .run(script::put("review_mode", label.as_deref()));
            self.review_mode = label;
        }
        let phrase = status.decided.as_ref().map(|it| it.text.clone());
        if phrase != self.phrase {
            self.session.run(script::put("decided", phrase.as_deref()));
            self.phrase = phrase;
        }
        if status.changes != self.changes {
            self.session.run(script::list_again());
            self.ask_written();
            self.changes = status.changes;
        }
        let at_quit = status.waiting_at_quit();
        if at_quit != self.at_quit {
            self.session.run(script::put("at_quit", at_quit.as_deref()));
            self.at_quit = at_quit;
        }
        if let Some(ended) = self.turn_news.of(status) {
            self.show_message(&ended);
        }
        for warning in status.unasked.iter().chain(&status.warnings) {
            if !self.warned.contains(warning) {
                self.show_message(warning);
                self.warned.push(warning.clone());
            }
        }
    }

    fn put_status(&self, status: &Status) {
        let text = status_text(self.port, status, self.views.len(), &self.roots);
        self.worker.order(Job::Status(text));
    }

    /// Says something where the person is.
    fn show_message(&self, text: &str) {
        self.answer(self.clients.name(), text);
    }

    /// Says something where they pressed a key, or, if that is gone, where they are.
    fn answer(&self, client: &str, text: &str) {
        self.say(client, false, text);
    }

    /// Says something like [`Self::answer`]; if it `yields`, not over what a proposal says that nobody has decided.
    fn say(&self, client: &str, yields: bool, text: &str) {
        let mut clients = vec![self.clients.name()];
        if !client.is_empty() && !clients.contains(&client) {
            clients.insert(0, client);
        }
        let message = script::message(clients.into_iter(), yields, text);
        self.session.run(message);
    }
}

/// The text of `:pillion-status`.
fn status_text(port: u16, status: &Status, waiting: usize, roots: &[PathBuf]) -> String {
    let agents: Vec<_> = status.agents.iter().map(|it| it.display_name()).collect();
    let agents = match agents.as_slice() {
        [] => "no agent is connected".to_owned(),
        agents => agents.join(", "),
    };
    let roots: Vec<_> = roots.iter().map(|it| it.display().to_string()).collect();
    let roots = roots.join(", ");
    let asking = status.asking.iter().map(|note| format!("{note}\n"));
    let asking: String = asking.collect();
    format!("port {port}\n{agents}\n{waiting} proposals wait\nworkspace: {roots}\n{asking}")
}
