//! Owns the diffs and what becomes of them (C5): the rules from `openDiff` to the outcome. A
//! state machine: time comes in, actions come out, no I/O.
//!
//! `C` stands for the caller waiting for an answer; the machine only hands it back.

mod entries;
mod outcomes;
mod steps;

#[cfg(test)]
mod tests;

use std::cell::LazyCell;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_changes::looking::Shown;
use pillion_changes::{ChangeRef, WriteOutcome, recorder};
use pillion_protocol::{Dialect, Note, Proposer};
use pillion_text::fingerprint;
use pillion_view::{CloseReason, Decide, Diff, DiffId, ProposalKey, SetPlace, Stale};

use self::entries::Entries;
use crate::acceptance::{Acceptance, Together};
use crate::line_endings::Tool;
use crate::lost::Lost;
use crate::numbers::Numbers;
use crate::on_disk::{FileState, OnDisk};
use crate::outbox::Delivery;
use crate::proposal::{Proposal, Side};
use crate::remark::Remark;
use crate::sessions::SessionId;
use crate::written::{Accepted, Fingerprints};
use pillion_view::ask::{DiffRef, PendingDiff, Refused};

/// The time limit for the editor to open or close a view.
pub(crate) const EDITOR_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest that a hook may wait for the person: its agent would give up a little later, and make the change.
pub(crate) const HOOK_TIMEOUT: Duration = Duration::from_secs(23 * 60 * 60);

#[derive(Debug)]
pub(crate) struct Diffs<C> {
    numbers: Numbers,
    /// The longest that a hook waits for the person.
    hook_limit: Duration,
    entries: Entries<C>,
    /// The sets by their proposers, who propose one each: the number of the set's first diff, which is never given again.
    sets: HashMap<SessionId, DiffId>,
    /// The latest acceptances: whose agent may not have written it yet, for which file, and what that was then.
    unwritten: VecDeque<Unwritten>,
    /// What the person has answered in agents' own windows.
    answered: Vec<Answered>,
}

/// An acceptance that its agent may not have written yet.
#[derive(Debug)]
struct Unwritten {
    id: DiffId,
    /// The text that the file is to have; none once it is known that it was not written.
    awaited: Option<Arc<String>>,
    on_disk: OnDisk,
    session: SessionId,
    proposer: Proposer,
    /// The side, if the same change comes once more from the agent's other side: its hook asks before or after it proposes
    /// the change itself.
    from: Option<Side>,
    /// Fingerprint of the accepted text.
    text: String,
    /// Fingerprint of the text that its agent writes before it, if that was not written yet.
    over: Option<String>,
    /// Fingerprint of the text with both.
    both: String,
}

impl Unwritten {
    /// Returns true if a text of this fingerprint for this file is it: as it was accepted, or after what is written before it.
    fn is(&self, file: &FileState, text: &str) -> bool {
        let is_after = self.over.is_some()
            && self.over == file.text
            && self.on_disk.leads_to == file.on_disk.leads_to;
        (is_after && self.both == text) || (self.on_disk == file.on_disk && self.text == text)
    }
}

/// A change of which an agent's own question was answered, nobody knows how: if its hook asks for just that then, with yes.
#[derive(Debug)]
struct Answered {
    session: SessionId,
    on_disk: OnDisk,
    /// Fingerprint of the proposed text.
    text: String,
}

/// The number of acceptances that are remembered, and of answers elsewhere.
const MAX_UNWRITTEN: usize = 64;

#[derive(Debug)]
struct Entry<C> {
    /// Its revision counts the proposals that were put into this view.
    key: ProposalKey,
    /// Its place in its set.
    set: Option<SetPlace>,
    /// As the agent made it; its text as it is shown.
    proposal: Proposal,
    /// As the agent wrote it, where it is shown in another form: what it gets back unless the person
    /// changed something, or it would write that as it is.
    as_written: Option<Arc<String>>,
    /// What the notebook has beside the cell that is shown.
    beside: Option<String>,
    /// The tool with which the agent will write it, if the proposal shows that.
    tool: Option<Tool>,
    /// True if the file ended with a line feed when it was checked.
    ends_with_line_feed: bool,
    /// True if the editor knows it, in this revision or an earlier one.
    is_in_editor: bool,
    /// The file's state when the agent proposed this revision, once it was checked.
    opened: Option<FileState>,
    /// The file's state when somebody decided about it last.
    decided: Option<FileState>,
    /// The fingerprint of the text that the person was shown last by a command, of this revision.
    printed: Option<String>,
    /// The text that comes of it with what was accepted before, when somebody decided about it last.
    together: Option<Together>,
    /// The notes to the agent of the person who is deciding; none if nobody is.
    notes: Option<Vec<Note>>,
    /// Those of theirs that are not said with it.
    unsaid: Vec<Note>,
    /// What came of the decision about a change that is written already.
    done: Option<String>,
    /// Until when it may be decided, if not for ever.
    limit: Option<Instant>,
    state: State<C>,
}

#[derive(Debug)]
enum State<C> {
    /// Its target is being checked; the agent waits.
    Checking { caller: C, deadline: Instant },
    /// The editor was asked to show it; the agent waits.
    Opening { caller: C, deadline: Instant },
    /// It is shown; the reviewer decides.
    Pending,
    /// The agent closes it: it gets the text in the view and no outcome (C5.10).
    AgentCloses { caller: C, deadline: Instant },
    /// The agent is gone, and the editor takes the view away. Anything that it reports of it meanwhile was
    /// accepted before the person could know; `is_text_taken`: it was to hand the text over.
    AgentGone {
        is_text_taken: bool,
        deadline: Instant,
    },
}

/// A successful answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The view is open (C5.2).
    Opened,
    /// The view is closed; this stood in it (C5.5).
    Closed(String),
    /// So many views are closed.
    ClosedAll(usize),
    /// The editor's answer, as a text.
    Text(String),
}

/// An action for the loop.
#[derive(Debug)]
pub(crate) enum Action<C> {
    /// Check the target of a [`proposal`](Diffs::proposal); the result goes to [`Diffs::checked`].
    Check(ProposalKey),
    /// Ask the editor to show a proposal; it answers with [`Diffs::shown`].
    Show(Diff),
    /// Ask the editor to close a view; its answer goes to [`Diffs::closed`].
    Close {
        /// The proposal that the editor shows: its answer is about that one.
        key: ProposalKey,
        reason: CloseReason,
    },
    /// Answer the waiting caller.
    Answer {
        caller: C,
        answer: Result<Answer, String>,
    },
    /// Tell the session what became of its diff (C5.6, C5.7).
    Notify {
        session: SessionId,
        delivery: Delivery,
        /// The text that it is to write now.
        accepted: Option<Accepted>,
        /// The text that it had proposed, if something else was accepted.
        proposed: Option<Arc<String>>,
        /// The person's remark for it.
        remark: Option<Box<Remark>>,
        /// The person's decision, if that is what became of it, without the agent's session.
        judgement: Option<Box<recorder::Decision>>,
    },
    /// The accepted text has no agent any more to take it.
    Lose(Lost),
}

impl<C> Diffs<C> {
    /// None yet, with these numbers. No hook waits for the person longer than the limit, or than any hook may.
    pub(crate) fn new(numbers: Numbers, hook_limit: Option<Duration>) -> Self {
        Self {
            numbers,
            hook_limit: hook_limit.map_or(HOOK_TIMEOUT, |limit| limit.min(HOOK_TIMEOUT)),
            entries: Entries::default(),
            sets: HashMap::new(),
            unwritten: VecDeque::new(),
            answered: Vec::new(),
        }
    }

    /// The diffs that wait for the reviewer, oldest first, without their texts.
    pub(crate) fn pending(&self) -> impl Iterator<Item = PendingDiff> {
        let entries = self.entries.iter();
        let pending = entries.filter(|entry| entry.state.is_pending());
        pending.map(Entry::pending)
    }

    /// Returns true if nobody has decided yet about a change that is made over one of these texts.
    pub(crate) fn goes_on_with(&self, accepted: &Fingerprints) -> bool {
        let entries = self.entries.iter();
        let mut over = entries.filter_map(|entry| entry.proposal.over.as_ref());
        over.any(|over| accepted.has(over))
    }

    /// A proposal, if it was not replaced.
    pub(crate) fn proposal(&self, key: ProposalKey) -> Option<&Proposal> {
        let entry = self.entries.get(key.id).filter(|it| it.key == key)?;
        Some(&entry.proposal)
    }

    /// Returns true if none waits for anything: not for the reviewer, for an editor, or for its file.
    #[cfg(unix)]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.iter().next().is_none()
    }

    /// The names of the changes that are written already and wait for the reviewer.
    pub(crate) fn written(&self) -> impl Iterator<Item = ChangeRef> {
        let entries = self.entries.iter();
        let pending = entries.filter(|entry| entry.state.is_pending());
        let written = pending.filter_map(|entry| entry.proposal.written());
        written.map(|it| it.name)
    }

    /// These agents, and those whose hooks wait for a person: such an agent may be connected, too.
    pub(crate) fn with_those_of_hooks(&self, connected: Vec<Dialect>) -> Vec<Dialect> {
        let proposals = self.entries.iter().map(|entry| &entry.proposal);
        let of_hooks = proposals.filter(|it| it.tab.is_none() && it.written().is_none());
        let mut agents = connected;
        for proposal in of_hooks {
            if let Proposer::For(agent) = proposal.proposer
                && !agents.contains(&agent)
            {
                agents.push(agent);
            }
        }
        agents
    }

    /// One diff that waits for the reviewer, with the agent's text.
    ///
    /// # Errors
    /// When there is none, or another revision of it is shown.
    pub(crate) fn find_pending(&self, named: DiffRef) -> Result<PendingDiff, Refused> {
        let entry = self.named(named)?;
        Ok(PendingDiff {
            proposed: Some(entry.proposal.proposed.to_string()),
            ..entry.pending()
        })
    }

    /// The person was shown this text of a proposal: its name means that from now on.
    pub(crate) fn note_printed(&mut self, key: ProposalKey, text: &str) {
        let entry = self.entries.get_mut(key.id);
        if let Some(entry) = entry.filter(|it| it.key == key) {
            entry.printed = Some(fingerprint::hash(text.as_bytes()));
        }
    }

    /// Returns true if this is the text that the name of a proposal means: the one that the person was shown, or else the
    /// proposed one.
    pub(crate) fn is_meant(&self, key: ProposalKey, text: &str) -> bool {
        let entry = self.entries.get(key.id).filter(|it| it.key == key);
        entry.is_some_and(|it| match &it.printed {
            Some(printed) => *printed == fingerprint::hash(text.as_bytes()),
            None => **it.proposal.proposed == *text,
        })
    }

    /// Checks that a decision about this proposal is about one that is there.
    pub(crate) fn check_current(&self, key: ProposalKey) -> Result<(), Stale> {
        let entry = self.entries.get(key.id).ok_or(Stale::NotPending)?;
        (entry.key == key).then_some(()).ok_or(Stale::Replaced)
    }

    /// The newest proposal of a diff; its text as it is shown.
    pub(crate) fn newest(&self, id: DiffId) -> Option<&Proposal> {
        Some(&self.entries.get(id)?.proposal)
    }

    /// Returns the facts to weigh an acceptance. None of a rejection, nor of a diff whose view is being taken away:
    /// what was accepted there is not for its agent to write.
    pub(crate) fn acceptance(
        &self,
        decide: &Arc<Decide>,
        roots: &Arc<[PathBuf]>,
    ) -> Option<Acceptance> {
        if decide.verdict.is_rejection() {
            return None;
        }
        let entry = self.entries.get(decide.key.id)?;
        let is_opening = matches!(entry.state, State::Opening { .. });
        if !is_opening && !entry.state.is_pending() {
            return None;
        }
        let proposed = &entry.proposal.proposed;
        let leads_to = entry.opened.as_ref().map(|opened| &opened.on_disk.leads_to);
        // An agent knows what it was answered itself.
        let is_others = |accepted: &&Unwritten| {
            accepted.awaited.is_some()
                && Some(&accepted.on_disk.leads_to) == leads_to
                && accepted.session != entry.proposal.session
                && entry.proposal.over.as_ref() != Some(&accepted.text)
        };
        let unwritten = self.unwritten.iter().filter(is_others);
        Some(Acceptance {
            proposal: entry.proposal.clone(),
            roots: Arc::clone(roots),
            as_written: entry
                .as_written
                .as_ref()
                .map_or_else(|| Arc::clone(proposed), Arc::clone),
            opened: entry.opened.clone(),
            unwritten: unwritten
                .map(|accepted| (accepted.on_disk.stamp.clone(), accepted.proposer))
                .collect(),
            decide: Arc::clone(decide),
            is_asked: false,
            accepted_before: { entry.opened.as_ref() }
                .and_then(|it| self.not_written_yet(&entry.proposal, &it.on_disk)),
        })
    }

    /// Returns the name by which notes on this proposal are kept, and its file, if it is there and was not replaced: those on a
    /// change that is written are about that change, the others about whatever the agent proposes for the file.
    pub(crate) fn notes_of(&self, key: ProposalKey) -> Option<(String, &Path)> {
        let proposal = self.proposal(key)?;
        let agent = proposal.proposer.name();
        let of = match proposal.written() {
            Some(shown) => format!("{agent} {}", shown.name),
            None => agent.to_owned(),
        };
        Some((of, Path::new(&proposal.file_path)))
    }

    /// Returns the change that is shown by this proposal, if it is one that is written already.
    pub(crate) fn written_change(&self, key: ProposalKey) -> Option<&Arc<Shown>> {
        self.proposal(key)?.written()
    }

    /// A change that is written was decided about, and this came of it.
    pub(crate) fn note_done(&mut self, key: ProposalKey, done: String) {
        let entry = self.entries.get_mut(key.id);
        if let Some(entry) = entry.filter(|it| it.key == key) {
            entry.done = Some(done);
        }
    }

    /// What the person has accepted of the same agent for the same file, and its agent has not written yet.
    fn not_written_yet(
        &self,
        proposal: &Proposal,
        on_disk: &OnDisk,
    ) -> Option<(OnDisk, Arc<String>)> {
        let mut latest = self.unwritten.iter().rev();
        let before = latest
            .find(|it| it.session == proposal.session && it.on_disk.leads_to == on_disk.leads_to)?;
        Some((before.on_disk.clone(), before.awaited.clone()?))
    }

    /// Notes the state of a proposal's file, about which somebody decides.
    pub(crate) fn note_file(&mut self, id: DiffId, file: FileState) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.decided = Some(file);
        }
    }

    /// Notes what comes of a proposal about which somebody decides.
    pub(crate) fn note_together(&mut self, id: DiffId, together: Option<Together>) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.together = together;
        }
    }

    /// Somebody decides about a proposal, has this to say to its agent, and leaves this unsaid.
    pub(crate) fn note(&mut self, id: DiffId, notes: Vec<Note>, unsaid: Vec<Note>) {
        if let Some(entry) = self.entries.get_mut(id) {
            (entry.notes, entry.unsaid) = (Some(notes), unsaid);
        }
    }

    /// A proposal was accepted: until its agent has written it, those of other agents are older.
    fn note_accepted(&mut self, entry: &Entry<C>, content: &Arc<String>) {
        let Some(file) = entry.decided.clone() else {
            return;
        };
        let together = entry.together.as_ref();
        let expected = together.map_or(content, |it| &it.text);
        let of = |text: &Arc<String>| fingerprint::of(Some(text.as_bytes()));
        self.unwritten.push_back(Unwritten {
            id: entry.key.id,
            awaited: Some(Arc::clone(expected)),
            on_disk: file.on_disk,
            session: entry.proposal.session.clone(),
            proposer: entry.proposal.proposer,
            from: entry.proposal.side(),
            text: of(content),
            over: entry.over().cloned(),
            both: of(expected),
        });
        if self.unwritten.len() > MAX_UNWRITTEN {
            self.unwritten.pop_front();
        }
    }

    /// It is known what came of an acceptance: nothing is older for it any more. One that was not written still answers its agent's
    /// other side.
    pub(crate) fn came_of(&mut self, id: DiffId, outcome: &WriteOutcome) {
        let is_unwritten = matches!(outcome, WriteOutcome::NotWritten { .. });
        self.unwritten.retain(|it| it.id != id || is_unwritten);
        for accepted in self.unwritten.iter_mut().filter(|it| it.id == id) {
            accepted.awaited = None;
        }
    }

    /// Takes the acceptance of what an agent proposes after the person has accepted just that for its hook, or the other way
    /// round: the same text for the same file, which is as it was then, or has by now what that was accepted over. There is nothing
    /// that they have not seen.
    fn take_accepted_before(&mut self, id: DiffId) -> Option<Arc<String>> {
        let Entry {
            proposal,
            opened,
            set: None,
            ..
        } = self.entries.get(id)?
        else {
            return None;
        };
        let side = proposal.side()?;
        let on_disk = opened.as_ref().filter(|_| !proposal.deletes)?;
        let text = LazyCell::new(|| fingerprint::of(Some(proposal.proposed.as_bytes())));
        let content = Arc::clone(&proposal.proposed);
        let asks_again = side == Side::Own;
        let is_it = |it: &mut Answered| {
            let is_its = match asks_again {
                true => it.session == proposal.session,
                false => proposal.asked_in.as_ref() == Some(&it.session),
            };
            is_its && it.on_disk == on_disk.on_disk && it.text == *text
        };
        let was_answered = self.answered.extract_if(.., is_it).count() > 0;
        if !asks_again && (was_answered || self.is_open_in(proposal, on_disk)) {
            return Some(content);
        }
        let at = self.unwritten.iter().position(|it| {
            it.proposer.agent() == proposal.proposer.agent()
                && it.from.is_some_and(|from| from != side)
                && it.is(on_disk, &text)
        })?;
        self.unwritten.remove(at);
        Some(content)
    }

    /// Returns true if the agent whose hook makes this proposal still shows its own question about it: it closes that after its hooks
    /// were called.
    fn is_open_in(&self, proposal: &Proposal, file: &FileState) -> bool {
        let is_it = |it: &Entry<C>| {
            it.state.is_pending()
                && proposal.asked_in.as_ref() == Some(&it.proposal.session)
                && it.opened.as_ref().map(|it| &it.on_disk) == Some(&file.on_disk)
                && it.proposal.proposed == proposal.proposed
        };
        self.entries.iter().any(is_it)
    }

    /// The turn of an agent begins: what was answered before is no answer to what comes then.
    pub(crate) fn forget_answers(&mut self) {
        self.answered.clear();
    }

    fn named(&self, named: DiffRef) -> Result<&Entry<C>, Refused> {
        let DiffRef { id, revision } = named;
        let entry = self.entries.get(DiffId(id));
        let entry = entry.ok_or(Refused::NotPending { id })?;
        let current = entry.key.revision;
        // Said also of one that is just being opened: that is what took its place.
        if let Some(named) = revision.filter(|named| *named != current) {
            return Err(Refused::OtherRevision { id, named, current });
        }
        if !entry.state.is_pending() {
            return Err(Refused::NotPending { id });
        }
        Ok(entry)
    }

    /// Returns the time at which [`Diffs::expire`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.entries.due()
    }
}

impl<C> Entry<C> {
    /// Returns the time at which it is late.
    fn deadline(&self) -> Option<Instant> {
        self.state.deadline().or(self.limit)
    }

    /// The text that the agent sent, however it is shown.
    fn as_written(&self) -> &str {
        self.as_written.as_ref().unwrap_or(&self.proposal.proposed)
    }

    fn pending(&self) -> PendingDiff {
        PendingDiff {
            key: self.key,
            agent: self.proposal.proposer.name().to_owned(),
            path: self.proposal.file_path.clone(),
            leads_to: None,
            set: self.set,
            proposed: None,
            standing: None,
        }
    }

    /// The fingerprint of a text that its agent writes before it.
    fn over(&self) -> Option<&String> {
        let together = self.together.as_ref().map(|it| &it.over);
        together.or(self.proposal.over.as_ref())
    }

    /// Has the editor close its view.
    /// Returns why its proposer closes it. A hook does if its agent has ended it: the person answered nowhere.
    fn taken_away(&self) -> CloseReason {
        let proposal = &self.proposal;
        match proposal.proposer.is_for_agent() && proposal.written().is_none() {
            true => CloseReason::AgentGone,
            false => CloseReason::ClosedByAgent,
        }
    }

    fn close(&self, reason: CloseReason) -> Action<C> {
        let key = self.key;
        Action::Close { key, reason }
    }
}

impl<C> State<C> {
    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Checking { deadline, .. }
            | Self::Opening { deadline, .. }
            | Self::AgentCloses { deadline, .. }
            | Self::AgentGone { deadline, .. } => Some(*deadline),
            Self::Pending => None,
        }
    }

    /// The answer to the caller that waits in this state, if what it waits for will not happen.
    fn give_up(self, why: &str) -> Option<Action<C>> {
        let caller = match self {
            Self::Checking { caller, .. }
            | Self::Opening { caller, .. }
            | Self::AgentCloses { caller, .. } => caller,
            Self::Pending | Self::AgentGone { .. } => return None,
        };
        let answer = Err(why.to_owned());
        Some(Action::Answer { caller, answer })
    }

    /// Returns true if a decision is awaited.
    fn is_pending(&self) -> bool {
        matches!(self, Self::Pending)
    }
}
