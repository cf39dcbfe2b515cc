//! Takes an installed folder away, except for what the user changed or added.

use std::fmt;
use std::path::PathBuf;

use anyhow::Context;

use super::{Ours, State, remove_empty};
use crate::failure::{Failure, Kind};
use crate::install::plan::Step;

/// The folder to take away.
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
