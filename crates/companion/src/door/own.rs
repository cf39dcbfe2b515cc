//! The door of a companion that runs in its front end's own process: it serves programs there, and no other
//! front ends.

use std::sync::Arc;

use crossbeam_channel::{SendError, unbounded};
use pillion_discovery::lines::Lines;
use pillion_discovery::private_file::Stream;
use pillion_discovery::{Environment, FileError, Socket};
use pillion_system::spawn;
use pillion_view::hub::wire::Attach;
use pillion_view::{Handle, Said};

use super::{Caller, Host, Visit};
use crate::acceptor::{Acceptor, Fate, Serve};
use crate::commands::Commands;
use crate::door;
use crate::event::ViewWay;
use crate::places::{Place, Places};
use crate::who::Asker;

/// Listens. Waits for the disk.
///
/// # Errors
/// When no state directory can be used, or the system has no thread.
pub(crate) fn open_own(
    environment: &Environment,
    port: u16,
    commands: Commands,
) -> Result<Acceptor, FileError> {
    let socket = Socket::of_companion(environment)?;
    let failed = socket.path();
    let own = Own {
        commands,
        port,
        places: Arc::default(),
    };
    Acceptor::start(socket, Arc::new(Server(Arc::new(own)))).map_err(|source| FileError::Io {
        action: "listen on",
        path: failed,
        source,
    })
}

/// The handle of the companion's own front end. What is said there takes a way as through a connection, by a thread of its own:
/// whether the person speaks takes time to find out.
pub(crate) fn own_handle(commands: Commands, port: u16, way: ViewWay, asker: Asker) -> Handle {
    let (say, said) = unbounded();
    let untold = way.clone();
    let serve = move || {
        let places = Arc::default();
        let own = Own {
            commands,
            port,
            places,
        };
        let mut visit = Visit::new(&own, Caller::own_view(way.id, asker));
        for said in said {
            match said {
                Said::Tell(tell) => way.tell(tell),
                Said::Ask(ask) => visit.asked_here(ask, own.commands.clone()),
            }
        }
    };
    // Without it every request is refused.
    let _ = spawn("own view", serve);
    Handle::new(move |said| {
        if let Err(SendError(Said::Tell(tell))) = say.send(said) {
            untold.tell(tell);
        }
    })
}

struct Server(Arc<Own>);

struct Own {
    commands: Commands,
    port: u16,
    places: Arc<Places>,
}

impl Host for Own {
    fn places(&self) -> &Arc<Places> {
        &self.places
    }

    fn companions(&self) -> Vec<Commands> {
        vec![self.commands.clone()]
    }

    fn companion(&self, port: u16) -> Option<Commands> {
        (port == self.port).then(|| self.commands.clone())
    }

    fn serve_view(self: Arc<Self>, _: Attach, stream: Stream, _: Lines, _: Place) {
        door::refuse(stream, "no other front end is served here");
    }
}

impl Serve for Server {
    fn opens(&self) -> Fate {
        Fate::Served
    }

    fn closed(&self) {}

    fn serve(&self, stream: Stream) {
        door::serve(&self.0, stream);
    }
}
