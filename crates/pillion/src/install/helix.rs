//! Helix: every language that it knows gets `pillion lsp` beside its own servers, in `languages.toml`.

mod languages;
mod settings;

use std::path::PathBuf;

use self::languages::Language;
use super::edit::{self, Edit, Refusal};
use super::machine::{Machine, Platform};
use super::plan::Plan;
use super::{Found, Installer, Options};
use crate::failure::{Failure, Kind};

const PROGRAMS: [&str; 2] = ["hx", "helix"];

const NEXT: &str = "Restart Helix; `hx --health rust` then lists `pillion`.";

/// Helix.
#[derive(Debug)]
pub struct Helix;

impl Installer for Helix {
    fn name(&self) -> &'static str {
        "helix"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["hx"]
    }

    fn display_name(&self) -> &'static str {
        "Helix"
    }

    fn find(&self, machine: &Machine) -> Found {
        let text = path(machine).and_then(|path| edit::read(&path));
        let is_installed = text.is_ok_and(|text| settings::is_installed(&text.unwrap_or_default()));
        Found::of_settings(machine.program(&PROGRAMS), is_installed)
    }

    fn install(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let path = path(machine)?;
        edit::check_owner(machine, &path)?;
        let known = known(machine)?;
        let before = edit::read(&path)?;
        let text = before.as_deref();
        let after = settings::install(text, &known).map_err(|why| why.at(&path))?;
        let mut notes = Vec::new();
        if machine.program(&["pillion"]).is_none() {
            notes.push("Helix looks for `pillion` on PATH, where it is missing: add it".to_owned());
        }
        let plan = Plan::of_edit(Edit {
            path,
            before,
            after: Some(after),
            added: Some(format!("`pillion lsp` for {} languages", known.len())),
        });
        Ok(plan.between(notes, NEXT))
    }

    fn uninstall(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let without = |text: &str| settings::is_installed(text).then(|| settings::uninstall(text));
        Plan::of_removal(machine, path(machine)?, self.name(), without)
    }
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
fn known(machine: &Machine) -> anyhow::Result<Vec<Language>> {
    let programs = machine.programs(&PROGRAMS);
    let Some(first) = programs.first() else {
        let message = "Helix is not on PATH, so Pillion cannot tell which languages it knows";
        return Err(Failure::new(Kind::Refused, message)
            .hint("Put `hx` on PATH, or name your languages yourself: docs/editors.md.")
            .into());
    };
    let mut known = programs.iter();
    let known = known.find_map(|program| languages::of_program(program));
    Ok(known.ok_or_else(|| {
        let message = format!("cannot find Helix's languages in {}", first.display());
        Failure::new(Kind::Refused, message)
            .hint("Name your languages in languages.toml yourself: docs/editors.md.")
    })?)
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
