//! Proposals of other `pillion lsp` that the editor has open as documents: an editor that starts a server for each project
//! starts a second one for a proposal, which lies outside of every project, and a person may open one in another window.
//! A guest, a view for this one proposal, joins the view that shows it. The file is not ours: we neither write, read nor
//! remove it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use lsp_server::RequestId;
use pillion_text::visible;
use pillion_view::{Diff, DiffId, Reply};
use serde_json::{Value, json};

use super::Proposals;
use crate::message::MessageType;
use crate::plain::proposal::Proposal;
use crate::plain::showing::Showing;
use crate::profile::Action;
use crate::proposal_path;

/// The first of their numbers: above those of our own proposals, and far below 2^53, from which on many JSON parsers round.
const FIRST: u64 = 1 << 50;

/// The documents.
#[derive(Debug, Default)]
pub struct Guests {
    guests: Vec<Guest>,
    /// The number of documents that there were.
    count: u64,
}

/// A document that is the proposal of another process.
#[derive(Debug)]
struct Guest {
    id: DiffId,
    path: PathBuf,
    state: State,
    rejects_when_closed: bool,
}

#[derive(Debug)]
enum State {
    /// It is not known yet. These want to know what can be done with it.
    Joining(Box<Showing>, Vec<RequestId>),
    /// It is among the proposals that wait for a decision.
    Pending,
    /// It was decided or withdrawn, or cannot be decided here.
    Over,
}

/// Returns true if a proposal with this number is one of another process.
pub(super) fn is_guest(id: DiffId) -> bool {
    id.0 > FIRST
}

impl Guests {
    fn find_mut(&mut self, id: DiffId) -> Option<&mut Guest> {
        self.guests.iter_mut().find(|guest| guest.id == id)
    }

    fn at_mut(&mut self, path: &Path) -> Option<&mut Guest> {
        self.guests.iter_mut().find(|guest| guest.path == path)
    }
}

impl Guest {
    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        visible::one_line(&name.to_string_lossy())
    }

    /// Takes what is known of a proposal that is not known yet.
    fn end_joining(&mut self, state: State) -> Option<(Box<Showing>, Vec<RequestId>)> {
        if !matches!(self.state, State::Joining(..)) {
            return None;
        }
        match std::mem::replace(&mut self.state, state) {
            State::Joining(showing, requests) => Some((showing, requests)),
            State::Pending | State::Over => None,
        }
    }

    /// It cannot be decided here.
    fn fail(&mut self, why: &str) -> Vec<Action> {
        let Some((_, requests)) = self.end_joining(State::Over) else {
            return Vec::new();
        };
        let text = format!("{} cannot be decided here: {why}", self.name());
        let warning = Action::show(MessageType::Warning, text);
        [warning].into_iter().chain(nothing(requests)).collect()
    }
}

impl Proposals {
    /// Returns true if any is open, whatever became of it.
    pub fn has_guests(&self) -> bool {
        !self.guests.guests.is_empty()
    }

    /// The editor opens what may be the proposal of another process.
    pub(super) fn open_guest(
        &mut self,
        path: &Path,
        uri: String,
        text: String,
        now: Instant,
    ) -> Vec<Action> {
        let focused = self.focuses;
        if let Some(showing) = self.joining_mut(path) {
            showing.focused = focused;
            showing.view = None;
            showing.open(uri, text, "", now);
            return Vec::new();
        }
        let owner = proposal_path::owner(path);
        let Some((owner, key)) = owner.filter(|(owner, _)| owner.pid != std::process::id()) else {
            return Vec::new();
        };
        let mut actions = self.close_guest(path);
        let mut showing = Showing::new(focused);
        showing.interrupts = (!self.pending.is_empty()).then_some(now);
        showing.open(uri, text, "", now);
        self.guests.count += 1;
        let guest = DiffId(FIRST + self.guests.count);
        self.guests.guests.push(Guest {
            id: guest,
            path: path.to_owned(),
            state: State::Joining(Box::new(showing), Vec::new()),
            rejects_when_closed: false,
        });
        let mut folders = self.setup.folders.iter();
        if folders.any(|folder| path.starts_with(folder)) {
            actions.push(Action::Join { guest, owner, key });
            return actions;
        }
        // Anybody may have put it there, an agent too.
        let why = "it does not lie where Pillion keeps proposals";
        actions.extend(self.joined(guest, Err(why.to_owned())));
        actions
    }

    /// A guest is attached, and whether closing its document rejects; or why there is none.
    pub fn joined(&mut self, id: DiffId, joined: Result<bool, String>) -> Vec<Action> {
        let Some(guest) = self.guests.find_mut(id) else {
            return Vec::new();
        };
        match joined {
            Ok(rejects) => guest.rejects_when_closed = rejects,
            Err(why) => return guest.fail(&why),
        }
        Vec::new()
    }

    /// The proposal of a guest: the editor has it open already.
    pub(super) fn show_guest(&mut self, diff: Diff, shown: Reply<()>) -> Vec<Action> {
        let id = diff.id;
        let guest = self.guests.find_mut(id);
        let joining = guest.and_then(|it| Some((it.path.clone(), it.end_joining(State::Pending)?)));
        let Some((path, (showing, requests))) = joining else {
            shown.failed("it is not open here");
            return Vec::new();
        };
        let mut proposal = Proposal::new(diff, shown, *showing);
        (proposal.path, proposal.is_guest) = (Some(path), true);
        proposal.is_shown();
        let commands = json!(proposal.commands());
        self.pending.put(proposal);
        let answers = requests.into_iter();
        let answers = answers.map(|id| Action::answer(id, Ok(commands.clone())));
        answers.chain(self.compare(id)).collect()
    }

    /// Somebody wants to know what can be done with a document. It is answered once that is known.
    pub fn ask_commands(
        &mut self,
        path: &Path,
        request: RequestId,
        others: Vec<Value>,
    ) -> Option<Action> {
        let guest = self.guests.at_mut(path);
        if let Some(State::Joining(_, requests)) = guest.map(|guest| &mut guest.state) {
            requests.push(request);
            return None;
        }
        let commands = json!([self.commands(path), others].concat());
        Some(Action::answer(request, Ok(commands)))
    }

    /// A proposal is not to be shown, perhaps before it was.
    pub(super) fn give_up_guest(&mut self, id: DiffId, why: &str) -> Vec<Action> {
        let guest = self.guests.find_mut(id);
        guest.map_or(Vec::new(), |guest| guest.fail(why))
    }

    pub fn guest_left(&mut self, id: DiffId) -> Vec<Action> {
        const GONE: &str = "the editor that the agent proposed it to is gone";
        let Some(guest) = self.guests.find_mut(id) else {
            return Vec::new();
        };
        let mut actions = guest.fail(GONE);
        if matches!(guest.state, State::Pending) {
            let text = format!("{} can no longer be decided: {GONE}", guest.name());
            actions.extend(self.forget(id));
            actions.push(Action::show(MessageType::Warning, text));
        }
        // It has nothing to wait for.
        actions.push(Action::Part(id));
        actions
    }

    /// The proposal of a guest waits for no decision any more. What its companion tells the person can still come.
    pub(super) fn end_guest(&mut self, id: DiffId) {
        if let Some(guest) = self.guests.find_mut(id) {
            guest.state = State::Over;
        }
    }

    /// The document is closed, and its proposal waits for no decision here.
    pub(super) fn close_guest(&mut self, path: &Path) -> Vec<Action> {
        let id = self.guests.at_mut(path).map(|guest| guest.id);
        id.map_or(Vec::new(), |id| self.part(id))
    }

    /// A guest leaves, if this is one.
    pub(super) fn part(&mut self, id: DiffId) -> Vec<Action> {
        let mut guests = self.guests.guests.iter();
        let Some(at) = guests.position(|guest| guest.id == id) else {
            return Vec::new();
        };
        let mut guest = self.guests.guests.remove(at);
        let joining = guest.end_joining(State::Over);
        let requests = joining.map(|(_, requests)| requests);
        [Action::Part(id)]
            .into_iter()
            .chain(nothing(requests.unwrap_or_default()))
            .collect()
    }

    /// Returns true if a proposal is rejected when its document is closed.
    pub(super) fn rejects_when_closed(&self, id: DiffId) -> bool {
        let mut guests = self.guests.guests.iter();
        let guest = guests.find(|guest| guest.id == id);
        guest.is_none_or(|guest| guest.rejects_when_closed)
    }

    /// A document that is not known yet.
    pub(super) fn joining_mut(&mut self, path: &Path) -> Option<&mut Showing> {
        match &mut self.guests.at_mut(path)?.state {
            State::Joining(showing, _) => Some(showing),
            State::Pending | State::Over => None,
        }
    }

    /// When a document that is not known yet had the focus last.
    pub(super) fn last_joining(&self) -> Option<u64> {
        let guests = self.guests.guests.iter();
        let joining = guests.filter_map(|guest| match &guest.state {
            State::Joining(showing, _) => Some(showing.focused),
            State::Pending | State::Over => None,
        });
        joining.max()
    }
}

/// Answers that nothing can be done.
fn nothing(requests: Vec<RequestId>) -> impl Iterator<Item = Action> {
    let requests = requests.into_iter();
    requests.map(|id| Action::answer(id, Ok(json!([]))))
}
