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
        let kept = ours.of_the_user();
        if kept.is_empty() {
            self.remove_whole().with_context(cannot)?;
        } else {
            remove_own(target, &ours).with_context(cannot)?;
        }
        remove_empty(&ours.marker.made_above(target));
        if kept.is_empty() {
            return Ok(format!("removed {}", target.display()));
        }
        Ok(format!(
            "removed Pillion's files from {}; kept what is yours: {}",
            target.display(),
            kept.join(", ")
        ))
    }

    /// Out of the editor's sight first, by one rename, then file by file.
    fn remove_whole(&self) -> io::Result<()> {
        let aside = working_folder(&self.staging)?;
        fs::rename(&self.target, aside.path().join("pillion"))?;
        aside.close()
    }
}

impl fmt::Display for Take {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.target.display();
        write!(f, "remove {} files from {target}", self.ours.intact.len())?;
        let kept = self.ours.of_the_user();
        if !kept.is_empty() {
            write!(f, ", and keep what is yours: {}", kept.join(", "))?;
        }
        Ok(())
    }
}

fn remove_own(target: &Path, ours: &Ours) -> io::Result<()> {
    for name in &ours.intact {
        fs::remove_file(target.join(name))?;
        let below = Path::new(name).ancestors().skip(1);
        for folder in below.filter(|folder| !folder.as_os_str().is_empty()) {
            // A folder with something left in it stays.
            if fs::remove_dir(target.join(folder)).is_err() {
                break;
            }
        }
    }
    fs::remove_file(target.join(Marker::NAME))
}
