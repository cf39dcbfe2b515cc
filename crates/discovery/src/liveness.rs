//! Whether the companion that a file speaks of is still there.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::process;

/// How long a connect on loopback may take before nothing is concluded from it.
const PATIENCE: Duration = Duration::from_millis(200);

/// Whether a companion is surely gone: its process is, or nobody listens on its port (C6.2).
pub(crate) fn is_dead(pid: u32, port: u16) -> bool {
    !process::is_alive(pid) || connect(port).is_err_and(is_refusal)
}

/// Whether somebody listens on the loopback port.
pub fn listens(port: u16) -> bool {
    connect(port).is_ok()
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, PATIENCE)
}

/// Any other failure, such as running out of descriptors, says nothing about the other side.
fn is_refusal(error: io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}
