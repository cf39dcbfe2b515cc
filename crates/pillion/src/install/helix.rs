//! Helix: every language that it knows gets `pillion lsp` beside its own servers, in `languages.toml`.

mod languages;
mod settings;

use std::path::PathBuf;

use self::languages::Language;
use super::machine::{Machine, Platform};
use super::settings::{Added, Settings};
use crate::failure::{Failure, Kind};
use crate::settings_file::SettingsFile;

pub const HELIX: Settings = Settings {
    names: &["helix", "hx"],
    editor: "Helix",
    programs: &PROGRAMS,
    path,
    is_installed: settings::is_installed,
    add,
    remove: settings::uninstall,
    next: "Restart Helix; `hx --health rust` then lists `pillion`.",
};

const PROGRAMS: [&str; 2] = ["hx", "helix"];

fn add(machine: &Machine, file: &SettingsFile) -> anyhow::Result<Added> {
    let known = known(machine)?;
    Ok(Added {
        text: settings::install(file.text(), &known).map_err(|why| file.refused(why))?,
        what: format!("`pillion lsp` for {} languages", known.len()),
        notes: Vec::new(),
    })
}

/// The user's own file. Helix takes the same place on a Mac as on Linux.
fn path(machine: &Machine) -> anyhow::Result<PathBuf> {
    let config = match machine.platform {
        Platform::Windows => machine.folder("APPDATA")?,
        Platform::Linux | Platform::Mac => machine.config()?,
    };
    Ok(machine.join(config, "helix/languages.toml"))
}

/// The languages that this machine's Helix knows.
fn known(machine: &Machine) -> Result<Vec<Language>, Failure> {
    let programs = machine.programs(&PROGRAMS);
    let first = programs.first().ok_or_else(|| {
        let message = "Helix is not on PATH, so Pillion cannot tell which languages it knows";
        Failure::new(Kind::Refused, message)
            .hint("Put `hx` on PATH, or name your languages yourself: docs/editors.md.")
    })?;
    let mut known = programs.iter();
    let known = known.find_map(|program| languages::of_program(program));
    known.ok_or_else(|| {
        let message = format!("cannot find Helix's languages in {}", first.display());
        Failure::new(Kind::Refused, message)
            .hint("Name your languages in languages.toml yourself: docs/editors.md.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_lie_where_helix_looks() {
        for (platform, variables, expected) in [
            (
                Platform::Linux,
                &[("HOME", "/h")][..],
                "/h/.config/helix/languages.toml",
            ),
            (
                Platform::Mac,
                &[("HOME", "/h")],
                "/h/.config/helix/languages.toml",
            ),
            (
                Platform::Linux,
                &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")],
                "/c/helix/languages.toml",
            ),
            (
                Platform::Linux,
                &[("HOME", "/h"), ("XDG_CONFIG_HOME", "c")],
                "/h/.config/helix/languages.toml",
            ),
            (
                Platform::Windows,
                &[("APPDATA", r"C:\Users\me\AppData\Roaming")],
                r"C:\Users\me\AppData\Roaming\helix\languages.toml",
            ),
        ] {
            let machine = Machine::of(platform, variables);
            assert_eq!(path(&machine).unwrap().to_str().unwrap(), expected);
        }
        assert!(path(&Machine::of(Platform::Linux, &[("HOME", "h")])).is_err());
    }
}
