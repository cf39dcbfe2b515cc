//! In which terminals an agent offers IDE mode, by their variables, when no discovery file names an
//! editor (C7.1).

use pillion_discovery::Environment;

use crate::release::{Change, Release};

/// What a variable must be.
#[derive(Debug, Clone, Copy)]
enum Is {
    Set(&'static str),
    Equal(&'static str, &'static str),
    /// Contains this, whatever the case.
    Holds(&'static str, &'static str),
}

/// The terminals in which a release offers IDE mode. Without a change: every release.
const TERMINALS: &[(Is, Option<Change>)] = &[
    (Is::Equal("TERM_PROGRAM", "vscode"), None),
    (Is::Equal("TERM_PROGRAM", "sublime"), Some(Change::Sublime)),
    (Is::Equal("TERM_PROGRAM", "Zed"), Some(Change::Zed)),
    (Is::Set("ZED_SESSION_ID"), Some(Change::Zed)),
    (Is::Set("XCODE_VERSION_ACTUAL"), Some(Change::Zed)),
    (
        Is::Holds("TERMINAL_EMULATOR", "jetbrains"),
        Some(Change::Decoded),
    ),
];

/// Whether `release` offers IDE mode in the terminal with these variables.
pub(crate) fn is_known(release: Release, environment: &Environment) -> bool {
    let is_known = |since: Option<Change>| since.is_none_or(|since| release.has(since));
    let mut terminals = TERMINALS.iter();
    terminals.any(|(is, since)| is_known(*since) && is.holds(environment))
}

impl Is {
    fn holds(self, environment: &Environment) -> bool {
        let value = |name| {
            environment
                .filled(name)
                .map(|value| value.to_string_lossy())
        };
        match self {
            Self::Set(name) => value(name).is_some(),
            Self::Equal(name, wanted) => value(name).is_some_and(|value| value == wanted),
            Self::Holds(name, part) => {
                value(name).is_some_and(|value| value.to_lowercase().contains(part))
            }
        }
    }
}
