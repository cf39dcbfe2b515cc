//! Reads what comes in over the connection of a front end.

use std::sync::{Arc, Mutex, Weak};

use pillion_discovery::lines::{Lines, MAX_LINE};
use pillion_discovery::private_file::Stream;
use pillion_protocol::Stranger;
use pillion_system::lock;
use pillion_view::hub::link::Link;
use pillion_view::hub::wire::{Attach, FromHub, FromView, Refused};
use pillion_view::{Leaving, Tell};

use super::{Attached, Shared, Unattached};
use crate::door::{Caller, Visit};
use crate::event::ViewWay;
use crate::hub::workspaces::ViewId;
use crate::places::{Place, Purpose};
use crate::who::{Asker, SeatedView, Who};

/// Serves a front end that attaches, until its connection ends.
pub(super) fn serve(
    shared: &Arc<Shared>,
    mut attach: Attach,
    stream: Stream,
    mut lines: Lines,
    mut place: Place,
) {
    let options = &mut attach.options;
    let says = options.environment.commanding_agents();
    let has_variables = !says.is_empty();
    let asker = Asker::at(&stream, attach.process, says).with_editor(options.editor_pid);
    let link = match Link::start(stream) {
        Ok(link) => link,
        Err(error) => return tracing::warn!(%error, "cannot start a thread"),
    };
    let taken = place.takes(Purpose::View, || {
        has_variables || shared.who.judge(&asker).is_err()
    });
    if let Err(reason) = taken {
        tracing::warn!(reason, "a front end was refused");
        link.send(FromHub::Refused(Refused::cannot_start(reason)));
        return;
    }
    // Only now: many that come at once and find no place cost nobody anything.
    let who = shared.who.at(&options.environment);
    let own_seat = Arc::new(who.seat(asker.clone()));
    // There may be no other view yet that has the same variables.
    let is_agents = has_variables || own_seat.judge().is_err();
    // The first view configures the companion, and a person's says where all is kept.
    options.environment = shared.configured(std::mem::take(&mut options.environment), is_agents);
    let attached = shared.attach(attach, &link);
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
            let origin = Origin::of(&attached, who, Arc::clone(&own_seat));
            let mut inbox = Inbox {
                shared,
                visit: Visit::new(&**shared, Caller::view(attached.way.id, asker, own_seat)),
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

/// Whose a front end is: judged once, before it is heard, and anew whenever more or less is known of agents.
struct Origin {
    way: ViewWay,
    who: Who,
    seat: Arc<SeatedView>,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    stranger: Option<Stranger>,
    version: Option<u64>,
}

impl Origin {
    fn of(attached: &Attached, who: Who, seat: Arc<SeatedView>) -> Self {
        let origin = Self {
            way: attached.way.clone(),
            who,
            seat,
            found: Mutex::default(),
        };
        origin.stranger();
        origin
    }

    /// Returns who is behind it if that is not the person.
    fn stranger(&self) -> Option<Stranger> {
        let version = self.who.version();
        let mut found = lock(&self.found);
        if found.version != Some(version) {
            found.version = Some(version);
            self.judge(&mut found);
        }
        found.stranger
    }

    /// Judges one again that nobody is known to have opened: a person may have come to its window meanwhile.
    fn look_again(&self) {
        if self.stranger() == Some(Stranger::Unknown) {
            self.judge(&mut lock(&self.found));
        }
    }

    /// Judges, and tells the companion if it is otherwise than before.
    fn judge(&self, found: &mut Found) {
        let stranger = self.seat.judge().err();
        if found.stranger.is_some() != stranger.is_some() {
            self.way.is_of_agent(stranger.is_some());
        }
        found.stranger = stranger;
    }
}

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
                self.origin.look_again();
                let companion = Some(self.attached.commands.clone());
                self.visit.asked(asked, companion, &link);
            }
            FromView::Tell(tell) => self.told(tell, link),
            FromView::Answer(answer) => {
                // It may be the text that a command accepts.
                self.origin.stranger();
                link.answered(answer);
            }
        }
    }

    fn told(&self, tell: Tell, link: Arc<Link<FromHub>>) {
        match tell {
            // What an agent's view says is none of the person's words.
            tell if tell.is_for_person() && self.origin.stranger().is_some() => {}
            // Nor is what another program may have typed in the person's.
            Tell::Saved(_) | Tell::Synced { .. } if self.origin.seat.judge_typed().is_err() => {}
            Tell::Roots(roots) => {
                self.shared.change_roots(self.view, roots.clone());
                self.attached.way.tell(Tell::Roots(roots));
            }
            Tell::Editor(pid) => {
                self.origin.seat.change_editor(pid);
                self.attached.way.tell(Tell::Editor(pid));
            }
            Tell::Leave(Leaving::Kept) if self.origin.stranger().is_none() => {
                self.shared.keep(self.view, link);
            }
            Tell::Leave(why) => {
                // The companion is to know whose end this is.
                self.origin.stranger();
                let why = self.origin.seat.judge_end(why);
                self.shared.left(self.view, Some((why, link)));
            }
            tell => self.attached.way.tell(tell),
        }
    }
}
