//! What `:pillion-status` shows.

use std::path::PathBuf;

use pillion_protocol::Dialect;

/// The port, the connected agents, the number of pending proposals, and where agents connect.
pub fn text(port: u16, agents: &[Dialect], waiting: usize, roots: &[PathBuf]) -> String {
    let agents: Vec<_> = agents.iter().map(|it| it.display_name()).collect();
    let agents = match agents.as_slice() {
        [] => "no agent is connected".to_owned(),
        agents => agents.join(", "),
    };
    let roots: Vec<_> = roots.iter().map(|it| it.display().to_string()).collect();
    let roots = roots.join(", ");
    format!("port {port}\n{agents}\n{waiting} proposals wait\nworkspace: {roots}\n")
}
