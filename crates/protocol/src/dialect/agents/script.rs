//! Pillion's own commands, mostly in scripts.

use super::Row;
use crate::dialect::Protocol;

pub(crate) const ROW: Row = Row {
    name: "script",
    display_name: "Script",
    package: None,
    places: &[],
    variables: None,
    shell_variable: None,
    protocol: Protocol::Companion,
    client: None,
    usual_command: "script",
    follows: None,
    overlooks: None,
    ignores_empty_text: false,
    unchanged_is_rejection: false,
    refuses_changed_file: false,
    drops_last_line_feed: None,
    misses_context_after_rejection: false,
    proposes: true,
    announces_writes: false,
    writes_own_text: false,
    connects_in_roots_only: false,
    repeats_selection: false,
};
