//! Owns what a front end has reported and was asked to show: all that the next hub, or the person, needs if the hub ends.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pillion_discovery::Environment;
use pillion_system::{clock, lock};

use crate::ask::{AnyAsk, Asked, Refused};
use crate::decision::{Decide, Ruling};
use crate::editor::{CloseReason, Compares, Editor, EditorEvent, Shows};
use crate::handle::Said;
use crate::hub::link::Link;
use crate::hub::wire::{Attach, Attached, FromHub, FromView};
use crate::options::Options;
use crate::pending::Stale;
use crate::proposal::DiffId;
use crate::reply::{Answering, Reply};
use crate::tell::{Leaving, OpenFile, Tell};

type ToHub = Arc<Link<FromView>>;

/// A front end.
#[derive(derive_more::Debug)]
#[debug("View")]
pub(crate) struct View {
    /// None once it has left. It may answer and report while it is told something, so this is locked before the other.
    editor: Mutex<Option<Box<dyn Editor>>>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    options: Options,
    context: Option<(Vec<OpenFile>, Option<bool>)>,
    /// The connection with the hub, if there is one.
    link: Option<ToHub>,
    /// Those that are shown, or about to be.
    proposals: BTreeSet<DiffId>,
    /// What it has told since.
    shows: Option<Shows>,
    /// Its companion, once it had one.
    attached: Option<Attached>,
    /// Why it leaves, if it does.
    leaving: Option<Leaving>,
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
                shows: None,
                link: None,
                proposals: BTreeSet::new(),
                attached: None,
                leaving: None,
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
        let mut attach = Attach::from(state.options.clone());
        attach.former_hub = state.attached.as_ref().map(|it| it.pid);
        link.send(FromView::Attach(attach));
        if let Some((files, is_trusted)) = state.context.clone() {
            link.send(FromView::Tell(Tell::Context { files, is_trusted }));
        }
        if let Some(shows) = state.shows {
            link.send(FromView::Tell(Tell::Shows(shows)));
        }
        if let Some(leaving) = state.leaving {
            link.send(FromView::Tell(Tell::Leave(leaving)));
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
        let is_ending = state.leaving.is_some() || state.options.is_guest();
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

    /// Leaves, unless it does already. Returns at once.
    pub(crate) fn leave(&self, why: Leaving) {
        let mut state = self.state();
        if state.leaving.is_some() {
            return;
        }
        state.leaving = Some(why);
        if let Some(link) = &state.link {
            link.send(FromView::Tell(Tell::Leave(why)));
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Returns true if it leaves; waits for that, but no longer than this.
    pub(crate) fn is_over(&self, time: Duration) -> bool {
        self.wait(Some(time), |state| state.leaving.is_none());
        self.state().leaving.is_some()
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
        match message {
            FromHub::Show(show) => {
                if let Some(event) = show.with_ways(link) {
                    self.show(event);
                }
            }
            FromHub::Answer(answer) => link.answered(answer),
            // Both are about the connection.
            FromHub::Attached(_) | FromHub::Refused(_) => {}
        }
    }

    fn show(self: &Arc<Self>, event: EditorEvent) {
        let event = match event {
            EditorEvent::Open(mut diff, shown) => {
                if self.wants_hunks() {
                    diff.hunks = diff.original.differences(&diff.proposed);
                }
                self.state().proposals.insert(diff.id);
                let shown = self.opened(diff.id, shown);
                EditorEvent::Open(diff, shown)
            }
            EditorEvent::Close(id, ..) => {
                self.state().proposals.remove(&id);
                event
            }
            EditorEvent::Stopped => {
                let mut state = self.state();
                // Otherwise only the hub ends, and another one serves it.
                if state.leaving.is_none() || std::mem::replace(&mut state.is_stopped, true) {
                    return;
                }
                event
            }
            event => event,
        };
        self.event(event);
    }

    /// The front end says something.
    pub(crate) fn say(self: &Arc<Self>, said: Said) {
        match said {
            Said::Tell(Tell::Leave(why)) => self.leave(why),
            Said::Tell(tell) => self.tell(tell),
            Said::Ask(ask) => match ask.take::<Decide>() {
                Ok((decide, ruling)) => self.decide(decide, ruling),
                Err(ask) => self.ask(ask),
            },
        }
    }

    fn tell(&self, tell: Tell) {
        let mut state = self.state();
        match &tell {
            Tell::Context { files, is_trusted } => {
                state.context = Some((files.clone(), *is_trusted));
            }
            Tell::Roots(roots) => state.options.roots.clone_from(roots),
            Tell::Editor(pid) => state.options.editor_pid = *pid,
            Tell::Shows(shows) => state.shows = Some(*shows),
            Tell::Saved(_)
            | Tell::Synced { .. }
            | Tell::Draft { .. }
            | Tell::Notes { .. }
            | Tell::RowNotes { .. }
            | Tell::Leave(_) => {}
        }
        // The messages of one front end stay in their order: they are sent while the lock is held.
        if let Some(link) = &state.link {
            link.send(FromView::Tell(tell));
        }
    }

    /// Asks the hub, if there is one.
    fn ask(&self, ask: AnyAsk) {
        let link = self.state().link.clone();
        let Some(link) = link else {
            return ask.refuse("the hub is gone: try again in a moment".into());
        };
        let (method, at) = (ask.method.to_owned(), clock::shared(ask.at));
        let Some((params, reply)) = ask.into_message() else {
            return;
        };
        link.ask(reply, |request| {
            FromView::Ask(Asked {
                request,
                method,
                params,
                companion: None,
                at: Some(at),
            })
        });
    }

    fn decide(self: &Arc<Self>, decide: Decide, ruling: Answering<Decide>) {
        // What a former hub had shown is gone with it.
        if self.state().link.is_none() {
            return ruling.done(Ruling::stale(Stale::NotPending));
        }
        let ruling = self.ruled(decide.key.id, ruling);
        self.ask(AnyAsk::new(decide, ruling));
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
    fn ruled(self: &Arc<Self>, id: DiffId, ruling: Answering<Decide>) -> Answering<Decide> {
        let view = Arc::downgrade(self);
        Reply::new(move |result: Result<Ruling, Refused>| {
            let is_settled = result.as_ref().is_ok_and(Ruling::is_settled);
            if let Some(view) = view.upgrade().filter(|_| is_settled) {
                view.state().proposals.remove(&id);
            }
            ruling.answer(result);
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
