//! Guests: views of our own for proposals of other processes that the editor has open. Each is attached to the view
//! that shows its proposal, and known to the profile by a number of its own.

use std::collections::HashMap;
use std::thread::{self, JoinHandle};

use anyhow::Context;
use crossbeam_channel::Sender;
use pillion_discovery::Environment;
use pillion_discovery::private_file::Folder;
use pillion_protocol::IdeInfo;
use pillion_system::{process, spawn};
use pillion_view::{
    Attached, Compares, DiffId, EditorEvent, Handle, Leaving, Options, ProposalKey, Shows, Tell,
    attach_guest,
};

use super::service::{Client, Told};
use crate::disk::{Done, Joined};
use crate::proposal_path::{Owner, PROPOSALS};

pub struct Guests {
    environment: Environment,
    editor_pid: u32,
    ide: IdeInfo,
    events: Sender<Told>,
    done: Sender<Done>,
    /// Why nothing counts that the editor says, if nothing does.
    unheard: Option<&'static str>,
    guests: HashMap<DiffId, Guest>,
    /// The threads that wait for those that leave: the process may not end before, because a decision may be on its way.
    leaving: Vec<JoinHandle<()>>,
}

struct Guest {
    /// Its proposal, as its companion knows it.
    key: ProposalKey,
    state: State,
}

enum State {
    /// The events of its companion from before it was known to be attached.
    Joining(Vec<EditorEvent>),
    Attached(Attached),
}

impl Guests {
    /// None yet.
    pub fn new(
        environment: Environment,
        editor_pid: u32,
        ide: IdeInfo,
        events: Sender<Told>,
        done: Sender<Done>,
        unheard: Option<&'static str>,
    ) -> Self {
        Self {
            environment,
            editor_pid,
            ide,
            events,
            done,
            unheard,
            guests: HashMap::new(),
            leaving: Vec::new(),
        }
    }

    /// Attaches one, on a thread: it waits for a disk and for the hub.
    pub fn join(&mut self, id: DiffId, owner: Owner, key: ProposalKey) {
        let state = State::Joining(Vec::new());
        self.guests.insert(id, Guest { key, state });
        let host = owner.pid;
        let options = Options {
            environment: self.environment.clone(),
            editor_pid: self.editor_pid,
            ide: self.ide.clone(),
            roots: Vec::new(),
            shows: Shows::Only { host, key },
        };
        let client = Client {
            guest: Some(id),
            compares: Compares::Text,
            events: self.events.clone(),
        };
        let (done, failed) = (self.done.clone(), self.done.clone());
        let run = move || {
            let joined = join(&owner, options, client).map_err(|error| format!("{error:#}"));
            let _ = done.send(Done::Joined { id, joined });
        };
        if let Err(error) = spawn("guest", run) {
            let joined = Err(format!("cannot start a thread: {error}"));
            let _ = failed.send(Done::Joined { id, joined });
        }
    }

    /// One is attached, or not. Returns what the profile is told: whether closing its document rejects, and what came
    /// before. Nothing, if it is wanted no longer.
    pub fn joined(
        &mut self,
        id: DiffId,
        joined: Result<Joined, String>,
    ) -> Option<(Result<bool, String>, Vec<EditorEvent>)> {
        let Some(guest) = self.guests.get_mut(&id) else {
            joined.map(|joined| self.leave(joined.attached)).ok();
            return None;
        };
        match joined {
            Ok(joined) => {
                let attached = State::Attached(joined.attached.not_for_person(self.unheard));
                let held = match std::mem::replace(&mut guest.state, attached) {
                    State::Joining(held) => held,
                    State::Attached(_) => Vec::new(),
                };
                Some((Ok(joined.is_for_host), held))
            }
            Err(why) => {
                self.guests.remove(&id);
                Some((Err(why), Vec::new()))
            }
        }
    }

    /// Something comes from the companion of a guest. Returns it, unless the guest is not known to be attached yet.
    pub fn event(&mut self, id: DiffId, event: EditorEvent) -> Option<EditorEvent> {
        match self.guests.get_mut(&id).map(|guest| &mut guest.state) {
            Some(State::Joining(held)) => {
                held.push(event);
                None
            }
            _ => Some(event),
        }
    }

    /// The handle that a decision about this proposal of the profile goes to, and the proposal that it is there; none if it is
    /// no guest's.
    pub fn meant(&self, key: ProposalKey) -> Option<(Handle, ProposalKey)> {
        let guest = self.guests.get(&key.id)?;
        match &guest.state {
            State::Attached(attached) => Some((attached.handle(), guest.key)),
            State::Joining(_) => None,
        }
    }

    /// One leaves, or is not to come.
    pub fn part(&mut self, id: DiffId) {
        let guest = self.guests.remove(&id);
        if let Some(State::Attached(attached)) = guest.map(|guest| guest.state) {
            self.leave(attached);
        }
    }

    /// Leaves without waiting until that is done.
    fn leave(&mut self, attached: Attached) {
        attached.handle().tell(Tell::Leave(Leaving::Closed));
        self.leaving.retain(|thread| !thread.is_finished());
        let thread = thread::Builder::new().name("guest's end".to_owned());
        match thread.spawn(move || drop(attached)) {
            Ok(thread) => self.leaving.push(thread),
            // Then it was waited for here.
            Err(error) => tracing::warn!(%error, "cannot start a thread"),
        }
    }
}

impl Drop for Guests {
    fn drop(&mut self) {
        for thread in self.leaving.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Waits for a disk and for the hub.
fn join(owner: &Owner, options: Options, client: Client) -> anyhow::Result<Joined> {
    let pid = owner.pid.to_string();
    let parts = [owner.part.as_str(), PROPOSALS, &pid];
    // A file that lies anywhere else is no proposal.
    Folder::open(&owner.base, &parts)?.context("its folder is gone")?;
    let editor_pid = options.editor_pid;
    let attached = attach_guest(options, client)?;
    let is_for_host = attached.is_in_hosts_editor()
        // An editor that the host has started to show it.
        || process::ancestors(editor_pid).contains(&owner.pid);
    Ok(Joined {
        attached,
        is_for_host,
    })
}
