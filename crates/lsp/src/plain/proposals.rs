//! The proposals that wait for a decision: shown as files of the editor, judged by its code actions
//! and commands.

mod decisions;
mod documents;
mod guests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::decisions::refuse;
use self::guests::{Guests, is_guest};
use crate::disk::{Done, Job};
use crate::message::{self, Diagnostic, MessageType};
use crate::outgoing::Outgoing;
use crate::plain::Setup;
use crate::plain::proposal::Proposal;
use crate::plain::reads::{Reads, Then};
use crate::plain::showing::Showing;
use crate::profile::Action;
use crate::proposal_path;
use lsp_server::{ErrorCode, Response};
use pillion_view::{CloseReason, Diff, DiffId, Pending, ProposalKey, Proposed, Reply, Stale};
use serde_json::json;

/// The time limit for an editor that shows a proposal, until it asks its language server about it.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit for an editor's answer that it shows a proposal, if another program can open it as well.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Who has changed a text is typing for so long: what comes to the front then would take their next keys.
const TYPING: Duration = Duration::from_secs(2);

/// An agent whose proposal waits longer for that is answered first: it is as good as shown.
const ANSWERED_AFTER: Duration = Duration::from_secs(5);

/// The ids of these requests are none of the others'.
const FIRST_EDIT: i32 = 1_000_000_000;

/// Why a proposal is not accepted while nobody knows which text an editor shows.
const UNCERTAIN: &str = "the editor has not reported all edits yet: try it again";

/// Everything that is under review.
#[derive(Debug)]
pub struct Proposals {
    setup: Setup,
    pending: Pending<Proposal>,
    guests: Guests,
    reads: Reads,
    /// `window/showDocument`, each for one revision of a diff.
    asked: Outgoing<ProposalKey>,
    /// `workspace/applyEdit`.
    edits: Outgoing<()>,
    /// When the person changed a text last.
    typed: Option<Instant>,
    focuses: u64,
    /// Counts the comparisons.
    comparisons: u64,
    cost: Duration,
}

impl Proposals {
    /// None yet.
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            pending: Pending::default(),
            guests: Guests::default(),
            reads: Reads::default(),
            asked: Outgoing::default(),
            edits: Outgoing::from(FIRST_EDIT),
            typed: None,
            focuses: 0,
            comparisons: 0,
            cost: Duration::ZERO,
        }
    }

    /// Returns true if a document is a proposal, or was one: never a file of the user.
    pub fn holds(&self, path: &Path) -> bool {
        let mut folders = self.setup.folders.iter();
        self.find(path).is_some()
            || folders.any(|folder| path.starts_with(folder))
            || proposal_path::owner(path).is_some()
    }

    /// Compares a proposal and writes it, to be shown then. A newer one gets a file of its own: the editor may still
    /// have the text of the older one, and that must not be taken for an answer.
    pub fn open(&mut self, diff: Diff, shown: Reply<()>, now: Instant) -> Vec<Action> {
        if is_guest(diff.id) {
            return self.show_guest(diff, shown);
        }
        let is_second = !self.pending.is_empty();
        let mut actions = self.forget(diff.id);
        self.focuses += 1;
        let id = diff.id;
        let mut showing = Showing::new(self.focuses);
        showing.interrupts = is_second.then_some(now);
        self.pending.put(Proposal::new(diff, shown, showing));
        actions.extend(self.compare(id));
        actions
    }

    /// Compares a proposal as the editor has it.
    fn compare(&mut self, id: DiffId) -> Option<Action> {
        self.comparisons += 1;
        let proposal = self.pending.find_mut(id)?;
        let comparison = proposal.comparison(self.setup.encoding, self.comparisons);
        Some(Action::Compare(comparison))
    }

    /// A proposal was compared: its hunks are shown. First it is written.
    fn compared(
        &mut self,
        number: u64,
        diagnostics: Vec<Diagnostic>,
        cost: Duration,
    ) -> Option<Action> {
        self.cost = cost;
        let mut proposals = self.pending.iter_mut();
        let proposal = proposals.find(|it| it.showing.comparison == Some(number))?;
        proposal.showing.comparison = None;
        if proposal.path.is_some() {
            return Some(publish(&proposal.showing, diagnostics));
        }
        proposal.hunks = diagnostics;
        let diff = Arc::downgrade(&proposal.diff);
        Some(Action::Disk(Job::Write(diff)))
    }

    pub fn done(&mut self, done: Done, now: Instant) -> Vec<Action> {
        match done {
            Done::Written { key, file } => self.written(key, file, now),
            Done::Read { number, saved } => self.read(number, Some(saved)),
            Done::Launched { key, result } => match result {
                Err(why) => self.not_shown(key, &why),
                Ok(()) => self.is_shown(key, now),
            },
            Done::Compared {
                number,
                diagnostics,
                cost,
            } => Vec::from_iter(self.compared(number, diagnostics, cost)),
            Done::Ruled { key, ruling } => self.ruled(key, ruling),
            Done::Listed(_)
            | Done::Acted { .. }
            | Done::Roots { .. }
            | Done::Started(_)
            | Done::Joined { .. } => Vec::new(),
        }
    }

    /// The person has changed a text.
    pub fn typed(&mut self, now: Instant) {
        self.typed = Some(now);
    }

    /// Until when the person is typing.
    fn types_until(&self, now: Instant) -> Option<Instant> {
        let until = self.typed.map(|typed| typed + TYPING);
        until.filter(|until| now < *until)
    }

    /// A proposal is a file now, and is shown, unless the person is typing: then as soon as they pause.
    fn written(
        &mut self,
        key: ProposalKey,
        file: Result<PathBuf, String>,
        now: Instant,
    ) -> Vec<Action> {
        let Ok(proposal) = self.pending.current_mut(key) else {
            return Vec::new();
        };
        match file {
            Ok(file) => proposal.written(file, now),
            Err(why) => {
                if let Some(shown) = proposal.shown.take() {
                    shown.failed(why);
                }
                let _ = self.pending.take(key);
                return Vec::new();
            }
        }
        if self.types_until(now).is_none() {
            return self.ask_to_show(key, now);
        }
        let Ok(proposal) = self.pending.current_mut(key) else {
            return Vec::new();
        };
        proposal.waits = Some(now);
        let (name, does) = (proposal.name(), proposal.diff.does());
        let agent = proposal.diff.proposer.display_name();
        let said = format!("{agent} {does} {name}: it opens once you stop typing");
        vec![Action::show(MessageType::Info, said)]
    }

    /// Has what waits for a pause shown, once there is one.
    fn show_waiting(&mut self, now: Instant) -> Vec<Action> {
        if self.types_until(now).is_some() {
            let late =
                |it: &&mut Proposal| it.waits.is_some_and(|since| since + ANSWERED_AFTER <= now);
            self.pending
                .iter_mut()
                .filter(late)
                .for_each(Proposal::is_shown);
            return Vec::new();
        }
        let waiting = self.pending.iter_mut().filter_map(|it| {
            let key = it.key();
            it.waits.take().map(|_| key)
        });
        let waiting: Vec<_> = waiting.collect();
        let asked = waiting
            .into_iter()
            .flat_map(|key| self.ask_to_show(key, now));
        asked.collect()
    }

    /// Asks the editor to show a proposal.
    fn ask_to_show(&mut self, key: ProposalKey, now: Instant) -> Vec<Action> {
        let Ok(proposal) = self.pending.current_mut(key) else {
            return Vec::new();
        };
        let is_asked = !self.setup.quirks.never_shows;
        let has_opener = self.setup.open_with.is_some();
        proposal.answer_due = (is_asked && has_opener).then(|| now + ANSWER_TIMEOUT);
        let hunks = std::mem::take(&mut proposal.hunks);
        let first = hunks.first().map(|first| first.range.start);
        proposal.first = first.map(|it| it.line);
        let uri = proposal.showing.uri.clone();
        let publish = publish(&proposal.showing, hunks);
        if !is_asked {
            let otherwise = self.refused(key, "it does not support window/showDocument");
            return [publish].into_iter().chain(otherwise).collect();
        }
        let mut params = json!({"uri": uri, "external": false});
        if !self.setup.quirks.misreads_take_focus {
            params["takeFocus"] = false.into();
        }
        if let Some(start) = first {
            params["selection"] = json!({"start": start, "end": start});
        }
        let ask = self.asked.ask("window/showDocument", params, key);
        // Whatever the client declared: Helix can, and does not declare it.
        vec![publish, Action::Send(ask)]
    }

    /// Takes a proposal away, and answers with its text as it stands.
    pub fn close(
        &mut self,
        id: DiffId,
        reason: CloseReason,
        closed: Reply<String>,
        now: Instant,
    ) -> Vec<Action> {
        let pending = self.pending.find(id);
        let pending = pending.ok_or_else(|| Stale::NotPending.to_string());
        let known = pending.and_then(|pending| {
            let text = known_text(pending, reason, now)?;
            Ok((text, news(pending, reason)))
        });
        let (known, news) = match known {
            Ok(known) => known,
            Err(why) => {
                let actions = self.give_up_guest(id, &why);
                closed.failed(why);
                return actions;
            }
        };
        let mut actions = Vec::new();
        match (known, reason) {
            // First, so that nothing is left once the answer arrives.
            (Some(text), _) => {
                actions.extend(self.forget(id));
                closed.done(text);
            }
            // It goes on waiting if it cannot be read.
            (None, CloseReason::Settled) => {
                actions.extend(self.start_read(id, Then::Settle(closed), now));
            }
            (None, _) => {
                actions.extend(self.start_read(id, Then::Close(closed), now));
                actions.extend(self.forget(id));
            }
        }
        actions.extend(news);
        actions
    }

    /// Tells the text of a proposal as it stands.
    pub fn tell(&mut self, key: ProposalKey, told: Reply<String>, now: Instant) -> Vec<Action> {
        let pending = self.pending.current(key);
        let pending = pending.map_err(|stale| stale.to_string());
        match pending.and_then(|pending| known_text(pending, CloseReason::Settled, now)) {
            Ok(Some(text)) => told.done(text),
            Ok(None) => {
                let read = self.start_read(key.id, Then::Tell(told), now);
                return Vec::from_iter(read);
            }
            Err(why) => told.failed(why),
        }
        Vec::new()
    }

    /// The editor answers whether it shows a proposal.
    pub fn response(&mut self, response: Response, now: Instant) -> Vec<Action> {
        if self.edits.answered(&response.id).is_some() {
            let result = response.response_result.as_ref();
            let is_applied = result.is_ok_and(|it| it["applied"] == true);
            let said = "The editor did not take the edit: nothing was brought back.";
            let warning = Action::show(MessageType::Warning, said);
            return if is_applied {
                Vec::new()
            } else {
                vec![warning]
            };
        }
        let Some(key) = self.asked.answered(&response.id) else {
            return Vec::new();
        };
        let refusal = match response.response_result {
            Ok(result) if result["success"] == false => "it reported failure",
            // Also if it is not as specified.
            Ok(_) => "",
            Err(error) if error.code == ErrorCode::MethodNotFound as i32 => {
                "it does not support window/showDocument"
            }
            Err(_) => "it answered window/showDocument with an error",
        };
        if refusal.is_empty() {
            return self.is_shown(key, now);
        }
        self.refused(key, refusal)
    }

    /// The editor shows a proposal, whether or not it opens it with its language server.
    fn is_shown(&mut self, key: ProposalKey, now: Instant) -> Vec<Action> {
        let Ok(pending) = self.pending.current_mut(key) else {
            return Vec::new();
        };
        pending.is_shown();
        pending.showing.since = Some(now);
        pending.answer_due = None;
        let has_actions = pending.is_shared || pending.showing.is_open();
        pending.hint = (!has_actions).then(|| now + ATTACH_TIMEOUT);
        let how = self.setup.quirks.how_to_decide;
        // What was said of an earlier one stays to be read.
        let how = how.filter(|_| pending.offered.is_empty());
        let said = how.map(|how| format!("{}: {how}", pending.name()));
        said.map(|it| Action::show(MessageType::Info, it))
            .into_iter()
            .collect()
    }

    /// A guest has a proposal open: it is shown, and the person has its code actions.
    pub fn shared(&mut self, key: ProposalKey, now: Instant) {
        if let Ok(pending) = self.pending.current_mut(key) {
            pending.is_shown();
            pending.showing.since.get_or_insert(now);
            pending.is_shared = true;
            (pending.answer_due, pending.hint) = (None, None);
        }
    }

    /// The editor does not show a proposal by itself; another program may.
    fn refused(&mut self, key: ProposalKey, refusal: &'static str) -> Vec<Action> {
        let open_with = self.setup.open_with.clone();
        let pending = self.pending.current_mut(key).ok();
        let is_news = |it: &&mut Proposal| it.refusal.is_empty() && !it.showing.is_open();
        let Some(pending) = pending.filter(is_news) else {
            return Vec::new();
        };
        pending.refusal = refusal;
        pending.answer_due = None;
        let Some((program, file)) = open_with.zip(pending.path.clone()) else {
            let why = "start `pillion lsp` with --open-with PROGRAM, where PROGRAM opens a file in this editor";
            return self.not_shown(key, why);
        };
        vec![Action::Launch {
            key,
            program,
            file,
            line: pending.first,
        }]
    }

    /// Has another program open the proposals that the editor has not answered about in time.
    fn open_otherwise(&mut self, now: Instant) -> Vec<Action> {
        let is_late = |it: &&Proposal| it.answer_due.is_some_and(|due| due <= now);
        let late: Vec<_> = self
            .pending
            .iter()
            .filter(is_late)
            .map(Proposed::key)
            .collect();
        let refused = late
            .into_iter()
            .flat_map(|key| self.refused(key, "it did not answer window/showDocument"));
        refused.collect()
    }

    /// When [`Proposals::elapse`] wants to be called.
    pub fn due(&self) -> Option<Instant> {
        let pause = self.typed.map(|typed| typed + TYPING);
        let dues = self.pending.iter();
        dues.flat_map(|pending| {
            let closes = pending.counts_as_closed();
            let answered = pending.waits.filter(|_| pending.shown.is_some());
            [
                pending.waits.and(pause),
                answered.map(|since| since + ANSWERED_AFTER),
                pending.showing.redraw,
                closes,
                pending.hint,
                pending.answer_due,
            ]
        })
        .flatten()
        .chain(self.reads.due())
        .min()
    }

    /// Time has passed.
    pub fn elapse(&mut self, now: Instant) -> Vec<Action> {
        let late = self.reads.late(now).into_iter();
        let mut actions: Vec<_> = late.flat_map(|number| self.read(number, None)).collect();
        actions.extend(self.close_due(now));
        actions.extend(self.redraw_due(now));
        actions.extend(self.open_otherwise(now));
        actions.extend(self.show_waiting(now));
        for pending in self.pending.iter_mut() {
            if pending.hint.take_if(|due| *due <= now).is_some() {
                let hint = pending.hint(self.setup.quirks.attaches_late);
                actions.push(Action::show(MessageType::Info, hint));
            }
        }
        actions
    }

    fn find(&self, path: &Path) -> Option<&Proposal> {
        let path = Some(path);
        let mut pending = self.pending.iter();
        pending.find(|pending| pending.path.as_deref() == path)
    }

    fn find_mut(&mut self, path: &Path) -> Option<&mut Proposal> {
        let path = Some(path);
        let mut pending = self.pending.iter_mut();
        pending.find(|pending| pending.path.as_deref() == path)
    }

    /// The editor's state of a proposal.
    fn showing_mut(&mut self, path: &Path) -> Option<&mut Showing> {
        if self.find(path).is_none() {
            return self.joining_mut(path);
        }
        self.find_mut(path).map(|pending| &mut pending.showing)
    }

    /// No editor shows a proposal: nothing is left of it.
    fn not_shown(&mut self, key: ProposalKey, why: &str) -> Vec<Action> {
        let Ok(pending) = self.pending.current_mut(key) else {
            return Vec::new();
        };
        let (name, refusal) = (pending.name(), pending.refusal);
        let reason = format!("the editor cannot show the change to {name}: {refusal}; {why}");
        let Some(shown) = pending.shown.take() else {
            // Its agent waits for a decision already.
            let decided = format!(
                "{reason}. In a shell, `pillion accept {key}` or `pillion reject {key}` decides"
            );
            return vec![Action::show(MessageType::Error, decided)];
        };
        let mut actions = self.forget(key.id);
        shown.failed(reason.clone());
        actions.push(Action::show(MessageType::Error, reason));
        actions
    }

    fn forget(&mut self, id: DiffId) -> Vec<Action> {
        let Ok(pending) = self.pending.close(id) else {
            return Vec::new();
        };
        let key = pending.key();
        let mut actions = Vec::new();
        if pending.path.is_some() {
            actions.push(publish(&pending.showing, Vec::new()));
        }
        if pending.is_guest {
            self.end_guest(id);
        } else {
            actions.push(Action::Disk(Job::Remove { key }));
        }
        let read = pending
            .deciding
            .and_then(|number| self.reads.finish(number));
        let read = read.and_then(|read| match read.then {
            Then::Accept(request, _) => Some(request),
            Then::Settle(_) | Then::Close(_) | Then::Tell(_) => None,
        });
        if let Some(request) = read.or(pending.ruling.clone()) {
            let name = pending.name();
            let why = format!("the change to {name} was withdrawn before it was accepted");
            actions.push(refuse(request, why));
        }
        actions
    }
}

/// The text that a proposal is closed with; nothing if only its file says what it is.
fn known_text(
    pending: &Proposal,
    reason: CloseReason,
    now: Instant,
) -> Result<Option<String>, String> {
    if pending.path.is_none() {
        // Nobody has seen it, nor edited it.
        return Ok(Some(pending.diff.proposed.to_string()));
    }
    if reason != CloseReason::Settled {
        return Ok(pending.text());
    }
    if pending.is_deciding() {
        // Nothing was accepted by this one: what came first stands.
        return Err("it is being decided".to_owned());
    }
    if pending.showing.is_uncertain(now) {
        return Err(UNCERTAIN.to_owned());
    }
    Ok(pending.text())
}

/// The message about a view that goes away by itself.
fn news(pending: &Proposal, reason: CloseReason) -> Option<Action> {
    let (name, agent) = (pending.name(), pending.diff.proposer.display_name());
    let (kind, text) = match reason {
        CloseReason::AgentGone => (MessageType::Info, reason.undecided(agent, &name)?),
        CloseReason::NotShown if pending.path.is_none() => (
            MessageType::Error,
            format!("the change to {name} could not be written in time; {agent} got an error"),
        ),
        CloseReason::NotShown => (
            MessageType::Error,
            format!("the editor did not open the change to {name} in time; {agent} got an error"),
        ),
        _ => return None,
    };
    Some(Action::show(kind, text))
}

fn publish(showing: &Showing, diagnostics: Vec<Diagnostic>) -> Action {
    Action::Send(message::diagnostics(&showing.uri, diagnostics))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use pillion_protocol::Dialect;
    use pillion_view::Original;

    use super::*;
    use crate::plain::proposal::REJECT;
    use crate::plain::wire::DocumentEvent;
    use crate::position::Encoding;
    use crate::quirks::Quirks;

    /// What comes while the person types is not put under their fingers.
    #[test]
    fn while_the_person_types_nothing_is_shown() {
        let now = Instant::now();
        let after = |millis| now + Duration::from_millis(millis);
        let (mut proposals, key, is_answered) = waiting();
        let asks = |actions: Vec<Action>| format!("{actions:?}").contains("window/showDocument");
        proposals.typed(now);
        let file = Ok("/tmp/pillion/a".into());
        let said = proposals.done(Done::Written { key, file }, after(500));
        assert!(
            format!("{said:?}").contains("Gemini CLI proposes a: it opens once you stop typing")
        );
        assert!(!asks(said));
        assert_eq!(proposals.due(), Some(after(2000)));
        proposals.typed(after(1500));
        assert!(!asks(proposals.elapse(after(2000))));
        assert_eq!(proposals.due(), Some(after(3500)));
        // Who types on and on keeps no agent waiting until it gives up.
        proposals.typed(after(5000));
        assert_eq!(proposals.due(), Some(after(5500)));
        assert!(!is_answered.load(Ordering::Relaxed));
        assert!(!asks(proposals.elapse(after(5500))));
        assert!(is_answered.load(Ordering::Relaxed));
        assert_eq!(proposals.due(), Some(after(7000)));
        assert!(asks(proposals.elapse(after(7000))));
        // The editor refuses: the agent waits for a decision all the same.
        let refused = format!("{:?}", proposals.refused(key, "it answered with an error"));
        assert!(refused.contains("`pillion accept 1.1`"), "{refused}");
        assert!(proposals.find(Path::new("/tmp/pillion/a")).is_some());
    }

    #[test]
    fn who_has_paused_is_shown_a_proposal_at_once() {
        let now = Instant::now();
        let (mut proposals, key, _) = waiting();
        proposals.typed(now);
        let file = Ok("/tmp/pillion/a".into());
        let shown = proposals.done(Done::Written { key, file }, now + TYPING);
        assert!(format!("{shown:?}").contains("window/showDocument"));
    }

    /// One that is being written, and whether its agent was answered.
    fn waiting() -> (Proposals, ProposalKey, Arc<AtomicBool>) {
        let mut proposals = Proposals::new(Setup {
            encoding: Encoding::Utf16,
            quirks: Quirks::default(),
            open_with: None,
            folders: Vec::new(),
        });
        let diff = Diff {
            id: DiffId(1),
            revision: 1,
            proposer: Dialect::GeminiCli.into(),
            number: 1,
            path: "/w/a".into(),
            original: Original::default(),
            proposed: "text".to_owned().into(),
            notes: Vec::new(),
            hunks: Vec::new(),
            set: None,
            deletes: false,
            original_is_other: false,
            written: None,
            is_unclear: false,
            is_of_subagent: false,
            runner: None,
            mode: None,
        };
        let key = diff.key();
        let is_answered = Arc::new(AtomicBool::new(false));
        let answered = Arc::clone(&is_answered);
        let shown = Reply::new(move |_| answered.store(true, Ordering::Relaxed));
        proposals.open(diff, shown, Instant::now());
        (proposals, key, is_answered)
    }

    /// One that the editor says it shows.
    fn shown(now: Instant) -> (Proposals, ProposalKey) {
        let (mut proposals, key, _) = waiting();
        let file = Ok("/tmp/pillion/a".into());
        proposals.done(Done::Written { key, file }, now);
        proposals.is_shown(key, now);
        (proposals, key)
    }

    /// The editor may answer before it has the file, and have it before it answers.
    #[test]
    fn a_decision_says_since_when_the_proposal_can_be_seen() {
        let now = Instant::now();
        let after = |millis| now + Duration::from_millis(millis);
        let opened = |proposals: &mut Proposals, at| {
            let (uri, text) = ("file:///tmp/pillion/a".to_owned(), "text".to_owned());
            let opened = DocumentEvent::Opened { uri, text };
            proposals.document_event(Path::new("/tmp/pillion/a"), opened, at);
        };
        for (answered, open) in [
            (Some(100), Some(200)),
            (Some(200), Some(100)),
            (Some(200), None),
            (None, Some(200)),
            (None, None),
        ] {
            let (mut proposals, key, _) = waiting();
            let file = Ok("/tmp/pillion/a".into());
            proposals.done(Done::Written { key, file }, now);
            for at in [100, 200] {
                if answered == Some(at) {
                    proposals.is_shown(key, after(at));
                }
                if open == Some(at) {
                    opened(&mut proposals, after(at));
                }
            }
            let known = answered.or(open).map(|_| Duration::from_millis(300));
            let reject = proposals.execute(1.into(), REJECT, &[json!(1), json!(1)], after(500));
            let [Action::Decide(decide)] = &reject[..] else {
                panic!("{reject:?}");
            };
            let seen = decide.by.seen().unwrap();
            assert_eq!(seen.drawn_for, known, "{answered:?} {open:?}");
        }
    }

    #[test]
    fn who_may_quit_by_closing_is_told_the_keys_and_nobody_else() {
        let now = Instant::now();
        for (client, said) in [("helix", true), ("Kate", false)] {
            let (mut proposals, key, _) = waiting();
            proposals.setup.quirks = Quirks::of(client);
            let shown = format!("{:?}", proposals.is_shown(key, now));
            assert_eq!(shown.contains("a: `space a` decides"), said, "{shown}");
        }
    }

    /// An editor has a while to open with its server what it shows; another server of the same editor may have it open
    /// by then.
    #[test]
    fn who_has_no_code_actions_is_told_how_to_decide_and_nobody_else() {
        let now = Instant::now();
        let (mut alone, _) = shown(now);
        assert_eq!(alone.due(), Some(now + ATTACH_TIMEOUT));
        assert_eq!(alone.elapse(now + ATTACH_TIMEOUT).len(), 1);
        assert_eq!(alone.due(), None);
        let (mut shared, key) = shown(now);
        shared.shared(key, now);
        assert_eq!(shared.due(), None);
        assert!(shared.elapse(now + 10 * ATTACH_TIMEOUT).is_empty());
    }
}
