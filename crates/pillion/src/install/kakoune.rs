//! Kakoune: the module that this program holds, in a folder of Kakoune's settings.

use std::path::PathBuf;

use super::machine::Machine;
use super::package::{Package, Plugin};
use super::plan::Plan;
use super::{Found, Installer, Options};

/// Itself.
pub fn editors() -> impl Iterator<Item = &'static dyn Installer> {
    std::iter::once(&Kakoune as &dyn Installer)
}

const PLUGIN: Plugin = Plugin {
    editor: "Kakoune",
    programs: &["kak"],
    kind: "module",
    setting: "the option `pillion_command`",
    files: include!(concat!(env!("OUT_DIR"), "/kakoune_files.rs")),
};

/// Where Kakoune loads everything by itself. If a person has this folder, nothing is loaded from Kakoune's own
/// folder of this name, so it is never made for them.
const AUTOLOAD: &str = "autoload";

const NEXT_LOADED: &str = "Restart Kakoune; `:pillion-doctor` then checks the installation.";

const NEXT: &str = "Add this line to your kakrc, and restart Kakoune:\n\n    source \"%val{config}/pillion/pillion.kak\"";

/// Kakoune.
#[derive(Debug)]
pub struct Kakoune;

impl Installer for Kakoune {
    fn name(&self) -> &'static str {
        "kakoune"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["kak"]
    }

    fn display_name(&self) -> &'static str {
        "Kakoune"
    }

    fn find(&self, machine: &Machine) -> Found {
        PLUGIN.found(machine, package(machine))
    }

    fn install(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        let package = package(machine)?;
        let is_loaded = package
            .target
            .parent()
            .is_some_and(|it| it.ends_with(AUTOLOAD));
        let next = if is_loaded { NEXT_LOADED } else { NEXT };
        let plan = package.install(PLUGIN.files(), machine, options.force)?;
        Ok(plan.between(PLUGIN.notes(machine), next))
    }

    fn uninstall(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let package = package(machine)?;
        let line = "remove the line `source \"%val{config}/pillion/pillion.kak\"` from your kakrc, if it is there";
        let mut plan = package.uninstall()?;
        plan.notes.push(line.to_owned());
        Ok(plan)
    }
}

/// In the folder that is loaded by itself, if the person has one, or where it was put before; else beside `kakrc`.
fn package(machine: &Machine) -> anyhow::Result<Package> {
    let config = settings(machine)?;
    let beside = machine.join(&config, "pillion");
    let autoload = machine.join(&config, AUTOLOAD);
    let target = if autoload.is_dir() && !beside.exists() {
        machine.join(&autoload, "pillion")
    } else {
        beside
    };
    Ok(Package {
        target,
        backup: machine.join(&config, "pillion-backup"),
    })
}

/// The folder of Kakoune's settings.
fn settings(machine: &Machine) -> anyhow::Result<PathBuf> {
    for (name, part) in [("KAKOUNE_CONFIG_DIR", ""), ("XDG_CONFIG_HOME", "kak")] {
        if let Some(folder) = machine.variable(name) {
            let folder = machine.absolute(name, folder)?;
            return Ok(match part {
                "" => folder,
                part => machine.join(folder, part),
            });
        }
    }
    let home = machine.absolute_home()?;
    Ok(machine.join(home, ".config/kak"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::machine::Platform;
    use super::*;

    #[test]
    fn the_program_holds_the_module_and_its_help() {
        let names: Vec<_> = PLUGIN.files().into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["pillion-open-kak", "pillion.asciidoc", "pillion.kak"]
        );
    }

    #[test]
    fn it_lies_where_kakoune_has_its_settings() {
        for (variables, expected) in [
            (&[("HOME", "/h")][..], "/h/.config/kak/pillion"),
            (
                &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")],
                "/x/kak/pillion",
            ),
            (
                &[("HOME", "/h"), ("KAKOUNE_CONFIG_DIR", "/k")],
                "/k/pillion",
            ),
        ] {
            let machine = Machine::of(Platform::Linux, variables);
            assert_eq!(
                package(&machine).unwrap().target.to_str().unwrap(),
                expected
            );
        }
    }
}
