//! An editor that starts `pillion lsp` because a settings file of the user's says so.

use std::path::{Path, PathBuf};

use super::edit::{self, Edit, Refused};
use super::machine::Machine;
use super::plan::Plan;
use super::{Found, Installer, Options};

/// The editor, and its file.
#[derive(Debug)]
pub struct Settings {
    /// The words for the editor on the command line.
    pub names: &'static [&'static str],
    /// The editor, for people.
    pub editor: &'static str,
    /// Its programs.
    pub programs: &'static [&'static str],
    /// The path of the file.
    pub path: fn(&Machine) -> anyhow::Result<PathBuf>,
    /// Returns true if something of ours is in its text.
    pub is_installed: fn(&str) -> bool,
    /// Adds Pillion to the text of the file at this path, if there is one.
    pub add: fn(&Machine, &Path, Option<&str>) -> anyhow::Result<Added>,
    /// The text without Pillion; none if the file is to go.
    pub remove: fn(&str) -> Result<Option<String>, Refused>,
    /// The next step for the person.
    pub next: &'static str,
}

/// A settings file as it is to be.
#[derive(Debug)]
pub struct Added {
    /// All of it.
    pub text: String,
    /// The addition, in words.
    pub what: String,
    /// Notes on what a person may wonder about.
    pub notes: Vec<String>,
}

impl Installer for Settings {
    fn names(&self) -> &[&'static str] {
        self.names
    }

    fn display_name(&self) -> &'static str {
        self.editor
    }

    fn find(&self, machine: &Machine) -> Found {
        let text = (self.path)(machine).and_then(|path| edit::read(&path));
        let text = text.ok().flatten();
        let installed = text.is_some_and(|text| (self.is_installed)(&text));
        let installed = installed.then(|| "settings".to_owned());
        let program = machine.program(self.programs);
        Found::of("settings", program, installed.into_iter().collect())
    }

    fn install(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let path = (self.path)(machine)?;
        edit::check_owner(machine, &path)?;
        let before = edit::read(&path)?;
        let mut added = (self.add)(machine, &path, before.as_deref())?;
        if machine.program(&["pillion"]).is_none() {
            let editor = self.editor;
            let note = format!("{editor} looks for `pillion` on PATH, where it is missing: add it");
            added.notes.insert(0, note);
        }
        let edit = Edit {
            path,
            before,
            after: Some(added.text),
            added: Some(added.what),
        };
        Ok(edit.into_plan().between(added.notes, self.next))
    }

    fn uninstall(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let path = (self.path)(machine)?;
        edit::check_owner(machine, &path)?;
        let before = edit::read(&path)?;
        let Some(text) = before.as_deref().filter(|text| (self.is_installed)(text)) else {
            let (place, name) = (path.display(), self.name());
            let note = format!("nothing in {place} was written by `pillion install {name}`");
            return Ok(Plan {
                notes: vec![note],
                ..Plan::default()
            });
        };
        let edit = Edit {
            after: (self.remove)(text).map_err(|why| why.at(&path))?,
            added: None,
            path,
            before,
        };
        Ok(edit.into_plan())
    }
}
