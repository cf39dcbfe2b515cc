//! Kakoune: the module that this program holds, in a folder of Kakoune's settings.

use std::path::PathBuf;

use super::machine::Machine;
use super::package::{Package, Plugin};

pub const KAKOUNE: Plugin = Plugin {
    names: &["kakoune", "kak"],
    editor: "Kakoune",
    programs: &["kak"],
    kind: "module",
    setting: "the option `pillion_command`",
    distributed: ("kak/rc", "pillion"),
    oldest: &[2024, 5],
    package,
};

const NEXT_LOADED: &str = "Restart Kakoune; `:pillion-doctor` then checks the installation.";

const NEXT: &str = "Add this line to your kakrc, and restart Kakoune:\n\n    source \"%val{config}/pillion/pillion.kak\"";

const LEFTOVER: &str =
    "remove the line `source \"%val{config}/pillion/pillion.kak\"` from your kakrc, if it is there";

/// In the folder that is loaded by itself, if the person has one, or where it was put before; else beside `kakrc`.
fn package(machine: &Machine) -> anyhow::Result<Package> {
    let config = settings(machine)?;
    let beside = machine.join(&config, "pillion");
    // If a person has this folder, nothing is loaded from Kakoune's own folder of this name, so it is never made
    // for them.
    let autoload = machine.join(&config, "autoload");
    let ignores_system = autoload.is_dir();
    let (target, next) = if autoload.is_dir() && !beside.exists() {
        (machine.join(&autoload, "pillion"), NEXT_LOADED)
    } else {
        (beside, NEXT)
    };
    Ok(Package {
        target,
        backup: machine.join(&config, "pillion-backup"),
        ignores_system,
        next,
        leftover: Some(LEFTOVER),
        ..Package::default()
    })
}

fn settings(machine: &Machine) -> anyhow::Result<PathBuf> {
    let own = "KAKOUNE_CONFIG_DIR";
    Ok(match machine.variable(own) {
        Some(folder) => machine.absolute(own, folder)?,
        None => machine.join(machine.folder_or("XDG_CONFIG_HOME", ".config")?, "kak"),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::machine::Platform;
    use super::*;

    #[test]
    fn the_program_holds_the_module_and_its_help() {
        let names: Vec<_> = KAKOUNE.files().into_iter().map(|(name, _)| name).collect();
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
