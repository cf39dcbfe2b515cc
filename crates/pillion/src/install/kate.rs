//! Kate: `pillion lsp` for every language whose own server is not there, in the settings of its LSP client. Kate
//! runs one server for a language.

mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::machine::{Machine, Platform};
use super::settings::{Added, Settings};
use crate::failure::{Failure, Kind};
use crate::settings_file::SettingsFile;

pub const KATE: Settings = Settings {
    names: &["kate"],
    editor: "Kate",
    programs: &["kate"],
    path,
    is_installed: settings::is_installed,
    add,
    remove: settings::uninstall,
    next: "Restart Kate, and allow it to start `pillion` when it asks. Run this again after you have \
           installed a language server.",
};

fn add(machine: &Machine, file: &SettingsFile) -> anyhow::Result<Added> {
    check_choice(machine, file.path())?;
    let (missing, served) = by_server(machine);
    let added = settings::install(file.text(), &missing, &served);
    let added = added.map_err(|why| file.refused(why))?;
    Ok(Added {
        text: added.text,
        what: "`pillion lsp` for every language without a server of its own".to_owned(),
        notes: notes(machine, &served, &added.users),
    })
}

/// Notes on what the user may wonder about afterwards.
fn notes(machine: &Machine, served: &[&Language], users: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    if machine.program(&["kate"]).is_none() {
        let note = "Pillion opens proposals with `kate`, which is not on PATH: add it, or review with \
                    `pillion` in a terminal";
        notes.push(note.to_owned());
    }
    let own = served.iter().map(|language| language.name);
    let kept: Vec<&str> = own.chain(users.iter().map(String::as_str)).collect();
    if !kept.is_empty() {
        notes.push(format!(
            "kept the language servers of {}: Kate runs one per language, so agents do not see these files, and \
             their proposals are accepted with `pillion accept` in a terminal",
            kept.join(", ")
        ));
    }
    notes
}

/// Kate's own place for it, as Qt computes it.
fn path(machine: &Machine) -> anyhow::Result<PathBuf> {
    let config = match machine.platform {
        Platform::Windows => machine.folder("LOCALAPPDATA")?,
        Platform::Mac => machine.join(machine.absolute_home()?, "Library/Preferences"),
        Platform::Linux => machine.config()?,
    };
    Ok(machine.join(config, "kate/lspclient/settings.json"))
}

/// Refuses if the user has chosen another file, because Kate would not read this one.
fn check_choice(machine: &Machine, path: &Path) -> anyhow::Result<()> {
    let config = path.ancestors().nth(3);
    let rc = config.map(|config| machine.join(config, "katerc"));
    let rc = rc.and_then(|rc| fs::read_to_string(rc).ok());
    let Some(other) = rc.as_deref().and_then(settings::other_file) else {
        return Ok(());
    };
    let message = format!(
        "Kate reads its servers from {other} instead of {}",
        path.display()
    );
    let hint = "Clear that field in Settings, LSP Client, or add the lines of docs/editors.md to that file.";
    Err(Failure::new(Kind::Refused, message).hint(hint).into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_settings_lie_where_kate_looks() {
        for (platform, variables, expected) in [
            (
                Platform::Linux,
                ("HOME", "/h"),
                "/h/.config/kate/lspclient/settings.json",
            ),
            (
                Platform::Linux,
                ("XDG_CONFIG_HOME", "/x"),
                "/x/kate/lspclient/settings.json",
            ),
            (
                Platform::Mac,
                ("HOME", "/h"),
                "/h/Library/Preferences/kate/lspclient/settings.json",
            ),
            (
                Platform::Windows,
                ("LOCALAPPDATA", r"D:\Local"),
                r"D:\Local\kate\lspclient\settings.json",
            ),
        ] {
            let machine = Machine::of(platform, &[variables]);
            assert_eq!(path(&machine).unwrap().to_str().unwrap(), expected);
        }
        assert!(path(&Machine::of(Platform::Linux, &[])).is_err());
    }
}

/// A language of Kate's.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// The name of its entry.
    pub name: &'static str,
    /// The program of its server, or those of several releases.
    programs: Vec<&'static str>,
}

/// The folders in which Kate looks besides PATH for some of them.
const FOLDERS: [&str; 4] = [".cargo/bin", "go/bin", ".juliaup/bin", ".nimble/bin"];

/// Likewise, below what a variable names.
const VARIABLES: [&str; 2] = ["CARGO_HOME", "GOPATH"];

/// The languages whose servers are not on this machine, and those whose are.
pub fn by_server(machine: &Machine) -> (Vec<&'static Language>, Vec<&'static Language>) {
    let homes = FOLDERS.iter().filter_map(|folder| {
        let home = machine.home()?;
        Some(machine.join(home, folder))
    });
    let named = VARIABLES.iter().filter_map(|name| {
        let folder = machine.variable(name)?;
        Some(machine.join(folder, "bin"))
    });
    let folders: Vec<_> = homes.chain(named).collect();
    let is_there = |program: &&str| {
        let beside = folders
            .iter()
            .any(|folder| machine.join(folder, program).is_file());
        beside || machine.program(&[program]).is_some()
    };
    let is_missing = |language: &&Language| !language.programs.iter().any(is_there);
    LANGUAGES.iter().partition(is_missing)
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let language = |line: &'static str| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let programs = words.collect();
        Some(Language { name, programs })
    };
    let lines = include_str!("kate/languages.txt").lines();
    lines.filter_map(language).collect()
});
