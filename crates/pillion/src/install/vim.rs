//! Vim: the plugin that this program holds, as a package where Vim looks for one.

use std::path::PathBuf;

use super::machine::{Machine, Platform};
use super::package::{Package, Plugin};

/// Vim 9.
pub const VIM: Plugin = Plugin {
    names: &["vim"],
    editor: "Vim",
    programs: &["vim", "gvim"],
    kind: "plugin",
    setting: "`g:pillion_command`",
    distributed: ("vim/vimfiles/pack/dist/start", "pillion"),
    oldest: &[9, 1],
    package,
};

const NEXT: &str = "Restart Vim; `:Pillion doctor` then checks the installation.";

/// On the package path of every Vim, whatever its settings: below the first folder of 'runtimepath'.
fn package(machine: &Machine) -> anyhow::Result<Package> {
    let home = machine.absolute_home()?;
    let folder = match machine.platform {
        Platform::Windows => "vimfiles",
        Platform::Linux | Platform::Mac => ".vim",
    };
    let pack: PathBuf = machine.join(machine.join(home, folder), "pack/pillion");
    Ok(Package {
        target: machine.join(&pack, "start/pillion"),
        backup: machine.join(&pack, "backup"),
        next: NEXT,
        ..Package::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_holds_the_plugin_and_its_help() {
        let names: Vec<_> = VIM.files().into_iter().map(|(name, _)| name).collect();
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
