//! VS Code and the editors that are made of it: what `editors.json` says of each.

use std::sync::LazyLock;

use serde::Deserialize;

/// All of them, in the order in which they are listed.
pub static FAMILY: LazyLock<Vec<Code>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("editors.json")).expect("the table is built in")
});

/// One editor of VS Code's family.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Code {
    pub names: Vec<&'static str>,
    pub display_name: &'static str,
    /// Its programs, as typed; the first names its folders on Linux.
    pub programs: Vec<&'static str>,
    /// A variable that names its program.
    pub alias_variable: Option<&'static str>,
    /// Its application on a Mac.
    pub application: Option<&'static str>,
    /// Its folder in a Mac user's Library, where its command may be.
    pub support_folder: Option<&'static str>,
    /// Its folder on Windows.
    pub windows_folder: Option<&'static str>,
    /// Its package at Flathub.
    pub flatpak: Option<&'static str>,
    /// The folder of its extensions, below the home folder, unless it names one itself.
    pub extensions: Option<&'static str>,
    /// It is there only where this is set: its program is another one's, too.
    pub only_with: Option<&'static str>,
}
