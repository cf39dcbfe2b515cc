//! The terminals in which an agent offers IDE mode, by their variables, when no discovery file names an
//! editor (C7.1).

use pillion_discovery::Environment;

use crate::release::{Change, Release};

/// A variable, what it must be, and since when. Without a change: for every release.
type Terminal = (&'static str, fn(&str) -> bool, Option<Change>);

/// The terminals in which a release offers IDE mode.
const TERMINALS: [Terminal; 6] = [
    ("TERM_PROGRAM", |it| it == "vscode", None),
    ("TERM_PROGRAM", |it| it == "sublime", Some(Change::Sublime)),
    ("TERM_PROGRAM", |it| it == "Zed", Some(Change::Zed)),
    ("ZED_SESSION_ID", |_| true, Some(Change::Zed)),
    ("XCODE_VERSION_ACTUAL", |_| true, Some(Change::Zed)),
    ("TERMINAL_EMULATOR", names_jetbrains, Some(Change::Decoded)),
];

fn names_jetbrains(value: &str) -> bool {
    value.to_lowercase().contains("jetbrains")
}

/// Returns true if `release` offers IDE mode in the terminal with these variables.
pub(crate) fn is_known(release: Release, environment: &Environment) -> bool {
    TERMINALS.iter().any(|(name, fits, since)| {
        let value = environment.filled(name);
        let is_in_effect = since.is_none_or(|since| release.has(since));
        is_in_effect && value.is_some_and(|value| fits(&value.to_string_lossy()))
    })
}
