//! Changes a settings file of the user's: all of it or nothing, through a link if it is one, and only if
//! nobody else changed it since it was looked at.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, anyhow};

use super::machine::Machine;
use super::plan::{Plan, Step};
use super::whole;
use crate::failure::{Failure, Kind};

/// The file to change.
#[derive(Debug)]
pub struct Edit {
    pub path: PathBuf,
    /// Its text now; nothing if it is not there.
    pub before: Option<String>,
    /// Its new text; nothing if it is to go.
    pub after: Option<String>,
    /// The addition, in words; nothing if the edit removes what was added.
    pub added: Option<String>,
}

/// Why a settings file stays as it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    pub why: String,
    /// The advice for the person.
    pub hint: &'static str,
}

impl Refused {
    /// The failure, for the file at `path`.
    pub fn at(self, path: &Path) -> Failure {
        let message = format!("{}: {}", path.display(), self.why);
        Failure::new(Kind::Refused, message).hint(self.hint)
    }
}

/// Returns the text of a settings file; nothing if it is not there.
///
/// # Errors
/// When it cannot be read, or is not text.
pub fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(anyhow!(error).context(format!("cannot read {}", path.display()))),
    }
}

/// Refuses to write for another user.
///
/// # Errors
/// When this is root by `sudo`, in the home of the user who called it.
pub fn check_owner(machine: &Machine, path: &Path) -> anyhow::Result<()> {
    if machine.is_sudo_callers(path) {
        let message = format!("{} in your home would belong to root", path.display());
        let failure = Failure::new(Kind::Refused, message);
        return Err(failure.hint("Run it without `sudo`.").into());
    }
    Ok(())
}

impl Step for Edit {
    /// Does it.
    ///
    /// # Errors
    /// When the file has changed, or the system refuses.
    fn carry_out(&self) -> anyhow::Result<String> {
        let shown = self.path.display();
        if read(&self.path)? != self.before {
            return Err(anyhow!(
                "{shown} has changed in the meantime: run this again"
            ));
        }
        let written = match &self.after {
            Some(text) => self.write(text),
            None => fs::remove_file(&self.path),
        };
        written.with_context(|| format!("cannot change {shown}"))?;
        Ok(self.describe("added", "removed"))
    }
}

impl Edit {
    /// The plan that changes the file, unless all of it is there already.
    pub fn into_plan(self) -> Plan {
        let mut plan = Plan::default();
        if self.before == self.after {
            let note = format!("{} is already set up", self.path.display());
            plan.notes.push(note);
        } else {
            plan.steps.push(Box::new(self));
        }
        plan
    }

    fn describe(&self, add: &str, remove: &str) -> String {
        let shown = self.path.display();
        match &self.added {
            Some(what) => format!("{add} {what} to {shown}"),
            None => format!("{remove} Pillion's settings from {shown}"),
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        // A link to a file of the user's collection stays one.
        let path = pillion_discovery::canonicalize(&self.path);
        let path = path.unwrap_or_else(|_| self.path.clone());
        let folder = path.parent().unwrap_or(Path::new("."));
        whole::write(&path, text.as_bytes(), folder)
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe("add", "remove"))
    }
}
