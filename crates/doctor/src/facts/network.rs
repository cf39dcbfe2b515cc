//! What decides whether a dial arrives: containers and names.

use std::net::ToSocketAddrs;
use std::sync::mpsc;
use std::time::Duration;

use pillion_agent::host::{Host, is_in_container};

/// As long as Qwen Code waits.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, Default)]
pub struct Network {
    /// Whether agents take this machine for a container.
    pub in_container: bool,
    /// Whether the name by which a container calls the machine around it has an address here.
    pub resolves: bool,
}

impl Network {
    /// Whether the host has an address.
    pub fn has(self, host: Host) -> bool {
        host == Host::Loopback || self.resolves
    }
}

pub fn look() -> Network {
    let in_container = is_in_container();
    Network {
        in_container,
        resolves: in_container && resolves(Host::ContainerHost.to_string()),
    }
}

/// Whether there is an address for `host`. A name server that is silent counts as a no.
fn resolves(host: String) -> bool {
    let (sender, receiver) = mpsc::channel();
    // Left behind when it is too slow: nothing can interrupt the system's resolver.
    std::thread::spawn(move || {
        let addresses = (host.as_str(), 0).to_socket_addrs();
        let found = addresses.is_ok_and(|mut found| found.next().is_some());
        // The caller may have stopped waiting.
        let _ = sender.send(found);
    });
    receiver.recv_timeout(LOOKUP_TIMEOUT).unwrap_or(false)
}
