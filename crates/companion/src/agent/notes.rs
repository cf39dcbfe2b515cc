//! Brings a person's words to an agent. No agent's protocol has room for them beside a decision, apart from
//! that of Pillion's own commands. Where hooks of ours are run they carry them, with the next result of a tool or with the
//! next prompt; other agents add the editor's selection to the next prompt, so the words take its place until then.
//!
//! A state machine without I/O: remarks, contexts and the beginnings of turns come in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_protocol::record::Recorded;
use pillion_protocol::{File, IdeContext, Position, Range};

use crate::remark::{Remark, edits};
use crate::sessions::SessionId;

/// An agent that never says that a prompt was sent has begun another turn if it does something after so long a silence.
const SILENCE: Duration = Duration::from_secs(2 * 60);

/// The words for an agent that it has not sent to its model yet.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Those that the agent may not have, in the order in which they were said.
    remarks: Vec<(Place, Remark)>,
    /// The way of those that wait; a hook's if none does.
    way: Way,
    /// The person's edits of texts that the agent is writing.
    edits: Vec<String>,
    /// The names of those that the agent has, or that nobody will read any more.
    told: Vec<String>,
    /// The names of those that went with a prompt which its model has not answered yet: until then it may not have sent it.
    sent: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Waits,
    /// A hook has got it. The agent has it when it goes on: a person who breaks off the prompt that carries it, or who ends the agent,
    /// takes it out of its conversation.
    Handed,
    /// It went into the answer to a call, to the proposal of this session. The agent has it when it goes on; what its conversation has
    /// of that call, the next prompt does not take out.
    Answered(SessionId),
}

/// The way in which notes that wait come into the next prompt.
#[derive(Debug, Default)]
enum Way {
    /// A hook adds them.
    #[default]
    Hook,
    /// They are shown in place of the selection.
    Selection {
        /// This was selected when they came: selecting anything else takes their place.
        before: Option<String>,
        /// The agent's turn is over, unless it does something before this.
        ends: Instant,
    },
}

impl Notes {
    /// A remark waits, for a hook that takes it or for the next prompt of an agent without hooks. A rejection ends the turn of such a
    /// one.
    pub(crate) fn add(&mut self, remark: Remark, context: &IdeContext, now: Instant) {
        let is_over = !remark.note.is_accepted
            || matches!(&self.way, Way::Selection { ends, .. } if *ends <= now);
        self.way = match remark.note.is_for_hook {
            true => Way::Hook,
            false => Way::Selection {
                before: selected(context).map(str::to_owned),
                ends: if is_over { now } else { now + SILENCE },
            },
        };
        self.remarks.push((Place::Waits, remark));
    }

    /// This remark is in the answer to a call of this session's.
    pub(crate) fn add_answered(&mut self, to: &SessionId, remark: Remark) {
        self.remarks.push((Place::Answered(Arc::clone(to)), remark));
    }

    /// What was answered to this session has not reached the agent.
    pub(crate) fn is_unanswered(&mut self, session: &SessionId) {
        self.goes(&Place::Answered(Arc::clone(session)), &Place::Waits);
    }

    /// The agent's model goes on: it has what its hooks have got.
    pub(crate) fn goes_on(&mut self) {
        self.has(|place, _| *place != Place::Waits);
    }

    /// The agent's model has read its prompt.
    pub(crate) fn has_prompt(&mut self) {
        self.has(|place, _| *place == Place::Handed);
    }

    /// Nothing of these turns is to be told any more.
    pub(crate) fn forget_turns(&mut self, turns: &[u64]) {
        self.has(|_, it| it.note.is_about(turns));
    }

    /// Another prompt is sent, and the agent has not gone on: what went with the last one waits again.
    pub(crate) fn is_prompted_again(&mut self) {
        self.has(|place, _| matches!(place, Place::Answered(_)));
        self.goes(&Place::Handed, &Place::Waits);
    }

    /// What is at one place is at the other from now on.
    fn goes(&mut self, from: &Place, to: &Place) {
        let those = self.remarks.iter_mut().filter(|(place, _)| place == from);
        those.for_each(|(place, _)| place.clone_from(to));
        self.way_of_none();
    }

    /// Remarks that were taken for a hook wait again, before all that came later.
    pub(crate) fn put_back(&mut self, remarks: Vec<Remark>) {
        let waiting = remarks.into_iter().map(|it| (Place::Waits, it));
        self.remarks.splice(0..0, waiting);
    }

    fn waiting(&self) -> impl DoubleEndedIterator<Item = &Remark> {
        let waiting = { self.remarks.iter() }.filter(|(place, _)| *place == Place::Waits);
        waiting.map(|(_, it)| it)
    }

    /// The agent has these remarks, or nobody will read them any more. Returns true if there are some.
    fn has(&mut self, mut is_its: impl FnMut(&Place, &Remark) -> bool) -> bool {
        let its = self.remarks.extract_if(.., |(place, it)| is_its(place, it));
        let names: Vec<_> = its.map(|(_, it)| it.name().to_owned()).collect();
        let is_some = !names.is_empty();
        self.told.extend(names);
        self.way_of_none();
        is_some
    }

    fn way_of_none(&mut self) {
        if self.waiting().next().is_none() {
            self.way = Way::Hook;
        }
    }

    /// Returns true if there are remarks that the agent may not have.
    pub(crate) fn wait(&self) -> bool {
        !self.remarks.is_empty()
    }

    /// Returns when an agent without hooks gets the remarks that wait for it.
    pub(crate) fn told(&self) -> Option<String> {
        let remark = self.waiting().next_back()?;
        Some(remark.told(self.are_for_hook(), false).message)
    }

    /// Returns the context for the agent, with the remarks that wait in place of the selection, as far as there is room for them.
    pub(crate) fn with_context(&mut self, context: Arc<IdeContext>) -> Arc<IdeContext> {
        self.placed(context, false)
    }

    /// The same for an agent that has asked for it, with all of them: it has them then.
    pub(crate) fn read(&mut self, context: Arc<IdeContext>) -> Arc<IdeContext> {
        let read = self.placed(context, true);
        if self.shown() > 0 {
            self.has_newest(usize::MAX);
        }
        read
    }

    fn placed(&mut self, context: Arc<IdeContext>, is_all: bool) -> Arc<IdeContext> {
        let Way::Selection { before, .. } = &self.way else {
            return context;
        };
        let now = selected(&context);
        if now.is_some() && now != before.as_deref() {
            self.has_newest(usize::MAX);
            return context;
        }
        let all: Vec<_> = self.waiting().collect();
        let count = if is_all { all.len() } else { fitting(&all) };
        let shown = shown_in(&all[all.len() - count..], &context);
        shown.map_or(context, Arc::new)
    }

    /// Keeps what the person edited in a change of this file, until [`take`](Self::take) or the next turn.
    pub(crate) fn add_edits(&mut self, file_path: &str, proposed: &str, accepted: &str) {
        self.edits.push(edits(file_path, proposed, accepted));
    }

    /// The agent has sent the prompt, and with it what it was shown. Returns true if there were remarks.
    pub(crate) fn turn_begins(&mut self) -> bool {
        self.edits.clear();
        let shown = self.shown();
        shown > 0 && self.has_newest(shown)
    }

    /// The agent's record of its session tells this. Returns true if it has remarks by that: those that are whole in what was
    /// selected, or all that it was shown when it sent a prompt that its model has answered.
    pub(crate) fn recorded(&mut self, recorded: &Recorded) -> bool {
        match recorded {
            Recorded::Selected(text) => self.has(|place, it| {
                let lines = format!("\n{}\n", it.text().trim_end_matches('\n'));
                let is_whole = !it.is_cut() && format!("\n{text}\n").contains(&lines);
                *place == Place::Waits && is_whole
            }),
            Recorded::Prompt => {
                let newest = self.waiting().rev().take(self.shown());
                self.sent = newest.map(|it| it.name().to_owned()).collect();
                false
            }
            Recorded::Answer => {
                let sent = std::mem::take(&mut self.sent);
                let is_sent = |it: &Remark| sent.iter().any(|name| name == it.name());
                self.has(|place, it| *place == Place::Waits && is_sent(it))
            }
        }
    }

    /// The agent, which never says that a prompt was sent, does what it does in a turn only. Returns true if that is one which began
    /// after the remarks came: it has those that it was shown.
    pub(crate) fn works(&mut self, now: Instant) -> bool {
        let Way::Selection { ends, .. } = &mut self.way else {
            return false;
        };
        let is_next = *ends <= now;
        *ends = now + SILENCE;
        is_next && self.turn_begins()
    }

    /// The number of remarks that wait and do not stand in place of the selection with this one, as there is no room for all.
    pub(crate) fn displaced_by(&self, remark: &Remark) -> usize {
        let all: Vec<_> = self.waiting().chain([remark]).collect();
        all.len() - fitting(&all)
    }

    /// The number of remarks that stand in place of the selection.
    pub(crate) fn shown(&self) -> usize {
        match self.way {
            Way::Hook => 0,
            Way::Selection { .. } => fitting(&self.waiting().collect::<Vec<_>>()),
        }
    }

    /// Takes all that waits, edits first, for a hook that tells it after a tool has run.
    pub(crate) fn take(&mut self) -> Option<String> {
        let mut texts = std::mem::take(&mut self.edits);
        texts.extend(self.hand());
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Takes the remarks that wait, for a hook that tells them with the prompt.
    pub(crate) fn hand(&mut self) -> Option<String> {
        let text = text(self.waiting());
        self.goes(&Place::Waits, &Place::Handed);
        (!text.is_empty()).then_some(text)
    }

    /// The agent has this many of the remarks that wait, the newest ones. Returns true if there are some.
    fn has_newest(&mut self, count: usize) -> bool {
        let mut older = self.waiting().count().saturating_sub(count);
        self.has(|place, _| {
            let is_newer = *place == Place::Waits && older == 0;
            older -= usize::from(*place == Place::Waits && older > 0);
            is_newer
        })
    }

    /// Takes the names of the remarks that the agent has.
    pub(crate) fn take_told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }

    /// The remarks that the agent may not have.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &Remark> {
        self.remarks.iter().map(|(_, it)| it)
    }

    /// Those of them that are not on their way to it.
    pub(crate) fn untold(&self) -> impl Iterator<Item = &Remark> {
        let untold = { self.remarks.iter() }.filter(|(it, _)| !matches!(it, Place::Answered(_)));
        untold.map(|(_, it)| it)
    }

    /// The remarks that the agent may not have, to be changed.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Remark> {
        self.remarks.iter_mut().map(|(_, it)| it)
    }

    /// Returns true if a hook is to take those that wait.
    pub(crate) fn are_for_hook(&self) -> bool {
        matches!(self.way, Way::Hook)
    }

    /// Takes the remarks that the agent may not have, for whoever may not be able to pass them on.
    pub(crate) fn take_remarks(&mut self) -> Option<Vec<Remark>> {
        self.way = Way::Hook;
        let remarks: Vec<_> = self.remarks.drain(..).map(|(_, it)| it).collect();
        (!remarks.is_empty()).then_some(remarks)
    }
}

#[cfg(test)]
impl Notes {
    /// A remark waits for a hook that takes it.
    pub(crate) fn add_for_hook(&mut self, mut remark: Remark) {
        remark.note.is_for_hook = true;
        self.add(remark, &IdeContext::default(), Instant::now());
    }
}

/// All of these, as the agent's model reads them.
pub(super) fn text<'a>(remarks: impl IntoIterator<Item = &'a Remark>) -> String {
    let texts: Vec<&str> = remarks.into_iter().map(Remark::text).collect();
    texts.join("\n")
}

/// The context with these remarks in place of the selection.
fn shown_in(remarks: &[&Remark], context: &IdeContext) -> Option<IdeContext> {
    let last = remarks.last()?;
    let others = context.files().iter();
    let newest = others.clone().map(|file| file.timestamp).max();
    let place = |line| Position { line, character: 0 };
    let file = File {
        selected_text: Some(text(remarks.iter().copied())),
        selection: last.note.lines.map(|lines| Range {
            start: place(lines.first),
            end: place(lines.last.saturating_add(1)),
        }),
        ..File::focused(last.note.file_path.as_str(), newest.unwrap_or_default() + 1)
    };
    let files = std::iter::once(file).chain(others.cloned()).collect();
    let state = context.workspace_state.as_ref();
    let is_trusted = state.and_then(|state| state.is_trusted);
    Some(IdeContext::for_agents(files, is_trusted))
}

/// Returns how many of these remarks, of which the newest is the last, fit into what their agent reads of a selection: one at least.
fn fitting(remarks: &[&Remark]) -> usize {
    let mut room = remarks.last().map_or(0, |newest| newest.room());
    let fit = remarks.iter().rev().take_while(|it| {
        let length = it.text().chars().count() + 1;
        let is_within = length <= room;
        room = room.saturating_sub(length);
        is_within
    });
    fit.count().max(remarks.len().min(1))
}

/// Returns the text that the person has selected.
fn selected(context: &IdeContext) -> Option<&str> {
    let (text, _) = context.active_file()?.selected()?;
    Some(text)
}

#[cfg(test)]
mod tests;
