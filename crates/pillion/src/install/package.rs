//! A plugin that this program holds, as a folder of an editor's: what to do so that it is there, or
//! gone. Every editor that loads plugins from a folder installs through this.

use std::path::PathBuf;

use super::folder::{File, InTheWay, Ours, Put, State, Take};
use super::machine::Machine;
use super::plan::{Plan, Step};
use crate::failure::{Failure, Kind};

/// A plugin, and its place.
#[derive(Debug)]
pub struct Package {
    /// The folder that it is to be.
    pub target: PathBuf,
    /// Where what is in the way waits, in a folder above from which the editor loads nothing else.
    pub backup: PathBuf,
}

/// The files of a plugin, out of what the program holds.
pub fn files(held: &[(&str, &[u8])]) -> Vec<File> {
    let files = held.iter();
    files
        .map(|(name, text)| ((*name).to_owned(), text.to_vec()))
        .collect()
}

impl Package {
    /// What is there, for `--list`: `files` are this program's.
    pub fn found(&self, files: &[File]) -> Option<String> {
        let version = env!("CARGO_PKG_VERSION");
        match self.look() {
            Ok(State::Ours(ours)) if ours.is_of(files) && ours.added.is_empty() => {
                Some(format!("plugin {version}"))
            }
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

    /// What to do so that these files are there. Nothing, and a note, if they are.
    pub fn install(self, files: Vec<File>, machine: &Machine, force: bool) -> anyhow::Result<Plan> {
        if machine.is_of_who_called_sudo(&self.target) {
            let message = format!(
                "{} in your home would belong to root",
                self.target.display()
            );
            return Err(Failure::new(Kind::Refused, message)
                .hint("Run it without `sudo`.")
                .into());
        }
        let mut plan = Plan::default();
        let in_the_way = match self.look()? {
            State::Absent => InTheWay::Nothing,
            State::Ours(ours) if ours.is_of(&files) && ours.added.is_empty() => {
                let version = ours.marker.version;
                let place = self.target.display();
                plan.notes
                    .push(format!("version {version} is already in {place}"));
                return Ok(plan);
            }
            State::Ours(ours) => self.over_ours(ours, force)?,
            State::Foreign(_) if force => InTheWay::Kept(self.free_backup()),
            State::Foreign(what) => {
                let message = format!("{} is {what}", self.target.display());
                return Err(Failure::new(Kind::Refused, message)
                    .hint("Move it away, or let `--force` move it aside.")
                    .into());
            }
        };
        plan.steps.push(Step::Put(Put {
            target: self.target,
            files,
            in_the_way,
        }));
        Ok(plan)
    }

    /// What to do so that nothing of Pillion's is there.
    pub fn uninstall(self) -> anyhow::Result<Plan> {
        let place = self.target.display();
        let backup = &self.backup;
        let kept = backup.is_dir().then(|| {
            let backup = backup.display();
            format!("the files that were moved aside for the plugin stay in {backup}")
        });
        match self.look()? {
            State::Ours(ours) => Ok(Plan {
                notes: kept.into_iter().collect(),
                steps: vec![Step::Take(Take {
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

    /// What is over a folder of ours: another version, or changes of the user's, too.
    fn over_ours(&self, ours: Ours, force: bool) -> anyhow::Result<InTheWay> {
        if !ours.has_changes() {
            return Ok(InTheWay::Older(ours.marker));
        }
        if force {
            return Ok(InTheWay::Kept(self.free_backup()));
        }
        let message = format!(
            "{} contains changes of yours: {}",
            self.target.display(),
            ours.of_the_user()
        );
        Err(Failure::new(Kind::Refused, message)
            .hint("`--force` moves the folder aside with your changes in it, and installs a fresh one.")
            .into())
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
