//! VS Code and the editors that are made of it: a row each.

/// All of them, in the order in which they are listed.
pub static FAMILY: &[&Code] = &[
    &VS_CODE,
    &VS_CODE_INSIDERS,
    &VS_CODIUM,
    &CURSOR,
    &WINDSURF,
    &TRAE,
    &ANTIGRAVITY,
    &POSITRON,
    &FIREBASE_STUDIO,
];

/// One editor of VS Code's family.
#[derive(Debug)]
pub struct Code {
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) display_name: &'static str,
    /// Its programs, as typed; the first names its folders on Linux.
    pub(super) programs: &'static [&'static str],
    /// A variable that names its program.
    pub(super) alias_variable: Option<&'static str>,
    /// Its application on a Mac.
    pub(super) application: &'static str,
    /// Its folder in a Mac user's Library, where its command may be.
    pub(super) support_folder: Option<&'static str>,
    /// Its folder on Windows.
    pub(super) windows_folder: &'static str,
    /// Its package at Flathub.
    pub(super) flatpak: Option<&'static str>,
    /// Where it keeps its extensions, below the home folder, unless it says so itself.
    pub(super) extensions: &'static str,
    /// It is there only where this is set: its program is another one's, too.
    pub(super) only_with: Option<&'static str>,
}

/// What most of them have in common.
const PLAIN: Code = Code {
    name: "",
    aliases: &[],
    display_name: "",
    programs: &[],
    alias_variable: None,
    application: "",
    support_folder: None,
    windows_folder: "",
    flatpak: None,
    extensions: "",
    only_with: None,
};

pub static VS_CODE: Code = Code {
    name: "vscode",
    aliases: &["code"],
    display_name: "VS Code",
    programs: &["code"],
    application: "Visual Studio Code",
    support_folder: Some("Code"),
    windows_folder: "Microsoft VS Code",
    flatpak: Some("com.visualstudio.code"),
    extensions: ".vscode",
    ..PLAIN
};

pub static VS_CODE_INSIDERS: Code = Code {
    name: "vscode-insiders",
    aliases: &["code-insiders"],
    display_name: "VS Code Insiders",
    programs: &["code-insiders"],
    application: "Visual Studio Code - Insiders",
    windows_folder: "Microsoft VS Code Insiders",
    extensions: ".vscode-insiders",
    ..PLAIN
};

pub static VS_CODIUM: Code = Code {
    name: "vscodium",
    aliases: &["codium"],
    display_name: "VSCodium",
    programs: &["codium"],
    application: "VSCodium",
    windows_folder: "VSCodium",
    flatpak: Some("com.vscodium.codium"),
    extensions: ".vscode-oss",
    ..PLAIN
};

pub static CURSOR: Code = Code {
    name: "cursor",
    display_name: "Cursor",
    programs: &["cursor"],
    application: "Cursor",
    windows_folder: "cursor",
    extensions: ".cursor",
    ..PLAIN
};

pub static WINDSURF: Code = Code {
    name: "windsurf",
    display_name: "Windsurf",
    programs: &["windsurf"],
    application: "Windsurf",
    windows_folder: "Windsurf",
    extensions: ".windsurf",
    ..PLAIN
};

pub static TRAE: Code = Code {
    name: "trae",
    display_name: "Trae",
    programs: &["trae"],
    application: "Trae",
    windows_folder: "Trae",
    extensions: ".trae",
    ..PLAIN
};

pub static ANTIGRAVITY: Code = Code {
    name: "antigravity",
    aliases: &["agy"],
    display_name: "Antigravity",
    programs: &["antigravity", "agy"],
    alias_variable: Some("ANTIGRAVITY_CLI_ALIAS"),
    application: "Antigravity",
    windows_folder: "Antigravity",
    extensions: ".antigravity",
    ..PLAIN
};

pub static POSITRON: Code = Code {
    name: "positron",
    display_name: "Positron",
    programs: &["positron"],
    application: "Positron",
    support_folder: Some("Positron"),
    windows_folder: "Positron",
    extensions: ".positron",
    ..PLAIN
};

/// Runs in a browser; its terminal has `code`.
pub static FIREBASE_STUDIO: Code = Code {
    name: "firebase-studio",
    display_name: "Firebase Studio",
    programs: &["code"],
    only_with: Some("MONOSPACE_ENV"),
    ..PLAIN
};
