//! kakoune-lsp, which no release of Debian has: built from crates.io beside the editors, once for each version.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::root;

const VERSION: &str = "22.0.0";

/// The version that is there. Written last.
const STAMP: &str = "installed";

/// For a program that is built once and waits for people: a minute of two processors.
const QUICK: [(&str, &str); 5] = [
    ("CARGO_INCREMENTAL", "0"),
    ("CARGO_PROFILE_DEV_DEBUG", "0"),
    ("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false"),
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_DEV_STRIP", "true"),
];

/// Returns true if a test that is ignored for this reason needs it.
pub fn is_needed(reason: &str) -> bool {
    reason.contains("kakoune-lsp")
}

/// Installs `editors/kak-lsp/bin/kak-lsp` in `target_dir`, unless it is there already.
///
/// # Errors
/// If Cargo fails; its own messages have gone to stderr by then.
pub fn install(target_dir: &Path) -> Result<()> {
    let folder = std::path::absolute(target_dir.join("editors/kak-lsp"))?;
    let stamp = folder.join(STAMP);
    if fs::read(&stamp).is_ok_and(|installed| installed == VERSION.as_bytes()) {
        return Ok(());
    }
    let build = folder.join("build");
    let mut command = Command::new("cargo");
    command
        .args(["install", "kak-lsp", "--version", VERSION])
        .args(["--locked", "--debug", "--force", "--quiet", "--root"])
        .arg(&folder)
        .arg("--target-dir")
        .arg(&build)
        .envs(QUICK)
        // With the Rust of the repository.
        .current_dir(root())
        .stdout(std::io::stderr());
    let status = command.status().context("cargo did not start")?;
    ensure!(status.success(), "cargo install kak-lsp failed: {status}");
    fs::remove_dir_all(&build).with_context(|| format!("cannot remove {}", build.display()))?;
    fs::write(&stamp, VERSION).with_context(|| format!("cannot write {}", stamp.display()))
}
