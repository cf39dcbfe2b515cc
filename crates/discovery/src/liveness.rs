//! Whether the companion that a file speaks of is still there.

use std::collections::{BTreeSet, HashSet};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, thread};

use crate::process;

/// How long a connect on loopback may take before nothing is concluded from it.
const PATIENCE: Duration = Duration::from_millis(200);

/// So many ports are dialled at the same time.
const DIALLERS: usize = 32;

/// Whether a companion is surely gone: its process is, or nobody listens on its port (C6.2).
pub(crate) fn is_dead(pid: u32, port: u16) -> bool {
    !process::is_alive(pid) || connect(port).is_err_and(is_refusal)
}

/// Whether somebody listens on the loopback port.
pub fn listens(port: u16) -> bool {
    connect(port).is_ok()
}

/// Those of `ports` on which surely nobody listens. Each is dialled once, and whoever is silent
/// keeps only itself waiting.
pub(crate) fn refusing(ports: impl IntoIterator<Item = u16>) -> HashSet<u16> {
    let ports: BTreeSet<u16> = ports.into_iter().collect();
    let ports: Vec<u16> = ports.into_iter().collect();
    let next = AtomicUsize::new(0);
    let dial = || {
        let mut refusing = Vec::new();
        while let Some(port) = ports.get(next.fetch_add(1, Ordering::Relaxed)) {
            if connect(*port).is_err_and(is_refusal) {
                refusing.push(*port);
            }
        }
        refusing
    };
    thread::scope(|scope| {
        // A system that gives no more threads leaves the work to those that there are.
        let helpers = 1..ports.len().min(DIALLERS);
        let helpers: Vec<_> = helpers
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, dial).ok())
            .collect();
        let mut refusing: HashSet<u16> = dial().into_iter().collect();
        for helper in helpers {
            refusing.extend(helper.join().unwrap_or_default());
        }
        refusing
    })
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, PATIENCE)
}

/// Any other failure, such as running out of descriptors, says nothing about the other side.
fn is_refusal(error: io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}
