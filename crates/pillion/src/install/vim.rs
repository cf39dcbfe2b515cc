//! Vim: the plugin that this program holds, as a package where Vim looks for one.

use std::path::PathBuf;

use super::folder::File;
use super::machine::{Machine, Platform};
use super::package::{self, Package};
use super::plan::Plan;
use super::{Found, Installer, Options};
use crate::failure::{Failure, Kind};

/// Itself.
pub fn editors() -> impl Iterator<Item = &'static dyn Installer> {
    std::iter::once(&Vim as &dyn Installer)
}

/// The plugin's files, by their paths in it.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/vim_files.rs"));

const NEXT: &str = "Restart Vim; `:Pillion doctor` then checks the installation.";

/// Vim 9.
#[derive(Debug)]
pub struct Vim;

impl Installer for Vim {
    fn name(&self) -> &'static str {
        "vim"
    }

    fn display_name(&self) -> &'static str {
        "Vim"
    }

    fn find(&self, machine: &Machine) -> Found {
        let program = machine.program(&["vim", "gvim"]);
        let installed: Vec<_> = match package(machine) {
            Ok(package) => package.found(&plugin_files()).into_iter().collect(),
            Err(error) => vec![format!("plugin ({error})")],
        };
        Found::of_plugin(program, installed)
    }

    fn install(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        let mut notes = Vec::new();
        if machine.program(&["vim", "gvim"]).is_none() {
            notes.push("Vim itself is not on PATH".to_owned());
        }
        if machine.program(&["pillion"]).is_none() {
            let note = "`pillion` is not on PATH, where the plugin looks for it: put it there, or \
                        set `g:pillion_command`";
            notes.push(note.to_owned());
        }
        let plan = package(machine)?.install(plugin_files(), machine, options.force)?;
        Ok(plan.between(notes, NEXT))
    }

    fn uninstall(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        package(machine)?.uninstall()
    }
}

/// On the package path of every Vim, whatever its settings: below the first folder of 'runtimepath'.
fn package(machine: &Machine) -> anyhow::Result<Package> {
    let home = machine.home().ok_or_else(|| {
        Failure::new(Kind::Refused, "HOME is not set").hint("Set HOME to your home folder.")
    })?;
    let home = machine.absolute("HOME", home)?;
    let folder = match machine.platform {
        Platform::Windows => "vimfiles",
        Platform::Linux | Platform::Mac => ".vim",
    };
    let pack: PathBuf = machine.join(machine.join(home, folder), "pack/pillion");
    Ok(Package {
        target: machine.join(&pack, "start/pillion"),
        backup: machine.join(&pack, "backup"),
    })
}

/// The files of this program's plugin.
fn plugin_files() -> Vec<File> {
    package::files(FILES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_holds_the_plugin_and_its_help() {
        let names: Vec<_> = plugin_files().into_iter().map(|(name, _)| name).collect();
        for wanted in [
            "plugin/pillion.vim",
            "autoload/pillion.vim",
            "autoload/pillion/diff/typed.vim",
            "doc/pillion.txt",
            "doc/tags",
        ] {
            assert!(names.iter().any(|name| name == wanted), "{wanted}");
        }
        assert!(!names.iter().any(|name| name == "README.md"));
    }

    #[test]
    fn the_package_lies_where_vim_looks() {
        for (platform, variables, expected) in [
            (
                Platform::Linux,
                ("HOME", "/h"),
                "/h/.vim/pack/pillion/start/pillion",
            ),
            (
                Platform::Mac,
                ("HOME", "/h"),
                "/h/.vim/pack/pillion/start/pillion",
            ),
            (
                Platform::Windows,
                ("USERPROFILE", r"C:\Users\me"),
                r"C:\Users\me\vimfiles\pack\pillion\start\pillion",
            ),
        ] {
            let machine = Machine::of(platform, &[variables]);
            assert_eq!(
                package(&machine).unwrap().target.to_str().unwrap(),
                expected
            );
        }
        let machine = Machine::of(Platform::Linux, &[("HOME", "relative")]);
        assert!(package(&machine).is_err());
    }
}
