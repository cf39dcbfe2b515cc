//! A front end of the hub: passes on what its companion asks and tells, and what it reports.
//!
//! If the hub ends without having been left, what it has had shown is closed, and the next hub is asked. It gets the
//! same options, and the context that was reported last. A guest is not served any more then.

mod view;

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, unbounded};
use pillion_discovery::lines::{Lines, MAX_LINE};
use pillion_system::{Signal, memory, signals, spawn};

use self::view::View;
use super::Companion;
use super::launch::{Launch, dial};
use super::link::Link;
use super::wire::{Attached, FromHub, Refused, RefusedKind};
use crate::editor::Editor;
use crate::handle::Handle;
use crate::options::{Options, StartError};
use crate::tell::Leaving;

/// The time limit for the hub until agents find the companion: until a former one has ended, too, or the hub itself, if that is
/// about to.
const ATTACHED_WITHIN: Duration = Duration::from_secs(12);

/// The delay from a message of the hub until freed memory is returned to the system: proposals may be large.
const RELEASE_DELAY: Duration = Duration::from_secs(1);

/// The number of times that a hub may end at that moment.
const MAX_TRIES: u32 = 20;

/// The time limit for leaving.
const LEFT_WITHIN: Duration = Duration::from_secs(5);

/// The growth of each pause between the attempts to find another hub.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A front end that is attached. Dropping it leaves.
#[derive(Debug)]
pub(crate) struct Client {
    view: Arc<View>,
    first: Attached,
}

/// The reason why a front end is not attached.
pub(crate) enum Unattached {
    /// There is no companion.
    Failed(StartError),
    /// There is no hub. The front end is handed back.
    NoHub(Box<dyn Editor>),
}

/// The outcome of the first attempt.
enum First {
    Attached(Attached),
    Refused(Refused),
    NoHub,
    Interrupted,
}

/// Returns true if nothing came in time.
fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// The way in which a connection ended.
enum End {
    /// After the companion was found.
    Lost,
    /// Before that.
    Early,
    /// It says nothing, as one that was stopped.
    Silent,
    Refused(Refused),
}

impl Client {
    /// Attaches a front end; returns when agents can find its companion.
    pub(crate) fn attach(
        options: Options,
        editor: Box<dyn Editor>,
        launch: Launch,
    ) -> Result<Self, Unattached> {
        let view = Arc::new(View::new(options, editor));
        let (told, first) = unbounded();
        if let Err(error) = start(&view, launch, &told) {
            view.leave(Leaving::now());
            return Err(Unattached::Failed(error));
        }
        drop(told);
        let failed = match first.recv() {
            Ok(First::Attached(first)) => return Ok(Self { view, first }),
            Ok(First::Refused(refused)) if refused.kind == RefusedKind::CannotStart => {
                StartError::Refused(refused.reason)
            }
            Ok(First::Interrupted) => StartError::Interrupted,
            Ok(First::Refused(_) | First::NoHub) | Err(_) => match view.take_editor() {
                Some(editor) => return Err(Unattached::NoHub(editor)),
                None => StartError::Interrupted,
            },
        };
        view.leave(Leaving::now());
        Err(Unattached::Failed(failed))
    }
}

impl Companion for Client {
    /// The one of now: another hub may have another port, and a front end whose folders change another companion.
    fn attached(&self) -> Attached {
        self.view.companion().unwrap_or_else(|| self.first.clone())
    }

    fn handle(&self) -> Handle {
        let view = Arc::clone(&self.view);
        Handle::new(move |said| view.say(said))
    }

    fn wait(self: Box<Self>) {
        self.view.wait_until_left(None);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.view.leave(Leaving::now());
        self.view.wait_until_left(Some(LEFT_WITHIN));
    }
}

/// Catches signals and starts the thread of a front end.
fn start(view: &Arc<View>, launch: Launch, told: &Sender<First>) -> Result<(), StartError> {
    let failed = |what| move |source| StartError::System { what, source };
    // First of all: a signal after attaching must find its handler. A guest is one of many in its process, and has
    // nothing to take away.
    if !view.is_guest() {
        signals::note_terminal();
        let (weak, interrupted) = (Arc::downgrade(view), told.clone());
        signals::on_each_signal(move |signal| signalled(&weak, signal, &interrupted))
            .map_err(failed("catch signals"))?;
    }
    let (view, told) = (Arc::clone(view), told.clone());
    spawn("hub client", move || serve(&view, launch, told)).map_err(failed("start a thread"))
}

/// Returns true if it waits for the next one.
fn signalled(view: &Weak<View>, signal: Signal, told: &Sender<First>) -> bool {
    let Some(view) = view.upgrade() else {
        return false;
    };
    if view.companion().is_none() {
        let _ = told.send(First::Interrupted);
    } else if signal == Signal::Interrupt && !view.interrupted() {
        // It was for a program that the front end runs in the same terminal.
        return true;
    }
    view.is_over(view.ending());
    view.leave(Leaving::now());
    false
}

/// Serves a front end until it leaves, by one hub after the other.
fn serve(view: &Arc<View>, launch: Launch, told: Sender<First>) {
    let mut told = Some(told);
    let mut tries = 0;
    while !view.is_over(pause(tries)) {
        let environment = view.environment();
        let stream = dial(&environment, launch, || view.is_over(Duration::ZERO));
        let end = stream.map(|stream| talk(view, stream, &mut told));
        tries = match end {
            Some(End::Lost) => 0,
            _ => tries + 1,
        };
        let Some(first) = &told else {
            if view.is_guest() {
                break;
            }
            continue;
        };
        let result = match end {
            Some(End::Lost) => continue,
            Some(End::Early) if tries < MAX_TRIES => continue,
            Some(End::Early | End::Silent) | None => First::NoHub,
            Some(End::Refused(refused)) => First::Refused(refused),
        };
        let _ = first.send(result);
        return;
    }
    view.end();
}

/// A hub that ends has ended when it closes the connection: then there is nothing to wait for.
fn pause(tries: u32) -> Duration {
    PAUSE
        .saturating_mul(tries.saturating_sub(1))
        .min(LONGEST_PAUSE)
}

/// Serves it by one hub.
fn talk(view: &Arc<View>, stream: UnixStream, first: &mut Option<Sender<First>>) -> End {
    let own = stream.try_clone();
    let Some((own, link)) = own.ok().zip(Link::start(stream).ok()) else {
        return End::Early;
    };
    let mut lines = Lines::new(own, Some(Instant::now() + ATTACHED_WITHIN));
    view.introduce(&link);
    let mut end = End::Early;
    loop {
        let line = match lines.next(MAX_LINE) {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) if matches!(end, End::Lost) && is_late(&error) => {
                memory::release_freed();
                lines.wait_for_ever();
                continue;
            }
            Err(error) => {
                tracing::warn!(%error, "the connection with the hub is broken");
                if is_late(&error) {
                    end = End::Silent;
                }
                break;
            }
        };
        let (message, bytes) = (serde_json::from_slice(&line), line.len());
        // It may be large, and the message has all of it.
        drop(line);
        match message {
            Ok(FromHub::Attached(attached)) => {
                tracing::info!(attached.pid, attached.port, attached.version, "attached");
                view.attached(attached.clone());
                if let Some(first) = first.take() {
                    let _ = first.send(First::Attached(attached));
                }
                end = End::Lost;
            }
            Ok(FromHub::Refused(refused)) => {
                tracing::warn!(reason = refused.reason, "the hub refuses");
                end = End::Refused(refused);
                break;
            }
            Ok(message) => view.received(message, &link),
            // Of another version. What it says belongs into no log.
            Err(error) => {
                tracing::warn!(kind = ?error.classify(), bytes, "not understood");
            }
        }
        if matches!(end, End::Lost) {
            lines.wait_for(RELEASE_DELAY);
        }
    }
    lines.shut_down();
    view.disconnected(&link);
    end
}
