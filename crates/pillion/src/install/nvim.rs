//! Neovim: the plugin that this program holds, as a package where every Neovim looks for one.

use std::fs;
use std::path::{Path, PathBuf};

use super::folder::{File, InTheWay, Ours, Put, State, Take};
use super::help_tags::help_tags;
use super::machine::{Machine, Platform};
use super::plan::{Plan, Step};
use super::{Found, Installer, Options};
use crate::failure::{Failure, Kind};

/// The plugin's files, by their paths in it.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/nvim_files.rs"));

/// A file that every copy of the plugin has.
const OF_THE_PLUGIN: &str = "lua/pillion/client.lua";

const NEXT: &str = "Then start Neovim again; `:checkhealth pillion` says whether all is well.";

/// Neovim.
#[derive(Debug)]
pub struct Neovim;

/// Where Neovim keeps things.
struct Folders {
    data: PathBuf,
    config: PathBuf,
}

impl Installer for Neovim {
    fn name(&self) -> &'static str {
        "nvim"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["neovim"]
    }

    fn display_name(&self) -> &'static str {
        "Neovim"
    }

    fn find(&self, machine: &Machine) -> Found {
        let program = machine.program(&["nvim"]);
        let state = Folders::of(machine).and_then(|folders| look(&folders.target(machine)));
        let installed = match state {
            Ok(State::Ours(ours)) => vec![format!("plugin {}", ours.marker.version)],
            Ok(State::Foreign(what)) => vec![format!("plugin ({what})")],
            Ok(State::Absent) => Vec::new(),
            Err(error) => vec![format!("plugin ({error})")],
        };
        Found { program, installed }
    }

    fn install(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        refuse_agent(options)?;
        let folders = Folders::of(machine)?;
        let target = folders.target(machine);
        if machine.is_of_who_called_sudo(&target) {
            let message = format!("root would own {} in your home", target.display());
            return Err(Failure::new(Kind::Refused, message)
                .hint("Run it without `sudo`.")
                .into());
        }
        let mut plan = Plan {
            notes: notes(machine, &folders, &target),
            ..Plan::default()
        };
        if let Some(other) = folders.other_copy(machine, &target) {
            let message = format!("the plugin is in {} already", other.display());
            if !options.force {
                return Err(Failure::new(Kind::Refused, message)
                    .hint(
                        "That is a plugin manager's place, or your own: update it there, or \
                         remove it there first. `--force` installs a second copy.",
                    )
                    .into());
            }
            plan.notes
                .push(format!("{message}: Neovim finds two copies"));
        }
        let files = plugin_files();
        let in_the_way = match look(&target)? {
            State::Absent => InTheWay::Nothing,
            State::Ours(ours) if ours.is_of(&files) && ours.added.is_empty() => {
                let version = ours.marker.version;
                let place = target.display();
                plan.notes
                    .push(format!("version {version} is in {place} already"));
                return Ok(plan);
            }
            State::Ours(ours) => over_ours(ours, &target, options.force, machine)?,
            State::Foreign(_) if options.force => InTheWay::Kept(free_backup(&target, machine)),
            State::Foreign(what) => {
                let message = format!("{} is {what}", target.display());
                return Err(Failure::new(Kind::Refused, message)
                    .hint("Move it away, or let `--force` move it aside.")
                    .into());
            }
        };
        plan.next = Some(NEXT);
        plan.steps.push(Step::Put(Put {
            staging: staging(&target),
            target,
            files,
            in_the_way,
        }));
        Ok(plan)
    }

    fn uninstall(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        refuse_agent(options)?;
        let target = Folders::of(machine)?.target(machine);
        let place = target.display();
        match look(&target)? {
            State::Ours(ours) => Ok(Plan {
                steps: vec![Step::Take(Take {
                    staging: staging(&target),
                    target,
                    ours,
                })],
                ..Plan::default()
            }),
            State::Absent => Err(Failure::new(Kind::Refused, format!("there is no {place}"))
                .hint("What a plugin manager installed is removed with that plugin manager.")
                .into()),
            State::Foreign(what) => Err(Failure::new(Kind::Refused, format!("{place} is {what}"))
                .hint("Pillion cannot tell what in it is its own: remove it yourself if it may go.")
                .into()),
        }
    }
}

impl Folders {
    /// As Neovim's `stdpath()` computes them.
    fn of(machine: &Machine) -> anyhow::Result<Self> {
        let app = machine
            .variable("NVIM_APPNAME")
            .unwrap_or_else(|| "nvim".into());
        let app = app.to_str().filter(|name| {
            let parts: Vec<_> = name.split(['/', '\\']).collect();
            !parts
                .iter()
                .any(|part| part.is_empty() || *part == "." || *part == "..")
        });
        let app = app.ok_or_else(|| {
            Failure::new(Kind::Refused, "NVIM_APPNAME is no name of a folder").hint(
                "It is a name such as nvim or nvim-test. Unset it, or set it as you do for Neovim.",
            )
        })?;
        let (data, config) = match machine.platform {
            Platform::Windows => (format!("{app}-data"), app.to_owned()),
            Platform::Linux | Platform::Mac => (app.to_owned(), app.to_owned()),
        };
        let base = |variable: &str, below_home: &str| {
            let of_windows = (machine.platform == Platform::Windows)
                .then(|| machine.variable("LOCALAPPDATA"))
                .flatten();
            let at_home = || Some(machine.join(machine.home()?, below_home));
            let own = machine.variable(variable);
            let named = if own.is_some() { variable } else { "HOME" };
            let base = own.or(of_windows).or_else(at_home);
            let base = base.ok_or_else(|| {
                Failure::new(Kind::Refused, format!("neither {variable} nor HOME is set"))
                    .hint("Set HOME to your home folder.")
            })?;
            if machine.platform != Platform::Windows && base.is_relative() {
                let message = format!("{named} is not absolute: {}", base.display());
                return Err(Failure::new(Kind::Refused, message).hint("Set it to a whole path."));
            }
            Ok(base)
        };
        let homes = match machine.platform {
            Platform::Windows => ["AppData/Local"; 2],
            Platform::Linux | Platform::Mac => [".local/share", ".config"],
        };
        Ok(Self {
            data: machine.join(base("XDG_DATA_HOME", homes[0])?, &data),
            config: machine.join(base("XDG_CONFIG_HOME", homes[1])?, &config),
        })
    }

    /// Where the package is: on the package path of every Neovim, whatever its settings.
    fn target(&self, machine: &Machine) -> PathBuf {
        machine.join(&self.data, "site/pack/pillion/start/pillion")
    }

    /// Another copy, where plugin managers put theirs: lazy.nvim, vim-plug, and whoever uses
    /// packages.
    fn other_copy(&self, machine: &Machine, target: &Path) -> Option<PathBuf> {
        let mut places = vec![self.data.join("lazy"), self.data.join("plugged")];
        for packs in [
            machine.join(&self.data, "site/pack"),
            self.config.join("pack"),
        ] {
            for pack in below(&packs) {
                places.extend(["start", "opt"].map(|kind| pack.join(kind)));
            }
        }
        let copies = places.iter().flat_map(|place| below(place));
        copies
            .filter(|copy| copy != target)
            .find(|copy| copy.join(OF_THE_PLUGIN).is_file())
    }
}

/// What a user may wonder about afterwards.
fn notes(machine: &Machine, folders: &Folders, target: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    if machine.program(&["nvim"]).is_none() {
        notes.push("Neovim itself is not on PATH".to_owned());
    }
    if machine.program(&["pillion"]).is_none() {
        let note = "`pillion` is not on PATH, where the plugin looks for it: put it there, or set \
                    the plugin's option `command`";
        notes.push(note.to_owned());
    }
    if folders.data.join("lazy/lazy.nvim").is_dir() {
        notes.push(format!(
            "lazy.nvim is here, and loads no packages of Neovim: add {{ dir = \"{}\" }} to its \
             plugins",
            target.display()
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

/// What is over a folder of ours: another version, or changes of the user's, too.
fn over_ours(
    ours: Ours,
    target: &Path,
    force: bool,
    machine: &Machine,
) -> anyhow::Result<InTheWay> {
    if !ours.has_changes() {
        return Ok(InTheWay::Older(ours.marker));
    }
    if force {
        return Ok(InTheWay::Kept(free_backup(target, machine)));
    }
    let message = format!(
        "{} has changes of yours: {}",
        target.display(),
        ours.of_the_user()
    );
    Err(Failure::new(Kind::Refused, message)
        .hint("`--force` moves the folder aside, your changes in it, and installs a fresh one.")
        .into())
}

/// Neovim's plugin serves every agent.
fn refuse_agent(options: &Options) -> anyhow::Result<()> {
    if options.agent.is_none() {
        return Ok(());
    }
    Err(
        Failure::new(Kind::Usage, "Neovim's plugin is for every agent")
            .hint("Leave out `--agent`.")
            .into(),
    )
}

fn look(target: &Path) -> anyhow::Result<State> {
    State::of(target).map_err(|error| {
        let message = format!("cannot look at {}: {error}", target.display());
        Failure::new(Kind::Refused, message)
            .hint("Make that folder, and those above it, readable for you.")
            .into()
    })
}

/// `pack/pillion`: Neovim loads what is in `start` and `opt` in it, and nothing beside them.
fn staging(target: &Path) -> PathBuf {
    let package = target.ancestors().nth(2).unwrap_or(target);
    package.to_owned()
}

/// A free name for what has to move, where Neovim does not load it.
fn free_backup(target: &Path, machine: &Machine) -> PathBuf {
    let folder = machine.join(staging(target), "backup");
    let names = (1..).map(|number: u32| folder.join(format!("pillion-{number}")));
    let mut free = names.skip_while(|path| path.symlink_metadata().is_ok());
    free.next().unwrap_or(folder)
}

/// The entries of a folder, in order; none if it is not there.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The files of this program's plugin, and the index of its help.
fn plugin_files() -> Vec<File> {
    let own = FILES
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.to_vec()));
    let mut files: Vec<_> = own.collect();
    let help = FILES.iter().find(|(name, _)| *name == "doc/pillion.txt");
    if let Some((_, text)) = help {
        let tags = help_tags("pillion.txt", &String::from_utf8_lossy(text));
        files.push(("doc/tags".to_owned(), tags.into_bytes()));
    }
    files
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

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
                if path.is_dir() {
                    folders.push(path);
                } else if name != "README.md" && name != "doc/tags" {
                    wanted.insert((name, fs::read(&path).unwrap()));
                }
            }
        }
        assert!(wanted.len() > 40);
        let held = FILES
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.to_vec()));
        let held: BTreeSet<_> = held.collect();
        let names =
            |files: &BTreeSet<File>| files.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
        assert_eq!(names(&held), names(&wanted));
        assert!(held == wanted, "a file's content differs");
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
            let target = Folders::of(&machine).unwrap().target(&machine);
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
    fn variables_that_lead_nowhere_are_named() {
        for (name, value) in [
            ("NVIM_APPNAME", "../x"),
            ("NVIM_APPNAME", "/x"),
            ("XDG_DATA_HOME", "relative"),
            ("HOME", "relative"),
        ] {
            let machine = Machine::of(Platform::Linux, &[("HOME", "/h"), (name, value)]);
            let error = Folders::of(&machine).map(|_| ()).unwrap_err();
            assert!(error.to_string().starts_with(name), "{error}");
        }
        let machine = Machine::of(Platform::Linux, &[("HOME", "")]);
        let error = Folders::of(&machine).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("HOME"), "{error}");
    }
}
