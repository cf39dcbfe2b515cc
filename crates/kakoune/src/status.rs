//! The text of `:pillion-status`.

use std::path::PathBuf;

use pillion_view::Status;

/// The port, the connected agents, the number of pending proposals, where agents connect, and whether they ask.
pub fn text(port: u16, status: &Status, waiting: usize, roots: &[PathBuf]) -> String {
    let agents: Vec<_> = status.agents.iter().map(|it| it.display_name()).collect();
    let agents = match agents.as_slice() {
        [] => "no agent is connected".to_owned(),
        agents => agents.join(", "),
    };
    let roots: Vec<_> = roots.iter().map(|it| it.display().to_string()).collect();
    let roots = roots.join(", ");
    let asking = status.asking.iter().map(|note| format!("{note}\n"));
    let asking: String = asking.collect();
    format!("port {port}\n{agents}\n{waiting} proposals wait\nworkspace: {roots}\n{asking}")
}
