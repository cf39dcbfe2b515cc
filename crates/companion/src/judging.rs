//! The list of what agents have written, and what people do with it in views and by commands. Everything here waits for the
//! disk, on threads beside the loop.

mod listing;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pillion_changes::looking::{Shown, why_over};
use pillion_changes::{ChangeRef, Store};
use pillion_discovery::Environment;
use pillion_system::lock;
use pillion_view::ask::Changes;
use pillion_view::changes::{ActDone, ChangesAct, ChangesList};
use pillion_view::{Answering, Decide, Reply};
use tokio::sync::watch;
use tokio::time::timeout;

use self::listing::list;
use crate::acting::{self, Acted};
use crate::disk::DiskThreads;
use crate::event::{Event, Events};
use crate::recording;
use crate::tasks;
use crate::unkept::Unkept;

/// The most lists that are made at a time.
const MAX_LISTS: usize = 4;

/// The time limit for a list.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);

const OFF: &str = "what agents change is not recorded here";
const SILENT: &str = "the disk does not answer";
const BUSY: &str = "many changes are being kept or taken back: try again when that is done";

/// The changes that are written.
pub(crate) struct Judging {
    /// None if there is no place for one.
    store: Option<Store>,
    /// True if what agents change is recorded.
    is_on: bool,
    lists: DiskThreads,
    /// One after the other: two could mean the same file.
    acts: DiskThreads,
    /// Shared by the acts whose outcome is not told yet.
    acting: Arc<()>,
    deciding: Arc<Mutex<HashSet<ChangeRef>>>,
    pub(crate) is_explained: Arc<AtomicBool>,
    events: Events,
}

/// What the loop knows of the changes that can be shown.
pub(crate) struct Shelf {
    /// None if nothing is recorded.
    pub(crate) store: Option<Store>,
    /// Those that are shown already, by name.
    pub(crate) open: Vec<ChangeRef>,
    /// Those about which is being decided.
    pub(crate) deciding: Arc<Mutex<HashSet<ChangeRef>>>,
    /// The workspace folders.
    pub(crate) roots: Arc<[PathBuf]>,
    /// Another number once a list of changes shows something else.
    pub(crate) lists: watch::Receiver<u64>,
    /// True once it was said what deciding about such a change does.
    pub(crate) is_explained: Arc<AtomicBool>,
}

impl Judging {
    pub(crate) fn new(environment: Option<&Environment>, events: Events) -> Self {
        Self {
            store: environment.and_then(|it| Store::of(it).ok()),
            is_on: environment.is_some_and(recording::is_on),
            lists: DiskThreads::new(MAX_LISTS),
            acts: DiskThreads::new(1),
            acting: Arc::default(),
            deciding: Arc::default(),
            is_explained: Arc::default(),
            events,
        }
    }

    /// Returns true if something is being done whose outcome is not told yet.
    #[cfg(unix)]
    pub(crate) fn is_busy(&self) -> bool {
        Arc::strong_count(&self.acting) > 1
    }

    /// None if nothing is recorded.
    pub(crate) fn store(&self) -> Option<Store> {
        self.store.clone().filter(|_| self.is_on)
    }

    /// Answers with what there is below these folders.
    pub(crate) fn list(&self, roots: Arc<[PathBuf]>, unkept: Unkept, reply: Answering<Changes>) {
        let Some(store) = self.store() else {
            return reply.done(ChangesList::failed(OFF));
        };
        let threads = self.lists.clone();
        tasks::spawn(async move {
            let listing = threads.run(move || list(&store, &roots, &unkept));
            let list = timeout(LIST_TIMEOUT, listing).await.ok().flatten();
            reply.done(list.unwrap_or_else(|| ChangesList::failed(SILENT)));
        });
    }

    /// A person has saved a file in their editor that agents changed in these turns, or has had it read again. What they have
    /// undone there is told the agents.
    pub(crate) fn synced(&self, path: PathBuf, turns: Vec<u64>, is_saved: bool) {
        if let Some(store) = self.store().filter(|_| !turns.is_empty()) {
            let undone = move || acting::undone_in_editor(&store, &turns, &path, is_saved);
            self.start(Reply::new(drop), undone);
        }
    }

    /// Does this. Its outcome is an event.
    pub(crate) fn act(&self, act: ChangesAct, roots: Arc<[PathBuf]>, reply: Answering<ChangesAct>) {
        // What a command names may have been recorded elsewhere, or before.
        let is_named = matches!(act, ChangesAct::Named(_));
        let store = self.store.clone().filter(|_| self.is_on || is_named);
        let Some(store) = store else {
            return reply.done(ActDone::refused(OFF));
        };
        self.start(reply, move || acting::perform(&store, &roots, act));
    }

    /// Returns why nothing can be decided any more about a change that is shown, once the disk has answered.
    pub(crate) fn why_over(
        &self,
        name: ChangeRef,
        is_accepted: bool,
    ) -> impl Future<Output = Option<String>> + use<> {
        let (store, threads) = (self.store(), self.lists.clone());
        async move {
            let store = store?;
            let looking = threads.run(move || {
                let why = why_over(&store, name, is_accepted);
                why.unwrap_or_else(|error| Some(error.in_full()))
            });
            timeout(LIST_TIMEOUT, looking).await.ok().flatten()?
        }
    }

    /// Does what the person has decided about a change that is shown as a diff. Its outcome is an event. Until [`decided`](Self::decided),
    /// nobody finds that the change is over: it may be by this.
    pub(crate) fn decide(
        &self,
        shown: Arc<Shown>,
        decide: Arc<Decide>,
        reply: Answering<ChangesAct>,
    ) {
        lock(&self.deciding).insert(shown.name);
        match self.store() {
            Some(store) => self.start(reply, move || {
                acting::decide(&store, &shown, &decide.verdict)
            }),
            None => reply.done(ActDone::refused(OFF)),
        }
    }

    /// Returns true if somebody is deciding about this change.
    pub(crate) fn is_deciding(&self, change: ChangeRef) -> bool {
        lock(&self.deciding).contains(&change)
    }

    /// The outcome of a decision about this change is known.
    pub(crate) fn decided(&self, change: ChangeRef) {
        lock(&self.deciding).remove(&change);
    }

    /// The changes about which is being decided.
    pub(crate) fn deciding(&self) -> Arc<Mutex<HashSet<ChangeRef>>> {
        Arc::clone(&self.deciding)
    }

    fn start(&self, reply: Answering<ChangesAct>, work: impl FnOnce() -> Acted + Send + 'static) {
        let reply = until_told(&self.acting, reply);
        let (threads, events) = (self.acts.clone(), self.events.clone());
        tasks::spawn(async move {
            let acted = match threads.start(work).await {
                Some(acting) => acting.await.unwrap_or_else(|_| Acted::refused(SILENT)),
                None => Acted::refused(BUSY),
            };
            let _ = events.send(Event::Acted(Box::new(acted), reply));
        });
    }
}

/// The same reply, which holds this until it is given.
fn until_told(acting: &Arc<()>, reply: Answering<ChangesAct>) -> Answering<ChangesAct> {
    let acting = Arc::clone(acting);
    Reply::new(move |told| {
        reply.answer(told);
        drop(acting);
    })
}

#[cfg(test)]
mod tests;
