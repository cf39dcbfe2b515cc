//! Puts a folder in place: a complete copy beside it, then a rename.

use std::fmt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, anyhow};
use tempfile::TempDir;

use super::exchange::exchange;
use super::sweep::working_folder;
use super::{File, Marker, State, make_folders, remove_empty};

/// The folder to put in place.
#[derive(Debug)]
pub struct Put {
    pub target: PathBuf,
    /// Where the copy is made, in the same file system: above `target`, and nothing that an editor
    /// would load from.
    pub staging: PathBuf,
    pub files: Vec<File>,
    pub in_the_way: InTheWay,
}

/// What lies at the target.
#[derive(Debug)]
pub enum InTheWay {
    Nothing,
    /// An older folder of ours: it goes.
    Older(Marker),
    /// What is not ours: it is moved here.
    Kept(PathBuf),
}

impl Put {
    /// Does it. After a failure everything is as before.
    pub fn carry_out(&self) -> anyhow::Result<String> {
        let target = self.target.display();
        let parent = self.target.parent().unwrap_or(&self.target);
        let made = make_folders(parent)
            .with_context(|| format!("cannot create {}", parent.display()))
            .map_err(hinted)?;
        let result = self
            .stage(&made)
            .with_context(|| format!("cannot write to {}", self.staging.display()))
            .and_then(|copy| {
                self.swap(&copy)
                    .with_context(|| format!("cannot install the plugin in {target}"))
            });
        match result {
            Ok(()) => Ok(self.done()),
            Err(error) => {
                remove_empty(&made);
                Err(hinted(error))
            }
        }
    }

    /// The complete copy, marker included.
    fn stage(&self, made: &[PathBuf]) -> io::Result<TempDir> {
        let copy = working_folder(&self.staging)?;
        let made = match &self.in_the_way {
            InTheWay::Older(marker) => marker.made_above(&self.target),
            InTheWay::Nothing | InTheWay::Kept(_) => made.to_vec(),
        };
        for (name, text) in &self.files {
            let path = copy.path().join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)?;
        }
        let marker = Marker::new(&self.files, made).to_bytes()?;
        fs::write(copy.path().join(Marker::NAME), marker)?;
        Ok(copy)
    }

    /// Brings the copy to the target. What was there and is ours is then in the copy's place, and
    /// goes with it.
    fn swap(&self, copy: &TempDir) -> io::Result<()> {
        match &self.in_the_way {
            InTheWay::Nothing => fs::rename(copy.path(), &self.target).or_else(|error| {
                // Another installation was there first, with the same files.
                match State::of(&self.target) {
                    Ok(State::Ours(ours)) if ours.is_of(&self.files) => Ok(()),
                    _ => Err(error),
                }
            }),
            InTheWay::Older(_) => {
                let aside = beside(copy.path());
                exchange(copy.path(), &self.target, &aside)
            }
            InTheWay::Kept(backup) => {
                let made = make_folders(backup.parent().unwrap_or(backup))?;
                let moved = fs::rename(&self.target, backup).and_then(|()| {
                    fs::rename(copy.path(), &self.target).inspect_err(|_| {
                        // The rename before worked, so this one does.
                        let _ = fs::rename(backup, &self.target);
                    })
                });
                moved.inspect_err(|_| remove_empty(&made))
            }
        }
    }

    fn done(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let target = self.target.display();
        match &self.in_the_way {
            InTheWay::Nothing => format!("installed {version} in {target}"),
            InTheWay::Older(older) if older.version != version => {
                format!("updated {target} from {} to {version}", older.version)
            }
            InTheWay::Older(_) => format!("reinstalled {version} in {target}"),
            InTheWay::Kept(backup) => format!(
                "installed {version} in {target}; what was there is now in {}",
                backup.display()
            ),
        }
    }
}

impl fmt::Display for Put {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.target.display();
        match &self.in_the_way {
            InTheWay::Nothing => {}
            InTheWay::Older(older) => {
                writeln!(f, "remove version {} from {target}", older.version)?
            }
            InTheWay::Kept(backup) => writeln!(f, "move {target} to {}", backup.display())?,
        }
        let bytes: usize = self.files.iter().map(|(_, text)| text.len()).sum();
        let count = self.files.len();
        write!(
            f,
            "write {count} files ({} KiB) to {target}",
            bytes.div_ceil(1024)
        )
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-old");
    name.into()
}

/// What can be done about it, at the end of the causes.
fn hinted(error: anyhow::Error) -> anyhow::Error {
    let kind = error
        .root_cause()
        .downcast_ref::<io::Error>()
        .map(io::Error::kind);
    let what = match kind {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => "free some space",
        Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            "make that folder writable"
        }
        _ => return error,
    };
    anyhow!("{error:#}: {what}")
}
