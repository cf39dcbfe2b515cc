//! Moonshot AI's Kimi Code. It opens no session: its hooks show what it changes.

use super::Row;

pub(crate) const ROW: Row = Row {
    name: "kimi",
    display_name: "Kimi Code",
    package: Some("@moonshot-ai/kimi-code"),
    usual_command: "kimi",
    keeps_settings_in: &[".kimi-code"],
    ..Row::PLAIN
};
