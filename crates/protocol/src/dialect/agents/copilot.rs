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
    // Nothing leads it to a companion but its folder.
    variables: None,
    shell_variable: Some("COPILOT_CLI"),
    protocol: Protocol::Copilot,
    client: None,
    usual_command: "copilot",
    follows: None,
    overlooks: None,
    ignores_empty_text: false,
    unchanged_is_rejection: false,
    refuses_changed_file: false,
    drops_last_line_feed: None,
    misses_context_after_rejection: false,
    proposes: true,
    announces_writes: false,
    writes_own_text: true,
    connects_in_roots_only: true,
    cuts_selection: Some(500),
};
