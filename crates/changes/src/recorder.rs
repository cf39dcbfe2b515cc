//! Watches folders while agents work, and keeps what they change. Changes between two looks are the work of the call
//! that ran then, if only one did.

mod attended;
mod journal;

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant, SystemTime};

use pillion_discovery::{Environment, real_path};
use pillion_system::clock;
use pillion_text::Text;
use pillion_text::merge;

use crate::folder_watch::FolderWatch;
use crate::git::Settings;
use crate::scan::is_settled;
use crate::state::{FileState, Hash, Writing};
use crate::store::{Judgements, Store, StoreError};
use crate::table::{Difference, Table};
use crate::turn::{Author, Change, Judgement, Running, Standing, Turn, first_words, overlap};
pub use attended::Glance;
use attended::{Attended, is_an_editors_own, is_swap_or_lock};
use journal::Journal;
pub use journal::{Decision, NewProposal, Offer};

/// More changes of one turn are not kept.
const MAX_CHANGES: usize = 50_000;

/// A save that comes so soon after an editor's word that it has read a file may have been written before that word was heard.
const SOON: Duration = Duration::from_secs(1);

/// More calls of one agent are not told apart.
const MAX_CALLS: usize = 64;

/// Old turns and texts are looked for no more often.
const TIDY: Duration = Duration::from_secs(10 * 60);

/// A file is written for a person so soon after that was noted, in milliseconds.
const WRITTEN_SOON: u64 = 2_000;

/// A call that is about to run.
#[derive(Debug, Clone)]
pub struct Call {
    /// The agent's name for it.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The one file that it is to change; none if it may change any.
    pub path: Option<PathBuf>,
    /// The subagent that makes it: it may work on when the turn has ended.
    pub subagent: Option<String>,
}

impl Call {
    fn running(&self) -> Running {
        Running {
            tool: self.tool.clone(),
            path: self.path.clone(),
        }
    }
}

/// The way in which the text of a file is known that is about to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// It is in a watched folder, and what is there now can be brought back.
    Kept,
    /// It is in a watched folder, but what is there now is not kept.
    NotKept,
    /// It is elsewhere, or leads there.
    Elsewhere,
}

/// The numbers of changes below some folders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of changes that nobody has seen.
    pub unseen: usize,
    /// Another number once a list of them would show something else.
    pub list: u32,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.unseen += other.unseen;
        self.list = self.list.wrapping_add(other.list);
    }
}

/// A turn that has ended with changes that nobody has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedTurn {
    /// Its number.
    pub number: u64,
    /// The short name of the agent.
    pub agent: String,
    /// The number of its changes that nobody had seen then.
    pub unseen: usize,
    /// True if the agent runs no hooks of ours: then nobody knows who made them.
    pub is_without_hooks: bool,
}

/// An agent's session, while it lasts.
#[derive(Debug, Default)]
struct Session {
    turn: Option<Turn>,
    /// The facts about an agent that runs no hooks of ours; none about one that does.
    attended: Option<Attended>,
    /// True if the agent has ended it, and a subagent's call still runs.
    is_ending: bool,
    /// The place in the turn of each file's change.
    places: HashMap<PathBuf, usize>,
    /// The calls that run.
    calls: Vec<Call>,
    /// The count when anything was heard of it last: of two that may have changed a file, it is the later one's.
    heard: u64,
    /// True if a person decided about a proposal in the turn.
    has_decisions: bool,
}

/// Keeps what agents change below some folders.
pub struct Recorder {
    store: Store,
    tables: Vec<Table>,
    /// Folders that are not watched.
    excluded: Vec<PathBuf>,
    settings: Settings,
    /// Files elsewhere that were about to be changed.
    outside: Table,
    sessions: HashMap<u64, Session>,
    count: u64,
    /// Turns that have ended, as they were read.
    ended: HashMap<u64, Turn>,
    /// The numbers of changes of a turn when the turn was written last.
    counted: HashMap<u64, ((SystemTime, u64), Tally)>,
    /// The judgements of people on the changes of turns that go on.
    judged: HashMap<u64, Judgements>,
    /// The time when old turns and texts were removed last.
    tidied: Option<Instant>,
    journal: Journal,
    /// Changes that were found a moment ago and a person's editor may have written, and until when that is possible.
    read: Vec<(Instant, Difference)>,
    /// The time when this began, and when everything was looked at last. Both are milliseconds since 1970.
    began: u64,
    looked: u64,
    /// Of what was written for a person and has been found: when that was noted.
    found_written: HashMap<PathBuf, u64>,
    /// The system's reports on the folders, while there are agents without hooks.
    watch: Option<FolderWatch>,
    /// Is called when something in the folders may have changed.
    stirred: Option<attended::Stirred>,
    /// The files that had changed in the glance before.
    glanced: HashSet<PathBuf>,
    /// The differences found for agents without hooks when no turn could be begun.
    unbegun: Vec<(u64, Difference)>,
    /// The reason why a turn could not be begun, until somebody asks.
    problem: Option<String>,
    /// The turn that was the last to end with something unseen.
    last: Option<EndedTurn>,
}

impl Recorder {
    /// Nothing is looked at yet. The folders that are `excluded`, and the store's own, are not watched.
    pub fn new(store: Store, roots: &[PathBuf], mut excluded: Vec<PathBuf>) -> Self {
        excluded.push(store.path());
        let mut recorder = Self {
            outside: Table::new(
                PathBuf::new(),
                store.clone(),
                Vec::new(),
                Settings::default(),
            ),
            settings: Settings::default(),
            excluded,
            store,
            tables: Vec::new(),
            sessions: HashMap::new(),
            count: 0,
            ended: HashMap::new(),
            counted: HashMap::new(),
            judged: HashMap::new(),
            tidied: None,
            journal: Journal::default(),
            read: Vec::new(),
            began: clock::now_ms(),
            looked: 0,
            found_written: HashMap::new(),
            watch: None,
            stirred: None,
            glanced: HashSet::new(),
            unbegun: Vec::new(),
            problem: None,
            last: None,
        };
        recorder.watch(roots);
        recorder
    }

    /// The same for a person with this environment, before anything is looked at: git's settings say which texts are not on
    /// the disk as git has them.
    #[must_use]
    pub fn of(mut self, environment: &Environment) -> Self {
        self.settings = Settings::of(environment);
        let roots: Vec<_> = { self.tables.drain(..) }
            .map(|table| table.root().to_owned())
            .collect();
        self.watch(&roots);
        self
    }

    /// Watches these folders, and no others. One that lies in another is watched with it.
    pub fn watch(&mut self, roots: &[PathBuf]) {
        let is_inner = |root: &PathBuf| roots.iter().any(|it| it != root && root.starts_with(it));
        let wanted: Vec<&PathBuf> = roots.iter().filter(|root| !is_inner(root)).collect();
        self.tables
            .retain(|table| wanted.iter().any(|root| *root == table.root()));
        for root in wanted {
            if !self.tables.iter().any(|table| table.root() == root) {
                let (excluded, settings) = (self.excluded.clone(), self.settings.clone());
                let (root, store) = (root.clone(), self.store.clone());
                self.tables
                    .push(Table::new(root, store, excluded, settings));
            }
        }
    }

    /// Looks at all files for the first time, so that the first turn need not wait for that.
    pub fn prepare(&mut self) {
        self.look();
    }

    /// An agent begins a turn: everything is as it is before the agent changes anything.
    ///
    /// # Errors
    /// When the store cannot be written. Then nothing of the turn is kept.
    pub fn begin(&mut self, session: u64, agent: &str, prompt: &str) -> Result<u64, StoreError> {
        self.look();
        self.close(session)?;
        self.forget_attended(session)?;
        let former = self.sessions.remove(&session);
        let mut calls = former.map(|it| it.calls).unwrap_or_default();
        calls.retain(|call| call.subagent.is_some());
        let turn = self.new_turn(agent, prompt, session, false);
        let turn = self.store.begin(turn)?;
        let number = turn.number;
        let heard = self.heard();
        self.sessions.insert(
            session,
            Session {
                turn: Some(turn),
                calls,
                heard,
                ..Session::default()
            },
        );
        self.watch_while_attended();
        Ok(number)
    }

    fn new_turn(&self, agent: &str, prompt: &str, session: u64, is_without_hooks: bool) -> Turn {
        let roots = self.tables.iter().map(|table| table.root().to_owned());
        Turn {
            number: 0,
            agent: agent.to_owned(),
            prompt: first_words(prompt),
            is_without_hooks,
            began: clock::now_ms(),
            ended: None,
            roots: roots.collect(),
            uncovered: self.uncovered(),
            watcher: process::id(),
            session,
            running: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// A call is about to run. It runs when this has returned.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn before(&mut self, session: u64, agent: &str, mut call: Call) -> Result<(), StoreError> {
        call.path = call.path.map(|path| self.located(&path));
        match &call.path {
            // Its hooks are heard of in the middle of a turn: what has changed before may be its work.
            _ if self.is_attended(session) => {
                self.left(session)?;
                self.begin(session, agent, "")?;
            }
            // Agents whose turns nobody tells, and subagents that go on after the turn.
            _ if !self.has_turn(session) => {
                self.begin(session, agent, "")?;
            }
            Some(path) => self.look_at(path),
            None => drop(self.look()),
        }
        let heard = self.heard();
        if let Some(session) = self.sessions.get_mut(&session) {
            session.heard = heard;
            if session.calls.len() < MAX_CALLS {
                session.calls.push(call);
            }
        }
        self.save()
    }

    /// The coverage of this file, which has been looked at just now. Waits for the disk.
    pub fn coverage(&self, path: &Path) -> Coverage {
        let table = self
            .tables
            .iter()
            .find(|table| path.starts_with(table.root()));
        let Some(table) = table else {
            return Coverage::Elsewhere;
        };
        let inner = path.strip_prefix(table.root()).unwrap_or(path);
        match real_path(table.root()).join(inner) == real_path(path) {
            false => Coverage::Elsewhere,
            true if table.keeps(path) => Coverage::Kept,
            true => Coverage::NotKept,
        }
    }

    /// The reason why not all texts are kept, if anything failed since this was asked last.
    pub fn problem(&mut self) -> Option<String> {
        let tables = self.tables.iter_mut().chain([&mut self.outside]);
        let problem = tables.filter_map(Table::take_problem).last();
        problem.or(self.problem.take())
    }

    /// A call has run, or failed.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn after(
        &mut self,
        session: u64,
        id: &str,
        is_accepted: impl Fn(&Path) -> bool,
    ) -> Result<(), StoreError> {
        let Some(calls) = self.sessions.get(&session).map(|it| &it.calls) else {
            return Ok(());
        };
        let call = calls.iter().find(|call| call.id == id).cloned();
        let changed = match call.and_then(|call| call.path) {
            Some(path) => {
                self.look_at(&path);
                vec![path]
            }
            None => self.look(),
        };
        for path in &changed {
            self.accept(session, path, &is_accepted);
        }
        if let Some(session) = self.sessions.get_mut(&session) {
            // Of two that are called the same, the other one runs.
            let ended = session.calls.iter().position(|call| call.id == id);
            ended.map(|at| session.calls.remove(at));
        }
        self.save()?;
        self.close_if_over(session)
    }

    /// The agent has ended its turn. If a subagent's call still runs, the turn goes on until that has run.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn end(&mut self, session: u64) -> Result<(), StoreError> {
        if !self.has_turn(session) {
            return Ok(());
        }
        self.look();
        if let Some(session) = self.sessions.get_mut(&session) {
            session.calls.retain(|call| call.subagent.is_some());
            session.is_ending = true;
        }
        self.save()?;
        self.close_if_over(session)
    }

    /// A subagent has ended, and none of its calls runs any more.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn subagent_ended(&mut self, session: u64, subagent: &str) -> Result<(), StoreError> {
        if let Some(session) = self.sessions.get_mut(&session) {
            let is_its = |call: &Call| call.subagent.as_deref() == Some(subagent);
            session.calls.retain(|call| !is_its(call));
        }
        self.save()?;
        self.close_if_over(session)
    }

    fn close_if_over(&mut self, session: u64) -> Result<(), StoreError> {
        let found = self.sessions.get(&session);
        match found.is_some_and(|it| it.is_ending && it.calls.is_empty()) {
            true => self.close(session),
            false => Ok(()),
        }
    }

    /// Ends the turn of a session, if it has one. Everything has been looked at.
    fn close(&mut self, session: u64) -> Result<(), StoreError> {
        self.save()?;
        let Some(session) = self.sessions.get_mut(&session) else {
            return Ok(());
        };
        let Some(mut turn) = session.turn.take() else {
            return Ok(());
        };
        turn.ended = Some(clock::now_ms());
        self.judged.remove(&turn.number);
        turn.running.clear();
        // One that is attended goes on without a turn.
        session.places.clear();
        let has_decisions = std::mem::take(&mut session.has_decisions);
        match has_decisions || turn.real_changes().next().is_some() {
            true => self.store.save(&turn)?,
            false => self.store.forget(turn.number)?,
        }
        let unseen = self.tally_of(&turn).unseen;
        if unseen > 0 {
            self.last = Some(EndedTurn {
                number: turn.number,
                agent: turn.agent,
                unseen,
                is_without_hooks: turn.is_without_hooks,
            });
        }
        self.tidy_now_and_then();
        Ok(())
    }

    /// Removes what is old, unless that was done a short while ago. If that fails, a turn begins and ends nevertheless.
    fn tidy_now_and_then(&mut self) {
        if self.tidied.is_some_and(|tidied| tidied.elapsed() < TIDY) {
            return;
        }
        self.tidied = Some(Instant::now());
        let tables = self.tables.iter().chain([&self.outside]);
        // Only of old texts it is asked, and there may be none.
        let needed = LazyCell::new(|| tables.flat_map(Table::texts).collect::<HashSet<_>>());
        let is_needed = |hash: &Hash| needed.contains(hash) || self.journal.needs(hash);
        if let Err(error) = self.store.tidy(SystemTime::now(), is_needed) {
            tracing::warn!(%error, "what is old is not removed");
        }
    }

    /// The agent has gone.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn left(&mut self, session: u64) -> Result<(), StoreError> {
        if self.has_turn(session) || self.is_attended(session) {
            self.look();
        }
        let closed = self.close(session);
        self.sessions.remove(&session);
        self.watch_while_attended();
        closed
    }

    /// A person's editor has read this file, or they begin to change it there: what was changed until now is not theirs.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn seen(&mut self, path: &Path) -> Result<(), StoreError> {
        let path = self.located(path);
        let path = path.as_path();
        let Some(difference) = self.difference(path) else {
            // What was found before has been read: if they save that unchanged, it does not become theirs.
            self.read.retain(|(_, it)| it.path != path);
            return Ok(());
        };
        self.may_be_saved(&difference, SOON);
        self.found(vec![difference]);
        self.save()
    }

    /// A person has saved this file in their editor: what has changed since it was looked at last is theirs.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn saved(&mut self, path: &Path) -> Result<(), StoreError> {
        let path = self.located(path);
        let path = path.as_path();
        let now = Instant::now();
        let just_read =
            { self.read.iter() }.position(|(until, it)| it.path == path && now < *until);
        let just_read = just_read.map(|at| self.read.swap_remove(at).1);
        match (self.difference(path), just_read) {
            (Some(difference), _) => self.saved_by_person(difference),
            // Nobody saves what they have not changed: the look before has found what they saved.
            (None, Some(difference)) => self.wrote_for_person(&difference, None),
            (None, None) => return Ok(()),
        }
        self.save()
    }

    /// A person's editor may say within this time that it has written what differs.
    fn may_be_saved(&mut self, difference: &Difference, within: Duration) {
        let now = Instant::now();
        self.read
            .retain(|(until, it)| now < *until && it.path != difference.path);
        self.read.push((now + within, difference.clone()));
    }

    fn has_turn(&self, session: u64) -> bool {
        let session = self.sessions.get(&session);
        session.is_some_and(|it| it.turn.is_some())
    }

    /// This difference was saved by a person. A text that was written for them between the last look and that is not theirs.
    fn saved_by_person(&mut self, mut difference: Difference) {
        let writing = self.writing(&difference.path);
        if let Some(writing) = writing.filter(|it| it.written != difference.before) {
            self.found_written
                .insert(difference.path.clone(), writing.at);
            let written = Difference {
                after: writing.written.clone(),
                ..difference.clone()
            };
            self.wrote_for_person(&written, writing.of.as_ref());
            if writing.written == difference.after {
                return;
            }
            difference.before = writing.written;
        }
        self.wrote_for_person(&difference, None);
    }

    /// This difference was written for a person, and is put down so where an agent has changed the file before. That a change
    /// was judged is not one more change: `of` is the `after` of the one for which this was written.
    fn wrote_for_person(&mut self, difference: &Difference, of: Option<&FileState>) {
        self.unbegun.retain(|(_, it)| it != difference);
        for session in self.sessions.values_mut() {
            let number = session.turn.as_ref().map(|turn| turn.number);
            let Some(change) = session.change(&difference.path) else {
                continue;
            };
            if of == Some(&change.after) {
                continue;
            }
            let judged = number.and_then(|number| {
                let judged = judgements(&mut self.judged, number, &self.store);
                judged.of(change.number)
            });
            let is_its_own = judged.is_some_and(|it| {
                let is_back = it.judgement == Judgement::TakenBack;
                let is_written = it.written.as_ref() == Some(&difference.after);
                it.after == change.after && (is_back || is_written)
            });
            if !is_its_own {
                change.written_for_person(difference, &self.store);
            }
        }
    }

    /// The numbers of changes below the folders, in all turns that are kept. Waits for the disk.
    pub fn tally(&mut self) -> Tally {
        let numbers = self.store.numbers().unwrap_or_default();
        self.ended.retain(|number, _| numbers.contains(number));
        for number in &numbers {
            if !self.ended.contains_key(number)
                && let Ok(turn) = self.store.turn(*number)
                && turn.ended.is_some()
            {
                self.ended.insert(*number, turn);
            }
        }
        self.counted.retain(|number, _| numbers.contains(number));
        let open = self.sessions.values().filter_map(|it| it.turn.as_ref());
        let is_here = |turn: &&Turn| overlap(&turn.roots, self.tables.iter().map(Table::root));
        let mut tally = Tally::default();
        for turn in self.ended.values().chain(open).filter(is_here) {
            let written = self.store.written_at(turn.number);
            let known = self.counted.get(&turn.number);
            let known = known.filter(|(at, _)| Some(*at) == written);
            if let Some((_, known)) = known {
                tally.add(*known);
                continue;
            }
            let counted = self.tally_of(turn);
            tally.add(counted);
            // File systems count time in steps: what is written in the same one leaves no trace.
            if let Some(at) = written.filter(|(at, _)| is_settled(*at)) {
                self.counted.insert(turn.number, (at, counted));
            }
        }
        tally
    }

    fn tally_of(&self, turn: &Turn) -> Tally {
        let judged = self.store.judged(turn.number);
        let mut tally = Tally::default();
        for change in turn.real_changes() {
            let judged = judged.as_ref().ok().and_then(|it| it.of(change.number));
            let standing = change.standing(judged);
            let mut hasher = DefaultHasher::new();
            let at = judged.map(|it| it.at);
            let shown = (
                turn.number,
                change.number,
                &change.after,
                standing.name(),
                at,
            );
            shown.hash(&mut hasher);
            tally.add(Tally {
                unseen: usize::from(standing == Standing::Unseen),
                list: (hasher.finish() >> 32) as u32,
            });
        }
        tally
    }

    /// The turn that was the last to end with changes that nobody had seen.
    pub fn ended(&self) -> Option<&EndedTurn> {
        self.last.as_ref()
    }

    fn heard(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn uncovered(&self) -> Vec<String> {
        let tables = self.tables.iter();
        tables.flat_map(Table::uncovered).collect()
    }

    /// Looks at everything. Returns what has changed.
    fn look(&mut self) -> Vec<PathBuf> {
        let now = clock::now_ms();
        let found: Vec<Difference> = self.tables.iter_mut().flat_map(Table::look).collect();
        let changed = found.iter().map(|it| it.path.clone()).collect();
        self.found_all(found, now);
        changed
    }

    /// Puts down what differs of all files, which were looked at from `now` on: milliseconds since 1970.
    fn found_all(&mut self, found: Vec<Difference>, now: u64) {
        self.found(found);
        self.looked = now;
        // A clock may be set back.
        self.began = self.began.min(now);
        let since = self.noted_since();
        self.found_written.retain(|_, at| *at > since);
    }

    /// The time before which everything that was noted has been written and looked at.
    fn noted_since(&self) -> u64 {
        self.began.max(self.looked.saturating_sub(WRITTEN_SOON))
    }

    /// What was written to this path for a person, if it has not been found yet.
    fn writing(&self, path: &Path) -> Option<Writing> {
        let is_new = |it: &Writing| {
            it.at > self.noted_since() && self.found_written.get(path) != Some(&it.at)
        };
        self.store.writing(path).filter(is_new)
    }

    /// Puts down what was written for a person. Returns false if this was not: an agent may have made the same of the file
    /// later.
    fn found_for_person(&mut self, difference: &Difference) -> bool {
        let path = &difference.path;
        let writing = self.writing(path);
        let Some(writing) = writing.filter(|it| it.written == difference.after) else {
            return false;
        };
        self.found_written.insert(path.clone(), writing.at);
        // If they save the file unchanged now, this does not become theirs.
        self.read.retain(|(_, it)| it.path != *path);
        self.wrote_for_person(difference, writing.of.as_ref());
        true
    }

    /// The place of a file that may be named by a path through links to folders: watched folders are looked at without these.
    fn located(&self, path: &Path) -> PathBuf {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return path.to_owned();
        };
        let folder = real_path(folder);
        let roots = self.tables.iter().map(Table::root);
        let mut inner = roots.filter_map(|root| {
            let inner = folder.strip_prefix(real_path(root)).ok()?;
            Some(root.join(inner))
        });
        let folder = inner.next().unwrap_or(folder);
        folder.join(name)
    }

    fn look_at(&mut self, path: &Path) {
        let found = self.difference(path);
        self.found(found.into_iter().collect());
    }

    fn difference(&mut self, path: &Path) -> Option<Difference> {
        let table = self
            .tables
            .iter_mut()
            .find(|table| path.starts_with(table.root()));
        let table = table.unwrap_or(&mut self.outside);
        let is_known = table.knows(path);
        let difference = table.look_at(path);
        difference.filter(|_| is_known)
    }

    /// Puts down what differs, with who did it.
    fn found(&mut self, found: Vec<Difference>) {
        let moved = moves(&found);
        self.begin_at_last();
        let mut again: HashMap<u64, Vec<Change>> = HashMap::new();
        for (difference, moved_from) in found.into_iter().zip(moved) {
            if is_swap_or_lock(&difference.path) || self.found_for_person(&difference) {
                continue;
            }
            let Some((session, by)) = self.author(&difference.path) else {
                continue;
            };
            if self.is_attended(session) {
                if is_an_editors_own(&difference.path) {
                    continue;
                }
                if !self.begins_attended(session) {
                    if self.unbegun.len() < MAX_CHANGES {
                        self.unbegun.push((session, difference));
                    }
                    continue;
                }
            }
            let noted = self.sessions.get_mut(&session).and_then(|session| {
                let number = session.turn.as_ref()?.number;
                if let Some(change) = session.change(&difference.path)
                    && change.after != difference.before
                    && judgements(&mut self.judged, number, &self.store)
                        .of(change.number)
                        .is_some_and(|it| change.standing(Some(it)) == Standing::TakenBack)
                {
                    // What a person has written since it was taken back is theirs.
                    change.before = difference.before.clone();
                }
                let change = session.note(difference, by, moved_from)?;
                Some((number, change.clone()))
            });
            if let Some((turn, change)) = noted {
                again.entry(turn).or_default().push(change);
            }
        }
        for (turn, changes) in again {
            self.made_again(turn, &changes);
        }
    }

    /// Puts down what was found when no turn could be begun for it, if one can be now.
    fn begin_at_last(&mut self) {
        let Some((session, _)) = self.unbegun.first() else {
            return;
        };
        if self.is_attended(*session) && !self.begins_attended(*session) {
            return;
        }
        for (session, difference) in std::mem::take(&mut self.unbegun) {
            if self.is_attended(session)
                && self.begins_attended(session)
                && let Some(session) = self.sessions.get_mut(&session)
            {
                session.note(difference, Author::Unclear, None);
            }
        }
    }

    /// An agent has changed these files again. A person has not seen the parts of that which they had taken back.
    fn made_again(&mut self, turn: u64, changes: &[Change]) {
        let judged = judgements(&mut self.judged, turn, &self.store);
        let is_back = |it: &&Change| it.has_taken_back(judged.of(it.number));
        let back = changes.iter().filter(is_back);
        // Without room on the disk it counts as taken back.
        let _ = self
            .store
            .judge(turn, back.map(|change| (change.number, None)));
    }

    /// The session and the author of this file's change, by the calls that run; none if no turn goes on.
    fn author(&self, path: &Path) -> Option<(u64, Author)> {
        let running = || {
            let sessions = self.sessions.iter();
            sessions.flat_map(|(id, it)| it.calls.iter().map(|call| (*id, call)))
        };
        let tool = |(session, call): (u64, &Call)| (session, Author::Tool(call.tool.clone()));
        let mut exact = running().filter(|(_, call)| call.path.as_deref() == Some(path));
        if let Some(call) = exact.next() {
            return Some(tool(call));
        }
        let mut any = running().filter(|(_, call)| call.path.is_none());
        match (any.next(), any.next()) {
            // Nobody knows what an agent without hooks does meanwhile.
            (Some((session, _)), None) if self.attended_at_work() => {
                Some((session, Author::Unclear))
            }
            (Some(call), None) => Some(tool(call)),
            _ => {
                let is_open = |it: &Session| it.turn.is_some() || it.attended.is_some();
                let open = self.sessions.iter().filter(|(_, it)| is_open(it));
                let (session, _) = open.max_by_key(|(_, it)| (!it.calls.is_empty(), it.heard))?;
                Some((*session, Author::Unclear))
            }
        }
    }

    /// The session's change of this file is what the person accepted, if it is. Only of its own changes it is asked: what
    /// was accepted is written once.
    fn accept(&mut self, session: u64, path: &Path, is_accepted: impl Fn(&Path) -> bool) {
        let session = self.sessions.get_mut(&session);
        let change = session.and_then(|it| it.change(path));
        if let Some(change) = change.filter(|_| is_accepted(path)) {
            change.accepted = Some(change.after.clone());
        }
    }

    fn save(&mut self) -> Result<(), StoreError> {
        let uncovered = self.uncovered();
        for session in self.sessions.values_mut() {
            let Some(turn) = &mut session.turn else {
                continue;
            };
            turn.uncovered.clone_from(&uncovered);
            if turn.changes.len() >= MAX_CHANGES {
                let uncovered = format!("changes beyond the limit of {MAX_CHANGES} files");
                turn.uncovered.push(uncovered);
            }
            turn.running = session.calls.iter().map(Call::running).collect();
            self.store.save(turn)?;
        }
        Ok(())
    }
}

/// What people have made of the changes of this turn until now.
fn judgements<'a>(
    known: &'a mut HashMap<u64, Judgements>,
    turn: u64,
    store: &Store,
) -> &'a Judgements {
    let judged = { known.entry(turn) }.or_insert_with(|| Judgements::new(turn));
    // What cannot be read says nothing.
    let _ = judged.refresh(store);
    judged
}

/// For each difference, where the file was before if it was moved.
fn moves(found: &[Difference]) -> Vec<Option<PathBuf>> {
    let mut gone: HashMap<Hash, Vec<PathBuf>> = HashMap::new();
    for difference in found.iter().filter(|it| it.after.is_absent()) {
        if let Some(text) = difference.before.text() {
            gone.entry(text.clone())
                .or_default()
                .push(difference.path.clone());
        }
    }
    let mut moved = Vec::new();
    for difference in found {
        let is_new = difference.before.is_absent();
        // All empty files are the same.
        let is_empty = matches!(difference.after, FileState::File { size: 0, .. });
        let text = difference.after.text().filter(|_| is_new && !is_empty);
        let from = text.and_then(|text| gone.get_mut(text)?.pop());
        moved.push(from);
    }
    moved
}

impl Session {
    /// The change of this file in the turn so far.
    fn change(&mut self, path: &Path) -> Option<&mut Change> {
        let place = *self.places.get(path)?;
        self.turn.as_mut()?.changes.get_mut(place)
    }

    /// Puts down what was found. Returns the change if it is one that was there before.
    fn note(
        &mut self,
        found: Difference,
        by: Author,
        moved_from: Option<PathBuf>,
    ) -> Option<&Change> {
        if let Some(attended) = &mut self.attended {
            attended.fresh.push(found.path.clone());
        }
        if let Some(place) = self.places.get(&found.path) {
            let change = self.turn.as_mut()?.changes.get_mut(*place)?;
            change.after = found.after;
            if change.by != by {
                change.by = Author::Unclear;
            }
            return Some(change);
        }
        let turn = self.turn.as_mut()?;
        if turn.changes.len() >= MAX_CHANGES {
            return None;
        }
        self.places.insert(found.path.clone(), turn.changes.len());
        turn.changes.push(Change {
            number: turn.changes.len() as u64 + 1,
            path: found.path,
            before: found.before,
            after: found.after,
            by,
            moved_from,
            accepted: None,
            is_mixed: false,
        });
        None
    }
}

impl Change {
    /// The file was changed for a person from what the agent had made of it: the text before gets the same change, so that
    /// it is none of the agent's.
    fn written_for_person(&mut self, saved: &Difference, store: &Store) {
        // All of the change is what the person saved.
        if self.before == saved.before && self.after == saved.after {
            self.before = saved.after.clone();
            return;
        }
        let was_accepted = self.accepted.as_ref() == Some(&self.after);
        self.after = saved.after.clone();
        let text = |state: &FileState| store.get(state.text()?).ok().map(Text::new);
        let texts = (text(&saved.before), text(&self.before), text(&saved.after));
        let merged = match texts {
            (Some(former), Some(before), Some(now)) => {
                let merged = merge::texts(&former, &now, &before);
                (merged.conflicts == 0).then_some(merged.text)
            }
            _ => None,
        };
        let kept = merged.and_then(|text| Some((text.len() as u64, store.put(&text).ok()?)));
        match (kept, &mut self.before) {
            (Some((length, hash)), FileState::File { size, text, .. }) => {
                *size = length;
                *text = Some(hash);
            }
            _ => self.is_mixed = true,
        }
        if was_accepted {
            self.accepted = Some(self.after.clone());
        }
    }
}
