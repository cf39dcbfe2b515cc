//! Which editors an agent accepts by its terminal's variables, when no discovery file names one
//! (C7.1).

use pillion_discovery::Environment;
use pillion_discovery::detect::product_of_jetbrains;
use pillion_protocol::IdeInfo;

use crate::release::{Change, Release};

/// What a variable must be.
#[derive(Debug, Clone, Copy)]
enum Is {
    Set(&'static str),
    Equal(&'static str, &'static str),
    /// Contains this, whatever the case.
    Holds(&'static str, &'static str),
}

/// Editors by what marks their terminals, the first that fits. `since` none: every release.
#[rustfmt::skip]
const EDITORS: &[(Is, &str, &str, Option<Change>)] = &[
    (Is::Set("ANTIGRAVITY_CLI_ALIAS"), "antigravity", "Antigravity", Some(Change::Antigravity)),
    (Is::Set("__COG_BASHRC_SOURCED"), "devin", "Devin", None),
    (Is::Set("REPLIT_USER"), "replit", "Replit", None),
    (Is::Set("CURSOR_TRACE_ID"), "cursor", "Cursor", None),
    (Is::Set("CODESPACES"), "codespaces", "GitHub Codespaces", None),
    (Is::Set("EDITOR_IN_CLOUD_SHELL"), "cloudshell", "Cloud Shell", None),
    (Is::Set("CLOUD_SHELL"), "cloudshell", "Cloud Shell", None),
    (Is::Equal("TERM_PRODUCT", "Trae"), "trae", "Trae", None),
    (Is::Set("MONOSPACE_ENV"), "firebasestudio", "Firebase Studio", None),
    (Is::Equal("POSITRON", "1"), "positron", "Positron", Some(Change::Positron)),
    (Is::Equal("TERM_PROGRAM", "sublime"), "sublimetext", "Sublime Text", Some(Change::Sublime)),
    (Is::Set("ZED_SESSION_ID"), "zed", "Zed", Some(Change::Zed)),
    (Is::Equal("TERM_PROGRAM", "Zed"), "zed", "Zed", Some(Change::Zed)),
    (Is::Set("XCODE_VERSION_ACTUAL"), "xcode", "XCode", Some(Change::Zed)),
    (JETBRAINS, "jetbrains", "JetBrains IDE", Some(Change::Decoded)),
];

const JETBRAINS: Is = Is::Holds("TERMINAL_EMULATOR", "jetbrains");

/// The terminals in which a release offers IDE mode at all.
const TERMINALS: &[(Is, Option<Change>)] = &[
    (Is::Equal("TERM_PROGRAM", "vscode"), None),
    (Is::Equal("TERM_PROGRAM", "sublime"), Some(Change::Sublime)),
    (Is::Equal("TERM_PROGRAM", "Zed"), Some(Change::Zed)),
    (Is::Set("ZED_SESSION_ID"), Some(Change::Zed)),
    (Is::Set("XCODE_VERSION_ACTUAL"), Some(Change::Zed)),
    (JETBRAINS, Some(Change::Decoded)),
];

/// The editor that the terminal's variables tell `release`, if it offers IDE mode in that terminal.
/// `command` is the command of the process that it takes for the editor; empty if there is none.
pub(crate) fn editor(
    release: Release,
    environment: &Environment,
    command: &str,
) -> Option<IdeInfo> {
    let known = |since: Option<Change>| since.is_none_or(|since| release.has(since));
    let holds = |is: Is| is.holds(environment);
    if !TERMINALS
        .iter()
        .any(|(is, since)| known(*since) && holds(*is))
    {
        return None;
    }
    let command = command.to_lowercase();
    let found = EDITORS
        .iter()
        .find(|(is, _, _, since)| known(*since) && holds(*is));
    let (name, display_name) = match found {
        // JetBrains says which product it is only by its command, and only if nothing else fits.
        Some((_, "jetbrains", display_name, _)) => {
            let product = product_of_jetbrains(&command);
            product.map_or(("jetbrains", *display_name), |it| {
                (it.name, it.display_name)
            })
        }
        Some((_, name, display_name, _)) => (*name, *display_name),
        None if is_vs_code(release, &command) => ("vscode", "VS Code"),
        None => ("vscodefork", "IDE"),
    };
    Some(IdeInfo::new(name, display_name))
}

/// A process without a command is VS Code for newer releases of Gemini CLI, a fork for Qwen Code.
fn is_vs_code(release: Release, command: &str) -> bool {
    let unknown_is = release.has(Change::NoCommand);
    command.contains("code") || (command.is_empty() && unknown_is)
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
