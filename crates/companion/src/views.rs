//! The front ends of a companion, and which of them shows which proposal: the one that was used last of those whose
//! roots hold the file, and every review. Whoever decides first wins, and the others close. A guest is shown the one revision
//! that it came for, and is nothing that agents get to know of.
//!
//! The rest of the loop sees one front end: a proposal is shown when the first view has it, and closed when all have
//! answered. No I/O: requests and their answers go through the loop.

mod audience;
mod gathered;
mod headless;
mod place;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_discovery::Seat;
use pillion_protocol::{File, FileDiagnostics, IdeInfo, Note};
use pillion_system::Signal;
use pillion_view::decision::LOOK;
use pillion_view::{
    CloseReason, Compares, Diff, DiffId, Editor, EditorEvent, LostOutcome, Options, ProposalKey,
    Proposed, Reply, Shows, Stale, Status,
};

use self::audience::Audience;
pub(crate) use self::audience::{Closed, Leftover, ShownResult};
use self::gathered::Gathered;
use self::headless::Headless;
use self::place::is_guest;
use crate::event::{Event, Events};
use crate::ids::{Decider, ViewId};

/// The reason why a proposal is shown nowhere.
const NO_VIEW: &str = "no editor shows changes here";

/// All of them.
pub(crate) struct Views {
    /// In the order in which they came.
    views: Vec<View>,
    /// The views that show each proposal.
    audiences: BTreeMap<DiffId, Audience>,
    /// The number of times that a view was used.
    uses: u64,
    events: Events,
}

struct View {
    id: ViewId,
    editor: Box<dyn Editor>,
    options: Options,
    files: Vec<File>,
    is_trusted: Option<bool>,
    /// True if an agent has started it: it shows and is told, but nothing that it says counts.
    is_agents: bool,
    /// Greater than that of every view that was used before it.
    used: u64,
    /// The files that it has read just now, and when.
    read: Vec<(PathBuf, Instant)>,
}

impl View {
    fn forget_read(&mut self, now: Instant) {
        self.read
            .retain(|(_, at)| now.saturating_duration_since(*at) < LOOK);
    }
}

/// The values that change for agents when a view comes or goes, or reports.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reported {
    pub(crate) files: Vec<File>,
    pub(crate) is_trusted: Option<bool>,
}

impl Views {
    /// With the first of them.
    pub(crate) fn new(options: Options, editor: Box<dyn Editor>, events: Events) -> Self {
        let mut views = Self {
            views: Vec::new(),
            audiences: BTreeMap::new(),
            uses: 0,
            events,
        };
        views.add(ViewId::FIRST, options, editor);
        views
    }

    /// One more is there. A review gets what waits for a decision, and so does an editor where nothing but a view that
    /// shows nothing has it.
    pub(crate) fn add(&mut self, id: ViewId, options: Options, editor: Box<dyn Editor>) {
        let editor = match options.shows {
            Shows::Alone => Box::new(Headless::new(editor)),
            _ => editor,
        };
        self.uses += 1;
        self.views.push(View {
            id,
            editor,
            options,
            files: Vec::new(),
            is_trusted: None,
            is_agents: false,
            used: self.uses,
            read: Vec::new(),
        });
        self.extend_all();
    }

    /// Returns true if an agent has started it.
    pub(crate) fn is_agents(&self, id: ViewId) -> bool {
        self.views
            .iter()
            .any(|view| view.id == id && view.is_agents)
    }

    /// An agent has started a view, or that is not so any more.
    pub(crate) fn is_of_agent(&mut self, id: ViewId, is_agents: bool) {
        if let Some(view) = self.find_mut(id) {
            view.is_agents = is_agents;
            (view.files, view.is_trusted) = (Vec::new(), None);
        }
        self.extend_all();
    }

    /// A view shows proposals under another condition now: also those that it could not show before.
    pub(crate) fn now_shows(&mut self, id: ViewId, shows: Shows) {
        self.change(id, |options| options.shows = shows);
        for audience in self.audiences.values_mut() {
            audience.asks_again(id);
        }
        self.extend_all();
    }

    /// Has every proposal shown wherever else it belongs now.
    fn extend_all(&mut self) {
        let pending: Vec<DiffId> = self.audiences.keys().copied().collect();
        for diff in pending {
            self.extend(diff);
        }
    }

    /// One has left. Proposals that it alone showed go to the next one. Those that no other view can show are returned,
    /// each with what the agent is to hear.
    pub(crate) fn remove(&mut self, id: ViewId, now: Instant) -> Vec<(ProposalKey, ShownResult)> {
        self.views.retain(|view| view.id != id);
        let mut unseen = Vec::new();
        let diffs: Vec<DiffId> = self.audiences.keys().copied().collect();
        for diff in diffs {
            if let Some(audience) = self.audiences.get_mut(&diff) {
                audience.left(id, now);
            }
            self.extend(diff);
            let audience = self.audiences.get(&diff);
            if let Some(audience) = audience.filter(|it| it.is_open() && it.is_empty()) {
                unseen.push((audience.key(), audience.unseen(NO_VIEW.to_owned())));
            }
        }
        unseen
    }

    /// A view has read a file: nobody has looked at it yet.
    pub(crate) fn has_read(&mut self, id: ViewId, path: PathBuf, now: Instant) {
        if let Some(view) = self.find_mut(id) {
            view.forget_read(now);
            view.read.push((path, now));
        }
    }

    /// Returns the files that a view has read just now.
    pub(crate) fn just_read(&mut self, id: ViewId, now: Instant) -> Vec<PathBuf> {
        let Some(view) = self.find_mut(id) else {
            return Vec::new();
        };
        view.forget_read(now);
        view.read.iter().map(|(path, _)| path.clone()).collect()
    }

    /// The person does something in a view.
    pub(crate) fn used(&mut self, id: ViewId) {
        self.uses += 1;
        let uses = self.uses;
        if let Some(view) = self.find_mut(id) {
            view.used = uses;
        }
    }

    /// A view reports its open files. The files of all, of which only those of the view that was used last are focused.
    pub(crate) fn report(
        &mut self,
        id: ViewId,
        files: Vec<File>,
        is_trusted: Option<bool>,
    ) -> Reported {
        if let Some(view) = self.find_mut(id) {
            let is_moved =
                focused(&files).is_some_and(|now| !now.is_same_place(focused(&view.files)));
            (view.files, view.is_trusted) = (files, is_trusted);
            if is_moved {
                self.used(id);
            }
        }
        self.reported()
    }

    /// The files of all views.
    pub(crate) fn reported(&self) -> Reported {
        let mut views: Vec<&View> = self.views.iter().collect();
        views.sort_by_key(|view| std::cmp::Reverse(view.used));
        let mut has_focus = false;
        let mut files = Vec::new();
        for view in &views {
            let may_focus = !has_focus;
            has_focus |= focused(&view.files).is_some();
            files.extend(view.files.iter().cloned().map(|mut file| {
                if !may_focus {
                    file.lose_focus();
                }
                file
            }));
        }
        Reported {
            files,
            is_trusted: views.iter().find_map(|view| view.is_trusted),
        }
    }

    /// The workspace roots of all, each once.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let mut known = HashSet::new();
        let roots = self.views.iter().flat_map(|view| &view.options.roots);
        roots.filter(|root| known.insert(*root)).cloned().collect()
    }

    /// Returns what each is and where its agents look.
    pub(crate) fn options(&self) -> impl Iterator<Item = &Options> {
        self.hosts().map(|view| &view.options)
    }

    /// Returns true if any of them shows proposals.
    pub(crate) fn shows_diffs(&self) -> bool {
        self.options().any(|it| it.shows != Shows::Never)
    }

    /// Returns how proposals are compared with the file: as the first of them wants it. If there may be more, all want the same.
    pub(crate) fn compares(&self) -> Compares {
        let first = self.views.first();
        first.map_or(Compares::Hunks, |view| view.editor.compares())
    }

    /// Returns the places where agents look for them.
    pub(crate) fn seats(&self) -> Vec<Seat> {
        let seat = |options: &Options| Seat {
            environment: options.environment.clone(),
            editor_pid: options.editor_pid,
        };
        self.options().map(seat).collect()
    }

    /// Returns the editor that agents take all of them for: the first one, or the first view.
    pub(crate) fn ide(&self) -> Option<&IdeInfo> {
        let mut editors = self.options().filter(|it| it.shows == Shows::LastUsed);
        let first = editors.next().or_else(|| self.options().next());
        first.map(|options| &options.ide)
    }

    /// Changes what a view is.
    pub(crate) fn change(&mut self, id: ViewId, change: impl FnOnce(&mut Options)) {
        if let Some(view) = self.find_mut(id) {
            change(&mut view.options);
        }
    }

    /// A signal came to the program. Returns the time that the front ends need to leave by themselves, if that ends them: Ctrl-C
    /// may have been for a program that the editor runs in the same terminal.
    pub(crate) fn signalled(&mut self, signal: Signal) -> Option<Duration> {
        let mut editors = self.views.iter_mut().map(|view| &mut view.editor);
        let ends = signal != Signal::Interrupt || editors.all(|editor| editor.interrupted());
        let needed = self.views.iter_mut().map(|view| view.editor.ending());
        ends.then(|| needed.max().unwrap_or_default())
    }

    /// All get to know it.
    pub(crate) fn send_status(&mut self, status: &Status) {
        for view in &mut self.views {
            view.editor.event(EditorEvent::Status(status.clone()));
        }
    }

    /// This view tells the person, or the one that was used last and is no guest.
    pub(crate) fn send_lost(&mut self, id: Option<ViewId>, lost: LostOutcome) {
        let views = self.views.iter_mut();
        if let Some(view) = views.max_by_key(|view| {
            let is_guest = view.options.is_guest();
            (Some(view.id) == id, !is_guest, view.used)
        }) {
            view.editor.event(EditorEvent::Lost(lost));
        }
    }

    /// Nothing more comes.
    pub(crate) fn send_stopped(&mut self) {
        for view in &mut self.views {
            view.editor.event(EditorEvent::Stopped);
        }
    }

    /// One gets to know that it is no longer served.
    pub(crate) fn send_stopped_to(&mut self, id: ViewId) {
        if let Some(view) = self.find_mut(id) {
            view.editor.event(EditorEvent::Stopped);
        }
    }

    /// Asks all for the problems that they show. Of one file count those of the view that was used last.
    pub(crate) fn ask_diagnostics(
        &mut self,
        uri: Option<&str>,
        found: Reply<Vec<FileDiagnostics>>,
    ) {
        let gathered = Gathered::new(found);
        for view in &mut self.views {
            let answer = gathered.of(view.used);
            let uri = uri.map(str::to_owned);
            view.editor.event(EditorEvent::Diagnostics(uri, answer));
        }
    }

    /// Asks for what stands in the view of a proposal: in the one that was used last, of those that no agent has started.
    pub(crate) fn ask_text(&mut self, key: ProposalKey, told: Reply<String>) {
        let audience = self.audiences.get(&key.id);
        let shown = audience.filter(|it| it.is_open());
        let seated = |view: &&mut View| !view.is_agents && shown.is_some_and(|it| it.has(view.id));
        match self
            .views
            .iter_mut()
            .filter(seated)
            .max_by_key(|view| view.used)
        {
            Some(view) => view.editor.event(EditorEvent::Text(key, told)),
            None => told.failed(Stale::NotPending.to_string()),
        }
    }

    /// The views of a proposal get to know what the person wrote for its file before.
    pub(crate) fn offer(&mut self, key: ProposalKey, text: &str) {
        self.tell_audience(key, || EditorEvent::Draft(key, text.to_owned()));
    }

    /// They get to know the notes that the person wrote on an earlier proposal of its file.
    pub(crate) fn offer_notes(&mut self, key: ProposalKey, notes: &[Note]) {
        self.tell_audience(key, || EditorEvent::Notes(key, notes.to_vec()));
    }

    fn tell_audience(&mut self, key: ProposalKey, event: impl Fn() -> EditorEvent) {
        let audience = self.audiences.get(&key.id);
        let Some(audience) = audience.filter(|it| it.is_open() && it.key() == key) else {
            return;
        };
        for view in &mut self.views {
            if audience.has(view.id) {
                view.editor.event(event());
            }
        }
    }

    /// Shows a proposal: where the former one of this diff is shown, or else where the person looks. If there is no
    /// view for it, that comes as an event.
    pub(crate) fn open(&mut self, diff: Diff) {
        let key = diff.key();
        match self.audiences.get_mut(&key.id) {
            Some(audience) => {
                let former = audience.key();
                let (guests, seated) = audience.replace(diff, |id| is_guest(&self.views, id));
                self.send_close(former, CloseReason::Overruled, &guests);
                self.send_open(key.id, &seated);
                self.extend(key.id);
            }
            None => {
                self.audiences.insert(key.id, Audience::new(diff));
                self.extend(key.id);
            }
        }
        if self.audiences.get(&key.id).is_some_and(Audience::is_empty) {
            let _ = self
                .events
                .send(Event::Shown(ViewId::FIRST, key, Err(NO_VIEW.to_owned())));
        }
    }

    /// A view shows a proposal, or cannot. Returns what the agent is to hear of it, if anything.
    pub(crate) fn shown(
        &mut self,
        id: ViewId,
        key: ProposalKey,
        result: Result<(), String>,
    ) -> Option<ShownResult> {
        let audience = self.audiences.get_mut(&key.id)?;
        if audience.key() == key && audience.is_empty() {
            return Some(audience.unseen(NO_VIEW.to_owned()));
        }
        let shown = audience.shown(id, key, result)?;
        if shown == ShownResult::Shown {
            return Some(shown);
        }
        // It may show the former revision still.
        if let Some(view) = self.find_mut(id) {
            let ignored = Reply::new(|_| {});
            let close = EditorEvent::Close(key.id, CloseReason::NotShown, ignored);
            view.editor.event(close);
        }
        self.extend(key.id);
        let is_empty = self.audiences.get(&key.id).is_some_and(Audience::is_empty);
        is_empty.then_some(shown)
    }

    /// Returns true if a proposal is shown, or views are to close one and have not answered.
    #[cfg(unix)]
    pub(crate) fn show_any(&self) -> bool {
        !self.audiences.is_empty()
    }

    /// Takes a proposal away from all views. The text that stood in them is answered by [`Views::closed`].
    pub(crate) fn close(&mut self, key: ProposalKey, reason: CloseReason) {
        let audience = self.audiences.get_mut(&key.id);
        let seated = audience.map_or_else(Vec::new, |it| it.close(reason));
        if seated.is_empty() {
            let none = Err(Stale::NotPending.to_string());
            let _ = self.events.send(Event::Closed(ViewId::FIRST, key, none));
        }
        self.send_close(key, reason, &seated);
    }

    /// A view has closed a proposal.
    pub(crate) fn closed(
        &mut self,
        id: ViewId,
        key: ProposalKey,
        text: Result<String, String>,
        now: Instant,
    ) -> Closed {
        let is_agents = self.find_mut(id).is_some_and(|view| view.is_agents);
        match self.audiences.get_mut(&key.id) {
            Some(audience) if is_agents => {
                let proposed = audience.diff().proposed.to_string();
                audience.answered(id, text.map(|_| proposed), now);
            }
            Some(audience) => audience.answered(id, text, now),
            None => {
                return Closed {
                    text: Some(text),
                    leftovers: Vec::new(),
                };
            }
        }
        self.finish(key.id, now)
    }

    /// Returns the time at which [`Views::elapse`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.audiences.values().filter_map(Audience::due).min()
    }

    /// Time has passed, or a view has left. Returns what came of closing the proposals that not all views have answered for.
    pub(crate) fn elapse(&mut self, now: Instant) -> Vec<(ProposalKey, Closed)> {
        let late = self.audiences.values();
        let is_late = |it: &&Audience| it.due().is_some_and(|due| due <= now);
        let late = late.filter(|it| it.is_over() || is_late(it));
        let late: Vec<ProposalKey> = late.map(Audience::key).collect();
        late.into_iter()
            .map(|key| (key, self.finish(key.id, now)))
            .collect()
    }

    fn finish(&mut self, id: DiffId, now: Instant) -> Closed {
        let Some(audience) = self.audiences.get_mut(&id) else {
            return Closed::default();
        };
        let views = &self.views;
        let used = |id: ViewId| views.iter().find(|it| it.id == id).map_or(0, |it| it.used);
        let closed = audience.closed(used, now);
        if audience.is_over() {
            self.audiences.remove(&id);
        }
        closed
    }

    /// A proposal was decided: the views are to close, but for the one in which it was, which does that by itself.
    pub(crate) fn decided(
        &mut self,
        by: Decider,
        key: ProposalKey,
        accepted: Option<Arc<String>>,
        now: Instant,
    ) {
        if let Decider::View(view) = by {
            self.used(view);
        }
        let Some(audience) = self.audiences.get_mut(&key.id) else {
            return;
        };
        if let Decider::View(view) = by {
            audience.left(view, now);
        }
        if !audience.is_open() {
            return;
        }
        let reason = match (by, &accepted) {
            (Decider::View(_), Some(_)) => CloseReason::AcceptedElsewhere,
            (Decider::View(_), None) => CloseReason::RejectedElsewhere,
            (Decider::Command { is_standing: true }, Some(_)) => CloseReason::Settled,
            (Decider::Command { .. }, _) => CloseReason::Overruled,
        };
        let others = audience.close_elsewhere(reason, accepted);
        if others.is_empty() {
            self.audiences.remove(&key.id);
        }
        self.send_close(key, reason, &others);
    }

    fn find_mut(&mut self, id: ViewId) -> Option<&mut View> {
        self.views.iter_mut().find(|view| view.id == id)
    }

    fn send_open(&mut self, id: DiffId, to: &[ViewId]) {
        let Some(diff) = self.audiences.get(&id).map(Audience::diff) else {
            return;
        };
        let key = diff.key();
        for view in &mut self.views {
            if to.contains(&view.id) {
                let (events, id) = (self.events.clone(), view.id);
                let shown = Reply::new(move |result| {
                    let _ = events.send(Event::Shown(id, key, result));
                });
                view.editor.event(EditorEvent::Open(diff.clone(), shown));
            }
        }
    }

    fn send_close(&mut self, key: ProposalKey, reason: CloseReason, to: &[ViewId]) {
        for view in &mut self.views {
            if to.contains(&view.id) {
                let (events, id) = (self.events.clone(), view.id);
                let closed = Reply::new(move |text| {
                    let _ = events.send(Event::Closed(id, key, text));
                });
                view.editor
                    .event(EditorEvent::Close(key.id, reason, closed));
            }
        }
    }
}

fn focused(files: &[File]) -> Option<&File> {
    files.iter().find(|file| file.is_focused())
}
