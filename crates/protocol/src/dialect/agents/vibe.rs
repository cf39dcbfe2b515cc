//! Mistral Vibe, a program in Python. It opens no session: its hooks show what it changes.

use super::Row;

pub(crate) const ROW: Row = Row {
    name: "vibe",
    display_name: "Mistral Vibe",
    installer: "pip install --upgrade mistral-vibe",
    shell_variable: Some("VIBE_APP_SERVER_BIN"),
    usual_command: "vibe",
    keeps_settings_in: &[".vibe"],
    ..Row::PLAIN
};
