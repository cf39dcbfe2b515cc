//! Google's Gemini CLI.

use super::{Row, in_tmp};
use crate::dialect::{FileName, Protocol, Variables};

const GEMINI: &str = "gemini-ide-server";

pub(crate) const ROW: Row = Row {
    name: "gemini",
    display_name: "Gemini CLI",
    package: Some("@google/gemini-cli"),
    extension: Some("google.gemini-cli-vscode-ide-companion"),
    places: &[
        in_tmp(&["gemini", "ide"], FileName::PidPort(GEMINI)),
        // Releases up to 0.26 try this one first.
        in_tmp(&[], FileName::Pid(GEMINI)),
    ],
    variables: Some(Variables {
        port: "GEMINI_CLI_IDE_SERVER_PORT",
        workspace: Some("GEMINI_CLI_IDE_WORKSPACE_PATH"),
        token: Some("GEMINI_CLI_IDE_AUTH_TOKEN"),
        // Known since 0.31; the exceptions for containers since 0.27.
        pid: Some("GEMINI_CLI_IDE_PID"),
        settings: &[],
        same_host: &[
            "REMOTE_CONTAINERS",
            "VSCODE_REMOTE_CONTAINERS_SESSION",
            "SSH_CONNECTION",
        ],
        known_editor: Some(("TERM_PROGRAM", "vscode")),
    }),
    shell_variable: Some("GEMINI_CLI"),
    protocol: Protocol::Companion,
    usual_command: "gemini",
    keeps_settings_in: &[".gemini", "gemini.md"],
    ignores_empty_text: true,
    // Seen with 0.61.0: it takes the rejection for the end of a call that is under way.
    misses_context_after_rejection: true,
    proposes: true,
    ..Row::PLAIN
};
