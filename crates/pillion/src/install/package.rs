//! A plugin that this program holds, as a folder of an editor's: what to do so that it is there, or
//! gone. Every editor that loads plugins from a folder installs through this.
//!
//! `build.rs` embeds every folder below `editors/`.

use std::path::PathBuf;
use std::time::Duration;

use super::folder::{File, InTheWay, Put, State, Take};
use super::machine::Machine;
use super::{Found, Installer, Options, Plan, Step, program};
use crate::failure::{Failure, Kind};

/// The files of all plugins, by their paths below `editors`.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/plugins.rs"));

/// An editor says its release at once.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// An editor's plugin.
#[derive(Debug)]
pub struct Plugin {
    /// The words for the editor on the command line. The first one is also that for the folder that the plugin has
    /// below `editors`.
    pub names: &'static [&'static str],
    /// The editor, for people.
    pub editor: &'static str,
    pub programs: &'static [&'static str],
    /// The editor's word for a plugin.
    pub kind: &'static str,
    /// The setting that gives the plugin the path of `pillion`.
    pub setting: &'static str,
    /// The place where the package of a distribution puts it: a folder below those of `XDG_DATA_DIRS`, and the start of a name
    /// in it.
    pub distributed: (&'static str, &'static str),
    /// The oldest release of the editor in which it starts.
    pub oldest: &'static [u32],
    /// Its place on a machine.
    pub package: fn(&Machine) -> anyhow::Result<Package>,
}

impl Plugin {
    pub fn files(&self) -> Vec<File> {
        files(self.name())
            .map(|(path, text)| (path.to_owned(), text.to_vec()))
            .collect()
    }

    /// Another copy: that of this person, or one that came with the system.
    fn other_copy(&self, machine: &Machine, package: &mut Package) -> Option<PathBuf> {
        let (folder, name) = self.distributed;
        package.other_copy.take().or_else(|| {
            if package.ignores_system {
                return None;
            }
            let folders = machine.data_folders().into_iter();
            let mut entries = folders.filter_map(|it| it.join(folder).read_dir().ok());
            entries.find_map(|mut entries| {
                let entry = entries.find(|it| {
                    it.as_ref()
                        .is_ok_and(|it| it.file_name().to_string_lossy().starts_with(name))
                });
                Some(entry?.ok()?.path())
            })
        })
    }

    /// Why the editor of this machine cannot load it, if so.
    fn too_old(&self, machine: &Machine) -> Option<String> {
        let program = machine.program(self.programs)?;
        // The one of Kakoune; others take two dashes, as Vim does not with one.
        let option = match self.name() {
            "kakoune" => "-version",
            _ => "--version",
        };
        let ended = program::run(&program, &[option], VERSION_TIMEOUT).ok()?;
        let words = ended.out.first()?.split([' ', ',']);
        let release = words.map(numbers).find(|it| it.len() > 1)?;
        let dotted = |it: &[u32]| it.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
        let (editor, oldest) = (self.editor, dotted(self.oldest));
        let is_old = release.as_slice() < self.oldest;
        is_old.then(|| {
            format!(
                "{editor} {} is too old: Pillion needs {oldest} or newer",
                dotted(&release)
            )
        })
    }

    /// Notes on what else is missing.
    fn missing(&self, machine: &Machine) -> Vec<String> {
        let mut notes = Vec::new();
        if machine.program(self.programs).is_none() {
            notes.push(format!("{} itself is not on PATH", self.editor));
        }
        notes.extend(without_program(machine, self.kind, self.setting));
        notes
    }
}

/// The note about a plugin, of this `kind`, that will not find the program.
pub fn without_program(machine: &Machine, kind: &str, setting: &str) -> Option<String> {
    machine.program(&["pillion"]).is_none().then(|| {
        format!("`pillion` is not on PATH, where the {kind} looks for it: put it there, or set {setting}")
    })
}

/// The files of the plugin in this folder below `editors`, by their paths there.
pub fn files(folder: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.iter().filter_map(move |(path, text)| {
        let path = path.strip_prefix(folder)?.strip_prefix('/')?;
        Some((path, *text))
    })
}

/// The numbers of a word such as `v0.10.4`; of one that is no version, as many as begin it.
fn numbers(word: &str) -> Vec<u32> {
    let parts = word.strip_prefix('v').unwrap_or(word).split('.');
    parts.map_while(|part| part.parse().ok()).collect()
}

impl Installer for Plugin {
    fn names(&self) -> &[&'static str] {
        self.names
    }

    fn display_name(&self) -> &'static str {
        self.editor
    }

    fn find(&self, machine: &Machine) -> Found {
        let program = machine.program(self.programs);
        let installed = match (self.package)(machine) {
            Ok(mut package) => {
                let other = self.other_copy(machine, &mut package);
                let other = other.map(|copy| format!("plugin in {}", copy.display()));
                let own = package.found(&self.files());
                own.into_iter().chain(other).collect()
            }
            Err(error) => vec![format!("plugin ({error})")],
        };
        let found = Found::of("plugin", program, installed);
        match self.too_old(machine) {
            Some(why) if !found.missing.is_empty() => Found {
                missing: Vec::new(),
                too_old: Some(why),
                ..found
            },
            _ => found,
        }
    }

    fn install(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        if let Some(why) = self.too_old(machine).filter(|_| !options.force) {
            let failure = Failure::new(Kind::Refused, why);
            return Err(failure
                .hint("Update it. `--force` installs the plugin all the same, for a newer one that is not on PATH.")
                .into());
        }
        let mut package = (self.package)(machine)?;
        let mut notes = self.missing(machine);
        notes.append(&mut package.notes);
        if let Some(other) = self.other_copy(machine, &mut package) {
            let message = format!("the plugin is already in {}", other.display());
            if !options.force {
                return Err(Failure::new(Kind::Refused, message)
                    .hint(
                        "A plugin manager, a package of your system or you put it there: update that copy, or remove it first. `--force` installs a second copy.",
                    )
                    .into());
            }
            notes.push(format!("{message}: {} finds two copies", self.editor));
        }
        let next = package.next;
        let plan = package.install(self.files(), machine, options.force)?;
        Ok(plan.between(notes, next))
    }

    fn uninstall(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        (self.package)(machine)?.uninstall()
    }
}

/// The place of a plugin on this machine, and what a person is told about it.
#[derive(Debug, Default)]
pub struct Package {
    /// The folder that it is to be.
    pub target: PathBuf,
    /// The place where what is in the way waits, in a folder above from which the editor loads nothing else.
    pub backup: PathBuf,
    /// A copy of the plugin that somebody else put elsewhere.
    pub other_copy: Option<PathBuf>,
    /// True if the editor of this person loads nothing that came with the system.
    pub ignores_system: bool,
    /// Notes on what else a person may wonder about.
    pub notes: Vec<String>,
    /// The next step for them once it is there.
    pub next: &'static str,
    /// The rest that they may remove themselves once it is gone.
    pub leftover: Option<&'static str>,
    /// What there is to do once it is there.
    pub then: Option<Box<dyn Step>>,
}

impl Package {
    /// Describes what is there, for `--list`: `files` are this program's.
    pub fn found(&self, files: &[File]) -> Option<String> {
        let version = env!("CARGO_PKG_VERSION");
        match self.look() {
            Ok(State::Ours(ours)) if ours.is_just(files) => Some(format!("plugin {version}")),
            Ok(State::Ours(ours)) if ours.has_changes() => {
                Some(format!("plugin {} (changed by you)", ours.marker.version))
            }
            Ok(State::Ours(ours)) if ours.marker.version == version => {
                Some(format!("plugin {version} (from another build)"))
            }
            Ok(State::Ours(ours)) => {
                let other = ours.marker.version;
                Some(format!("plugin {other} (`pillion` is {version})"))
            }
            Ok(State::Foreign(what)) => Some(format!("plugin ({what})")),
            Ok(State::Absent) => None,
            Err(error) => Some(format!("plugin ({error})")),
        }
    }

    /// Returns the plan that puts these files there. Nothing, and a note, if they are.
    pub fn install(self, files: Vec<File>, machine: &Machine, force: bool) -> anyhow::Result<Plan> {
        machine.check_owner(&self.target)?;
        let mut plan = Plan::default();
        let in_the_way = match self.look()? {
            State::Absent => InTheWay::Nothing,
            State::Ours(ours) if ours.is_just(&files) => {
                let version = ours.marker.version;
                let place = self.target.display();
                plan.notes
                    .push(format!("version {version} is already in {place}"));
                return Ok(plan);
            }
            State::Ours(ours) if !ours.has_changes() => InTheWay::Older(ours.marker),
            State::Ours(_) | State::Foreign(_) if force => InTheWay::Kept(self.free_backup()),
            State::Ours(ours) => {
                let (target, changes) = (self.target.display(), ours.of_the_user());
                let message = format!("{target} contains changes of yours: {changes}");
                return Err(Failure::new(Kind::Refused, message)
                    .hint("`--force` moves the folder aside with your changes in it, and installs a fresh one.")
                    .into());
            }
            State::Foreign(what) => {
                let message = format!("{} is {what}", self.target.display());
                return Err(Failure::new(Kind::Refused, message)
                    .hint("Move it away, or let `--force` move it aside.")
                    .into());
            }
        };
        plan.steps.push(Box::new(Put {
            target: self.target,
            files,
            in_the_way,
        }));
        plan.steps.extend(self.then);
        Ok(plan)
    }

    /// Returns the plan that removes all of Pillion's.
    pub fn uninstall(self) -> anyhow::Result<Plan> {
        let place = self.target.display();
        let backup = &self.backup;
        let kept = backup.is_dir().then(|| {
            let backup = backup.display();
            format!("the files that were moved aside for the plugin stay in {backup}")
        });
        let leftover = self.leftover.map(str::to_owned);
        match self.look()? {
            State::Ours(ours) => Ok(Plan {
                notes: kept.into_iter().chain(leftover).collect(),
                steps: vec![Box::new(Take {
                    target: self.target,
                    ours,
                })],
                ..Plan::default()
            }),
            State::Absent => Err(Failure::new(Kind::Refused, format!("{place} does not exist"))
                .hint("If a plugin manager installed it, remove it with that plugin manager.")
                .into()),
            State::Foreign(what) => Err(Failure::new(Kind::Refused, format!("{place} is {what}"))
                .hint("Pillion cannot tell which files are its own: remove the folder yourself if you do not need it.")
                .into()),
        }
    }

    fn look(&self) -> anyhow::Result<State> {
        State::of(&self.target).map_err(|error| {
            let message = format!("cannot look at {}: {error}", self.target.display());
            Failure::new(Kind::Refused, message)
                .hint("Give yourself read permission for that folder and those above it.")
                .into()
        })
    }

    /// A free name for what has to move.
    fn free_backup(&self) -> PathBuf {
        let names = (1..).map(|number: u32| self.backup.join(format!("pillion-{number}")));
        let mut free = names.skip_while(|path| path.symlink_metadata().is_ok());
        free.next().unwrap_or_else(|| self.backup.clone())
    }
}
