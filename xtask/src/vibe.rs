//! Mistral Vibe, which is a program in Python: installed with pip into an environment of its own, once for each list of packages.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The packages, each with its version.
const PACKAGES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/testkit/python/requirements.txt"
);

/// The list that is installed. Written last.
const STAMP: &str = "installed.txt";

/// It needs 3.12.
const PYTHONS: [&str; 4] = ["python3", "python3.14", "python3.13", "python3.12"];

/// Those on PATH, and those of pyenv, of which PATH has only the one that is chosen.
fn pythons() -> Vec<PathBuf> {
    let home = std::env::home_dir().unwrap_or_default();
    let root = std::env::var_os("PYENV_ROOT").map_or_else(|| home.join(".pyenv"), PathBuf::from);
    let versions = fs::read_dir(root.join("versions")).into_iter().flatten();
    let versions = versions.flatten().map(|it| it.path().join("bin/python3"));
    PYTHONS
        .map(PathBuf::from)
        .into_iter()
        .chain(versions)
        .collect()
}

/// Returns true if a test that is ignored for this reason needs it.
pub fn is_needed(reason: &str) -> bool {
    reason.contains("Mistral Vibe")
}

/// Installs it into `vibe/` in `target_dir`, unless it is there already: a download of about 110 MB. The folder: what
/// `PILLION_TEST_VIBE` is set to for tests.
///
/// # Errors
/// If there is no Python that it runs with, or pip fails; its own messages have gone to stderr by then.
pub fn install(target_dir: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(target_dir.join("vibe"))?;
    let (packages, stamp) = (fs::read(PACKAGES)?, folder.join(STAMP));
    if fs::read(&stamp).is_ok_and(|installed| installed == packages) {
        return Ok(folder);
    }
    let python = pythons().into_iter().find(|python| is_new_enough(python));
    let python = python.context("there is no Python 3.12 or newer on PATH, nor one of pyenv's")?;
    run(
        python.as_os_str(),
        &[
            "-m".as_ref(),
            "venv".as_ref(),
            "--clear".as_ref(),
            folder.as_ref(),
        ],
    )?;
    let pip = [
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--requirement",
        PACKAGES,
    ];
    run(folder.join("bin/pip").as_ref(), &pip.map(OsStr::new))?;
    fs::write(&stamp, packages).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(folder)
}

fn is_new_enough(python: &Path) -> bool {
    let asks = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))";
    let mut command = Command::new(python);
    command.args(["-c", asks]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn run(program: &OsStr, args: &[&OsStr]) -> Result<()> {
    let mut command = Command::new(program);
    let status = command.args(args).stdout(std::io::stderr()).status();
    let status = status.with_context(|| format!("{} did not start", program.display()))?;
    ensure!(status.success(), "{} failed: {status}", program.display());
    Ok(())
}
