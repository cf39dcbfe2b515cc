//! Alibaba's Qwen Code.

use super::{Row, in_tmp};
use crate::dialect::{Base, FileName, Place, Protocol, Variables};

const QWEN: &str = "qwen-code-ide-server";

pub(crate) const ROW: Row = Row {
    name: "qwen",
    display_name: "Qwen Code",
    package: Some("@qwen-code/qwen-code"),
    extension: Some("qwenlm.qwen-code-vscode-ide-companion"),
    places: &[
        in_tmp(&["qwen", "ide"], FileName::PidPort(QWEN)),
        // 0.12 and later scan the lock files; 0.5.2 to 0.10 open the one of the port variable.
        Place {
            base: Base::QwenHome,
            folder: &["ide"],
            name: FileName::PortLock,
        },
        // Up to 0.5.0 it looks in Gemini's folder.
        in_tmp(&["gemini", "ide"], FileName::PidPort(QWEN)),
        in_tmp(&[], FileName::Pid(QWEN)),
        in_tmp(&[], FileName::Port(QWEN)),
    ],
    variables: Some(Variables {
        port: "QWEN_CODE_IDE_SERVER_PORT",
        workspace: Some("QWEN_CODE_IDE_WORKSPACE_PATH"),
        token: None,
        pid: None,
        settings: &[],
        // It finds out by itself.
        same_host: &[],
        known_editor: Some(("TERM_PROGRAM", "vscode")),
    }),
    shell_variable: Some("QWEN_CODE"),
    protocol: Protocol::Companion,
    usual_command: "qwen --approval-mode default",
    keeps_settings_in: &[".qwen", "qwen.md"],
    ignores_empty_text: true,
    proposes: true,
    loses_later_edits: true,
    asks_before_hooks: true,
    records: Some(Base::QwenHome),
    ..Row::PLAIN
};
