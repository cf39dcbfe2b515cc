//! The settings file of an agent's user, in which `pillion hook install` puts its hooks: looked at before anything is decided,
//! and written whole or not at all. A symbolic link stays one: the file that it leads to is changed.

use std::io;
use std::path::{Path, PathBuf};

use pillion_changes::save::{Original, in_place};
use pillion_discovery::Environment;
use pillion_doctor::setup::settings::user_file;
use pillion_hooks::settings::{self, Format, Refused, State};
use pillion_protocol::Dialect;
use pillion_text::stderr;

use crate::failure::{Failure, Kind};

/// The advice where the file cannot be written.
const BY_HAND: &str = "Add the entry yourself: `pillion hook install AGENT --print` shows it.";

/// The file, as it was looked at.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
    original: Original,
    text: Option<String>,
}

impl SettingsFile {
    /// Looks at this agent's.
    ///
    /// # Errors
    /// When it cannot be read or written, or belongs to another user.
    pub fn of(agent: Dialect) -> anyhow::Result<Self> {
        let path = path(agent)?;
        check_owner(&path)?;
        let original = Original::look(&path).map_err(Failure::of_file)?.private();
        let text = match original.before().map(str::from_utf8) {
            None => None,
            Some(Ok(text)) => Some(text.to_owned()),
            Some(Err(error)) => {
                let why = format!(
                    "it is not in UTF-8 from byte {} on",
                    error.valid_up_to() + 1
                );
                let hint = "Correct that place first.";
                return Err(refused(&path, Refused { why, hint }).into());
            }
        };
        Ok(Self {
            path,
            original,
            text,
        })
    }

    /// The text in it; none if it is not there.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The language that it is in.
    pub fn format(&self) -> Format {
        Format::of(&self.path)
    }

    /// Its path, and the one where it really is if that is another place.
    pub fn shown(&self) -> String {
        let (path, target) = (self.path.display(), self.original.target());
        match target == self.path {
            true => path.to_string(),
            false => format!("{path} (in fact {})", target.display()),
        }
    }

    /// Returns true if the agent does not run a hook of ours in this text of the file before its person has trusted it.
    pub fn is_untrusted(&self, text: &str, agent: &str) -> bool {
        let Ok(values) = settings::values(self.format(), text) else {
            return false;
        };
        let hooks = settings::hooks(&values).into_iter();
        let mut ours = hooks.filter(|hook| hook.ours(agent).is_some());
        ours.any(|hook| settings::state(&values, &self.path, &hook) == State::Untrusted)
    }

    /// The failure of an edit of it.
    pub fn refused(&self, why: Refused) -> Failure {
        refused(&self.path, why)
    }

    /// Writes another text into it.
    ///
    /// # Errors
    /// When it has changed since it was looked at, or the system refuses.
    pub fn replace(&self, text: &str) -> anyhow::Result<()> {
        let folder = self.original.target().parent();
        folder.map_or(Ok(()), create_private)?;
        let note = |copy: &Path| {
            stderr::print(in_place(self.original.target(), copy));
        };
        self.original
            .replace(None, text.as_bytes(), note)
            .map_err(|error| {
                let failure = Failure::new(Kind::Refused, error.to_string());
                anyhow::Error::new(error).context(failure.hint("Run it again."))
            })
    }
}

/// The path of the settings of an agent's user.
///
/// # Errors
/// When it has none that are known.
pub fn path(agent: Dialect) -> Result<PathBuf, Failure> {
    let path = user_file(agent, &Environment::current());
    path.filter(|path| path.is_absolute()).ok_or_else(|| {
        let message = format!("it is not known where {agent} has its settings");
        Failure::new(Kind::Refused, message).hint("Set HOME to your home folder.")
    })
}

fn refused(path: &Path, Refused { why, hint }: Refused) -> Failure {
    Failure::new(Kind::Refused, format!("{}: {why}", path.display())).hint(hint)
}

/// Refuses a file that its agent's user did not write, or does not want to be written.
#[cfg(unix)]
fn check_owner(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt;

    // Where it is not there, its folder counts.
    let found = path.ancestors().find_map(|path| path.metadata().ok());
    let why = match found {
        Some(found) if found.uid() != rustix::process::geteuid().as_raw() => {
            "it belongs to another user"
        }
        Some(found) if found.is_file() && found.mode() & 0o222 == 0 => "it is read-only",
        _ => return Ok(()),
    };
    let why = why.to_owned();
    Err(refused(path, Refused { why, hint: BY_HAND }))
}

#[cfg(not(unix))]
fn check_owner(path: &Path) -> Result<(), Failure> {
    match path.metadata() {
        Ok(found) if found.is_file() && found.permissions().readonly() => {
            let why = "it is read-only".to_owned();
            Err(refused(path, Refused { why, hint: BY_HAND }))
        }
        _ => Ok(()),
    }
}

/// Makes the folder of an agent that has not run yet: agents keep secrets there.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
