//! A bare Debian with editors and Node, in which tests install what is distributed: made once by debootstrap, below the
//! target folder. Needs root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::dist::output;
use crate::{editors, prerequisites};

/// Debian's stable release.
const SUITE: &str = "trixie";

/// The programs that people there have. None of them is needed by Pillion.
const PACKAGES: &str =
    "bash-completion,ca-certificates,curl,emacs-nox,git,kakoune,neovim,nodejs,procps,vim";

/// The packages of the installation that is there and complete.
const STAMP: &str = "pillion-packages";

/// Makes it in `target`, unless it is there. Its folder: what `PILLION_TEST_ROOT` is set to for tests.
///
/// # Errors
/// If this is not root, or debootstrap fails.
pub fn install(target: &Path) -> Result<PathBuf> {
    let root = std::path::absolute(target.join("dist-root"))?;
    let stamp = root.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == PACKAGES) {
        return Ok(root);
    }
    prerequisites::ensure_for_distribution()?;
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
    }
    let mut debootstrap = Command::new("debootstrap");
    debootstrap
        .args(["--variant=minbase", "--merged-usr"])
        .arg(format!("--keyring={}", prerequisites::DEBIAN_KEYRING))
        .arg(format!("--include={PACKAGES}"))
        .arg(SUITE)
        .arg(&root)
        .arg(editors::archive());
    output(&mut debootstrap).context("no bare Debian can be made")?;
    let npm = copy_npm(&root);
    npm.context("npm cannot be copied")?;
    fs::write(&stamp, PACKAGES).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(root)
}

/// The machine's own npm: Debian's would bring four hundred packages.
fn copy_npm(root: &Path) -> Result<()> {
    let folder = output(Command::new("npm").args(["root", "-g"]))?;
    let folder = Path::new(String::from_utf8(folder)?.trim()).join("npm");
    ensure!(folder.is_dir(), "{} is not there", folder.display());
    let to = root.join("usr/local/lib/node_modules");
    fs::create_dir_all(&to)?;
    output(Command::new("cp").args(["-rL", "--"]).arg(&folder).arg(&to))?;
    for name in ["npm", "npx"] {
        let link = root.join("usr/local/bin").join(name);
        let script = format!("../lib/node_modules/npm/bin/{name}-cli.js");
        #[cfg(unix)]
        std::os::unix::fs::symlink(script, link)?;
        #[cfg(not(unix))]
        anyhow::bail!("{} cannot lead to {script} here", link.display());
    }
    Ok(())
}
