//! Owns what a front end has reported and was asked to show: all that the next hub, or the person, needs if the hub ends.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pillion_discovery::Environment;
use pillion_protocol::File;
use pillion_system::{clock, lock};
use serde::de::DeserializeOwned;

use crate::decision::Ruling;
use crate::editor::{CloseReason, Compares, Editor, EditorEvent, Report};
use crate::hub::link::Link;
use crate::hub::wire::{Attached, FromHub, FromView};
use crate::options::Options;
use crate::pending::Stale;
use crate::proposal::DiffId;
use crate::reply::Reply;

type ToHub = Arc<Link<FromView>>;

/// A front end.
pub(crate) struct View {
    /// None once it has left. It may answer and report while it is told something, so this is locked before the other.
    editor: Mutex<Option<Box<dyn Editor>>>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    options: Options,
    context: Option<(Vec<File>, Option<bool>)>,
    /// The connection with the hub, if there is one.
    link: Option<ToHub>,
    /// Those that are shown, or about to be.
    proposals: BTreeSet<DiffId>,
    /// Its companion, once it had one.
    attached: Option<Attached>,
    is_leaving: bool,
    /// True if it was told that it is served no longer.
    is_stopped: bool,
    has_ended: bool,
}

impl View {
    pub(crate) fn new(options: Options, editor: Box<dyn Editor>) -> Self {
        Self {
            editor: Mutex::new(Some(editor)),
            state: Mutex::new(State {
                options,
                context: None,
                link: None,
                proposals: BTreeSet::new(),
                attached: None,
                is_leaving: false,
                is_stopped: false,
                has_ended: false,
            }),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn environment(&self) -> Environment {
        self.state().options.environment.clone()
    }

    /// Returns true if it is there for one proposal of another view.
    pub(crate) fn is_guest(&self) -> bool {
        self.state().options.is_guest()
    }

    /// Its companion, or the last one; none before it had one.
    pub(crate) fn companion(&self) -> Option<Attached> {
        self.state().attached.clone()
    }

    /// The front end itself: it is served elsewhere.
    pub(crate) fn take_editor(&self) -> Option<Box<dyn Editor>> {
        lock(&self.editor).take()
    }

    /// Returns true if it wants to know where proposals differ from the file. That takes long for long texts, which is why
    /// the thread of the connection finds it.
    fn wants_hunks(&self) -> bool {
        let editor = lock(&self.editor);
        let compares = editor.as_ref().map(|editor| editor.compares());
        compares == Some(Compares::Hunks)
    }

    /// Ctrl-C was pressed. Returns true if that ends it.
    pub(crate) fn interrupted(&self) -> bool {
        let mut editor = lock(&self.editor);
        editor.as_mut().is_none_or(|editor| editor.interrupted())
    }

    /// A signal ends it. Returns the time that it needs before it leaves.
    pub(crate) fn ending(&self) -> Duration {
        let mut editor = lock(&self.editor);
        editor.as_mut().map_or(Duration::ZERO, |it| it.ending())
    }

    /// Tells a hub who it is.
    pub(crate) fn introduce(&self, link: &ToHub) {
        let mut state = self.state();
        link.send(FromView::Attach(state.options.clone().into()));
        if let Some((files, is_trusted)) = state.context.clone() {
            link.send(context(files, is_trusted));
        }
        if state.is_leaving {
            link.send(FromView::Leave);
        }
        state.link = Some(Arc::clone(link));
    }

    /// Agents find its companion.
    pub(crate) fn attached(&self, attached: Attached) {
        let (port, files) = (attached.port, attached.files.clone());
        let former = self.state().attached.replace(attached);
        if former.is_some_and(|it| (it.port, it.files) != (port, files)) {
            self.event(EditorEvent::Moved(port));
        }
    }

    /// The connection is over. Proposals that were shown because of it go away, unless the front end does, as a guest.
    pub(crate) fn disconnected(&self, link: &ToHub) {
        let mut state = self.state();
        state.link = None;
        let shown = std::mem::take(&mut state.proposals);
        let is_ending = state.is_leaving || state.options.is_guest();
        drop(state);
        link.fail();
        if is_ending {
            return;
        }
        for id in shown {
            // Nobody is left who could take the text.
            let closed = Reply::new(|_| ());
            self.event(EditorEvent::Close(id, CloseReason::AgentGone, closed));
        }
    }

    /// Leaves. Returns at once.
    pub(crate) fn leave(&self) {
        let mut state = self.state();
        if std::mem::replace(&mut state.is_leaving, true) {
            return;
        }
        if let Some(link) = &state.link {
            link.send(FromView::Leave);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Returns true if it leaves; waits for that, but no longer than this.
    pub(crate) fn is_over(&self, time: Duration) -> bool {
        self.wait(Some(time), |state| !state.is_leaving);
        self.state().is_leaving
    }

    /// Waits until it has left, but not longer than this.
    pub(crate) fn wait_until_left(&self, time: Option<Duration>) {
        self.wait(time, |state| !state.has_ended);
    }

    /// It has left: nothing more comes.
    pub(crate) fn end(&self) {
        let state = self.state();
        let is_untold = state.attached.is_some() && !state.is_stopped;
        drop(state);
        if is_untold {
            self.event(EditorEvent::Stopped);
        }
        drop(self.take_editor());
        self.state().has_ended = true;
        self.changed.notify_all();
    }

    /// The hub says something.
    pub(crate) fn received(self: &Arc<Self>, message: FromHub, link: &ToHub) {
        let event = match message {
            FromHub::Open { request, mut diff } => {
                if self.wants_hunks() {
                    diff.hunks = diff.original.differences(&diff.proposed);
                }
                self.state().proposals.insert(diff.id);
                let shown = self.opened(diff.id, link.reply(request));
                EditorEvent::Open(*diff, shown)
            }
            FromHub::Close {
                request,
                id,
                reason,
            } => {
                let closed = link.reply(request);
                self.state().proposals.remove(&id);
                EditorEvent::Close(id, reason, closed)
            }
            FromHub::Text { request, key } => {
                let told = link.reply(request);
                EditorEvent::Text(key, told)
            }
            FromHub::Shared(key) => EditorEvent::Shared(key),
            FromHub::Draft { key, text } => EditorEvent::Draft(key, text),
            FromHub::Diagnostics { request, uri } => {
                EditorEvent::Diagnostics(uri, link.reply(request))
            }
            FromHub::Status(status) => EditorEvent::Status(*status),
            FromHub::Lost(lost) => EditorEvent::Lost(*lost),
            FromHub::Stopped => {
                let mut state = self.state();
                // Otherwise only the hub ends, and another one serves it.
                if !state.is_leaving || std::mem::replace(&mut state.is_stopped, true) {
                    return;
                }
                drop(state);
                EditorEvent::Stopped
            }
            FromHub::Answer(answer) => return link.answered(answer),
            // Both are about the connection.
            FromHub::Attached(_) | FromHub::Refused(_) => return,
        };
        self.event(event);
    }

    /// The front end reports something.
    pub(crate) fn report(self: &Arc<Self>, report: Report) {
        let mut state = self.state();
        let link = state.link.clone();
        let send = |message| {
            if let Some(link) = &link {
                link.send(message);
            }
        };
        // The messages of one front end stay in their order: they are sent while the lock is held.
        match report {
            Report::Context { files, is_trusted } => {
                state.context = Some((files.clone(), is_trusted));
                send(context(files, is_trusted));
            }
            Report::Saved(file) => send(FromView::Saved(file.into())),
            Report::Synced { path, is_saved } => send(FromView::Synced { path, is_saved }),
            // One of a former hub was kept by that.
            Report::Draft(key, text) => send(FromView::Draft { key, text }),
            // The hub finds that out itself.
            Report::OfAgent(_) => {}
            Report::Roots(roots) => {
                state.options.roots = roots.clone();
                send(FromView::Roots(roots));
            }
            Report::Editor(pid) => {
                state.options.editor_pid = pid;
                send(FromView::Editor(pid));
            }
            Report::Mention { path, lines, reply } => {
                ask(state, reply, |request| FromView::Mention {
                    request,
                    path,
                    lines,
                })
            }
            Report::Review(choice, reply) => {
                ask(state, reply, |request| FromView::Review { request, choice });
            }
            Report::SendNotes(reply) => {
                ask(state, reply, |request| FromView::SendNotes { request });
            }
            Report::Changes(reply) => ask(state, reply, |request| FromView::Changes { request }),
            Report::Act(act, reply) => ask(state, reply, |request| FromView::Act { request, act }),
            Report::Decide(decide, at, ruling) => {
                drop(state);
                let Some(link) = link else {
                    return ruling.done(Ruling::stale(Stale::NotPending));
                };
                let ruling = self.ruled(decide.key.id, ruling);
                link.ask(ruling, |request| FromView::Decide {
                    request,
                    decide,
                    at: clock::shared(at),
                });
            }
            Report::Leave | Report::Gone => {
                drop(state);
                self.leave();
            }
        }
    }

    /// A proposal that cannot be shown is not to be closed later.
    fn opened(self: &Arc<Self>, id: DiffId, shown: Reply<()>) -> Reply<()> {
        let view = Arc::downgrade(self);
        Reply::new(move |result| match result {
            Ok(()) => shown.done(()),
            Err(reason) => {
                if let Some(view) = view.upgrade() {
                    view.state().proposals.remove(&id);
                }
                shown.failed(reason);
            }
        })
    }

    /// One whose decision counts is not to be closed later either.
    fn ruled(self: &Arc<Self>, id: DiffId, ruling: Reply<Ruling>) -> Reply<Ruling> {
        let view = Arc::downgrade(self);
        Reply::new(move |result: Result<Ruling, String>| {
            let is_settled = result.as_ref().is_ok_and(Ruling::is_settled);
            if let Some(view) = view.upgrade().filter(|_| is_settled) {
                view.state().proposals.remove(&id);
            }
            match result {
                Ok(result) => ruling.done(result),
                Err(reason) => ruling.failed(reason),
            }
        })
    }

    fn event(&self, event: EditorEvent) {
        if let Some(editor) = &mut *lock(&self.editor) {
            editor.event(event);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Waits while it is so, but no longer than this.
    fn wait(&self, time: Option<Duration>, is_so: impl Fn(&State) -> bool) {
        let deadline = time.map(|time| Instant::now() + time);
        let mut state = self.state();
        while is_so(&state) {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return;
            }
            state = match left {
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("View")
    }
}

fn context(files: Vec<File>, is_trusted: Option<bool>) -> FromView {
    let files = files.into_iter().map(Into::into).collect();
    FromView::Context { files, is_trusted }
}

/// Asks the hub, if there is one.
fn ask<T: DeserializeOwned + 'static>(
    state: MutexGuard<'_, State>,
    reply: Reply<T>,
    message: impl FnOnce(u64) -> FromView,
) {
    let link = state.link.clone();
    // The reply may do anything.
    drop(state);
    match link {
        Some(link) => link.ask(reply, message),
        None => reply.failed("the hub is gone: try again in a moment"),
    }
}
