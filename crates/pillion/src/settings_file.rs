//! A settings file of the person's, of an agent or of an editor: looked at before anything is decided, and written whole or
//! not at all. A symbolic link stays one: the file that it leads to is changed.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use pillion_changes::save::{Original, in_place};
use pillion_hooks::settings::Refused;
use pillion_text::stderr;

use crate::failure::{self, Failure, Kind};

/// The file, as it was looked at.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
    original: Original,
    text: Option<String>,
    is_private: bool,
}

impl SettingsFile {
    /// Looks at the file at `path`; `by_hand` is the advice where it cannot be written.
    pub fn look(path: PathBuf, by_hand: &str) -> anyhow::Result<Self> {
        if let Some(why) = not_ours(&path) {
            return Err(at(&path, why).hint(by_hand).into());
        }
        let original = Original::look(&path).map_err(failure::of_file)?;
        let text = match original.before().map(str::from_utf8) {
            None => None,
            Some(Ok(text)) => Some(text.to_owned()),
            Some(Err(error)) => {
                let byte = error.valid_up_to() + 1;
                let why = format!("it is not in UTF-8 from byte {byte} on");
                return Err(at(&path, &why).hint("Correct that place first.").into());
            }
        };
        Ok(Self {
            path,
            original,
            text,
            is_private: false,
        })
    }

    /// The same, where a new file and its folder are for their owner alone: agents keep secrets there.
    #[must_use]
    pub fn private(self) -> Self {
        Self {
            original: self.original.private(),
            is_private: true,
            ..self
        }
    }

    /// The text in it; none if it is not there.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The path by which it is known.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its path, and the one where it really is if that is another place.
    pub fn shown(&self) -> String {
        let (path, target) = (self.path.display(), self.original.target());
        match target == self.path {
            true => path.to_string(),
            false => format!("{path} (in fact {})", target.display()),
        }
    }

    /// The failure of an edit of it.
    pub fn refused(&self, refused: Refused) -> Failure {
        at(&self.path, &refused.why).hint(refused.hint)
    }

    /// Writes another text into it.
    pub fn replace(&self, text: &str) -> anyhow::Result<()> {
        let target = self.original.target();
        if let Some(folder) = target.parent().filter(|_| self.is_private) {
            create_private(folder)?;
        }
        let note = |copy: &Path| stderr::print(in_place(target, copy));
        let written = self.original.replace(None, text.as_bytes(), note);
        written.map_err(|error| {
            let failure = Failure::new(Kind::Refused, error.to_string());
            anyhow::Error::new(error).context(failure.hint("Run it again."))
        })
    }

    /// Deletes it. A symbolic link that led to it stays.
    pub fn delete(&self) -> anyhow::Result<()> {
        let target = self.original.target();
        if fs::read(target).ok().as_deref() != self.original.before() {
            let message = format!("{} was changed in the meantime", target.display());
            return Err(Failure::new(Kind::Refused, message)
                .hint("Run it again.")
                .into());
        }
        fs::remove_file(target).with_context(|| format!("cannot delete {}", target.display()))
    }
}

fn at(path: &Path, why: &str) -> Failure {
    Failure::new(Kind::Refused, format!("{}: {why}", path.display()))
}

/// Says why a file is not this person's to write: they did not write it, or do not want it to be written.
fn not_ours(path: &Path) -> Option<&'static str> {
    // Where it is not there, its folder counts.
    let found = path.ancestors().find_map(|path| path.metadata().ok())?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::uid(&found) != rustix::process::geteuid().as_raw() {
        return Some("it belongs to another user");
    }
    (found.is_file() && found.permissions().readonly()).then_some("it is read-only")
}

/// Makes the folder of an agent that has not run yet, for its owner alone.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_since_it_was_looked_at_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "{}").unwrap();
        let file = SettingsFile::look(path.clone(), "").unwrap();
        fs::write(&path, "{\"a\": 1}").unwrap();
        for refused in [file.replace("{}\n"), file.delete()] {
            let refused = format!("{:#}", refused.unwrap_err());
            assert!(refused.contains("was changed in the meantime"), "{refused}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\": 1}");
        }
        SettingsFile::look(path.clone(), "")
            .unwrap()
            .delete()
            .unwrap();
        assert!(!path.exists());
    }
}
