//! The state of the page, in one place for all of its tabs: the pending diffs and what the person has made of them. A loop takes in
//! what the companion, disks and tabs say.

pub(crate) mod fields;
mod state;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use pillion_discovery::version::VERSION;
use pillion_discovery::{Environment, kept_text};
use pillion_judge::history::Past;
use pillion_judge::journal::Journal;
use pillion_judge::keys::Keys;
use pillion_judge::listed::RowWords;
use pillion_judge::naming::{Here, Numbered};
use pillion_judge::proposal::{Edits, Version};
use pillion_judge::source::{News, OnDisk, Sources};
use pillion_judge::{Disk, Done, Job, Judged, SeenParts, Step, Target};
use pillion_protocol::Note;
use pillion_system::{Worker, peer};
use pillion_text::{stderr, visible};
use pillion_view::changes::ChangesList;
use pillion_view::{
    CloseReason, Diff, DiffId, EditorEvent, Handle, Pending, ProposalKey, Proposed, Reply,
    SetPlace, Shows, Status, Tell, TurnNews,
};
use tokio::sync::mpsc::UnboundedSender;

use crate::colours::{self, Wanted};
use crate::rows::Arranged;
use crate::server::{self, Told};
use crate::wire::{self, Event, Tone};
use crate::{Input, Settings};
use fields::{Ended, Fields};
pub(crate) use state::seen_now;

/// Why a proposal is not shown.
const NO_TAB: &str = "the page is open in no browser";

/// The time for which proposals wait for a tab, from the start and from the moment at which the last one went: a reload takes one.
const DRAWN_WITHIN: Duration = Duration::from_secs(8);

/// The number of tabs that are gone of which it is known what they have seen: each reload makes another one. Of as many diffs that are gone,
/// what was typed is waited for.
const MAX_GONE: usize = 16;

/// A page that the review has opened ends so long after its last tab.
const UNSEEN: Duration = Duration::from_secs(60);

/// The files of pending diffs are checked no more often than this.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The time limit for the last words at the end.
const DISK_TIMEOUT: Duration = Duration::from_secs(2);

/// A pending diff in the page.
pub(crate) struct Shown {
    judged: Judged,
    /// The generation.
    pub(crate) g: u64,
    /// Answered when a tab has it.
    unopened: Option<Reply<()>>,
    /// The rows that were asked for last.
    pub(crate) arranged: Option<Arranged>,
    /// What each tab has seen.
    seen: HashMap<String, SeenParts>,
    /// What is being typed in tabs.
    pub(crate) fields: Fields,
    /// The texts whose peculiarities are known, and the number of them.
    version: Option<Version>,
    pub(crate) texts: u64,
}

impl Deref for Shown {
    type Target = Judged;

    fn deref(&self) -> &Judged {
        &self.judged
    }
}

impl DerefMut for Shown {
    fn deref_mut(&mut self) -> &mut Judged {
        &mut self.judged
    }
}

impl Proposed for Shown {
    fn key(&self) -> ProposalKey {
        self.judged.key()
    }

    fn set(&self) -> Option<SetPlace> {
        self.judged.diff.set
    }
}

impl Shown {
    /// It as this tab has seen it.
    pub(crate) fn as_seen_by<T>(&mut self, tab: &str, look: impl FnOnce(&mut Judged) -> T) -> T {
        let mut seen = self.seen.remove(tab).unwrap_or_default();
        self.judged.swap_seen(&mut seen);
        self.judged.follow_texts();
        let looked = look(&mut self.judged);
        self.judged.swap_seen(&mut seen);
        self.seen.insert(tab.to_owned(), seen);
        looked
    }

    /// Its texts, its hunks or what is out of it are others.
    pub(crate) fn changed(&mut self) {
        self.g += 1;
        self.arranged = None;
        let is_known = self
            .version
            .as_ref()
            .is_some_and(|it| self.judged.proposal.is(it));
        if !is_known && !self.judged.is_comparing() {
            self.version = Some(self.judged.proposal.version());
            self.texts += 1;
            self.judged.find_peculiarities();
        }
    }
}

/// The page.
pub(crate) struct Page {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) environment: Environment,
    pub(crate) keys: Keys,
    /// What the person is told once.
    notices: Vec<String>,
    pub(crate) companion: Handle,
    pub(crate) inputs: Sender<Input>,
    pub(crate) views: Pending<Shown>,
    tabs: HashMap<String, UnboundedSender<Told>>,
    /// The tabs that went last, which may come back: what they have seen is known still.
    gone: VecDeque<String>,
    /// The diffs that went last.
    ended: VecDeque<Ended>,
    pub(crate) sources: Sources<OnDisk>,
    compare: Worker<Job>,
    pub(crate) colours: Worker<Wanted>,
    journal: Journal,
    numbered: Numbered,
    status: Status,
    turn_news: TurnNews,
    /// The list of what was written, as it came last, and the person's words on its rows.
    pub(crate) list: ChangesList,
    pub(crate) row_words: RowWords,
    /// For notes and for reasons, the tab that was heard last on a row, and the number of that.
    pub(crate) heard_on_rows: HashMap<(String, bool), (String, u64)>,
    pub(crate) history: Arc<Mutex<Vec<Past>>>,
    jobs: u64,
    /// No tab is there, but one may come until then: what is proposed waits for it.
    awaited_until: Option<Instant>,
    looked: Instant,
    /// It ends some time after its last tab, and since when it has had none.
    ends_unseen: bool,
    unseen_since: Option<Instant>,
    /// Ctrl-C was pressed once.
    asked_to_leave: bool,
    is_over: bool,
}

impl Page {
    pub(crate) fn new(
        settings: Settings,
        companion: Handle,
        inputs: Sender<Input>,
    ) -> io::Result<Self> {
        let environment = Environment::current();
        let chosen = Keys::of_file(&environment.pillion_config().join("keys.toml"));
        let mut notices = Vec::new();
        let keys = chosen.unwrap_or_else(|why| {
            notices.push(format!("{why}; every command has its default key"));
            Keys::default()
        });
        if !peer::TELLS_DIALLERS {
            notices.push(
                "this system does not tell which program asks: whatever has the address can decide here"
                    .to_owned(),
            );
        }
        let (answers, compared) = (inputs.clone(), inputs.clone());
        let compare = Worker::start("compare", Duration::ZERO, move |job: Job| {
            let _ = compared.send(Input::Compared(Box::new(job.run())));
        })?;
        Ok(Self {
            roots: settings.roots,
            unseen_since: settings.ends_unseen.then(Instant::now),
            ends_unseen: settings.ends_unseen,
            environment,
            keys,
            notices,
            companion,
            views: Pending::default(),
            tabs: HashMap::new(),
            gone: VecDeque::new(),
            ended: VecDeque::new(),
            sources: Sources::new(OnDisk, move |answer| {
                drop(answers.send(Input::Source(answer)))
            }),
            compare,
            colours: colours::start()?,
            journal: Journal::default(),
            numbered: Numbered::default(),
            status: Status::default(),
            turn_news: TurnNews::default(),
            list: ChangesList::default(),
            row_words: RowWords::default(),
            heard_on_rows: HashMap::new(),
            history: Arc::default(),
            jobs: 0,
            awaited_until: Some(Instant::now() + DRAWN_WITHIN),
            looked: Instant::now(),
            inputs,
            asked_to_leave: false,
            is_over: false,
        })
    }

    /// Runs until the person leaves, or the companion stops.
    pub(crate) fn run(&mut self, inputs: &Receiver<Input>) {
        while !self.is_over {
            let now = Instant::now();
            let wait = self
                .due()
                .map_or(Duration::MAX, |due| due.saturating_duration_since(now));
            match inputs.recv_timeout(wait) {
                Ok(input) => self.take(input),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.is_over = true,
            }
            while !self.is_over
                && let Ok(input) = inputs.try_recv()
            {
                self.take(input);
            }
            self.elapse(Instant::now());
        }
        self.end(inputs);
    }

    /// The time of what is next to be done without an input.
    fn due(&self) -> Option<Instant> {
        let looks = !self.views.is_empty() && !self.sources.is_quiet();
        let look = looks.then(|| self.looked + POLL_INTERVAL);
        let ends = self.unseen_since.map(|since| since + UNSEEN);
        [look, self.awaited_until, ends, self.journal.due()]
            .into_iter()
            .flatten()
            .min()
    }

    fn elapse(&mut self, now: Instant) {
        self.is_over |= self.unseen_since.is_some_and(|since| now >= since + UNSEEN);
        if self.awaited_until.take_if(|until| *until <= now).is_some() {
            // A page without a tab is no view. What it has shown stays where it is.
            self.companion.tell(Tell::Shows(Shows::Never));
            let unopened = self.views.iter_mut();
            for shown in unopened.filter_map(|it| it.unopened.take()) {
                shown.failed(NO_TAB);
            }
        }
        for (key, text) in self.journal.look(&self.views, now) {
            self.companion.tell(Tell::Draft { key, text });
        }
        let notes = self.journal.notes(&self.views, |it| {
            let reason = Note::on_all(it.reason.clone());
            let reason = Some(reason).filter(|it| !it.text.trim().is_empty());
            it.drafts(it.fields.notes.values().next())
                .into_iter()
                .chain(reason)
                .collect()
        });
        for (key, notes) in notes {
            self.companion.tell(Tell::Notes { key, notes });
        }
        for (id, notes) in self.journal.row_notes(self.row_words.drafts(None)) {
            self.companion.tell(Tell::RowNotes { id, notes });
        }
        if now.duration_since(self.looked) >= POLL_INTERVAL {
            self.looked = now;
            let views = &self.views;
            self.sources.retain(|id| views.find(id).is_some());
            // Without a thread nothing is noticed, and all the rest works.
            let _ = self.sources.look();
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Companion(event) => self.companion_event(*event),
            Input::Call(tab, call, respond) => self.called(&tab, *call, respond),
            Input::Tab(tab, former, events) => self.tab_came(tab, former, events),
            Input::TabGone(tab, events) => self.tab_went(&tab, &events),
            Input::Compared(compared) => {
                let id = compared.id();
                let view = self.views.find_mut(id);
                if let Some(done) = view.and_then(|view| view.take_step(*compared)) {
                    self.arrived(id, done);
                    self.start(id);
                }
            }
            Input::Source(answer) => match self.sources.take(answer) {
                Some((id, News::Disk(disk))) => {
                    if let Some(view) = self.views.find_mut(id) {
                        view.disk = disk;
                    }
                    self.tell_diff(id);
                }
                Some((id, News::Read(original))) => self.reread(id, original),
                None => {}
            },
            Input::Ruled(decided) => self.ruled(*decided),
            Input::Listed(list, respond) => self.listed(*list, respond),
            Input::Acted(words, done, respond) => self.acted(words, done, respond),
            Input::Kept(text) => {
                stderr::print(&text);
                self.notice(Tone::Warning, text, true);
            }
            Input::Interrupt => self.interrupted(),
            Input::Stop => self.is_over = true,
        }
    }

    fn companion_event(&mut self, event: EditorEvent) {
        match event {
            EditorEvent::Open(diff, shown) => self.open(diff, shown),
            EditorEvent::Close(id, reason, closed) => self.close(id, reason, closed),
            EditorEvent::Text(key, told) => {
                let text = self.views.current(key).map(|view| view.standing_text());
                told.answer(text.map_err(|stale| stale.to_string()));
            }
            EditorEvent::Diagnostics(_, found) => found.done(Vec::new()),
            EditorEvent::Status(status) => {
                let news = self.turn_news.of(&status);
                let former = std::mem::replace(&mut self.status, status).changes;
                self.renumber();
                self.tell_all(&Event::Status(self.status_now()));
                let changes = self.status.changes;
                if former != changes {
                    self.tell_all(&Event::Turns(changes));
                }
                if let Some(news) = news {
                    self.notice(Tone::Info, news, false);
                }
            }
            EditorEvent::Draft(key, text) => {
                if self.views.current(key).is_ok() {
                    self.step(key.id, Step::Offer(text));
                }
            }
            EditorEvent::Notes(key, notes) => {
                if let Ok(view) = self.views.current_mut(key) {
                    view.take_notes(notes);
                    view.arranged = None;
                    self.tell_diff(key.id);
                }
            }
            EditorEvent::Lost(lost) => self.take(Input::Kept(lost.to_string())),
            EditorEvent::Shared(_) | EditorEvent::Moved(_) => {}
            EditorEvent::Stopped => self.is_over = true,
        }
    }

    fn open(&mut self, mut diff: Diff, shown: Reply<()>) {
        let original = self.sources.open(&mut diff);
        let target = Target::new(diff.path.clone(), &self.roots);
        let step = Step::Propose {
            original,
            proposed: std::mem::take(&mut diff.proposed),
            shown,
        };
        let id = diff.id;
        match self.views.find_mut(id) {
            Some(view) => view.renew(diff, target),
            None => {
                self.views.put(Shown {
                    judged: Judged::new(diff, target),
                    g: 0,
                    unopened: None,
                    arranged: None,
                    seen: HashMap::new(),
                    fields: Fields::default(),
                    version: None,
                    texts: 0,
                });
            }
        }
        self.renumber();
        self.step(id, step);
    }

    /// Takes a step with a diff when those before it are taken.
    pub(crate) fn step(&mut self, id: DiffId, step: Step) {
        if let Some(view) = self.views.find_mut(id) {
            view.push_step(step);
            view.changed();
        }
        self.start(id);
        self.tell_diff(id);
    }

    fn start(&mut self, id: DiffId) {
        self.jobs += 1;
        let number = self.jobs;
        let view = self.views.find_mut(id);
        if let Some(job) = view.and_then(|view| view.next_job(number, Instant::now())) {
            self.compare.order(job);
        }
    }

    fn arrived(&mut self, id: DiffId, done: Done) {
        let agent = self.agent_name(id);
        let (has_tabs, is_awaited) = (!self.tabs.is_empty(), self.awaited_until.is_some());
        let Some(view) = self.views.find_mut(id) else {
            return;
        };
        view.changed();
        let name = view.target.shown.clone();
        let restores = self.keys.fill("<undo> restores the previous one");
        let (tone, text) = match done {
            Done::Proposed {
                is_newer,
                edits,
                shown,
            } => {
                match (has_tabs, is_awaited) {
                    (true, _) => shown.done(()),
                    (_, true) => view.unopened = Some(shown),
                    _ => shown.failed(NO_TAB),
                }
                match is_newer {
                    true => {
                        view.disk = Disk::Same;
                        (Tone::Warning, self.newer(id, &agent, edits, &restores))
                    }
                    false => (Tone::Info, format!("{agent} {} {name}", view.diff.does())),
                }
            }
            Done::Offered(false) => return self.tell_diff(id),
            Done::Offered(true) => {
                let redo = self.keys.fill("<redo>");
                (Tone::Warning, view.say_offered(&redo))
            }
            Done::EditedLate(edits) => {
                let mut said = format!("{name} became another text while you typed");
                match edits {
                    Edits::Conflict(text) => {
                        said = format!("{said}, in the same lines · {restores}");
                        let path = view.target.path.clone();
                        self.keep(path, text, said.clone());
                    }
                    _ => said = format!("{said}: what you wrote is merged with it · {restores}"),
                }
                (Tone::Warning, said)
            }
            Done::Rebased(is_changed) => {
                let said = view.say_merged(is_changed, &self.keys);
                (Tone::Info, format!("{name}: {said}"))
            }
            Done::Edited(true) => {
                let said = "the proposal is now your text · <accept> accepts it, <undo> undoes it";
                (Tone::Good, format!("{name}: {}", self.keys.fill(said)))
            }
            Done::Edited(false) => (Tone::Info, format!("{name}: the proposal is unchanged")),
        };
        self.tell_diff(id);
        self.notice_on(id, tone, text);
    }

    fn newer(&mut self, id: DiffId, agent: &str, edits: Edits, how: &str) -> String {
        let Some(view) = self.views.find(id) else {
            return String::new();
        };
        let (text, lost) = view.say_newer(agent, edits, how, &self.keys);
        let path = view.target.path.clone();
        if let Some(lost) = lost {
            self.keep(path, lost, text.clone());
        }
        text
    }

    fn close(&mut self, id: DiffId, reason: CloseReason, closed: Reply<String>) {
        let agent = self.agent_name(id);
        let mut view = match self.views.position(id) {
            Ok(at) => self.views.remove(at),
            Err(stale) => return closed.failed(stale.to_string()),
        };
        for (_, note) in std::mem::take(&mut view.fields.notes) {
            view.write_note(note);
        }
        let mut words = view.say_closed(reason, &agent);
        let why = words.clone();
        if let Some(untold) = view.say_untold(reason, &agent) {
            words = format!("{words} · {untold}");
        }
        if let Some(text) = view.lost_edits(reason) {
            self.keep(view.target.path.clone(), text, why);
        }
        self.keep_texts(&view, &words);
        closed.done(view.standing_text());
        self.gone(view, words, None, None);
    }

    /// Tells all tabs that a diff is gone. What was typed there may still be on its way.
    pub(crate) fn gone(
        &mut self,
        view: Shown,
        words: String,
        tab: Option<String>,
        clipboard: Option<String>,
    ) {
        let next = self.views.next_of_set(view.diff.set);
        let next = next.or(self.views.len().checked_sub(1).map(|_| 0));
        let id = view.diff.id.0;
        self.ended.truncate(MAX_GONE - 1);
        self.ended.push_front(Ended::new(view, words.clone()));
        self.tell_all(&Event::Gone(wire::Gone {
            id,
            words,
            tab,
            clipboard,
            next: next.map(|at| self.views[at].diff.id.0),
        }));
    }

    /// Keeps a text that would be lost in a private file.
    pub(crate) fn keep(&self, path: PathBuf, text: String, why: String) {
        let places = kept_text::places(&self.environment);
        let sender = self.inputs.clone();
        let failed = self.inputs.clone();
        let said = why.clone();
        let started = kept_text::keep_aside(places, path, text, move |kept| {
            let told = match kept {
                Ok(file) => format!("{why}: your text is kept in {}", file.display()),
                Err(error) => format!("{why}, and your text is lost: {error}"),
            };
            let _ = sender.send(Input::Kept(told));
        });
        if let Err(error) = started {
            let _ = failed.send(Input::Kept(format!(
                "{said}, and your text is lost: {error}"
            )));
        }
    }

    fn reread(&mut self, id: DiffId, original: Result<Option<Vec<u8>>, String>) {
        let Some(view) = self.views.find_mut(id) else {
            return;
        };
        let name = view.target.shown.clone();
        match view.reread(original) {
            Ok(Some(step)) => self.step(id, step),
            Ok(None) => {
                let how = self
                    .keys
                    .fill("<merge> makes this a new file, <reject> rejects");
                self.tell_diff(id);
                self.notice_on(id, Tone::Warning, format!("{name} was deleted: {how}"));
            }
            Err(reason) => {
                self.tell_diff(id);
                self.notice_on(id, Tone::Warning, reason);
            }
        }
    }

    fn tab_came(&mut self, tab: String, former: Option<String>, events: UnboundedSender<Told>) {
        let has_tabs = !self.tabs.is_empty();
        self.gone.retain(|it| *it != tab);
        // A page that is loaded again has another name. What it has seen goes from one to the other, so that no second tab has it, too.
        let former = former.filter(|it| *it != tab);
        for view in self.views.iter_mut() {
            if let Some(seen) = former.as_ref().and_then(|it| view.seen.remove(it)) {
                view.seen.insert(tab.clone(), seen);
            }
        }
        self.tabs.insert(tab.clone(), events);
        (self.unseen_since, self.awaited_until) = (None, None);
        if !has_tabs {
            self.companion.tell(Tell::Shows(Shows::Always));
        }
        let diffs: Vec<DiffId> = self.views.iter().map(|it| it.diff.id).collect();
        let diffs = diffs
            .into_iter()
            .filter_map(|id| self.diff_state(id, &tab))
            .collect();
        let all = wire::All {
            diffs,
            status: self.status_now(),
            roots: self
                .roots
                .iter()
                .map(|it| visible::one_line(&it.to_string_lossy()))
                .collect(),
            notices: self.notices.clone(),
            keys: self.key_table(),
            version: VERSION.to_owned(),
            process: std::process::id(),
        };
        self.tell(&tab, &Event::All(Box::new(all)));
        for view in self.views.iter_mut() {
            if let Some(shown) = view.unopened.take() {
                shown.done(());
            }
        }
    }

    /// A tab is gone. Nothing is rejected by that; what comes now waits for no page that nobody has.
    fn tab_went(&mut self, tab: &str, events: &UnboundedSender<Told>) {
        if self.tabs.get(tab).is_some_and(|it| it.same_channel(events)) {
            self.tabs.remove(tab);
            self.leave_notes(tab);
            self.gone.push_back(tab.to_owned());
            if self.gone.len() > MAX_GONE
                && let Some(forgotten) = self.gone.pop_front()
            {
                for view in self.views.iter_mut() {
                    view.seen.remove(&forgotten);
                }
            }
            if self.tabs.is_empty() {
                self.awaited_until = Some(Instant::now() + DRAWN_WITHIN);
                self.unseen_since = self.ends_unseen.then(Instant::now);
            }
        }
    }

    /// Tells a tab.
    fn tell(&self, tab: &str, event: &Event) {
        if let Some((events, event)) = self.tabs.get(tab).zip(server::event(event)) {
            let _ = events.send(event);
        }
    }

    /// Tells all tabs.
    pub(crate) fn tell_all(&self, event: &Event) {
        let Some(event) = server::event(event) else {
            return;
        };
        for events in self.tabs.values() {
            let _ = events.send(event.clone());
        }
    }

    /// Tells all tabs what a diff is now, each with what it has seen.
    pub(crate) fn tell_diff(&mut self, id: DiffId) {
        let tabs: Vec<String> = self.tabs.keys().cloned().collect();
        for tab in tabs {
            if let Some(state) = self.diff_state(id, &tab) {
                self.tell(&tab, &Event::Diff(Box::new(state)));
            }
        }
    }

    /// Tells the person something.
    fn notice(&self, tone: Tone, text: impl Into<String>, is_lasting: bool) {
        self.say(tone, text.into(), is_lasting, None);
    }

    /// Tells the person something of a diff.
    fn notice_on(&self, id: DiffId, tone: Tone, text: String) {
        self.say(tone, text, false, Some(id.0));
    }

    fn say(&self, tone: Tone, text: String, is_lasting: bool, id: Option<u64>) {
        self.tell_all(&Event::Notice(wire::Notice {
            text,
            tone,
            is_lasting,
            id,
        }));
    }

    fn renumber(&mut self) {
        let here = Here::new(&self.status.agents, &self.views);
        self.numbered.renew(&here);
    }

    /// The name of a diff's proposer.
    pub(crate) fn agent_name(&self, id: DiffId) -> String {
        let view = self.views.find(id);
        view.map_or_else(String::new, |view| {
            self.numbered
                .name(&view.diff, view.diff.proposer.display_name())
        })
    }

    /// Ctrl-C in the terminal: leaves, or asks first as `q` does in the review.
    fn interrupted(&mut self) {
        let pending = self.views.len();
        let rejected = (pending > 0).then(|| {
            format!(
                "{} will be rejected unless another editor shows them",
                pillion_text::counted(pending, "pending diff")
            )
        });
        let at_quit = self.status.at_quit();
        let parts: Vec<_> = rejected.into_iter().chain(at_quit).collect();
        if parts.is_empty() || std::mem::replace(&mut self.asked_to_leave, true) {
            self.is_over = true;
            return;
        }
        stderr::print(format_args!("{}: Ctrl-C again leaves", parts.join("; ")));
    }

    /// Leaves: what the person wrote and nobody decided about is kept.
    fn end(&mut self, inputs: &Receiver<Input>) {
        self.elapse(Instant::now());
        let text = "the page has ended: start `pillion web` again".to_owned();
        let (tone, is_lasting) = (Tone::Warning, true);
        self.tell_all(&Event::End(wire::Notice {
            text,
            tone,
            is_lasting,
            id: None,
        }));
        let mut kept = 0;
        for view in std::mem::take(&mut self.views).iter() {
            for text in view.edited_text().into_iter().chain(view.fields.texts()) {
                kept += 1;
                let why = format!("the page ended with your edits of {}", view.target.shown);
                self.keep(view.target.path.clone(), text, why);
            }
        }
        let until = Instant::now() + DISK_TIMEOUT;
        while kept > 0
            && let Ok(input) = inputs.recv_deadline(until)
        {
            if let Input::Kept(text) = input {
                stderr::print(text);
                kept -= 1;
            }
        }
    }
}
