//! The two steps with a folder. Put in place: what Pillion had there goes, the marker comes, then file after file. Taken
//! away: what the user changed or added stays.

use std::fmt;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use pillion_changes::leftovers;

use super::{File, Marker, Ours, State, make_folders, remove_empty};
use crate::failure::{Failure, Kind};
use crate::install::Step;

/// The folder to put in place.
#[derive(Debug)]
pub struct Put {
    pub target: PathBuf,
    pub files: Vec<File>,
    pub in_the_way: InTheWay,
}

/// The thing that lies at the target.
#[derive(Debug)]
pub enum InTheWay {
    Nothing,
    /// An older folder of ours: it goes.
    Older(Marker),
    /// Something that is not ours: it is moved here.
    Kept(PathBuf),
}

impl Step for Put {
    /// Does it. After a failure it can be done again.
    fn carry_out(&self) -> anyhow::Result<String> {
        let copied = self.copy().with_context(|| {
            let target = self.target.display();
            match &self.in_the_way {
                InTheWay::Kept(backup) if backup.exists() => format!(
                    "cannot install the plugin in {target} (what was there is now {})",
                    backup.display()
                ),
                _ => format!("cannot install the plugin in {target}"),
            }
        });
        copied.map(|()| self.done()).map_err(hinted)
    }
}

impl Put {
    fn copy(&self) -> anyhow::Result<()> {
        let target = &self.target;
        let mut made = make_folders(target.parent().unwrap_or(target))?;
        if let InTheWay::Kept(backup) = &self.in_the_way {
            make_folders(backup.parent().unwrap_or(backup))?;
            fs::rename(target, backup)?;
        }
        // Looked at again, since something may have changed since it was planned.
        let older = match State::of(target)? {
            State::Absent => None,
            State::Ours(ours) if !ours.has_changes() => Some(ours),
            State::Ours(_) | State::Foreign(_) => {
                return Err(Failure::new(Kind::Refused, "it changed in the meantime").into());
            }
        };
        if let Some(older) = &older {
            made = older.marker.made_above(target);
            older.remove_files(target)?;
        }
        make_folders(target)?;
        // Half a file would count as changed by the user.
        let write = |name: &str, text: &[u8]| write_whole(&target.join(name), text, target);
        write(Marker::NAME, &Marker::new(&self.files, made).to_bytes()?)?;
        for (name, text) in &self.files {
            write(name, text)?;
        }
        if let Some(older) = older {
            older.remove_folders(target);
        }
        Ok(())
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

/// The folder to take away, except for what the user changed or added.
#[derive(Debug)]
pub struct Take {
    pub target: PathBuf,
    pub ours: Ours,
}

impl Step for Take {
    /// Does it: looked at again, since something may have changed since it was planned. After a
    /// failure it can be done again.
    fn carry_out(&self) -> anyhow::Result<String> {
        let target = &self.target;
        let cannot = || format!("cannot remove {}", target.display());
        let State::Ours(ours) = State::of(target).with_context(cannot)? else {
            let message = format!("{} changed in the meantime", target.display());
            return Err(Failure::new(Kind::Refused, message).into());
        };
        ours.remove(target).with_context(cannot)?;
        let place = target.display();
        let done = if ours.has_changes() {
            let kept = ours.of_the_user();
            format!("removed Pillion's files from {place}; kept yours: {kept}")
        } else {
            format!("removed {place}")
        };
        remove_empty(&ours.marker.made_above(target));
        Ok(done)
    }
}

impl fmt::Display for Take {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.target.display();
        write!(f, "remove {} files from {target}", self.ours.intact.len())?;
        if self.ours.has_changes() {
            let kept = self.ours.of_the_user();
            write!(f, ", and keep yours: {kept}")?;
        }
        Ok(())
    }
}

/// Adds what can be done about it, at the end of the causes.
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

/// Writes `text` to `path`, whole or not at all, and the folders above it. While it is written, it lies in `folder`. It keeps the
/// permissions that it has. What a kill left there before goes.
fn write_whole(path: &Path, text: &[u8], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    leftovers::sweep(folder);
    let mut part = leftovers::unfinished(folder, plain())?;
    part.write_all(text)?;
    if let Ok(data) = fs::metadata(path) {
        part.as_file().set_permissions(data.permissions())?;
    }
    part.persist(path)?;
    Ok(())
}

/// A plugin is no secret; a temporary file is one.
#[cfg(unix)]
fn plain() -> Option<Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o644))
}

#[cfg(not(unix))]
fn plain() -> Option<Permissions> {
    None
}
