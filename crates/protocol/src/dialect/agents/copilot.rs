//! GitHub Copilot CLI, whose protocol is its own ([`copilot`](crate::copilot)).

use super::Row;
use crate::dialect::{Base, FileName, Place, Protocol};

pub(crate) const ROW: Row = Row {
    name: "copilot",
    display_name: "Copilot CLI",
    package: Some("@github/copilot"),
    // On Windows it takes no Unix socket.
    places: if cfg!(unix) {
        &[Place {
            base: Base::CopilotHome,
            folder: &["ide"],
            name: FileName::PortLock,
        }]
    } else {
        &[]
    },
    shell_variable: Some("COPILOT_CLI"),
    protocol: Protocol::Copilot,
    usual_command: "copilot",
    keeps_settings_in: &[".copilot", "copilot-instructions.md"],
    proposes: true,
    writes_own_text: true,
    connects_in_roots_only: true,
    cuts_selection: Some(500),
    records: Some(Base::CopilotHome),
    ..Row::PLAIN
};
