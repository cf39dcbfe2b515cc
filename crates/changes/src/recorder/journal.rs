//! A person's decisions about proposals, and what they write in those that wait: it goes into the log.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{mem, process};

use pillion_protocol::Note;
use pillion_system::clock;
use pillion_text::{Text, merge};

use super::Recorder;
use crate::log::{Entry, EntryRef, EntryState, Proposal, WriteOutcome};
use crate::state::{FileState, Hash};
use crate::store::{Store, StoreError};

/// The text before, if it is known, and the proposed one, unless the file is to be deleted.
type Texts = (Option<Vec<u8>>, Option<Arc<String>>);

/// A person's decision.
#[derive(Debug, Clone)]
pub struct Decision {
    /// True if they accepted it.
    pub is_accepted: bool,
    /// The text that they accepted, unless it is known to be the proposed one.
    pub edited: Option<Arc<String>>,
    /// Their notes to the agent.
    pub notes: Vec<Note>,
    /// Those that they have on it elsewhere and did not say with that: they go into the log.
    pub unsaid: Vec<Note>,
    /// The agent's session, as the recorder knows it.
    pub session: Option<u64>,
}

/// A text that a person wrote in a proposal that nobody decided about, for one of the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The number of the proposal that waits.
    pub id: u64,
    /// Its revision.
    pub revision: u32,
    /// The person's version of the proposal then, taken along to this one; as it was where both changed the same lines.
    pub text: String,
}

/// The proposals that wait, and the number of the entry that each view's text has.
#[derive(Debug, Default)]
pub(super) struct Journal {
    pending: BTreeMap<u64, Pending>,
    /// The entries of the latest that were accepted, by the numbers of the proposals.
    accepted: BTreeMap<u64, EntryRef>,
    /// Those about which nobody decided, until their views have closed: what was said in them before that may come late.
    closed: BTreeMap<u64, Pending>,
    /// What the person answered in agents' own windows: how, only what comes of it tells.
    answered: BTreeMap<u64, Entry>,
}

/// So many entries wait for what comes of them.
const MAX_ACCEPTED: usize = 1000;

#[derive(Debug)]
struct Pending {
    revision: u32,
    proposal: Proposal,
    /// They enter the store once an entry or an offer needs them, and the proposal names them then: most proposals are decided as they
    /// came, or taken away.
    texts: Option<Texts>,
    /// True if its agent asks in its own window, too, so that the store knows of it while it waits.
    asks_elsewhere: bool,
    drafts: Vec<Draft>,
    /// The person's notes on it.
    notes: Vec<Note>,
}

/// The text that stands in a view.
#[derive(Debug)]
struct Draft {
    view: u64,
    revision: u32,
    entry: Entry,
}

impl Journal {
    /// Returns true if a proposal that waits needs this text.
    pub(super) fn needs(&self, hash: &Hash) -> bool {
        let proposals = self.pending.values().map(|it| &it.proposal);
        let answered = self.answered.values().map(|it| &it.proposal);
        let all = proposals.chain(answered);
        let mut texts = all.flat_map(|it| [it.before.text(), it.proposed.text()]);
        texts.any(|text| text == Some(hash))
    }
}

impl Pending {
    /// The proposal for an entry, with its texts in the store.
    fn keep(&mut self, store: &Store) -> Result<Proposal, StoreError> {
        if let Some((before, proposed)) = &self.texts {
            let put = |text: Option<&[u8]>| text.map(|text| store.put_text(text)).transpose();
            let proposed = put(proposed.as_ref().map(|text| text.as_bytes()))?;
            let before = put(before.as_deref())?;
            self.proposal.before = before.unwrap_or(self.proposal.before.clone());
            self.proposal.proposed = proposed.unwrap_or(FileState::Absent);
            self.texts = None;
        }
        Ok(self.proposal.clone())
    }
}

/// An entry for a proposal that waits nowhere any more and about which nobody has decided. It has no text to offer.
fn undecided(at: u64, proposal: Proposal, notes: Vec<Note>) -> Entry {
    Entry {
        number: 0,
        state: EntryState::Undecided,
        at,
        proposal,
        turn: None,
        notes,
        edited: None,
        pending_in: None,
        awaited_in: None,
        outcome: None,
        is_elsewhere: false,
        is_closed: true,
    }
}

impl Recorder {
    /// A proposal is shown, in place of a former revision with its number. It names no text yet, but whether there is a file.
    pub fn proposed(&mut self, (id, revision): (u64, u32), proposal: Proposal, texts: Texts) {
        let former = self.journal.pending.remove(&id);
        let former = former.map(|it| (it.drafts, it.notes));
        let (drafts, notes) = former.unwrap_or_default();
        let pending = Pending {
            revision,
            proposal,
            texts: Some(texts),
            asks_elsewhere: false,
            drafts,
            notes,
        };
        self.journal.pending.insert(id, pending);
    }

    /// The agent of a proposal asks in its own window, too: there, the question outlives this companion.
    pub fn asks_elsewhere(&mut self, id: u64) -> Result<(), StoreError> {
        let Some(pending) = self.journal.pending.get_mut(&id) else {
            return Ok(());
        };
        pending.asks_elsewhere = true;
        let proposal = pending.keep(&self.store)?;
        self.store.keep_pending(id, Some(process::id()), &proposal)
    }

    /// Nobody decides here any more about what waits, and its agents still ask.
    pub fn leave_all(&mut self) -> Result<(), StoreError> {
        for (id, pending) in &mut self.journal.pending {
            if mem::take(&mut pending.asks_elsewhere) {
                let proposal = pending.keep(&self.store)?;
                self.store.keep_pending(*id, None, &proposal)?;
            }
        }
        Ok(())
    }

    /// Takes the proposals in these folders about which nobody has decided when their companion was killed. They are in the log
    /// from now on.
    pub fn take_left(&mut self, folders: &[PathBuf]) -> Result<Vec<Entry>, StoreError> {
        let left = self.store.take_left(folders)?;
        // What the person had made of one is in the log already.
        let known = match left.is_empty() {
            true => Vec::new(),
            false => self.store.entries()?,
        };
        let entry = |(at, proposal): (u64, Proposal)| {
            let is_it = |it: &&Entry| it.state == EntryState::Undecided && it.proposal == proposal;
            match known.iter().find(is_it) {
                Some(entry) => Ok(entry.clone()),
                None => self.store.add_entry(undecided(at, proposal, Vec::new())),
            }
        };
        left.into_iter().map(entry).collect()
    }

    /// The person has these notes on a proposal, in place of those from before. If it was closed meanwhile, what is new of them goes
    /// into the log.
    pub fn noted(&mut self, id: u64, notes: Vec<Note>) -> Result<(), StoreError> {
        if let Some(pending) = self.journal.pending.get_mut(&id) {
            pending.notes = notes;
            return Ok(());
        }
        let Some(mut closed) = self.journal.closed.remove(&id) else {
            return Ok(());
        };
        let known = mem::replace(&mut closed.notes, notes.clone());
        closed.notes.retain(|it| !known.contains(it));
        let kept = self.keep_notes(&mut closed);
        closed.notes = notes;
        self.journal.closed.insert(id, closed);
        kept
    }

    /// No view has anything more to say of a proposal that was closed.
    pub fn let_go(&mut self, id: u64) {
        self.journal.closed.remove(&id);
    }

    /// This stands in the view of a proposal; none if the person has written nothing there.
    pub fn edited(
        &mut self,
        id: u64,
        revision: u32,
        view: u64,
        text: Option<&str>,
    ) -> Result<(), StoreError> {
        let Some(pending) = self.journal.pending.get_mut(&id) else {
            return Ok(());
        };
        if pending.revision != revision {
            return Ok(());
        }
        let is_its = |it: &Draft| it.view == view && it.revision == revision;
        let own = pending.drafts.iter().rposition(is_its);
        if text.is_none() && own.is_none() {
            return Ok(());
        }
        let proposal = pending.keep(&self.store)?;
        let edited = text.map(|text| self.store.put_text(text.as_bytes()));
        let edited = edited.transpose()?.filter(|it| *it != proposal.proposed);
        let Some(edited) = edited else {
            if let Some(at) = own {
                let draft = pending.drafts.remove(at);
                self.store.forget_entry(draft.entry.name())?;
            }
            return Ok(());
        };
        let is_again = |it: &Draft| is_its(it) && it.entry.edited.as_ref() == Some(&edited);
        if let Some(at) = pending.drafts.iter().position(is_again) {
            pending.drafts[at..].rotate_left(1);
            return Ok(());
        }
        let mut entry = Entry {
            number: 0,
            state: EntryState::Undecided,
            at: clock::now_ms(),
            proposal,
            turn: None,
            notes: Vec::new(),
            edited: Some(edited),
            pending_in: Some(process::id()),
            awaited_in: None,
            outcome: None,
            is_elsewhere: false,
            is_closed: false,
        };
        let mut brought_back = self.store.undecided()?;
        brought_back.retain(|it| {
            !it.is_pending()
                && it.proposal.is_of_same(&entry.proposal)
                && is_contained(&self.store, it, &entry)
        });
        // What comes back from before takes no other text's place.
        let entry = match own.filter(|_| brought_back.is_empty()) {
            Some(at) => {
                entry.number = pending.drafts[at].entry.number;
                self.store.save_entry(&entry)?;
                pending.drafts[at].entry = entry.clone();
                entry
            }
            None => {
                let entry = self.store.add_entry(entry)?;
                pending.drafts.push(Draft {
                    view,
                    revision,
                    entry: entry.clone(),
                });
                entry
            }
        };
        // Former texts that this one has all of.
        let store = &self.store;
        let is_former = |it: &Draft| it.view == view && it.revision < revision;
        let drafts = mem::take(&mut pending.drafts).into_iter();
        let (contained, others): (Vec<Draft>, _) =
            drafts.partition(|it| is_former(it) && is_contained(store, &it.entry, &entry));
        pending.drafts = others;
        let contained = contained.iter().map(|it| &it.entry);
        for former in contained.chain(&brought_back) {
            self.store.forget_entry(former.name())?;
        }
        Ok(())
    }

    /// A person has decided about a proposal.
    pub fn decided(&mut self, id: u64, mut decided: Decision) -> Result<(), StoreError> {
        let Some(mut pending) = self.take_pending(id)? else {
            return Ok(());
        };
        let is_written = pending.proposal.written.is_some();
        pending.notes = mem::take(&mut decided.unsaid);
        let entry = self.decision(&mut pending, decided);
        // What was decided about a change that is written stands in its turn.
        let entry = entry.and_then(|entry| match is_written {
            true => Ok(entry),
            false => self.store.add_entry(entry),
        });
        if entry.is_err() {
            // What the person wrote is theirs to have in another proposal.
            for draft in &pending.drafts {
                let _ = self.end_draft(draft.entry.clone(), None);
            }
        }
        let entry = entry?;
        if entry.state != EntryState::Rejected && !is_written {
            self.awaits_outcome(id, entry.name());
        }
        for draft in mem::take(&mut pending.drafts) {
            self.end_draft(draft.entry, Some(&entry))?;
        }
        for other in self.store.undecided()? {
            if other.proposal.is_of_same(&entry.proposal) && !other.is_pending() {
                self.end_draft(other, Some(&entry))?;
            }
        }
        self.keep_notes(&mut pending)?;
        self.tidy_now_and_then();
        Ok(())
    }

    fn awaits_outcome(&mut self, id: u64, entry: EntryRef) {
        self.journal.accepted.insert(id, entry);
        if self.journal.accepted.len() > MAX_ACCEPTED {
            self.journal.accepted.pop_first();
        }
    }

    /// A person answers in the agent's own window what it asked about this proposal: it is a decision once it is known what comes
    /// of it.
    pub fn answered(&mut self, id: u64, session: Option<u64>) -> Result<(), StoreError> {
        let Some(mut pending) = self.journal.pending.remove(&id) else {
            return Ok(());
        };
        let decided = Decision {
            is_accepted: true,
            edited: None,
            notes: Vec::new(),
            unsaid: Vec::new(),
            session,
        };
        let entry = self.decision(&mut pending, decided);
        self.journal.pending.insert(id, pending);
        let entry = Entry {
            is_elsewhere: true,
            ..entry?
        };
        self.journal.answered.insert(id, entry);
        if self.journal.answered.len() > MAX_ACCEPTED {
            self.journal.answered.pop_first();
        }
        Ok(())
    }

    /// Nothing tells how a person has answered that.
    pub fn forget_answer(&mut self, id: u64) {
        self.journal.answered.remove(&id);
    }

    /// This came of what a person has accepted. It stands in the entry of the decision.
    pub fn came_of(&mut self, id: u64, outcome: WriteOutcome) -> Result<(), StoreError> {
        if let Some(entry) = self.journal.answered.remove(&id) {
            // Something else may be the work of anybody.
            if outcome == WriteOutcome::WrittenDifferently {
                return Ok(());
            }
            let entry = self.store.add_entry(entry)?;
            self.awaits_outcome(id, entry.name());
        }
        let Some(name) = self.journal.accepted.get(&id) else {
            return Ok(());
        };
        let mut entry = match self.store.entry(*name) {
            // Nobody is to be told what was forgotten.
            Err(StoreError::NoEntry(_)) => return Ok(()),
            entry => entry?,
        };
        entry.came_of(outcome);
        self.store.save_entry(&entry)
    }

    /// Returns true if this process is to find out what comes of this entry.
    pub(super) fn awaits(&self, name: EntryRef) -> bool {
        self.journal.accepted.values().any(|it| *it == name)
    }

    /// A decision as an entry of the log.
    fn decision(&mut self, pending: &mut Pending, decided: Decision) -> Result<Entry, StoreError> {
        let proposed = { pending.texts.as_ref() }.and_then(|(_, proposed)| proposed.as_ref());
        let is_as_proposed = |it: &Arc<String>| proposed == Some(it);
        let edited = decided.edited.filter(|it| !is_as_proposed(it));
        let proposal = pending.keep(&self.store)?;
        // A deletion is shown as an empty text.
        let is_deletion = |it: &Arc<String>| it.is_empty() && proposal.proposed.is_absent();
        let edited = edited.filter(|it| !is_deletion(it));
        let edited = edited.map(|it| self.store.put_text(it.as_bytes()));
        let edited = edited.transpose()?.filter(|it| *it != proposal.proposed);
        let state = match (decided.is_accepted, &edited) {
            (true, None) => EntryState::Accepted,
            (true, Some(_)) => EntryState::Edited,
            (false, _) => EntryState::Rejected,
        };
        let turn = self.turn_of(decided.session, &proposal);
        Ok(Entry {
            number: 0,
            state,
            at: clock::now_ms(),
            turn,
            proposal,
            notes: decided.notes,
            edited,
            pending_in: None,
            awaited_in: decided.is_accepted.then(process::id),
            outcome: None,
            is_elsewhere: false,
            is_closed: true,
        })
    }

    /// A proposal is not shown any more, and nobody has decided about it.
    pub fn closed(&mut self, id: u64) -> Result<(), StoreError> {
        let Some(mut pending) = self.take_pending(id)? else {
            return Ok(());
        };
        let kept = self.keep_notes(&mut pending);
        let drafts = mem::take(&mut pending.drafts);
        self.journal.closed.insert(id, pending);
        kept?;
        for draft in drafts {
            self.end_draft(draft.entry, None)?;
        }
        Ok(())
    }

    /// Takes a proposal that waits no more.
    fn take_pending(&mut self, id: u64) -> Result<Option<Pending>, StoreError> {
        let pending = self.journal.pending.remove(&id);
        if pending.as_ref().is_some_and(|it| it.asks_elsewhere) {
            self.store.drop_pending(id)?;
        }
        Ok(pending)
    }

    /// Keeps the notes on a proposal about which nobody has decided: with the text that the person has made of it, if they have, and
    /// once.
    fn keep_notes(&self, pending: &mut Pending) -> Result<(), StoreError> {
        let notes = pending.notes.clone();
        if notes.is_empty() {
            return Ok(());
        }
        if let Some(draft) = pending.drafts.last_mut() {
            draft.entry.notes = notes;
            return Ok(());
        }
        let proposal = pending.keep(&self.store)?;
        let is_same = |it: &Entry| it.notes == notes && it.proposal == proposal;
        if self.store.undecided()?.iter().any(is_same) {
            return Ok(());
        }
        let entry = undecided(clock::now_ms(), proposal, notes);
        self.store.add_entry(entry).map(drop)
    }

    /// No proposal is shown any more.
    pub fn closed_all(&mut self) -> Result<(), StoreError> {
        let pending: Vec<u64> = self.journal.pending.keys().copied().collect();
        pending.into_iter().try_for_each(|id| self.closed(id))
    }

    /// A view is gone, with what stood in it.
    pub fn view_left(&mut self, view: u64) -> Result<(), StoreError> {
        let mut left = Vec::new();
        for pending in self.journal.pending.values_mut() {
            let drafts = mem::take(&mut pending.drafts).into_iter();
            let (gone, others): (Vec<_>, _) = drafts.partition(|it| it.view == view);
            pending.drafts = others;
            left.extend(gone);
        }
        for draft in left {
            self.end_draft(draft.entry, None)?;
        }
        Ok(())
    }

    /// Texts that a person wrote in earlier proposals of the files that wait, or of that of the proposal with this number, and
    /// nobody decided about: where the file is as it was then, or where the same is proposed again. The newest of a file comes last.
    pub fn offers(&mut self, of: Option<u64>) -> Result<Vec<Offer>, StoreError> {
        if self.journal.pending.is_empty() {
            return Ok(Vec::new());
        }
        let mut left = self.store.undecided()?;
        left.retain(|it| !it.is_closed && !it.is_pending());
        left.sort_by_key(|it| (it.at, it.number));
        let mut offers = Vec::new();
        for (id, pending) in &mut self.journal.pending {
            if of.is_some_and(|of| of != *id) {
                continue;
            }
            let own = &pending.proposal;
            let is_its = |it: &Proposal| {
                it.path == own.path && it.agent == own.agent && it.written == own.written
            };
            let left: Vec<_> = { left.iter() }.filter(|it| is_its(&it.proposal)).collect();
            if left.is_empty() {
                continue;
            }
            // On a full disk, the others may have theirs there already.
            let Ok(now) = pending.keep(&self.store) else {
                continue;
            };
            let fits = |entry: &&Entry| {
                let then = &entry.proposal;
                then.proposed == now.proposed
                    || (then.before == now.before && now.before.is_known())
            };
            let fitting = left.into_iter().filter(fits);
            let texts = fitting.filter_map(|entry| taken_along(&self.store, entry, &now));
            offers.extend(texts.map(|text| Offer {
                id: *id,
                revision: pending.revision,
                text,
            }));
        }
        Ok(offers)
    }

    /// A text that a person wrote is not shown any more. `decided` is what they decided instead.
    fn end_draft(&self, mut entry: Entry, decided: Option<&Entry>) -> Result<(), StoreError> {
        let has_all = |it: &Entry| {
            it.after() == entry.after()
                || (it.state == EntryState::Edited && is_contained(&self.store, &entry, it))
        };
        if decided.is_some_and(has_all) {
            return self.store.forget_entry(entry.name());
        }
        entry.pending_in = None;
        entry.is_closed |= decided.is_some();
        self.store.save_entry(&entry)
    }

    /// The turn in which this was decided: that of the session, or the only one of this agent that goes on here.
    fn turn_of(&mut self, session: Option<u64>, proposal: &Proposal) -> Option<u64> {
        let is_its = |id: u64, agent: &str| match session {
            Some(session) => id == session,
            None => agent == proposal.agent,
        };
        let open = self.sessions.iter_mut().filter_map(|(id, session)| {
            let turn = session.turn.as_ref()?;
            is_its(*id, &turn.agent).then_some(session)
        });
        let mut open: Vec<_> = open.collect();
        if open.len() > 1 {
            return None;
        }
        let session = open.pop()?;
        session.has_decisions = true;
        session.number()
    }
}

/// A person's version of a proposal, on top of another one of the same file.
fn taken_along(store: &Store, entry: &Entry, to: &Proposal) -> Option<String> {
    let (base, text) = texts(store, entry)?;
    if entry.proposal.proposed == to.proposed {
        return Some(text);
    }
    let newer = store.text_of(&to.proposed).ok()?.unwrap_or_default();
    let carried = merge::carry(
        &Text::new(base),
        &Text::new(text.as_str()),
        &Text::new(newer),
    );
    let carried = String::from_utf8(carried.text)
        .ok()
        .filter(|_| carried.conflicts.is_empty());
    Some(carried.unwrap_or(text))
}

/// The proposed text, and a person's version of it.
fn texts(store: &Store, entry: &Entry) -> Option<(String, String)> {
    let text = |state: &FileState| {
        let text = store.text_of(state).ok()?.unwrap_or_default();
        String::from_utf8(text).ok()
    };
    Some((text(&entry.proposal.proposed)?, text(entry.after())?))
}

/// Returns true if the `newer` text has all that a person wrote in the older one.
fn is_contained(store: &Store, older: &Entry, newer: &Entry) -> bool {
    if older.after() == newer.after() {
        return true;
    }
    let Some(((base, text), (newer_base, newer_text))) =
        texts(store, older).zip(texts(store, newer))
    else {
        return false;
    };
    let [base, text, newer_base] = [base, text, newer_base].map(Text::new);
    let carried = merge::carry(&base, &text, &newer_base);
    carried.conflicts.is_empty() && carried.text == newer_text.as_bytes()
}
