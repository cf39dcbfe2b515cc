//! Watches folders while agents work, and keeps what they change in their turns.

mod attended;
mod awaited;
mod cut_off;
mod for_person;
mod found;
mod journal;
mod left_behind;
mod session;
mod spans;
mod tally;
mod tidy;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use pillion_discovery::{real_path, runner};
use pillion_system::clock;

use crate::folder_watch::{FolderWatch, Watched};
use crate::remark::Remark;
use crate::scan::{Folder, has_other_names};
use crate::store::{Judgements, Store, StoreError};
use crate::table::{Difference, Table};
use crate::turn::{Change, Turn, first_words};
pub use attended::Glance;
use journal::Journal;
pub use journal::{Decision, Offer};
pub use session::Call;
use session::{Session, Shell};
pub use spans::Spans;
pub use tally::Tally;

/// More calls of one agent are not told apart.
const MAX_CALLS: usize = 64;

/// What is known of a file that is about to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// It is in a watched folder, and what is there now can be brought back.
    Kept,
    /// It is in a watched folder, but what is there now is not kept.
    NotKept,
    /// It is elsewhere.
    Elsewhere,
    /// Its path leads through a link in a watched folder.
    Leads,
    /// It is to be written as it is.
    Unchanged,
    /// Programs run or obey it without being started, wherever it is: to bring it back later is too late.
    RunsCode,
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

/// How far the folders are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// Whatever the system may have told of: enough between the calls of a turn.
    Told,
    /// Each file: the system does not tell of what is written by a name elsewhere, or through memory.
    All,
}

/// The last look at the folders.
struct LastLook {
    began: Instant,
    extent: Extent,
    /// The files that it found.
    changed: Vec<PathBuf>,
}

/// What could not be written last: it is here only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unkept {
    /// The turns with changes that the store does not have, with these.
    pub turns: Vec<Turn>,
    /// The numbers of those that go on, as the store has them, and have ended.
    pub ended: Vec<u64>,
    /// Why, as a sentence without the file where it failed.
    pub why: String,
}

/// A folder that nobody can read since a turn: what the turn has made in it is compared once somebody can. Another one may have come to lie
/// in its place.
struct Closed {
    path: PathBuf,
    folder: Folder,
    turn: u64,
}

/// Returns true if nobody could read what is at this path in the last look.
fn is_unread(tables: &[Table], path: &Path) -> bool {
    tables.iter().any(|it| it.is_unread(path))
}

/// Keeps what agents change below some folders.
pub struct Recorder {
    store: Store,
    tables: Vec<Table>,
    /// Folders that are not watched.
    excluded: Vec<PathBuf>,
    /// Files elsewhere that were about to be changed.
    outside: Table,
    sessions: HashMap<u64, Session>,
    /// The turns that have ended and could not be written until now, each in a session of its own, with if their end is news.
    unwritten: Vec<(Session, bool)>,
    /// True while it is found what has changed since another process has watched.
    is_taking_over: bool,
    closed: Vec<Closed>,
    count: u64,
    spans: Spans,
    /// Turns that have ended, as they were read.
    ended: HashMap<u64, Turn>,
    /// The numbers of changes of a turn when the turn was written last.
    counted: HashMap<u64, ((SystemTime, u64), Tally)>,
    /// The judgements of people on the changes of turns that go on, as they were when the turn was written last.
    judged: HashMap<u64, ((SystemTime, u64), Judgements)>,
    /// Another text once texts were removed from the store.
    removed: Option<String>,
    /// The time when old turns and texts were removed last.
    tidied: Option<Instant>,
    journal: Journal,
    /// Changes that were found a moment ago and a person's editor may have written, and until when that is possible.
    read: Vec<(Instant, Difference)>,
    /// The time when this began, and when everything was looked at last: what was written for a person before is no difference.
    /// Both are milliseconds since 1970.
    began: u64,
    looked: u64,
    /// Of what was written for a person, and was found or overwritten since: when that was noted.
    passed: HashMap<PathBuf, u64>,
    /// The system's reports on the folders, while there are agents.
    watch: Option<FolderWatch>,
    /// The folders on which it reports.
    watched: Watched,
    /// The time when what is done next was asked for: a look that began later has found all that it is about.
    asked: Option<Instant>,
    last_look: Option<LastLook>,
    /// How often all files were looked at.
    looks: u64,
    /// Is called when something in the folders may have changed.
    stirred: Option<attended::Stirred>,
    seen_from: attended::SeenFrom,
    left_behind_ended: Option<left_behind::AllEnded>,
    /// The files that had changed in the glance before.
    glanced: HashSet<PathBuf>,
    /// The reason why something could not be written, until somebody asks.
    problem: Option<String>,
    /// Why turns could not be written when that was tried last: in full, and without the file where it failed.
    behind: Option<(String, String)>,
    /// The turn that was the last to end with something unseen.
    last: Option<EndedTurn>,
}

impl Recorder {
    /// Nothing is looked at yet. The folders that are `excluded`, and the store's own, are not watched.
    pub fn new(store: Store, roots: &[PathBuf], mut excluded: Vec<PathBuf>) -> Self {
        excluded.push(store.own_folder());
        let mut recorder = Self {
            outside: Table::new(PathBuf::new(), store.clone(), Vec::new()),
            excluded,
            removed: store.removed(),
            store,
            tables: Vec::new(),
            sessions: HashMap::new(),
            unwritten: Vec::new(),
            is_taking_over: false,
            closed: Vec::new(),
            count: 0,
            spans: Spans::default(),
            ended: HashMap::new(),
            counted: HashMap::new(),
            judged: HashMap::new(),
            tidied: None,
            journal: Journal::default(),
            read: Vec::new(),
            began: clock::now_ms(),
            looked: clock::now_ms(),
            passed: HashMap::new(),
            watch: None,
            watched: Watched::default(),
            asked: None,
            last_look: None,
            looks: 0,
            stirred: None,
            seen_from: Arc::new(|_| Vec::new()),
            left_behind_ended: None,
            glanced: HashSet::new(),
            problem: None,
            behind: None,
            last: None,
        };
        recorder.watch(roots);
        recorder
    }

    /// What is done next was asked for at this time; without, it is asked for as it is done.
    pub fn asked_at(&mut self, asked: Option<Instant>) {
        self.asked = asked;
    }

    fn asked(&self) -> Instant {
        self.asked.unwrap_or_else(Instant::now)
    }

    /// How often the system was asked about all files.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// Watches these folders, and no others. One that lies in another is watched with it.
    pub fn watch(&mut self, roots: &[PathBuf]) {
        self.watched = Watched::default();
        self.last_look = None;
        let is_inner = |root: &PathBuf| roots.iter().any(|it| it != root && root.starts_with(it));
        let wanted: Vec<&PathBuf> = roots.iter().filter(|root| !is_inner(root)).collect();
        self.tables
            .retain(|table| wanted.iter().any(|root| *root == table.root()));
        for root in wanted {
            if !self.tables.iter().any(|table| table.root() == root) {
                let (root, store) = (root.clone(), self.store.clone());
                self.tables
                    .push(Table::new(root, store, self.excluded.clone()));
            }
        }
        self.take_over();
        self.find_out();
    }

    /// Looks at all files for the first time, so that the first turn need not wait for that.
    pub fn prepare(&mut self) {
        self.look(Extent::Told);
        self.tables.iter_mut().for_each(Table::write_log);
    }

    /// An agent begins a turn: everything is as it is before the agent changes anything.
    ///
    /// # Errors
    /// When the store cannot be written. Then the turn goes on in memory until it can be.
    pub fn begin(&mut self, session: u64, agent: &str, prompt: &str) -> Result<u64, StoreError> {
        self.sessions.entry(session).or_default();
        self.spans
            .retain(|session, id| self.call(session, id).is_some());
        if self.watch.is_none() {
            // What happens from this look on is told, so that the first call needs no other one.
            self.watch_folders();
        }
        self.look(Extent::All);
        self.close(session);
        self.close_cut_off();
        let forgotten = self.forget_attended(session);
        let former = self.sessions.remove(&session);
        let mut calls = former.map(|it| it.calls).unwrap_or_default();
        calls.retain(|call| call.subagent.is_some());
        let turn = self.new_turn(agent, prompt, session, false);
        let heard = self.heard();
        self.sessions.insert(
            session,
            Session {
                calls,
                ..Session::of(turn, heard)
            },
        );
        self.save()?;
        forgotten?;
        let turn = self.sessions.get(&session).and_then(|it| it.turn.as_ref());
        Ok(turn.map_or(0, |it| it.number))
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
            is_cut_off: false,
            running: Vec::new(),
            new_folders: Vec::new(),
            remarks: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// A turn goes on, also if nobody has told its beginning: of agents that tell none, and of subagents that go on after the turn.
    pub fn goes_on(&mut self, session: u64, agent: &str) -> Result<(), StoreError> {
        match self.is_in_turn(session) {
            true => Ok(()),
            false => self.begin(session, agent, "").map(drop),
        }
    }

    fn is_in_turn(&self, session: u64) -> bool {
        self.has_turn(session) && !self.is_left_behind(session)
    }

    /// A call is about to run. It runs when this has returned.
    pub fn before(&mut self, session: u64, agent: &str, mut call: Call) -> Result<(), StoreError> {
        call.path = call.path.map(|path| self.written_by(&path));
        let begun = match &call.path {
            // Its hooks are heard of in the middle of a turn: what has changed before may be its work.
            _ if self.is_attended(session) => {
                let left = self.left(session);
                self.begin(session, agent, "").and(left)
            }
            _ if !self.is_in_turn(session) => self.goes_on(session, agent),
            Some(path) => {
                self.look_at(path);
                Ok(())
            }
            None => {
                self.look_for(session, Extent::Told);
                Ok(())
            }
        };
        let (heard, asked, id) = (self.heard(), self.asked(), call.id.clone());
        if let Some(session) = self.sessions.get_mut(&session) {
            session.heard = heard;
            if call.path.is_none() {
                session.shells.push(Shell::new(&call.id, asked));
            }
            if session.calls.len() < MAX_CALLS {
                session.calls.push(call);
            }
        }
        let saved = self.save().and(begun);
        self.spans.began(session, &id);
        saved
    }

    /// The coverage of this file, which has been looked at just now. Waits for the disk.
    pub fn coverage(&self, path: &Path) -> Coverage {
        if runner(path).is_some() {
            return Coverage::RunsCode;
        }
        let mut tables = self.tables.iter();
        let Some(table) = tables.find(|table| path.starts_with(table.root())) else {
            return Coverage::Elsewhere;
        };
        let inner = path.strip_prefix(table.root()).unwrap_or(path);
        match real_path(table.root()).join(inner) == real_path(path) {
            false => Coverage::Leads,
            // What is written by this name is there by the others, and nobody knows where these are.
            true if has_other_names(path) => Coverage::NotKept,
            true if table.keeps(path) => Coverage::Kept,
            true => Coverage::NotKept,
        }
    }

    /// The reason why not all is kept, if anything failed since this was asked last, or turns are not written still.
    pub fn problem(&mut self) -> Option<String> {
        let tables = self.tables.iter_mut().chain([&mut self.outside]);
        let problem = tables.filter_map(Table::take_problem).last();
        let problem = problem.or(self.problem.take());
        let behind = self.behind.as_ref().map(|(in_full, _)| in_full.clone());
        behind.or(problem)
    }

    fn call(&self, session: u64, id: &str) -> Option<&Call> {
        let calls = &self.sessions.get(&session)?.calls;
        calls.iter().find(|call| call.id == id)
    }

    /// A call has failed. If it was to change one file, it has changed none: what differs there is the person's. A shell command
    /// may have changed any before it failed. `is_unwritten` is told the one file.
    pub fn failed(
        &mut self,
        session: u64,
        id: &str,
        is_unwritten: impl FnOnce(&Path),
    ) -> Result<(), StoreError> {
        let Some(path) = self.call(session, id).and_then(|it| it.path.clone()) else {
            return self.after(session, id, |_| Vec::new());
        };
        is_unwritten(&path);
        let calls = { self.sessions.iter() }
            .flat_map(|(session, it)| it.calls.iter().map(|call| (*session, call)));
        let mut others = calls.filter(|(of, it)| (*of, &*it.id) != (session, id));
        // What another one may have written is found once that has ended.
        if !others.any(|(_, it)| it.path.as_ref().is_none_or(|it| *it == path))
            && let Some(difference) = self.difference(&path)
        {
            self.saved_by_person(difference);
        }
        self.call_ends(session, id)
    }

    /// A person has accepted what a call of this session was to make: of several agents that wait for them, it writes now.
    pub fn accepted(&mut self, session: u64) {
        let heard = self.heard();
        if let Some(session) = self.sessions.get_mut(&session) {
            session.heard = heard;
        }
    }

    /// A person has rejected what a call of this session was to make of this file: it makes nothing.
    pub fn rejected(&mut self, session: u64, path: &Path) -> Result<(), StoreError> {
        let path = self.written_by(path);
        let calls = { self.sessions.get(&session) }.map_or(&[][..], |it| &it.calls);
        let mut of_file = calls.iter().filter(|it| it.path.as_ref() == Some(&path));
        match of_file.next().map(|call| call.id.clone()) {
            Some(call) => self.failed(session, &call, |_| {}),
            None => Ok(()),
        }
    }

    /// A call has run. `seen_from` are the fingerprints of the texts from which on a person has seen what is in a file now,
    /// before it was written; none if they have not.
    pub fn after(
        &mut self,
        session: u64,
        id: &str,
        seen_from: impl Fn(&Path) -> Vec<String>,
    ) -> Result<(), StoreError> {
        let heard = self.heard();
        let Some(known) = self.sessions.get_mut(&session) else {
            self.spans.forget(session, id);
            return self.call_of_cut_off_ends();
        };
        known.heard = heard;
        let path = self.call(session, id).and_then(|it| it.path.clone());
        let changed = match path {
            Some(path) => {
                self.look_at(&path);
                vec![path]
            }
            None => self.look(Extent::Told),
        };
        for path in &changed {
            self.accept(session, path, &seen_from);
        }
        self.call_ends(session, id)
    }

    /// What a call has changed is put down.
    fn call_ends(&mut self, session: u64, id: &str) -> Result<(), StoreError> {
        let asked = self.asked();
        self.spans.forget(session, id);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.shell_ends(id, asked);
            // Of two that are called the same, the other one runs.
            let ended = session.calls.iter().position(|call| call.id == id);
            ended.map(|at| session.calls.remove(at));
        }
        self.close_if_over(session);
        self.save()
    }

    /// The agent has ended its turn. If a subagent's call still runs, the turn goes on until that has run.
    pub fn end(&mut self, session: u64) -> Result<(), StoreError> {
        if !self.has_turn(session) {
            self.close_cut_off();
            return self.save();
        }
        self.look_for(session, Extent::Told);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.calls.retain(|call| call.subagent.is_some());
            session.is_ending = true;
        }
        self.close_if_over(session);
        self.save()
    }

    /// A subagent has ended, and none of its calls runs any more.
    pub fn subagent_ended(&mut self, session: u64, subagent: &str) -> Result<(), StoreError> {
        if let Some(session) = self.sessions.get_mut(&session) {
            let is_its = |call: &Call| call.subagent.as_deref() == Some(subagent);
            session.calls.retain(|call| !is_its(call));
        }
        self.close_if_over(session);
        self.save()
    }

    fn close_if_over(&mut self, session: u64) {
        let found = self.sessions.get(&session);
        if found.is_some_and(|it| it.is_ending && it.calls.is_empty()) {
            // No call runs any more: what the system did not tell of may be the work of any.
            self.look(Extent::All);
            match self.leaves_behind(session) {
                true => self.end_before(session),
                false => self.close(session),
            }
        }
    }

    /// Ends the turn of a session in which something may change still.
    fn end_before(&mut self, session: u64) {
        let session = self.sessions.get_mut(&session);
        if let Some(turn) = session.and_then(|it| it.turn.as_mut()) {
            turn.ended = Some(clock::now_ms());
            let turn = turn.clone();
            self.announce(&turn);
        }
    }

    /// The end of a turn is news if nobody has seen something in it.
    fn announce(&mut self, turn: &Turn) {
        let unseen = self.tally_of(turn).0.unseen;
        if unseen > 0 {
            self.last = Some(EndedTurn {
                number: turn.number,
                agent: turn.agent.clone(),
                unseen,
                is_without_hooks: turn.is_without_hooks,
            });
        }
    }

    /// Ends the turn of a session, if it has one. Everything has been looked at. It is written with what is saved next.
    fn close(&mut self, session: u64) {
        let uncovered = self.uncovered();
        let Some(session) = self.sessions.get_mut(&session) else {
            return;
        };
        session.sums_up(&uncovered);
        let mut ended = session.take_ended();
        let Some(turn) = &mut ended.turn else {
            return;
        };
        let is_news = turn.ended.is_none();
        turn.ended.get_or_insert_with(clock::now_ms);
        turn.running.clear();
        self.judged.remove(&turn.number);
        self.unwritten.push((ended, is_news));
    }

    /// Writes the turns that have ended, in the order of their ends. One without anything is not kept.
    fn write_ended(&mut self) -> Result<(), StoreError> {
        while let Some((ended, is_news)) = self.unwritten.first_mut() {
            let is_news = *is_news;
            match (ended.has_something(), ended.number()) {
                (true, _) => ended.write(&self.store)?,
                (false, None) => {}
                (false, Some(number)) => self.store.forget(number)?,
            }
            let (ended, _) = self.unwritten.remove(0);
            if let Some(turn) = ended.turn.filter(|_| is_news) {
                self.announce(&turn);
            }
            self.tidy_now_and_then();
        }
        Ok(())
    }

    /// The agent has gone.
    pub fn left(&mut self, session: u64) -> Result<(), StoreError> {
        if self.has_turn(session) || self.is_attended(session) {
            self.look_at_end(&[session]);
        }
        if self.is_left_behind(session) || self.leaves_behind(session) {
            let found = self.sessions.get_mut(&session);
            if let Some(session) = found {
                session.is_gone = true;
            }
            self.end_before(session);
        } else {
            self.close(session);
            self.sessions.remove(&session);
            self.watch_while_used();
        }
        self.save()
    }

    fn has_turn(&self, session: u64) -> bool {
        let session = self.sessions.get(&session);
        session.is_some_and(|it| it.turn.is_some())
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

    /// Looks at everything, unless that was done since it was asked for. Returns what has changed.
    /// Looks at everything while a session goes on or ends: some agents do not tell that a call has run, in which they have written what
    /// a person accepted.
    fn look_for(&mut self, session: u64, extent: Extent) {
        let changed = self.look(extent);
        self.accept_found(session, &changed);
    }

    fn look(&mut self, extent: Extent) -> Vec<PathBuf> {
        let is_answered = |it: &&LastLook| {
            it.extent >= extent && self.asked.is_some_and(|asked| asked <= it.began)
        };
        if let Some(last) = self.last_look.as_ref().filter(is_answered) {
            return last.changed.clone();
        }
        let now = clock::now_ms();
        let found = self.differences(extent);
        if let Some(stirred) = self.stirred.as_ref().filter(|_| !found.is_empty()) {
            // The system has told of it, and does not do so again.
            stirred();
        }
        let changed = found.iter().map(|it| it.path.clone()).collect();
        self.found_all(found, now);
        changed
    }

    /// The files that have changed since everything was looked at last: none where the system has told of nothing and that is
    /// enough.
    fn differences(&mut self, extent: Extent) -> Vec<Difference> {
        let began = Instant::now();
        self.see_removed();
        // What changes from here on is told again.
        let is_quiet = self.watch.as_ref().is_some_and(FolderWatch::tell_again);
        let is_known = extent == Extent::Told && is_quiet && self.watched.is_whole();
        let found = match is_known && self.tables.iter().all(Table::is_settled) {
            true => Vec::new(),
            false => {
                self.looks += 1;
                let found = self.tables.iter_mut().flat_map(Table::look).collect();
                self.watch_folders();
                found
            }
        };
        let changed = |it: &Vec<Difference>| it.iter().map(|it| it.path.clone()).collect();
        self.last_look = Some(LastLook {
            began,
            extent,
            changed: changed(&found),
        });
        found
    }

    /// Puts down what differs of all files, which were looked at from `now` on: milliseconds since 1970. Returns true if there is
    /// something to say beside that.
    fn found_all(&mut self, found: Vec<Difference>, now: u64) -> bool {
        let remarks: Vec<Remark> = { self.tables.iter_mut() }
            .flat_map(Table::take_remarks)
            .collect();
        let tables = &self.tables;
        self.closed.retain(|it| {
            let is = tables.iter().find_map(|of| of.folder(&it.path));
            is.map_or(is_unread(tables, &it.path), |is| !is.is_other(it.folder))
        });
        self.found(found);
        self.remark_all(&remarks);
        let tables = &self.tables;
        self.closed.retain(|it| is_unread(tables, &it.path));
        self.looked = now;
        !remarks.is_empty()
    }

    /// A call of this session did not wait until everything was as it was to be kept.
    pub fn ran_unrecorded(&mut self, session: u64) -> Result<(), StoreError> {
        self.spans.began_before(session);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.remark(&Remark::Unrecorded);
        }
        self.save()
    }

    /// Writes what is new of all turns.
    fn save(&mut self) -> Result<(), StoreError> {
        let saved = self.write_all();
        self.behind = { saved.as_ref().err() }.map(|it| (it.in_full(), it.reason()));
        saved
    }

    fn write_all(&mut self) -> Result<(), StoreError> {
        let uncovered = self.uncovered();
        self.write_ended()?;
        for session in self.sessions.values_mut() {
            session.sums_up(&uncovered);
            session.write(&self.store)?;
        }
        // Only now: what is known here is found by nobody else.
        let tables = self.tables.iter_mut().chain([&mut self.outside]);
        tables.for_each(Table::write_log);
        self.store.is_all_noted();
        self.remove_dropped();
        Ok(())
    }

    /// The turns in memory: those that go on, and those that have ended and are not written.
    fn turns(&self) -> impl Iterator<Item = &Turn> {
        let ended = self.unwritten.iter().map(|(it, _)| it);
        let all = ended.chain(self.sessions.values());
        all.filter_map(|it| it.turn.as_ref())
    }

    /// What could not be written last.
    pub fn unkept(&self) -> Unkept {
        let Some((_, why)) = &self.behind else {
            return Unkept::default();
        };
        let mut unkept = Unkept {
            why: why.clone(),
            ..Unkept::default()
        };
        for turn in self.turns() {
            let kept = self.store.turn(turn.number).ok();
            let is_open = kept.as_ref().is_some_and(Turn::goes_on);
            unkept
                .ended
                .extend((is_open && !turn.goes_on()).then_some(turn.number));
            let is_kept = |it: &&Change| {
                let kept = kept.as_ref().and_then(|kept| kept.change(it.number));
                kept == Some(*it)
            };
            let changes: Vec<_> = { turn.real_changes() }
                .filter(|it| !is_kept(it))
                .cloned()
                .collect();
            if !changes.is_empty() {
                unkept.turns.push(Turn {
                    changes,
                    ..turn.clone()
                });
            }
        }
        unkept
    }
}
