//! Takes an installed folder away, except for what the user changed or added.

use std::fmt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;

use super::sweep::working_folder;
use super::{Marker, Ours, State, remove_empty};
use crate::failure::{Failure, Kind};

/// The folder to take away.
#[derive(Debug)]
pub struct Take {
    pub target: PathBuf,
    /// Where it waits while it is removed: where no editor would load it from.
    pub staging: PathBuf,
    pub ours: Ours,
}

impl Take {
    /// Does it: looked at again, since something may have changed since it was planned.
    pub fn carry_out(&self) -> anyhow::Result<String> {
        let target = &self.target;
        let cannot = || format!("cannot remove {}", target.display());
        let State::Ours(ours) = State::of(target).with_context(cannot)? else {
            let message = format!("{} changed in the meantime", target.display());
            return Err(Failure::new(Kind::Refused, message).into());
        };
        let done = if ours.has_changes() {
            self.remove_own(&ours).with_context(cannot)?;
            let kept = ours.of_the_user();
            let place = target.display();
            format!("removed Pillion's files from {place}; kept yours: {kept}")
        } else {
            self.remove_whole().with_context(cannot)?
        };
        remove_empty(&ours.marker.made_above(target));
        Ok(done)
    }

    /// Out of the editor's sight first, by one rename, then file by file.
    fn remove_whole(&self) -> io::Result<String> {
        let aside = working_folder(&self.staging)?;
        fs::rename(&self.target, aside.path().join("pillion"))?;
        let (target, rest) = (self.target.display(), aside.path().to_owned());
        Ok(match aside.close() {
            Ok(()) => format!("removed {target}"),
            // No editor loads it, so it is uninstalled all the same.
            Err(_) => format!(
                "removed {target}; the files that could not be deleted are in {}",
                rest.display()
            ),
        })
    }

    /// Every file of ours out of the editor's sight; all of them come back if one has to stay.
    fn remove_own(&self, ours: &Ours) -> io::Result<()> {
        let aside = working_folder(&self.staging)?;
        let mut moved = Vec::new();
        for name in ours.intact.iter().map(String::as_str).chain([Marker::NAME]) {
            let (from, to) = (
                self.target.join(name),
                aside.path().join(moved.len().to_string()),
            );
            if let Err(error) = fs::rename(&from, &to) {
                for (from, to) in &moved {
                    // The rename before worked, so this one does.
                    let _ = fs::rename(to, from);
                }
                return Err(error);
            }
            moved.push((from, to));
        }
        for name in &ours.intact {
            let below = Path::new(name).ancestors().skip(1);
            for folder in below.filter(|folder| !folder.as_os_str().is_empty()) {
                // A folder with something left in it stays.
                if fs::remove_dir(self.target.join(folder)).is_err() {
                    break;
                }
            }
        }
        Ok(())
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
