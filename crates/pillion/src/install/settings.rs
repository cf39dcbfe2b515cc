//! An editor that starts `pillion lsp` because a settings file of the user's says so.

use std::path::PathBuf;
use std::{fmt, fs};

use pillion_hooks::settings::Refused;

use super::machine::Machine;
use super::{Found, Installer, Options, Plan, Step};
use crate::settings_file::SettingsFile;

/// The advice where the file cannot be written.
const BY_HAND: &str = "Add the lines yourself: docs/editors.md.";

/// The editor, and its file.
#[derive(Debug)]
pub struct Settings {
    /// The words for the editor on the command line.
    pub names: &'static [&'static str],
    /// The editor, for people.
    pub editor: &'static str,
    pub programs: &'static [&'static str],
    pub path: fn(&Machine) -> anyhow::Result<PathBuf>,
    pub is_installed: fn(&str) -> bool,
    /// Adds Pillion to the text of the file.
    pub add: fn(&Machine, &SettingsFile) -> anyhow::Result<Added>,
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
        let path = (self.path)(machine);
        let text = path.ok().and_then(|path| fs::read_to_string(path).ok());
        let installed = text.is_some_and(|text| (self.is_installed)(&text));
        let installed = installed.then(|| "settings".to_owned());
        let program = machine.program(self.programs);
        Found::of("settings", program, installed.into_iter().collect())
    }

    fn install(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let file = self.look(machine)?;
        let mut added = (self.add)(machine, &file)?;
        if machine.program(&["pillion"]).is_none() {
            let editor = self.editor;
            let note = format!("{editor} looks for `pillion` on PATH, where it is missing: add it");
            added.notes.insert(0, note);
        }
        let mut plan = Plan::default();
        if file.text() == Some(&added.text) {
            let note = format!("{} is already set up", file.shown());
            plan.notes.push(note);
        } else {
            let (after, added) = (Some(added.text), Some(added.what));
            plan.steps.push(Box::new(Edit { file, after, added }));
        }
        Ok(plan.between(added.notes, self.next))
    }

    fn uninstall(&self, machine: &Machine, _: &Options) -> anyhow::Result<Plan> {
        let file = self.look(machine)?;
        let mut plan = Plan::default();
        match file.text().filter(|text| (self.is_installed)(text)) {
            Some(text) => {
                let after = (self.remove)(text).map_err(|why| file.refused(why))?;
                let added = None;
                plan.steps.push(Box::new(Edit { file, after, added }));
            }
            None => {
                let (place, name) = (file.shown(), self.name());
                let note = format!("nothing in {place} was written by `pillion install {name}`");
                plan.notes.push(note);
            }
        }
        Ok(plan)
    }
}

impl Settings {
    fn look(&self, machine: &Machine) -> anyhow::Result<SettingsFile> {
        let path = (self.path)(machine)?;
        machine.check_owner(&path)?;
        SettingsFile::look(path, BY_HAND)
    }
}

/// The change of the file.
#[derive(Debug)]
struct Edit {
    file: SettingsFile,
    /// Its new text; none if it is to go.
    after: Option<String>,
    /// The addition, in words; none if the edit removes what was added.
    added: Option<String>,
}

impl Edit {
    fn describe(&self, add: &str, remove: &str) -> String {
        let shown = self.file.shown();
        match &self.added {
            Some(what) => format!("{add} {what} to {shown}"),
            None => format!("{remove} Pillion's settings from {shown}"),
        }
    }
}

impl Step for Edit {
    fn carry_out(&self) -> anyhow::Result<String> {
        match &self.after {
            Some(text) => self.file.replace(text)?,
            None => self.file.delete()?,
        }
        Ok(self.describe("added", "removed"))
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe("add", "remove"))
    }
}
