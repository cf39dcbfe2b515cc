//! Facts that decide whether a dial arrives: containers and names.

use pillion_agent::host::{Host, container_host_resolves, is_in_container};

#[derive(Debug, Clone, Copy, Default)]
pub struct Network {
    /// True if agents take this machine for a container.
    pub in_container: bool,
    /// True if the name by which a container calls the machine around it has an address here.
    pub resolves: bool,
}

impl Network {
    /// Returns true if the host has an address.
    pub fn has(self, host: Host) -> bool {
        host == Host::Loopback || self.resolves
    }
}

pub fn look() -> Network {
    let in_container = is_in_container();
    Network {
        in_container,
        resolves: in_container && container_host_resolves(),
    }
}
