//! The terminals in which an agent offers IDE mode, by their variables, when no discovery file names an
//! editor (C7.1).

use pillion_discovery::Environment;
use pillion_protocol::Dialect;

/// A variable, and what it must be.
type Terminal = (&'static str, fn(&str) -> bool);

/// The terminal that both agents know.
const COMMON: Terminal = ("TERM_PROGRAM", |it| it == "vscode");

/// Those that Gemini CLI knows besides.
const GEMINIS: [Terminal; 5] = [
    ("TERM_PROGRAM", |it| it == "sublime"),
    ("TERM_PROGRAM", |it| it == "Zed"),
    ("ZED_SESSION_ID", |_| true),
    ("XCODE_VERSION_ACTUAL", |_| true),
    ("TERMINAL_EMULATOR", |it| {
        it.to_lowercase().contains("jetbrains")
    }),
];

/// Returns true if `agent` offers IDE mode in the terminal with these variables.
pub(crate) fn is_known(agent: Dialect, environment: &Environment) -> bool {
    let more = GEMINIS.iter().filter(|_| agent == Dialect::GeminiCli);
    std::iter::once(&COMMON).chain(more).any(|(name, fits)| {
        let value = environment.filled(name);
        value.is_some_and(|value| fits(&value.to_string_lossy()))
    })
}
