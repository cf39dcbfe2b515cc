//! The door of the hub, and of a companion that runs in its front end's own process: what comes in over a connection, from
//! the first line, which says who it is, to the end, at which what was asked and is not done is withdrawn.
//!
//! Whether whoever asks may speak for the person is decided here, once for all requests; who does what is asked, in one
//! table ([`handlers`]).

mod handlers;
mod own;
mod table;

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use pillion_discovery::lines::{Lines, MAX_FIRST, MAX_LINE};
use pillion_discovery::private_file::Stream;
use pillion_protocol::{Dialect, Stranger};
#[cfg(unix)]
use pillion_system::clock;
use pillion_system::lock;
use pillion_view::ask::{AnyAsk, Asked, Program, Refused};
use pillion_view::hub::link::Link;
use pillion_view::hub::wire::{self, Attach, FromHub, FromView, RefusedKind};
use tokio::task::AbortHandle;

pub(crate) use self::own::{open_own, own_handle};
use self::table::{Entry, Request, Table};
use crate::commands::Commands;
use crate::ids::ViewId;
use crate::places::{Place, Places, Purpose};
use crate::proposing::Proposal;
use crate::tasks;
use crate::who::{Asker, SeatedView};

/// The time limit for a connection to say who it is.
const SAID_WITHIN: Duration = Duration::from_secs(10);

/// The refusal of a request to a companion that is not here.
const NO_SUCH: &str = "there is no such companion any more";

/// The refusal of a connection that says what is not understood.
const NOT_UNDERSTOOD: &str =
    "this is not understood here: it comes from another version of Pillion, perhaps";

/// What can be asked.
static TABLE: LazyLock<Table> = LazyLock::new(handlers::table);

/// The process behind a door.
pub(crate) trait Host: Send + Sync + 'static {
    /// The places of those who connect.
    fn places(&self) -> &Arc<Places>;

    fn companions(&self) -> Vec<Commands>;

    /// The companion at this port, if it is one of its own.
    fn companion(&self, port: u16) -> Option<Commands>;

    /// So many more connections are programs', or fewer: one that only asks keeps no process.
    fn count_programs(&self, _change: isize) {}

    /// Serves a front end that attaches, until its connection ends.
    fn serve_view(self: Arc<Self>, attach: Attach, stream: Stream, lines: Lines, place: Place);
}

/// Whoever asks.
#[derive(derive_more::Debug)]
#[debug("Caller({asker:?})")]
pub(crate) struct Caller {
    /// The view, if it is one.
    view: Option<ViewId>,
    asker: Asker,
    /// Its seat, if it is a view of the hub's.
    seat: Option<Arc<SeatedView>>,
    /// The work at the end of the connection, which is told whether what was answered is passed on by then.
    at_end: Mutex<Vec<AtEnd>>,
    proposal: Proposal,
}

type AtEnd = Box<dyn FnOnce(bool) + Send>;

impl Caller {
    fn program(asker: Asker) -> Arc<Self> {
        Self::new(None, asker, None)
    }

    /// A view of the hub's.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    pub(crate) fn view(view: ViewId, asker: Asker, seat: Arc<SeatedView>) -> Arc<Self> {
        Self::new(Some(view), asker, Some(seat))
    }

    fn own_view(view: ViewId, asker: Asker) -> Arc<Self> {
        Self::new(Some(view), asker, None)
    }

    fn new(view: Option<ViewId>, asker: Asker, seat: Option<Arc<SeatedView>>) -> Arc<Self> {
        Arc::new(Self {
            view,
            asker,
            seat,
            at_end: Mutex::default(),
            proposal: Proposal::default(),
        })
    }

    /// Its process, as far as it is known.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.asker.pid()
    }

    pub(crate) fn asker(&self) -> &Asker {
        &self.asker
    }

    /// Has this done when the connection ends, or what was answered is passed on.
    pub(crate) fn at_end(&self, end: impl FnOnce(bool) + Send + 'static) {
        lock(&self.at_end).push(Box::new(end));
    }

    /// The connection ends, or what was answered is passed on.
    pub(crate) fn end(&self, is_passed_on: bool) {
        let ends = std::mem::take(&mut *lock(&self.at_end));
        for end in ends {
            end(is_passed_on);
        }
    }

    pub(crate) fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    /// Returns true if this is the person, and nobody else.
    pub(crate) async fn is_person(self: &Arc<Self>, companion: &Commands) -> bool {
        let (own, companion) = (Arc::clone(self), companion.clone());
        let judged = tasks::spawn_blocking(move || own.judge(&companion));
        judged.await.is_ok_and(|it| it.is_ok())
    }

    /// Whether this is the person. Waits for the system.
    fn judge(&self, companion: &Commands) -> Result<(), Stranger> {
        match &self.seat {
            Some(seat) => seat.judge_typed(),
            None => companion.who().judge(&self.asker),
        }
    }

    /// Lets in a request that is only for the person. Waits for the system.
    fn admit(&self, method: &str, companion: &Commands) -> Result<(), Refused> {
        self.judge(companion).map_err(|by| {
            tracing::info!(?by, method, "a request that is not the person's is refused");
            let in_view = self.view.is_some();
            Refused::NotThePerson { by, in_view }
        })
    }
}

/// Serves a connection until it ends.
pub(crate) fn serve<H: Host>(host: &Arc<H>, stream: Stream) {
    let (Ok(own), Ok(place)) = (stream.try_clone(), host.places().enter(&stream)) else {
        return tracing::warn!("there is no descriptor for a connection");
    };
    let lines = Lines::new(own, Some(Instant::now() + SAID_WITHIN));
    let mut lines = lines.within(place.budget());
    let first = match lines.next(MAX_FIRST) {
        Ok(Some(line)) => line,
        // It only looked whether somebody is there.
        Ok(None) => return,
        Err(error) => return tracing::warn!(%error, "a connection that says nothing"),
    };
    match serde_json::from_slice(&first) {
        Ok(FromView::Attach(attach)) => Arc::clone(host).serve_view(attach, stream, lines, place),
        Ok(FromView::Program(program)) => serve_program(&**host, &program, stream, lines, place),
        Ok(_) | Err(_) => refuse(stream, NOT_UNDERSTOOD),
    }
}

/// Tells whoever has connected why it is not served. Does not wait: a connection holds more than that.
pub(crate) fn refuse(mut stream: Stream, reason: &str) {
    if let Ok(mut line) = serde_json::to_vec(&refused(reason)) {
        line.push(b'\n');
        let _ = stream.write_all(&line);
    }
}

fn refused(reason: &str) -> FromHub {
    tracing::warn!(reason, "a connection is refused");
    FromHub::Refused(wire::Refused {
        kind: RefusedKind::Unserved,
        reason: reason.to_owned(),
    })
}

fn serve_program(
    host: &dyn Host,
    program: &Program,
    stream: Stream,
    mut lines: Lines,
    mut place: Place,
) {
    let is_named = |agent: &Dialect| program.commanded_by.iter().any(|it| it == agent.name());
    let says = Dialect::ALL.into_iter().filter(is_named).collect();
    let asker = Asker::at(&stream, program.pid, says);
    let is_agents = || {
        let companion = host.companions().pop();
        companion.is_some_and(|it| it.who().judge(&asker).is_err())
    };
    if let Err(reason) = place.takes(Purpose::Request, is_agents) {
        return refuse(stream, reason);
    }
    let link = match Link::start(stream) {
        Ok(link) => link,
        Err(error) => return tracing::warn!(%error, "cannot start a thread"),
    };
    lines.wait_for_ever();
    host.count_programs(1);
    let mut visit = Visit::new(host, Caller::program(asker));
    while let Ok(Some(line)) = lines.next(MAX_LINE) {
        let message = serde_json::from_slice(&line);
        drop(line);
        let Ok(FromView::Ask(asked)) = message else {
            link.send(refused(NOT_UNDERSTOOD));
            break;
        };
        let companion = asked.companion.and_then(|port| host.companion(port));
        visit.asked(asked, companion, &link);
    }
    drop(visit);
    link.close();
    host.count_programs(-1);
}

/// The requests that come over one connection. Dropping it withdraws those that are not done.
pub(crate) struct Visit<'a> {
    host: &'a dyn Host,
    caller: Arc<Caller>,
    running: Vec<AbortHandle>,
}

impl<'a> Visit<'a> {
    pub(crate) fn new(host: &'a dyn Host, caller: Arc<Caller>) -> Self {
        Self {
            host,
            caller,
            running: Vec::new(),
        }
    }

    /// Has a request carried out. It is answered over `link`.
    pub(crate) fn asked(
        &mut self,
        asked: Asked,
        companion: Option<Commands>,
        link: &Arc<Link<FromHub>>,
    ) {
        let reply = link.reply(asked.request);
        let request = Request::Message(asked.params, moment(asked.at), reply);
        self.serve(&asked.method, companion, request);
    }

    /// The same for one that comes from this process.
    pub(crate) fn asked_here(&mut self, ask: AnyAsk, companion: Commands) {
        self.serve(ask.method, Some(companion), Request::Typed(ask));
    }

    fn serve(&mut self, method: &str, companion: Option<Commands>, request: Request) {
        let (is_for_person, serve) = match TABLE.find(method) {
            Some(Entry::Host(serve)) => return serve(self.host, request),
            Some(Entry::Companion(is_for_person, serve)) => (is_for_person, serve),
            None => return request.refuse(unknown(method)),
        };
        let Some(companion) = companion else {
            return request.refuse(NO_SUCH.into());
        };
        if *is_for_person && let Err(refused) = self.caller.admit(method, &companion) {
            return request.refuse(refused);
        }
        self.running.retain(|it| !it.is_finished());
        self.running
            .extend(serve(&companion, &self.caller, request));
    }
}

/// The moment at which something was asked; it comes now if that is not known.
fn moment(at: Option<Duration>) -> Instant {
    #[cfg(unix)]
    if let Some(at) = at {
        return clock::own(at);
    }
    // Views elsewhere are in the same process.
    let _ = at;
    Instant::now()
}

fn unknown(method: &str) -> Refused {
    Refused::because(format!(
        "{method:?} is not known here: another version of Pillion asks it"
    ))
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        for running in &self.running {
            running.abort();
        }
        self.caller.end(false);
    }
}
