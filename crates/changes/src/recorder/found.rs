//! What differs since the last look, and who did it: changes between two looks are the work of the call that ran then, if only one did.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pillion_discovery::real_path;

use super::attended::{is_an_editors_own, is_swap_or_lock};
use super::session::{Call, Session};
use super::{Closed, Recorder};
use crate::remark::Remark;
use crate::scan::{Stat, has_other_names, modified};
use crate::state::{FileState, Hash};
use crate::store::{Judgements, Store};
use crate::table::{Difference, Table};
use crate::turn::{Author, Change};

impl Recorder {
    /// There is this to say of the turns in which it came about.
    pub(super) fn remark_all(&mut self, remarks: &[Remark]) {
        for remark in remarks {
            let Some(path) = remark.path() else {
                continue;
            };
            let author = self.author(path, None).map(|(session, _)| session);
            let closed = self.closed.iter().position(|it| it.path == path);
            let closed = closed.map(|at| self.closed.remove(at).turn);
            let number = match (closed, author) {
                (Some(number), _) => {
                    if let Some(session) = self.session_of(number) {
                        session.remark(remark);
                    }
                    Some(number)
                }
                (None, Some(session)) => {
                    self.begins_attended(session);
                    self.sessions.get_mut(&session).and_then(|it| {
                        it.remark(remark);
                        it.number()
                    })
                }
                (None, None) => None,
            };
            if matches!(
                remark,
                Remark::Folder {
                    is_unread: true,
                    ..
                }
            ) {
                let folder = self.tables.iter().find_map(|it| it.folder(path));
                self.closed.extend(folder.zip(number).map(|(folder, turn)| {
                    let path = path.to_owned();
                    Closed { path, folder, turn }
                }));
            }
        }
    }

    /// The turn that has ended and after which nobody could read what is at this path.
    fn closed_in(&self, path: &Path) -> Option<u64> {
        let mut closed = self.closed.iter();
        let turn = closed.find(|it| path.starts_with(&it.path))?.turn;
        let goes_on = { self.sessions.values() }.any(|it| it.number() == Some(turn));
        (!goes_on).then_some(turn)
    }

    /// Returns true if something was done to the file at this path since everything was looked at last, or in its folder if it is gone.
    fn is_touched(&self, path: &Path) -> bool {
        let touched = match Stat::at(path) {
            Ok(Some(stat)) => Some(stat.changed),
            _ => path.ancestors().skip(1).find_map(modified),
        };
        touched.is_none_or(|at| at >= Duration::from_millis(self.looked))
    }

    /// The session of a turn, which may have ended; none if nobody knows it any more.
    fn session_of(&mut self, number: u64) -> Option<&mut Session> {
        let is_it = |it: &Session| it.number() == Some(number);
        let known = |it: &Self| it.unwritten.iter().position(|(it, _)| is_it(it));
        let open = self.sessions.iter().find(|(_, it)| is_it(it));
        if let Some(id) = open.map(|(id, _)| *id) {
            return self.sessions.get_mut(&id);
        }
        if known(self).is_none() {
            let turn = self.store.turn(number).ok()?;
            // It may be there for what was decided in it.
            let has_decisions = true;
            let ended = Session {
                has_decisions,
                ..Session::of(turn, 0)
            };
            self.unwritten.push((ended, false));
        }
        let at = known(self)?;
        self.unwritten.get_mut(at).map(|(it, _)| it)
    }

    /// The place of a file that may be named by a path through links to folders: watched folders are looked at without these.
    pub(super) fn located(&self, path: &Path) -> PathBuf {
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

    /// The place of the file that a call writes which names this path: behind a link to a file, it is that file.
    pub(super) fn written_by(&self, path: &Path) -> PathBuf {
        match path.is_symlink() && path.is_file() {
            true => self.located(&real_path(path)),
            false => self.located(path),
        }
    }

    pub(super) fn look_at(&mut self, path: &Path) {
        let found = self.difference(path);
        self.found(found.into_iter().collect());
    }

    pub(super) fn difference(&mut self, path: &Path) -> Option<Difference> {
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
    pub(super) fn found(&mut self, found: Vec<Difference>) {
        let moved = moves(&found, &self.store);
        let (mut by_others, mut put_away) = (None, None);
        for (mut difference, moved_from) in found.into_iter().zip(moved) {
            if difference.may_be_unstashed
                && let Some(text) = difference.after.text()
            {
                // Read once, whatever number of files came out of it.
                let put_away = put_away.get_or_insert_with(|| self.put_away());
                let text = (difference.path.clone(), text.clone());
                difference.is_by_head |= put_away.contains(&text);
            }
            if is_swap_or_lock(&difference.path) || self.found_for_person(&difference) {
                continue;
            }
            let made = self.made_at(&difference);
            let author = self.author(&difference.path, made);
            let closed = self.closed_in(&difference.path);
            if let Some(number) = closed
                && (author.is_none() || !self.is_touched(&difference.path))
                && let Some(session) = self.session_of(number)
            {
                session.note(difference, Author::Unclear, moved_from);
                continue;
            }
            let Some((session, by)) = author else {
                continue;
            };
            let others = by_others.get_or_insert_with(|| self.written_by_others(session));
            // The turn that has closed its folder may have written it, too.
            let by = match closed.is_some() || others.contains(&difference.path) {
                true => Author::Unclear,
                false => by,
            };
            if self.is_attended(session) {
                if is_an_editors_own(&difference.path) {
                    continue;
                }
                self.begins_attended(session);
            }
            let Some(session) = self.sessions.get_mut(&session) else {
                continue;
            };
            let number = session.turn.as_ref().map(|turn| turn.number);
            if let Some((turn, change)) = number.zip(session.change(&difference.path)) {
                let judged = judgements(&mut self.judged, turn, &self.store);
                let judged = judged.and_then(|it| it.of(change.number));
                let is_noted = change.after == difference.after && !change.has_taken_back(judged);
                if self.is_taking_over && is_noted {
                    // Who was killed has noted the change, but not that it knew the file so.
                    continue;
                }
                change.passes_over(&difference.before, judged, &self.store);
                change.goes_on_from(&difference.before, judged);
            }
            if has_other_names(&difference.path) {
                let path = difference.path.clone();
                session.remark(&Remark::Linked { path });
            }
            session.note(difference, by, moved_from);
        }
    }

    /// The texts that the turns which are kept have put away, with their files: one that comes back is nobody's change.
    fn put_away(&mut self) -> HashSet<(PathBuf, Hash)> {
        self.read_ended();
        let turns = self.ended.values().chain(self.turns());
        let text = |it: &Change| {
            let text = it.before.text().filter(|_| it.is_by_head)?.clone();
            Some((it.path.clone(), text))
        };
        turns
            .flat_map(|turn| &turn.changes)
            .filter_map(text)
            .collect()
    }

    /// The session and the author of this file's change, by the calls that ran when it was made; none if no turn goes on.
    pub(super) fn author(&self, path: &Path, made: Option<Duration>) -> Option<(u64, Author)> {
        let running = || {
            let sessions = self.sessions.iter();
            sessions
                .flat_map(|(id, it)| it.calls.iter().map(|call| (*id, call)))
                .filter(|(id, call)| self.spans.may_have_made((*id, &call.id), made))
        };
        let tool = |(session, call): (u64, &Call)| (session, Author::Tool(call.tool.clone()));
        let exact = running().filter(|(_, call)| call.path.as_deref() == Some(path));
        // Those of several agents may wait for a person, and then it is the one that has ended.
        let heard = |session: u64| self.sessions.get(&session).map(|it| it.heard);
        if let Some(call) = exact.max_by_key(|(session, _)| heard(*session)) {
            return Some(tool(call));
        }
        let mut any = running().filter(|(_, call)| call.path.is_none()).map(tool);
        let first = any.next().and_then(|(session, mut by)| {
            // One of several commands of one agent has written it.
            let is_one = any.all(|(of, other)| {
                by.joins(other);
                of == session
            });
            is_one.then_some((session, by))
        });
        match first {
            // Nobody knows what an agent without hooks does meanwhile.
            Some((session, _)) if self.attended_at_work() => Some((session, Author::Unclear)),
            Some(call) => Some(call),
            None => {
                let is_open = |it: &Session| it.turn.is_some() || it.attended.is_some();
                let open = self.sessions.iter().filter(|(_, it)| is_open(it));
                let (session, _) = open.max_by_key(|(_, it)| (!it.calls.is_empty(), it.heard))?;
                Some((*session, Author::Unclear))
            }
        }
    }

    /// The session's change of this file is what the person accepted, if they have seen all of it. Only of its own changes it
    /// is asked: what was accepted is written once.
    pub(super) fn accept(
        &mut self,
        session: u64,
        path: &Path,
        seen_from: impl Fn(&Path) -> Vec<String>,
    ) {
        let session = self.sessions.get_mut(&session);
        let number = |it: &Session| it.turn.as_ref().map(|turn| turn.number);
        let change = session.and_then(|it| number(it).zip(it.change(path)));
        let Some((turn, change)) = change else {
            return;
        };
        let texts = seen_from(path);
        let judged = judgements(&mut self.judged, turn, &self.store);
        let judged = judged.and_then(|it| it.of(change.number));
        if change.is_seen_from(&texts, judged) {
            change.accepted = Some(change.after.clone());
        }
    }

    /// A call has run, and something has made more of what a person accepted before it ended, such as a formatter: what was accepted
    /// is the text before for that. `accepted` tells from which texts on they have seen it, and its hashes.
    pub fn goes_on_from_accepted(
        &mut self,
        session: u64,
        id: &str,
        accepted: impl FnOnce(&Path) -> Option<(Vec<String>, Vec<String>)>,
    ) {
        let path = self.call(session, id).and_then(|it| it.path.clone());
        let Some(difference) = path.and_then(|path| self.difference(&path)) else {
            return;
        };
        let path = difference.path.clone();
        let between = accepted(&path).and_then(|(seen_from, hashes)| {
            Some((seen_from, self.in_form_of(&difference.after, &hashes)?))
        });
        let Some((seen_from, between)) = between else {
            return self.found(vec![difference]);
        };
        let written = Difference {
            after: between.clone(),
            made: None,
            ..difference.clone()
        };
        self.found(vec![written]);
        self.accept(session, &path, |_| seen_from.clone());
        self.found(vec![Difference {
            before: between,
            ..difference
        }]);
    }

    /// The text with one of these hashes as the state of a file, if the store has it, and in the form that the file has now.
    fn in_form_of(&self, now: &FileState, hashes: &[String]) -> Option<FileState> {
        let form = |text: &[u8]| {
            let text = str::from_utf8(text).ok()?;
            Some((text.starts_with('\u{feff}'), text.contains("\r\n")))
        };
        let there = form(&self.store.get(now.text()?).ok()?)?;
        let mode = now.mode()?;
        hashes.iter().find_map(|hash| {
            let hash = hash.parse().ok()?;
            let text = self.store.get(&hash).ok()?;
            (form(&text)? == there).then_some(FileState::File {
                mode,
                size: text.len() as u64,
                text: Some(hash),
            })
        })
    }
}

/// The judgements of people on the changes of this turn until now. What cannot be read says nothing.
pub(super) fn judgements<'a>(
    known: &'a mut HashMap<u64, ((SystemTime, u64), Judgements)>,
    turn: u64,
    store: &Store,
) -> Option<&'a Judgements> {
    // It is replaced or becomes longer with each.
    let written = store.written_at(turn)?;
    if known.get(&turn).is_none_or(|(at, _)| *at != written) {
        known.insert(turn, (written, store.judged(turn).ok()?));
    }
    known.get(&turn).map(|(_, judged)| judged)
}

/// For each difference, where the file was before if it was moved.
fn moves(found: &[Difference], store: &Store) -> Vec<Option<PathBuf>> {
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
        let is_empty = difference.after.is_empty();
        let text = difference.after.text().filter(|_| is_new && !is_empty);
        let from = text.and_then(|text| gone.get_mut(text)?.pop());
        moved.push(from);
    }
    let left: HashSet<_> = gone.values().flatten().collect();
    let left = found.iter().filter(|it| left.contains(&it.path));
    let is_new = |it: &Difference| it.before.is_absent() && it.after.text().is_some();
    let new = (0..found.len()).filter(|at| moved[*at].is_none() && is_new(&found[*at]));
    let (mut left, new): (Vec<_>, Vec<_>) = (left.collect(), new.collect());
    if left.len() * new.len() > MAX_PAIRS {
        return moved;
    }
    // As in git: with the one that it is most like.
    for at in new {
        let text = text_in(store, &found[at].after);
        let likeness = { left.iter() }.map(|it| likeness(&text_in(store, &it.before), &text));
        if let Some((LIKE.., best)) = likeness.zip(0..).max() {
            moved[at] = Some(left.remove(best).path.clone());
        }
    }
    moved
}

/// No more files that are gone are compared with new ones.
const MAX_PAIRS: usize = 100;

/// Longer texts are not compared.
const MAX_LIKE: u64 = 1 << 20;

/// A file that has so many hundredths of a text is that text, moved.
const LIKE: usize = 50;

/// A text, unless it is long or not there.
fn text_in(store: &Store, state: &FileState) -> Vec<u8> {
    let is_short = matches!(
        state,
        FileState::File {
            size: ..=MAX_LIKE,
            ..
        }
    );
    let text = is_short.then(|| store.text_of(state).ok().flatten());
    text.flatten().unwrap_or_default()
}

/// How many hundredths of the longer one of two texts are lines of both.
fn likeness(one: &[u8], other: &[u8]) -> usize {
    let is_end = |it: &u8| *it == b'\n';
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    for line in one.split_inclusive(is_end) {
        *counts.entry(line).or_default() += 1;
    }
    let both = other.split_inclusive(is_end).filter(|line| {
        let count = counts.get_mut(line).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    });
    let both: usize = both.map(|line| line.len()).sum();
    both * 100 / one.len().max(other.len()).max(1)
}
