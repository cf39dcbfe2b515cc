//! An extension that comes or goes: the editor's own program does it, and is asked afterwards whether it did.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use anyhow::{Context, anyhow};
use tempfile::TempDir;

use super::{Extension, vsix};
use crate::install::Step;
use crate::install::package;
use crate::install::program::{self, INSTALL_TIMEOUT, LIST_TIMEOUT};

/// The name of the file with Pillion's own extension.
const FILE: &str = concat!("pillion-", env!("CARGO_PKG_VERSION"), ".vsix");

/// The task for the editor's program.
#[derive(Debug)]
pub struct Change {
    pub program: PathBuf,
    /// Where files of this program's can be read by it, too.
    pub home: Option<PathBuf>,
    pub extension: &'static Extension,
    /// Or it is removed.
    pub is_installed: bool,
}

impl Change {
    /// Those of the program, with the `file` of an extension that this program holds.
    fn arguments(&self, file: &Path) -> Vec<OsString> {
        let id = self.extension.id;
        match (self.is_installed, self.extension.agent) {
            (false, _) => vec!["--uninstall-extension".into(), id.into()],
            // Over an older one, too.
            (true, Some(_)) => vec!["--install-extension".into(), id.into(), "--force".into()],
            (true, None) => vec!["--install-extension".into(), file.into(), "--force".into()],
        }
    }

    /// The folder with that file, gone with what this returns. Nothing if none is needed.
    fn folder(&self) -> anyhow::Result<Option<TempDir>> {
        if !self.is_installed || self.extension.agent.is_some() {
            return Ok(None);
        }
        let home = self.home.clone().unwrap_or_else(env::temp_dir);
        let cannot = || format!("cannot write {FILE} below {}", home.display());
        let folder = tempfile::Builder::new()
            .prefix(".pillion-")
            .tempdir_in(&home)
            .with_context(cannot)?;
        let packed = vsix::packed(package::files("vscode"), None)?;
        fs::write(folder.path().join(FILE), packed).with_context(cannot)?;
        Ok(Some(folder))
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
        let folder = self.folder()?;
        let file = folder.as_ref().map(|folder| folder.path().join(FILE));
        let arguments = self.arguments(&file.unwrap_or_default());
        let ended = program::run(&self.program, &arguments, INSTALL_TIMEOUT).map_err(failed)?;
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
        write!(f, "run {}", self.program.display())?;
        for word in self.arguments(Path::new(FILE)) {
            write!(f, " {}", word.display())?;
        }
        write!(f, " ({})", self.extension.what())
    }
}

/// The ids that the editor's program lists, a line each; nothing if it cannot.
pub fn listed(program: &Path) -> Option<Vec<String>> {
    let ended = program::run(program, &["--list-extensions"], LIST_TIMEOUT).ok()?;
    ended.status.success().then_some(ended.out)
}
