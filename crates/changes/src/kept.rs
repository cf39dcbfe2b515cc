//! A turn as the store keeps it, with what people made of its changes, and how both are shown.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_discovery::real_path;
use pillion_protocol::Proposer;
use pillion_text::{fingerprint, visible};

use crate::history::ago;
use crate::log::{Entry, EntryState};
use crate::scan::{STEP, Stat};
use crate::state::{FileState, Writing};
use crate::store::{Held, Judgements, MAX_KEPT, Shows, Store, StoreError};
use crate::take_back::out_of;
pub use crate::there::now;
pub(crate) use crate::there::{is_at, is_secret};
use crate::turn::{Author, Change, ChangeRef, ChangeState, Judged, Judgement, Turn, overlap};

/// A turn with what became of its changes.
#[derive(Debug)]
pub struct Kept {
    /// While a person's decision about it is carried out.
    _held: Option<Held>,
    /// None if it could not be written yet.
    store: Option<Store>,
    /// The turn.
    pub turn: Turn,
    /// By the number of a change of which a person has decided about a part: the text before that. Its own is the one with it.
    first: HashMap<u64, FileState>,
    judged: Judgements,
    /// Empty until they are read.
    decisions: Vec<Entry>,
}

impl Kept {
    /// The turn of this number, without what was decided about proposals in it.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(store: &Store, number: u64) -> Result<Self, StoreError> {
        Self::of_turn(store, store.turn(number)?)
    }

    /// As [`read`](Self::read), once nobody else decides about the turn: nobody does until this is dropped.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn hold(store: &Store, number: u64) -> Result<Self, StoreError> {
        // One that is not there is not held.
        store.turn(number)?;
        let _held = Some(store.hold(number)?);
        let kept = Self::read(store, number)?;
        Ok(Self { _held, ..kept })
    }

    /// A turn that could not be written yet: nobody can have judged it.
    pub fn unwritten(turn: Turn) -> Self {
        Self::new(None, turn, Judgements::default())
    }

    fn of_turn(store: &Store, turn: Turn) -> Result<Self, StoreError> {
        let judged = store.judged(turn.number)?;
        Ok(Self::new(Some(store.clone()), turn, judged))
    }

    fn new(store: Option<Store>, mut turn: Turn, judged: Judgements) -> Self {
        let mut first = HashMap::new();
        for change in &mut turn.changes {
            if let Some(part) = change.decided_part(judged.of(change.number)).cloned() {
                first.insert(change.number, std::mem::replace(&mut change.before, part));
            }
        }
        Self {
            _held: None,
            store,
            turn,
            first,
            judged,
            decisions: Vec::new(),
        }
    }

    /// The file as it was before a change, with all that a person has decided of it.
    pub fn first<'a>(&'a self, change: &'a Change) -> &'a FileState {
        self.first.get(&change.number).unwrap_or(&change.before)
    }

    /// Returns true if the file of a change is gone because a work tree of git's is.
    pub(crate) fn went_with_work_tree(&self, change: &Change) -> bool {
        let is_gone = change.after.is_absent();
        is_gone && { self.turn.remarks.iter() }.any(|it| it.took_along(&change.path))
    }

    /// Returns true if a change was taken back, but for what a person had accepted or kept of it before.
    pub(crate) fn has_decided_left(&self, change: &Change, judged: Option<&Judged>) -> bool {
        let is_all = |it: &Judged| {
            it.former_of_text()
                .is_some_and(|it| it.judgement == Judgement::TakenBack)
        };
        self.first.contains_key(&change.number)
            && change.state(judged) == ChangeState::TakenBack
            && !judged.is_some_and(is_all)
    }

    /// Those that were in one of these folders, or in a folder of theirs, oldest first, without what was decided about
    /// proposals in them. What cannot be read is left out, and `unreadable` hears why.
    pub fn of_folders(
        store: &Store,
        folders: &[PathBuf],
        mut unreadable: impl FnMut(StoreError),
    ) -> Result<Vec<Self>, StoreError> {
        let folders: Vec<_> = folders.iter().map(|it| real_path(it)).collect();
        let mut turns = Vec::new();
        for number in store.numbers()? {
            let kept = match store.turn(number) {
                Ok(turn) if overlap(&turn.roots, &folders) => Self::of_turn(store, turn),
                // One that is begun at this moment is none yet.
                Ok(_) | Err(StoreError::NoTurn(_)) => continue,
                Err(error) => Err(error),
            };
            match kept {
                Ok(kept) => turns.push(kept),
                Err(error) => unreadable(error),
            }
        }
        Ok(turns)
    }

    /// Returns true if it was in one of these folders, or in a folder of theirs.
    pub fn is_of(&self, folders: &[PathBuf]) -> bool {
        let folders: Vec<_> = folders.iter().map(|it| real_path(it)).collect();
        overlap(&self.turn.roots, folders)
    }

    /// Reads what was decided about proposals in these turns.
    pub fn read_decisions(turns: &mut [Self], store: &Store) -> Result<(), StoreError> {
        if turns.is_empty() {
            return Ok(());
        }
        for entry in store.entries()? {
            let of_turn = |it: &&mut Self| entry.turn == Some(it.turn.number);
            if let Some(kept) = turns.iter_mut().find(of_turn) {
                kept.decisions.push(entry);
            }
        }
        Ok(())
    }

    /// The name that people use for the agent.
    pub fn agent(&self) -> &str {
        Proposer::display_name_of(&self.turn.agent)
    }

    /// The decisions about proposals in the turn, if they were read, but for those whose change is among its changes.
    pub fn decisions(&self) -> impl Iterator<Item = &Entry> {
        let changed: HashSet<&Path> = match self.decisions.is_empty() {
            true => HashSet::new(),
            false => self.turn.real_changes().map(|it| &*it.path).collect(),
        };
        let is_change = move |it: &Entry| changed.contains(&*it.proposal.path);
        let entries = self.decisions.iter();
        entries.filter(move |it| it.state == EntryState::Rejected || !is_change(it))
    }

    /// The number of proposals that the person rejected in it, if they were read.
    pub fn rejected(&self) -> usize {
        let decisions = self.decisions.iter();
        let rejected = decisions.filter(|it| it.state == EntryState::Rejected);
        rejected.count()
    }

    /// The state of a change. Looks at its file if nobody has seen it.
    pub fn state(&self, change: &Change) -> ChangeState {
        self.in_file(change, change.state(self.judged.of(change.number)))
    }

    /// A state of a change with what its file says. If nobody has seen it and the file is as it was before it, it is gone, or a
    /// person takes it back at this moment, or did, and whoever wrote that was killed.
    pub(crate) fn in_file(&self, change: &Change, state: ChangeState) -> ChangeState {
        let is_out = || { self.store.as_ref() }.is_some_and(|it| is_out(it, &self.turn, change));
        if state != ChangeState::Unseen || !(is_at(&change.before, &change.path) || is_out()) {
            return state;
        }
        match self.cut_off(change) {
            Some(_) => ChangeState::TakenBack,
            None => ChangeState::Gone,
        }
    }

    /// What a person has had taken out of the file of a change, if it stands there and that was not kept, as by one who was killed.
    pub(crate) fn cut_off(&self, change: &Change) -> Option<Writing> {
        let (path, after) = (change.path.as_path(), Some(&change.after));
        let is_kept = |it: &Writing| {
            let judged = self.judged(change);
            judged.is_some_and(|judged| judged.writes().any(|(_, kept)| *kept == it.written))
        };
        let writing = self.store.as_ref()?.writing(path)?;
        // Another turn may have made the same of it.
        let is_of_turn = writing.turn.is_none_or(|it| it == self.turn.number);
        let is_its = is_of_turn && writing.of.as_ref() == after && writing.after.as_ref() == after;
        let stands = is_its && writing.stands_at(Some(path)) && is_at(&writing.written, path);
        (stands && !is_kept(&writing)).then_some(writing)
    }

    /// The person's judgement of a change.
    pub fn judged(&self, change: &Change) -> Option<&Judged> {
        change.counting(self.judged.of(change.number))
    }

    /// The person's last judgement of a change if that took something back, and the agent has changed the file again since:
    /// what was taken back is in no other text of the change.
    pub fn taken_back_before(&self, change: &Change) -> Option<&Judged> {
        let judged = self.judged.of(change.number);
        let former = judged.filter(|_| change.counting(judged).is_none());
        former.filter(|it| it.takes_back())
    }

    /// The first words of what the person told the agent with their judgement of the change as it is; none if nothing.
    pub fn reason(&self, change: &Change) -> Option<String> {
        let judged = self.judged(change);
        judged.map(Judged::reason).filter(|it| !it.is_empty())
    }

    /// The person's judgements of all changes.
    pub(crate) fn judgements(&self) -> &Judgements {
        &self.judged
    }

    /// The changes that are meant: one, or all of the turn.
    ///
    /// # Errors
    /// When there is no such change.
    pub fn named(&self, name: ChangeRef) -> Result<Vec<&Change>, StoreError> {
        let Some(number) = name.change else {
            return Ok(self.turn.real_changes().collect());
        };
        match self.turn.change(number) {
            Some(change) => Ok(vec![change]),
            None => Err(StoreError::NoChange(name)),
        }
    }

    /// The person is shown this, as it is now: its name means that from now on.
    ///
    /// # Errors
    /// When there is no such change, or that cannot be kept.
    pub fn note_shown(&self, store: &Store, name: ChangeRef) -> Result<(), StoreError> {
        let changes = self.with_judged(name)?;
        store.note_shown(self.turn.number, &changes, name.change.is_none())
    }

    /// The person is shown what was taken back of this.
    ///
    /// # Errors
    /// As [`note_shown`](Self::note_shown).
    pub fn note_taken_back(&self, store: &Store, name: ChangeRef) -> Result<(), StoreError> {
        store.note_taken_back(self.turn.number, &self.with_judged(name)?)
    }

    fn with_judged(&self, name: ChangeRef) -> Result<Vec<Shows<'_>>, StoreError> {
        let changes = self.named(name)?.into_iter();
        Ok(changes.map(|it| (it, self.judged.of(it.number))).collect())
    }

    /// Of the changes with these names, those of which something else was taken back last than the person was shown. What they
    /// were shown nothing of counts as such, unless `is_unshown_meant`.
    pub fn taken_back_since_shown(
        &self,
        store: &Store,
        names: &[ChangeRef],
        is_unshown_meant: bool,
    ) -> Vec<&Change> {
        let shown = store.shown(self.turn.number);
        let named = { names.iter() }.filter_map(|name| self.with_judged(*name).ok());
        let is_other = |it: &Shows<'_>| !shown.is_as_taken_back(*it).unwrap_or(is_unshown_meant);
        let other = named.flatten().filter(|(_, judged)| judged.is_some());
        other.filter(is_other).map(|(it, _)| it).collect()
    }

    /// Of the changes with these names, those that nobody has judged and that are not what the person was shown.
    pub fn changed_since_shown(&self, store: &Store, names: &[ChangeRef]) -> Vec<&Change> {
        let shown = store.shown(self.turn.number);
        let is_named = |it: &&Change| {
            let of_turn = || self.state(it) == ChangeState::Unseen;
            let name = self.name(it);
            { names.iter() }.any(|named| *named == name || named.change.is_none() && of_turn())
        };
        let changes = self.turn.real_changes().filter(is_named);
        changes.filter(|it| !shown.is_as_shown(it)).collect()
    }

    /// Another one once something was written in the turn: what was seen of it is what was written until then.
    pub fn revision(&self) -> String {
        let changes = self.turn.real_changes();
        let all: String = changes.map(|it| revision(it, None)).collect();
        fingerprint::hash(all.as_bytes())[..16].to_owned()
    }

    /// What there is to say of the turn if nobody watches it any more, so that not all of it is known.
    pub fn left(&self, store: &Store) -> Option<String> {
        let (turn, agent) = (self.turn.number, self.agent());
        store.is_left(&self.turn).then(|| format!(
            "Pillion ended in turn {turn} of {agent}, and what has changed since is listed once an editor or a review is open here"
        ))
    }

    /// The number of changes that nobody has seen.
    pub fn unseen(&self) -> usize {
        let changes = self.turn.real_changes();
        changes
            .filter(|it| self.state(it) == ChangeState::Unseen)
            .count()
    }

    /// The things that there are to say of the turn beside its changes, as sentences: until something of it is judged.
    pub fn remarks(&self) -> Vec<String> {
        let is_new = self.judged.all().next().is_none() || self.unseen() > 0;
        let remarks = { self.turn.remarks.iter() }.filter(|it| is_new && it.stands());
        let shown = |path: &Path| self.turn.shown(path).display().to_string();
        remarks.map(|it| it.text(self.turn.number, shown)).collect()
    }

    /// The name of a change of the turn.
    pub fn name(&self, change: &Change) -> ChangeRef {
        ChangeRef {
            turn: self.turn.number,
            change: Some(change.number),
        }
    }

    /// The name of a change, and its file.
    pub fn named_in_full(&self, change: &Change) -> String {
        let path = self.turn.shown(&change.path).display();
        visible::one_line(&format!("{} {path}", self.name(change)))
    }

    /// Whose turn it is, or may be, in a few words.
    pub fn heading(&self) -> String {
        let agent = self.agent();
        match self.turn.is_without_hooks {
            true => format!("while {agent} was connected"),
            false => agent.to_owned(),
        }
    }

    /// The turn in one line: its number, whose it is, or may be, when it began, and the first words of its prompt.
    pub fn title(&self) -> String {
        let (turn, heading) = (&self.turn, self.heading());
        let ago = ago(turn.began);
        let prompt = match turn.prompt.is_empty() {
            true => String::new(),
            false => format!(", {:?}", turn.prompt),
        };
        let whose = match turn.is_without_hooks {
            true => format!(": changes {heading}"),
            false => format!(" of {heading}"),
        };
        let number = match turn.number {
            0 => "a turn".to_owned(),
            number => format!("turn {number}"),
        };
        let title = format!("{number}{whose}, {ago}{prompt}");
        visible::one_line(&title)
    }

    /// Returns true if nothing that is known keeps a change from being taken back: the text before was kept, and the file is not
    /// too long for this to be undone.
    pub fn is_revertible(&self, change: &Change) -> bool {
        let length = change.path.symlink_metadata().map_or(0, |it| it.len());
        let roots = &self.turn.roots;
        let is_secret = || is_secret(roots, &change.path, &change.before, &change.after);
        change.before.is_known() && length <= MAX_KEPT && !is_secret()
    }

    /// The change that took the file away from where it was before this one, if no more was decided about the one than about the other.
    pub fn moved_with(&self, change: &Change) -> Option<&Change> {
        let from = change.moved_from.as_ref()?;
        let is_gone = |it: &&Change| it.path == *from && it.after.is_absent();
        let gone = self.turn.real_changes().find(is_gone)?;
        (self.state(gone) == self.state(change)).then_some(gone)
    }

    /// The file of a change that moved it, as one entry for both of its places.
    pub fn places(&self, change: &Change, from: &Change) -> String {
        let shown = |path: &Path| visible::one_line(&self.turn.shown(path).to_string_lossy());
        let (from, to) = (shown(&from.path), shown(&change.path));
        let apart = format!("{to} (new), moved from {from}");
        let both = format!("{from} → {to}");
        self.place(change).replacen(&apart, &both, 1)
    }

    /// The file of a change in one line, with what it was before, and who changed it if that is not clear or was more than one tool.
    pub fn place(&self, change: &Change) -> String {
        let shown = |path: &Path| visible::one_line(&self.turn.shown(path).to_string_lossy());
        let mut place = shown(&change.path);
        match (&change.before, &change.after) {
            (FileState::Absent, FileState::Link { .. }) if change.moved_from.is_none() => {
                place += " (new link)";
            }
            (FileState::Link { .. }, FileState::Absent) => place += " (deleted link)",
            (FileState::Absent, _) => place += " (new)",
            (_, FileState::Absent) => place += " (deleted)",
            (FileState::File { .. }, FileState::Link { .. }) => place += " (link for file)",
            (FileState::Link { .. }, FileState::File { .. }) => place += " (file for link)",
            (FileState::Link { .. }, FileState::Link { .. }) => place += " (link)",
            _ => {}
        }
        if let Some(from) = &change.moved_from {
            place = format!("{place}, moved from {}", shown(from));
        }
        if let Some(mode) = mode(change) {
            place = format!("{place}, {mode}");
        }
        match &change.by {
            Author::Unclear => place += ", unclear who changed it",
            Author::Tool(tools) if tools.contains(", ") => {
                place = format!("{place}, by {}", visible::one_line(tools));
            }
            Author::Tool(_) => {}
        }
        if change.is_by_head {
            place += match self.went_with_work_tree(change) {
                true => ", with its git work tree",
                false => ", as HEAD was moved",
            };
        }
        if self.has_decided_left(change, self.judged.of(change.number)) {
            place += ", what you had accepted or kept of it stays";
        }
        if change.is_mixed {
            place += ", includes changes of yours";
        }
        if !change.before.is_known() {
            place += ", its contents before were not kept";
        } else if !change.after.is_known() {
            // What is taken back is kept first, so that this can be undone.
            place += match self.is_revertible(change) {
                true => ", its contents are kept only once it is taken back",
                false => ", its contents are not kept",
            };
        }
        place
    }
}

/// What there is to say where nobody has anything to see in these turns. What a call that runs has changed is not known yet, and
/// neither is what has changed since those who watched were killed.
pub fn none_unseen(store: &Store, turns: &[Kept]) -> String {
    let mut left = turns.iter().rev().filter_map(|it| it.left(store));
    if let Some(left) = left.next() {
        return format!("nothing unseen is known here: {left}");
    }
    let at_work = turns.iter().rev().filter(|it| it.turn.goes_on());
    let mut running = at_work.filter_map(|it| Some((it.agent(), it.turn.running.last()?)));
    let yet = running.next().map_or_else(String::new, |(agent, call)| {
        let tool = visible::one_line(&call.tool);
        format!(
            " yet: {agent} is running {tool}, and what that changes is listed once it has ended"
        )
    });
    format!("there are no unseen changes here{yet}")
}

/// Returns true if nothing of a change is in its file, which has another text than before it: an older one that another program has
/// put back, or what the person has made of it. Of lines that were changed again, that is not known.
pub(crate) fn is_out(store: &Store, turn: &Turn, change: &Change) -> bool {
    let (FileState::File { mode, .. }, Ok(Some(stat))) = (&change.before, Stat::at(&change.path))
    else {
        return false;
    };
    let ended = turn.ended.map(Duration::from_millis);
    // What nobody has written since is as the agent has left it.
    if stat.is_link || stat.mode != *mode || ended.is_none_or(|ended| stat.changed + STEP <= ended)
    {
        return false;
    }
    let is_without = |now: Vec<u8>| out_of(store, change, now.clone()).is_ok_and(|it| it == now);
    now(&change.path).is_some_and(is_without)
}

/// A name of what is shown of a change: another one once the agent, or anybody else, has changed the file again.
pub fn revision(change: &Change, now: Option<&[u8]>) -> String {
    let after = serde_json::to_string(&change.after).unwrap_or_default();
    let all = format!("{after} {}", fingerprint::of(now));
    fingerprint::hash(all.as_bytes())[..16].to_owned()
}

/// What a change made of the permissions of a file, in a word or two: `mode 644→755`.
pub fn mode(change: &Change) -> Option<String> {
    let (old, new) = change.before.mode_beside_text(&change.after)?;
    Some(match old {
        Some(old) => format!("mode {old:o}→{new:o}"),
        None => format!("mode {new:o}"),
    })
}
