//! Reads what comes in over the connection of a front end.

use std::sync::{Arc, Mutex, Weak};

use pillion_discovery::lines::{Lines, MAX_LINE};
use pillion_discovery::private_file::Stream;
use pillion_protocol::Dialect;
use pillion_system::{lock, peer, spawn};
use pillion_view::Tell;
use pillion_view::hub::link::Link;
use pillion_view::hub::wire::{Attach, FromHub, FromView, Refused, RefusedKind};

use super::{Attached, Shared, Unattached};
use crate::commands::Commands;
use crate::door::{Caller, Visit};
use crate::event::ViewWay;
use crate::hub::workspaces::ViewId;
use crate::places::{Place, Purpose};
use crate::speaker::Speaker;

/// Serves a front end that attaches, until its connection ends.
pub(super) fn serve(
    shared: &Arc<Shared>,
    attach: Attach,
    stream: Stream,
    mut lines: Lines,
    mut place: Place,
) {
    let peer = peer::process(&stream);
    let link = match Link::start(stream) {
        Ok(link) => link,
        Err(error) => return tracing::warn!(%error, "cannot start a thread"),
    };
    let speaker = Speaker {
        pid: peer,
        commanding: attach.commanding_agents(),
        says_decided: false,
        is_view: true,
    };
    let is_agents = shared.agent_behind(&speaker);
    let attached = match place.takes(Purpose::View, || is_agents) {
        Err(reason) => Err(full(reason)),
        // The first view configures the companion.
        Ok(()) if is_agents => shared.attach(attach.without_settings(), &link),
        Ok(()) => shared.attach(attach, &link),
    };
    let view = match attached {
        Ok(view) => view,
        Err(unattached) => {
            if let Unattached::Refused(refused) = unattached {
                tracing::warn!(reason = refused.reason, "a front end was refused");
                link.send(FromHub::Refused(refused));
            }
            return;
        }
    };
    // Also if something here panics: a companion without a front end would stay for ever.
    let seat = Seat { shared, view };
    // From now on the companion decides how long the connection is open.
    let link = {
        let held = link;
        Arc::downgrade(&held)
    };
    let attached = shared.lock().views.get(&view).cloned();
    lines.wait_for_ever();
    let end = match attached {
        Some(attached) => {
            let origin = Origin::of(&attached, speaker.clone());
            let mut inbox = Inbox {
                shared,
                visit: Visit::new(&**shared, Caller::view(attached.way.id, speaker)),
                view,
                attached,
                origin,
                link: &link,
            };
            inbox.read(&mut lines)
        }
        None => Ok(()),
    };
    if let Err(error) = end {
        tracing::warn!(%error, "a connection is broken");
    }
    // Before what it was asked counts as failed: then that is nobody else's turn.
    drop(seat);
    if let Some(link) = link.upgrade() {
        link.fail();
    }
}

/// There is no room for one more.
fn full(reason: &str) -> Unattached {
    Unattached::Refused(Refused {
        kind: RefusedKind::CannotStart,
        reason: reason.to_owned(),
    })
}

/// A front end that is attached. Dropping it says that it has left.
struct Seat<'a> {
    shared: &'a Arc<Shared>,
    view: ViewId,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.shared.left(self.view, None);
    }
}

/// The agent behind a front end. Finding it reads what all processes have open, which takes a tenth of a second: that is
/// done beside the connection, whenever more or less is known of agents, and until then what was found before counts.
#[derive(Clone)]
struct Origin {
    way: ViewWay,
    commands: Commands,
    speaker: Speaker,
    found: Arc<Mutex<Found>>,
}

#[derive(Debug, Default)]
struct Found {
    agent: Option<Dialect>,
    /// What was known of agents when it was last looked for.
    known: (u64, u64),
}

impl Origin {
    /// Finds it once, before the front end is heard.
    fn of(attached: &Attached, speaker: Speaker) -> Self {
        let origin = Self {
            way: attached.way.clone(),
            commands: attached.commands.clone(),
            speaker,
            found: Arc::default(),
        };
        let known = origin.commands.known_agents();
        lock(&origin.found).known = known;
        origin.find(known);
        origin
    }

    /// Returns the agent, as far as it is known yet.
    fn agent(&self) -> Option<Dialect> {
        let mut found = lock(&self.found);
        let known = self.commands.known_agents();
        if found.known != known {
            let own = self.clone();
            // Otherwise the next message has it looked for.
            if spawn("origin of a view", move || own.find(known)).is_ok() {
                found.known = known;
            }
        }
        found.agent
    }

    /// Looks for it, and tells the companion if it is another one than before. `known` is what is known of agents now: a search
    /// that began later has the last word.
    fn find(&self, known: (u64, u64)) {
        let agent = self.commands.agent_behind(&self.speaker);
        let mut found = lock(&self.found);
        if found.known != known {
            return;
        }
        if found.agent.is_some() != agent.is_some() {
            self.way.is_of_agent(agent.is_some());
        }
        found.agent = agent;
    }
}

/// The inbox for the messages of one front end.
struct Inbox<'a> {
    shared: &'a Arc<Shared>,
    visit: Visit<'a>,
    view: ViewId,
    attached: Attached,
    origin: Origin,
    link: &'a Weak<Link<FromHub>>,
}

impl Inbox<'_> {
    fn read(&mut self, lines: &mut Lines) -> std::io::Result<()> {
        while let Some(line) = lines.next(MAX_LINE)? {
            let (message, bytes) = (serde_json::from_slice(&line), line.len());
            // It may be large, and the message has all of it.
            drop(line);
            match message {
                Ok(message) => self.received(message),
                // Of another version. What it says belongs into no log.
                Err(error) => {
                    tracing::warn!(kind = ?error.classify(), bytes, "not understood");
                }
            }
        }
        Ok(())
    }

    fn received(&mut self, message: FromView) {
        // Whoever is served no longer needs no answer.
        let Some(link) = self.link.upgrade() else {
            return;
        };
        match message {
            FromView::Attach(_) | FromView::Program(_) => {
                tracing::warn!("a front end came twice");
            }
            FromView::Ask(asked) => {
                let companion = Some(self.attached.commands.clone());
                self.visit.asked(asked, companion, &link);
            }
            FromView::Tell(tell) => self.told(tell, link),
            FromView::Answer(answer) => {
                // It may be the text that a command accepts.
                self.origin.agent();
                link.answered(answer);
            }
        }
    }

    fn told(&self, tell: Tell, link: Arc<Link<FromHub>>) {
        match tell {
            // What an agent's view says is none of the person's words.
            tell if tell.is_for_person() && self.origin.agent().is_some() => {}
            Tell::Roots(roots) => {
                self.shared.change_roots(self.view, roots.clone());
                self.attached.way.tell(Tell::Roots(roots));
            }
            Tell::Leave => self.shared.left(self.view, Some(link)),
            tell => self.attached.way.tell(tell),
        }
    }
}
