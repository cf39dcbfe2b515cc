//! Programs that no release of Debian has: built from crates.io, once for each version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::root;

/// A program that tests run.
#[derive(Debug)]
pub struct Built {
    package: &'static str,
    version: &'static str,
    /// The name by which tests say that they need it.
    name: &'static str,
    /// Its folder in the target folder.
    folder: &'static str,
}

/// Lies beside the editors.
pub const KAK_LSP: Built = Built {
    package: "kak-lsp",
    version: "22.0.0",
    name: "kakoune-lsp",
    folder: "editors/kak-lsp",
};

/// For `--all` only: it takes nine minutes of a processor.
pub const JUJUTSU: Built = Built {
    package: "jj-cli",
    version: "0.45.1",
    name: "Jujutsu",
    folder: "jj",
};

/// The version that is there. Written last.
const STAMP: &str = "installed";

/// For a program that is built once and waits for people.
const QUICK: [(&str, &str); 5] = [
    ("CARGO_INCREMENTAL", "0"),
    ("CARGO_PROFILE_DEV_DEBUG", "0"),
    ("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false"),
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_DEV_STRIP", "true"),
];

impl Built {
    /// Returns true if a test that is ignored for this reason needs it.
    pub fn is_needed(&self, reason: &str) -> bool {
        reason.contains(self.name)
    }

    /// Installs it in `target_dir`, unless it is there already. Returns its folder, with the program in `bin`, or why it is not
    /// there; Cargo's own messages have gone to stderr by then.
    pub fn install(&self, target_dir: &Path) -> Result<PathBuf, String> {
        let installed = self.try_install(target_dir);
        installed.map_err(|error| format!("needs {}: {error:#}", self.name))
    }

    fn try_install(&self, target_dir: &Path) -> Result<PathBuf> {
        let Self {
            package, version, ..
        } = self;
        let folder = std::path::absolute(target_dir.join(self.folder))?;
        let stamp = folder.join(STAMP);
        if fs::read(&stamp).is_ok_and(|installed| installed == version.as_bytes()) {
            return Ok(folder);
        }
        let build = folder.join("build");
        let mut command = Command::new("cargo");
        command
            .args(["install", package, "--version", version])
            .args(["--locked", "--debug", "--force", "--quiet", "--root"])
            .arg(&folder)
            .arg("--target-dir")
            .arg(&build)
            .envs(QUICK)
            // With the Rust of the repository.
            .current_dir(root())
            .stdout(std::io::stderr());
        let status = command.status().context("cargo did not start")?;
        ensure!(status.success(), "cargo install {package} failed: {status}");
        fs::remove_dir_all(&build).with_context(|| format!("cannot remove {}", build.display()))?;
        fs::write(&stamp, version).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(folder)
    }
}
