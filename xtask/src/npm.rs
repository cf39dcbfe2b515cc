//! The npm packages that the tests and the benchmark run: installed once for each lock file, and
//! with no package's own scripts run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// What npm needs of the tests, and where it lies in the repository.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/testkit/npm");
const MANIFEST: &str = "package.json";
const LOCK: &str = "package-lock.json";

/// The lock file of the installation that is there and complete.
const STAMP: &str = "installed-lock.json";

/// Installs the pinned packages, a Node among them, into `npm/` in `target_dir`, unless they are
/// there already. The folder: what `PILLION_TEST_NPM` is set to for tests.
///
/// # Errors
/// If npm is not there or fails; its own messages have gone to stderr by then.
pub fn install(target_dir: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(target_dir.join("npm"))?;
    install_locked(Path::new(SOURCE), &folder, put_node_on_path)?;
    Ok(folder)
}

/// Installs what the manifest and the lock file in `source` say into `folder`, unless it is there
/// already. `finish` does the rest.
///
/// # Errors
/// As [`install`].
pub fn install_locked(
    source: &Path,
    folder: &Path,
    finish: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let lock = read(&source.join(LOCK))?;
    let stamp = folder.join(STAMP);
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    // All of it: what an interrupted installation left would be taken for installed.
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for name in [MANIFEST, LOCK] {
        let bytes = read(&source.join(name))?;
        let to = folder.join(name);
        fs::write(&to, bytes).with_context(|| format!("cannot write {}", to.display()))?;
    }
    // Not `npm ci`: it refuses a lock file that lacks an optional package for another platform,
    // and some of Qwen's are not in every registry. What is in the lock file is installed so.
    let status = Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--loglevel", "error"])
        .current_dir(folder)
        .stdout(std::io::stderr())
        .status()
        .context("npm did not start (Debian: the package npm)")?;
    ensure!(
        status.success(),
        "npm install failed in {}: {status}",
        folder.display()
    );
    finish(&folder.join("node_modules"))?;
    fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Puts the pinned Node among the packages' commands. Npm 9 (Debian's) loses that link again: the
/// packages for other platforms, which it takes back, have a command of the same name.
fn put_node_on_path(modules: &Path) -> Result<()> {
    let link = modules.join(".bin/node");
    if link.exists() {
        return Ok(());
    }
    let packages = fs::read_dir(modules)
        .with_context(|| format!("npm has installed nothing in {}", modules.display()))?;
    let node = packages
        .flatten()
        .filter(|package| package.file_name().as_encoded_bytes().starts_with(b"node-"))
        .map(|package| package.path().join("bin/node"))
        .find(|node| node.is_file())
        .context("there is no Node for this platform among the npm packages")?;
    fs::hard_link(&node, &link)
        .with_context(|| format!("cannot link {} to {}", link.display(), node.display()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
