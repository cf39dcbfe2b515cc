//! Neovim: the plugin that this program holds, as a package where every Neovim looks for one.

use std::fs;
use std::path::{Path, PathBuf};

use super::machine::{Machine, Platform};
use super::package::{Package, Plugin};
use crate::failure::{Failure, Kind};

pub const NEOVIM: Plugin = Plugin {
    names: &["nvim", "neovim"],
    editor: "Neovim",
    programs: &["nvim"],
    kind: "plugin",
    setting: "the plugin's option `command`",
    distributed: ("nvim/site/pack/dist/start", "pillion"),
    oldest: &[0, 10],
    package,
};

/// A file that every copy of the plugin has.
const OF_THE_PLUGIN: &str = "lua/pillion/client.lua";

const NEXT: &str = "Restart Neovim; `:checkhealth pillion` then checks the installation.";

/// On the package path of every Neovim, whatever its settings. It loads what is in `start` and `opt` of
/// `pack/pillion`, and nothing beside them.
fn package(machine: &Machine) -> anyhow::Result<Package> {
    let (data, config) = folders(machine)?;
    let pack = machine.join(&data, "site/pack/pillion");
    let target = machine.join(&pack, "start/pillion");
    Ok(Package {
        backup: machine.join(&pack, "backup"),
        other_copy: other_copy(machine, &data, &config, &target),
        notes: notes(machine, &data, &target),
        target,
        next: NEXT,
        ..Package::default()
    })
}

/// The folders of Neovim's data and its settings, as its `stdpath()` computes them.
fn folders(machine: &Machine) -> anyhow::Result<(PathBuf, PathBuf)> {
    let app = machine
        .variable("NVIM_APPNAME")
        .unwrap_or_else(|| "nvim".into());
    let app = app.to_str().filter(|name| {
        let mut parts = name.split(['/', '\\']);
        parts.all(|part| !["", ".", ".."].contains(&part))
    });
    let app = app.ok_or_else(|| {
        Failure::new(Kind::Refused, "NVIM_APPNAME is not a valid folder name").hint(
            "It has to be a name such as nvim or nvim-test. Unset it, or set it as you do for Neovim.",
        )
    })?;
    let is_windows = machine.platform == Platform::Windows;
    let base = |variable: &str, below_home: &str| {
        if is_windows && machine.variable(variable).is_none() {
            machine.folder_or("LOCALAPPDATA", "AppData/Local")
        } else {
            machine.folder_or(variable, below_home)
        }
    };
    let data = if is_windows { "-data" } else { "" };
    Ok((
        machine.join(
            base("XDG_DATA_HOME", ".local/share")?,
            &format!("{app}{data}"),
        ),
        machine.join(base("XDG_CONFIG_HOME", ".config")?, app),
    ))
}

/// Another copy, where plugin managers put theirs: lazy.nvim, vim-plug, and those who use packages.
fn other_copy(machine: &Machine, data: &Path, config: &Path, target: &Path) -> Option<PathBuf> {
    let mut places = vec![
        data.join("lazy"),
        data.join("plugged"),
        config.join("plugged"),
    ];
    let home = machine.home();
    places.extend(home.map(|home| machine.join(home, ".vim/plugged")));
    for packs in [machine.join(data, "site/pack"), config.join("pack")] {
        for pack in below(&packs) {
            places.extend(["start", "opt"].map(|kind| pack.join(kind)));
        }
    }
    let mut copies = places.iter().flat_map(|place| below(place));
    copies.find(|copy| copy != target && copy.join(OF_THE_PLUGIN).is_file())
}

/// Notes on what a user may wonder about afterwards.
fn notes(machine: &Machine, data: &Path, target: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    if data.join("lazy/lazy.nvim").is_dir() {
        notes.push(format!(
            "lazy.nvim is installed and does not load Neovim's packages: add {{ dir = {} }} to its plugins",
            lua_string(target)
        ));
    }
    if let Some(app) = machine.variable("NVIM_APPNAME") {
        let app = app.display();
        notes.push(format!(
            "NVIM_APPNAME is set: this is for the Neovim named {app} (0.9 and later)"
        ));
    }
    notes
}

/// A path as it is written in Lua: those of Windows have backslashes.
fn lua_string(path: &Path) -> String {
    let path = path.to_string_lossy();
    let escaped = path.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// The entries of a folder, in order; none if it is not there.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::install::folder::File;

    const WINDOWS: &[(&str, &str)] = &[
        ("USERPROFILE", r"C:\Users\me"),
        ("LOCALAPPDATA", r"D:\Local"),
    ];

    #[test]
    fn the_program_holds_what_users_need_of_the_plugin_and_nothing_else() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/nvim");
        let mut wanted = BTreeSet::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for path in below(&folder) {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                let name = name.replace('\\', "/");
                let of_an_editor = |name: &str| name.starts_with(['.', '#']) || name.ends_with('~');
                if of_an_editor(path.file_name().unwrap().to_str().unwrap()) {
                    // The file that is being edited lies beside it.
                } else if path.is_dir() {
                    folders.push(path);
                } else if name != "README.md" {
                    wanted.insert((name, fs::read(&path).unwrap()));
                }
            }
        }
        assert!(wanted.len() > 40);
        let held: BTreeSet<_> = NEOVIM.files().into_iter().collect();
        let names =
            |files: &BTreeSet<File>| files.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
        assert_eq!(names(&held), names(&wanted));
        assert!(held == wanted, "a file's content differs");
    }

    /// The index that Neovim itself makes of the page is compared where it runs.
    #[test]
    fn the_index_of_the_help_has_every_tag_of_the_page() {
        let text = |wanted: &str| {
            let files = NEOVIM.files();
            let (_, text) = files.into_iter().find(|(name, _)| name == wanted).unwrap();
            String::from_utf8(text).unwrap()
        };
        let page = text("doc/pillion.txt");
        let tags = page.split_whitespace().filter_map(|word| {
            let tag = word.strip_prefix('*')?.strip_suffix('*')?;
            (!tag.is_empty()).then_some(tag)
        });
        let tags: BTreeSet<_> = tags.collect();
        let index = text("doc/tags");
        let indexed: Vec<_> = index
            .lines()
            .map(|line| line.split('\t').next().unwrap())
            .collect();
        assert!(
            tags.iter().eq(&indexed),
            "run `:helptags doc` in editors/nvim"
        );
    }

    #[test]
    fn the_package_lies_where_neovim_looks() {
        let home = [("HOME", "/h")];
        let xdg = [
            ("HOME", "/h"),
            ("XDG_DATA_HOME", "/d"),
            ("NVIM_APPNAME", "a/b"),
        ];
        for (platform, variables, folder) in [
            (Platform::Linux, &home[..], "/h/.local/share/nvim"),
            (Platform::Mac, &home, "/h/.local/share/nvim"),
            (Platform::Linux, &xdg, "/d/a/b"),
            (Platform::Windows, WINDOWS, r"D:\Local\nvim-data"),
            (
                Platform::Windows,
                &WINDOWS[..1],
                r"C:\Users\me\AppData\Local\nvim-data",
            ),
        ] {
            let machine = Machine::of(platform, variables);
            let target = package(&machine).unwrap().target;
            let end = "/site/pack/pillion/start/pillion";
            let end = if platform == Platform::Windows {
                end.replace('/', "\\")
            } else {
                end.to_owned()
            };
            assert_eq!(target.to_str().unwrap(), format!("{folder}{end}"));
        }
    }

    #[test]
    fn a_path_is_written_as_lua_reads_it() {
        assert_eq!(lua_string(Path::new("/a b/c")), r#""/a b/c""#);
        assert_eq!(lua_string(Path::new(r"C:\Users\me")), r#""C:\\Users\\me""#);
        assert_eq!(lua_string(Path::new("a\"b\nc")), r#""a\"b\nc""#);
    }

    #[test]
    fn variables_that_lead_nowhere_are_named() {
        for (name, value) in [
            ("NVIM_APPNAME", "../x"),
            ("NVIM_APPNAME", "/x"),
            ("XDG_DATA_HOME", "relative"),
            ("HOME", "relative"),
        ] {
            let machine = Machine::of(Platform::Linux, &[("HOME", "/h"), (name, value)]);
            let error = folders(&machine).unwrap_err();
            assert!(error.to_string().starts_with(name), "{error}");
        }
        let machine = Machine::of(Platform::Linux, &[("HOME", "")]);
        let error = folders(&machine).unwrap_err();
        assert!(error.to_string().contains("HOME"), "{error}");
    }
}
