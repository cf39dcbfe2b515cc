//! Installing what an editor needs to be a companion (C7.2).
//!
//! An [`Installer`] looks and plans, and changes nothing; a [`Plan`] is carried out in one place,
//! after it was shown if only that was asked for. A new editor is a file below this module, and
//! its name in two lines here. One with a plugin of Pillion's is a [`package::Plugin`], which says
//! where it goes; one that needs lines in a settings file of the user's is a
//! [`settings::Settings`], which says how they are added and removed.

mod emacs;
mod folder;
mod helix;
mod kakoune;
mod kate;
mod machine;
mod nvim;
mod package;
mod program;
mod settings;
mod vim;
mod vscode;

use std::fmt;
use std::path::PathBuf;

use pillion_protocol::Dialect;
use serde::Serialize;

pub use self::machine::Machine;

/// One editor: where it is, what it needs, how it gets that.
pub trait Installer: fmt::Debug + Sync {
    /// The words for it on the command line. The first one is its name.
    fn names(&self) -> &[&'static str];

    fn name(&self) -> &'static str {
        self.names()[0]
    }

    /// For people.
    fn display_name(&self) -> &'static str;

    /// Returns true if it can have extensions of the agents' makers, one for each agent.
    fn has_official(&self) -> bool {
        false
    }

    /// Finds out if it is on this machine, and what of ours it has.
    fn find(&self, machine: &Machine) -> Found;

    /// Returns the plan that gives it what it needs.
    fn install(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan>;

    /// Returns the plan that removes all of that.
    fn uninstall(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan>;
}

/// One change to the machine: described first, by `Display`, and then done.
pub trait Step: fmt::Debug + fmt::Display {
    /// Does it. Returns what was done, for people.
    fn carry_out(&self) -> anyhow::Result<String>;
}

/// The steps, and what else to report.
#[derive(Debug, Default)]
pub struct Plan {
    pub steps: Vec<Box<dyn Step>>,
    /// Notes for the user, whether or not there is something to do.
    pub notes: Vec<String>,
    /// The next step for the user: lines as they are, such as those that belong into a settings
    /// file.
    pub next: Option<&'static str>,
}

impl Plan {
    /// With `before` in front of its notes, and, if it does anything, with what is to be done `then`.
    #[must_use]
    pub fn between(mut self, before: Vec<String>, then: &'static str) -> Self {
        self.notes.splice(..0, before);
        self.next = (!self.steps.is_empty()).then_some(then);
        self
    }
}

/// The findings about an editor.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    pub program: Option<PathBuf>,
    /// The parts of ours that it has, such as `plugin 0.1.0`.
    pub installed: Vec<String>,
    /// The parts of ours that it could get, if it is there.
    pub missing: Vec<String>,
    /// Why it could get none of ours, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_old: Option<String>,
}

impl Found {
    pub fn is_here(&self) -> bool {
        self.program.is_some()
    }

    /// Of an editor for which there is one thing to install.
    fn of(thing: &str, program: Option<PathBuf>, installed: Vec<String>) -> Self {
        let is_missing = program.is_some() && installed.is_empty();
        let missing = is_missing.then(|| thing.to_owned());
        Self {
            missing: missing.into_iter().collect(),
            program,
            installed,
            too_old: None,
        }
    }
}

/// The options that were given.
#[derive(Debug, Default)]
pub struct Options {
    /// The extensions of the agents' makers, in place of Pillion's own.
    pub official: bool,
    /// The extension of this agent's maker alone.
    pub agent: Option<Dialect>,
    /// Move aside what is in the way.
    pub force: bool,
}

impl Options {
    /// Returns true if extensions of the agents' makers are meant.
    fn are_official(&self) -> bool {
        self.official || self.agent.is_some()
    }
}

/// Every editor, in the order in which they are listed.
pub fn editors() -> impl Iterator<Item = &'static dyn Installer> {
    let one_each: [&dyn Installer; 6] = [
        &nvim::NEOVIM,
        &vim::VIM,
        &emacs::EMACS,
        &kakoune::KAKOUNE,
        &helix::HELIX,
        &kate::KATE,
    ];
    one_each.into_iter().chain(vscode::editors())
}

pub fn editor(name: &str) -> Option<&'static dyn Installer> {
    editors().find(|editor| editor.names().contains(&name))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_word_means_one_editor() {
        let mut seen = HashSet::new();
        for installer in editors() {
            for name in installer.names() {
                assert!(seen.insert(*name), "{name}");
                assert_eq!(editor(name).unwrap().name(), installer.name());
            }
        }
        assert!(editor("notepad").is_none());
    }
}
