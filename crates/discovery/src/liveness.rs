//! Liveness of the companion that a file speaks of.

use std::collections::{BTreeSet, HashSet};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;
use std::{io, thread};

/// The time limit for a connect on loopback, before nothing is concluded from it.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(200);

/// A system answers its own dials in far less, even with a refusal: one that takes longer is silent.
const AT_ONCE: Duration = Duration::from_millis(20);

/// Returns true if something listens on the loopback port.
pub fn listens(port: u16) -> bool {
    connect(port).is_ok()
}

/// Those of `ports` on which surely nothing listens. The silent ones are waited for at the same time.
pub(crate) fn refusing(ports: impl IntoIterator<Item = u16>) -> HashSet<u16> {
    let ports: BTreeSet<u16> = ports.into_iter().collect();
    let mut refusing = HashSet::new();
    thread::scope(|scope| {
        let mut silent = Vec::new();
        for port in ports {
            match connect_within(port, AT_ONCE) {
                Err(error) if is_refusal(&error) => {
                    refusing.insert(port);
                }
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    let again = move || is_refused(port).then_some(port);
                    // Of whom no thread is left to wait for nothing is concluded.
                    silent.extend(thread::Builder::new().spawn_scoped(scope, again).ok());
                }
                Ok(_) | Err(_) => {}
            }
        }
        let slow = silent.into_iter().filter_map(|it| it.join().ok().flatten());
        refusing.extend(slow);
    });
    refusing
}

fn is_refused(port: u16) -> bool {
    connect(port).is_err_and(|error| is_refusal(&error))
}

fn connect(port: u16) -> io::Result<TcpStream> {
    connect_within(port, CONNECT_TIMEOUT)
}

fn connect_within(port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, timeout)
}

/// Any other failure, such as running out of descriptors, says nothing about the other side.
fn is_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}
