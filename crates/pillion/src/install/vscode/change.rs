//! An extension that comes or goes: the editor's own program does it, and is asked afterwards whether it did.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::Extension;
use crate::install::Step;
use crate::install::program::{self, INSTALL_TIMEOUT, LIST_TIMEOUT};

/// The task for the editor's program.
#[derive(Debug)]
pub struct Change {
    pub program: PathBuf,
    pub extension: &'static Extension,
    /// Or it is removed.
    pub is_installed: bool,
}

impl Change {
    fn arguments(&self) -> Vec<&'static str> {
        let id = self.extension.id;
        if self.is_installed {
            // Over an older one, too.
            vec!["--install-extension", id, "--force"]
        } else {
            vec!["--uninstall-extension", id]
        }
    }

    /// Says what is wrong with the program's list afterwards: some of these programs fail and say that they did not. One
    /// that cannot tell is believed.
    fn contradiction(&self) -> Option<&'static str> {
        let is_listed = self.extension.is_among(&listed(&self.program)?);
        (is_listed != self.is_installed).then_some(if is_listed {
            "still lists it"
        } else {
            "does not list it"
        })
    }
}

impl Step for Change {
    /// Runs the program. Returns what it did, in its own words.
    fn carry_out(&self) -> anyhow::Result<String> {
        let in_words = |reason: String| format!("{}: {reason}", self.extension.what());
        let failed = |reason| anyhow!(in_words(reason));
        let ended =
            program::run(&self.program, &self.arguments(), INSTALL_TIMEOUT).map_err(failed)?;
        // Success is reported in the last line; the reason for a failure may be followed by warnings.
        let last = ended.out.last().or(ended.errors.last()).cloned();
        let reason = program::in_words(&ended.errors).or_else(|| last.clone());
        let reason = reason.unwrap_or_else(|| "it gave no reason".to_owned());
        if !ended.status.success() {
            let status = ended.status;
            return Err(failed(format!("failed ({status}): {reason}")));
        }
        if let Some(lists) = self.contradiction() {
            let program = self.program.display();
            return Err(failed(format!("{program} {lists} afterwards: {reason}")));
        }
        Ok(in_words(last.unwrap_or_else(|| "done".to_owned())))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, words) = (self.program.display(), self.arguments().join(" "));
        write!(f, "run {program} {words} ({})", self.extension.what())
    }
}

/// The ids that the editor's program lists, a line each; nothing if it cannot.
pub fn listed(program: &Path) -> Option<Vec<String>> {
    let ended = program::run(program, &["--list-extensions"], LIST_TIMEOUT).ok()?;
    ended.status.success().then_some(ended.out)
}
