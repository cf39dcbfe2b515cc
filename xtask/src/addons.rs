//! Plugins for Vim and Neovim that many people have beside ours, as Debian packages them: for the tests of what people
//! set up. Debian's stable release has one version of each. Nothing of them is in this repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::editors::apt::Apt;
use crate::editors::{STABLE, unpack};

/// A status line, one for git, marks of changed lines, a checker, a finder, the last place in a file, tables.
const PACKAGES: [&str; 8] = [
    "vim-airline",
    "vim-airline-themes",
    "vim-ale",
    "vim-ctrlp",
    "vim-fugitive",
    "vim-gitgutter",
    "vim-lastplace",
    "vim-tabular",
];

/// In their folder: what is installed there. Written last.
const STAMP: &str = "installed";

/// Returns true if a test that is ignored for this reason needs them.
pub fn are_needed(reason: &str) -> bool {
    reason.contains("Debian's plugins")
}

/// Installs them into `addons/` in `target_dir`, unless they are there already. The folder: what
/// `PILLION_TEST_ADDONS` is set to for tests.
///
/// # Errors
/// If apt fails.
pub fn install(target_dir: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(target_dir.join("addons"))?;
    let stamp = folder.join(STAMP);
    let wanted = format!("{STABLE} {PACKAGES:?}");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted.as_bytes()) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let apt = Apt::debian(STABLE, &folder.join("apt"))?;
    for package in apt.download_alone(&PACKAGES.map(str::to_owned))? {
        unpack::unpack(&package.file, &folder)?;
    }
    apt.remove()?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(folder)
}
