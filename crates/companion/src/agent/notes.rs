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
    waiting: Option<Waiting>,
    /// Those that a hook has got. The agent has them when it goes on: a person who breaks off the prompt that carries them, or who
    /// ends the agent, takes them out of its conversation.
    handed: Vec<Remark>,
    /// Those that went into the answers to calls, each with the session to whose proposal. The agent has them when it goes on; what
    /// its conversation has of that call, the next prompt does not take out.
    answered: Vec<(SessionId, Remark)>,
    /// The person's edits of texts that the agent is writing.
    edits: Vec<String>,
    /// The names of those that the agent has, or that nobody will read any more.
    told: Vec<String>,
    /// The names of those that went with a prompt which its model has not answered yet: until then it may not have sent it.
    sent: Vec<String>,
}

#[derive(Debug)]
struct Waiting {
    /// The oldest is the first.
    remarks: Vec<Remark>,
    way: Way,
}

/// The way in which notes that wait come into the next prompt.
#[derive(Debug)]
enum Way {
    /// A hook adds them.
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
        let is_over = match self.waiting.as_ref().map(|it| &it.way) {
            Some(Way::Selection { ends, .. }) => *ends <= now,
            _ => false,
        } || !remark.note.is_accepted;
        let way = match remark.note.is_for_hook {
            true => Way::Hook,
            false => Way::Selection {
                before: selected(context).map(str::to_owned),
                ends: if is_over { now } else { now + SILENCE },
            },
        };
        let waiting = self.waiting_mut();
        waiting.way = way;
        waiting.remarks.push(remark);
    }

    /// This remark is in the answer to a call of this session's.
    pub(crate) fn add_answered(&mut self, to: &SessionId, remark: Remark) {
        self.answered.push((Arc::clone(to), remark));
    }

    /// What was answered to this session has not reached the agent.
    pub(crate) fn is_unanswered(&mut self, session: &SessionId) {
        let its = self.answered.extract_if(.., |(to, _)| to == session);
        let its: Vec<_> = its.map(|(_, remark)| remark).collect();
        self.wait_again(its);
    }

    /// The agent's model goes on: it has what its hooks have got.
    pub(crate) fn goes_on(&mut self) {
        self.has_prompt();
        self.has_answers();
    }

    /// The agent's model has read its prompt.
    pub(crate) fn has_prompt(&mut self) {
        let handed = std::mem::take(&mut self.handed);
        self.told.extend(names(&handed));
    }

    fn has_answers(&mut self) {
        let answered = self.answered.drain(..).map(|(_, it)| it.name().to_owned());
        self.told.extend(answered);
    }

    /// Another prompt is sent, and the agent has not gone on: what went with the last one waits again.
    pub(crate) fn is_prompted_again(&mut self) {
        self.has_answers();
        let handed = std::mem::take(&mut self.handed);
        self.wait_again(handed);
    }

    fn wait_again(&mut self, remarks: Vec<Remark>) {
        if !remarks.is_empty() {
            self.put_back(remarks);
        }
    }

    /// Remarks that were taken for a hook wait again, before all that came later.
    pub(crate) fn put_back(&mut self, remarks: Vec<Remark>) {
        self.waiting_mut().remarks.splice(0..0, remarks);
    }

    fn waiting_mut(&mut self) -> &mut Waiting {
        self.waiting.get_or_insert_with(|| Waiting {
            remarks: Vec::new(),
            way: Way::Hook,
        })
    }

    /// Returns true if there are remarks that the agent may not have.
    pub(crate) fn wait(&self) -> bool {
        self.unread().next().is_some()
    }

    /// Returns when an agent without hooks gets the remarks that wait for it.
    pub(crate) fn told(&self) -> Option<String> {
        let remark = self.waiting.as_ref()?.remarks.last()?;
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
            self.tell(usize::MAX);
        }
        read
    }

    fn placed(&mut self, context: Arc<IdeContext>, is_all: bool) -> Arc<IdeContext> {
        let Some(waiting) = &self.waiting else {
            return context;
        };
        let Way::Selection { before, .. } = &waiting.way else {
            return context;
        };
        let now = selected(&context);
        if now.is_some() && now != before.as_deref() {
            self.tell(usize::MAX);
            return context;
        }
        let all = Vec::from_iter(&waiting.remarks);
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
        shown > 0 && self.tell(shown)
    }

    /// The agent's record of its session tells this. Returns true if it has remarks by that: those that are whole in what was
    /// selected, or all that it was shown when it sent a prompt that its model has answered.
    pub(crate) fn recorded(&mut self, recorded: &Recorded) -> bool {
        match recorded {
            Recorded::Selected(text) => self.are_sent(|it| {
                let lines = format!("\n{}\n", it.text().trim_end_matches('\n'));
                !it.is_cut() && format!("\n{text}\n").contains(&lines)
            }),
            Recorded::Prompt => {
                let all = self.waiting.as_ref().map_or(&[][..], |it| &it.remarks);
                self.sent = names(&all[all.len() - self.shown()..]).collect();
                false
            }
            Recorded::Answer => {
                let sent = std::mem::take(&mut self.sent);
                self.are_sent(|it| sent.iter().any(|name| name == it.name()))
            }
        }
    }

    /// The agent has these remarks. Returns true if there were some.
    fn are_sent(&mut self, is_sent: impl Fn(&Remark) -> bool) -> bool {
        let Some(waiting) = self.waiting.as_mut() else {
            return false;
        };
        let sent: Vec<_> = waiting.remarks.extract_if(.., |it| is_sent(it)).collect();
        self.waiting.take_if(|it| it.remarks.is_empty());
        self.told.extend(names(&sent));
        !sent.is_empty()
    }

    /// The agent, which never says that a prompt was sent, does what it does in a turn only. Returns true if that is one which began
    /// after the remarks came: it has those that it was shown.
    pub(crate) fn works(&mut self, now: Instant) -> bool {
        let waiting = self.waiting.as_mut().map(|it| &mut it.way);
        let Some(Way::Selection { ends, .. }) = waiting else {
            return false;
        };
        let is_next = *ends <= now;
        *ends = now + SILENCE;
        is_next && self.turn_begins()
    }

    /// The number of remarks that wait and do not stand in place of the selection with this one, as there is no room for all.
    pub(crate) fn displaced_by(&self, remark: &Remark) -> usize {
        let waiting = self.waiting.iter().flat_map(|it| &it.remarks);
        let all: Vec<_> = waiting.chain([remark]).collect();
        all.len() - fitting(&all)
    }

    /// The number of remarks that stand in place of the selection.
    pub(crate) fn shown(&self) -> usize {
        let waiting = self.waiting.as_ref();
        let waiting = waiting.filter(|it| matches!(it.way, Way::Selection { .. }));
        waiting.map_or(0, |it| fitting(&Vec::from_iter(&it.remarks)))
    }

    /// Takes all that waits, edits first, for a hook that tells it after a tool has run.
    pub(crate) fn take(&mut self) -> Option<String> {
        let mut texts = std::mem::take(&mut self.edits);
        texts.extend(self.hand());
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Takes the remarks that wait, for a hook that tells them with the prompt.
    pub(crate) fn hand(&mut self) -> Option<String> {
        let remarks = self.waiting.take()?.remarks;
        let text = text(&remarks);
        self.handed.extend(remarks);
        Some(text)
    }

    /// The agent has this many of the remarks that wait, the newest ones, or nobody will read them any more. Returns true if there
    /// were some.
    fn tell(&mut self, count: usize) -> bool {
        let Some(Waiting { remarks, .. }) = &mut self.waiting else {
            return false;
        };
        let told = remarks.split_off(remarks.len().saturating_sub(count));
        self.told.extend(names(&told));
        self.waiting.take_if(|it| it.remarks.is_empty());
        true
    }

    /// Takes the names of the remarks that the agent has.
    pub(crate) fn take_told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }

    /// The remarks that the agent may not have.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &Remark> {
        let answered = self.answered.iter().map(|(_, it)| it);
        answered.chain(self.untold())
    }

    /// Those of them that are not on their way to it.
    pub(crate) fn untold(&self) -> impl Iterator<Item = &Remark> {
        let waiting = self.waiting.iter().flat_map(|it| &it.remarks);
        self.handed.iter().chain(waiting)
    }

    /// The remarks that the agent may not have, to be changed.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Remark> {
        let waiting = self.waiting.iter_mut().flat_map(|it| &mut it.remarks);
        let answered = self.answered.iter_mut().map(|(_, it)| it);
        answered.chain(&mut self.handed).chain(waiting)
    }

    /// Returns true if a hook is to take those that wait.
    pub(crate) fn are_for_hook(&self) -> bool {
        let waiting = self.waiting.as_ref();
        waiting.is_none_or(|it| matches!(it.way, Way::Hook))
    }

    /// Takes the remarks that the agent may not have, for whoever may not be able to pass them on.
    pub(crate) fn take_remarks(&mut self) -> Option<Vec<Remark>> {
        let answered = self.answered.drain(..).map(|(_, it)| it);
        let handed: Vec<_> = answered.chain(self.handed.drain(..)).collect();
        self.wait_again(handed);
        Some(self.waiting.take()?.remarks)
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

/// The names by which these are kept.
pub(super) fn names(remarks: &[Remark]) -> impl Iterator<Item = String> {
    remarks.iter().map(|it| it.name().to_owned())
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
