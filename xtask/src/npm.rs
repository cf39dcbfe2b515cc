//! The npm packages that the tests and the benchmark run: installed once for each lock file, and
//! with no package's own scripts run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The folder with what npm needs for the tests, in the repository.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/testkit/npm");

/// The same for the agents that come as programs of hundreds of megabytes.
const CLAUDE_SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/testkit/npm-claude");

/// The same for Codex CLI, which has two releases here.
const CODEX_SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/testkit/npm-codex");

/// The same for what drives the browser.
const BROWSER_SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/testkit/npm-browser");

/// The same for VS Code.
const VSCODE_SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/testkit/npm-vscode");

const MANIFEST: &str = "package.json";
const LOCK: &str = "package-lock.json";

/// The lock file of the installation that is there and complete.
const STAMP: &str = "installed-lock.json";

/// The native programs of [`install_claude`], each by the start of the names of its packages, one for
/// each platform, and by its path in them.
const NATIVE_PROGRAMS: [(&str, &str); 3] = [
    ("@anthropic-ai/claude-code-", "claude"),
    ("opencode-", "bin/opencode"),
    ("@github/copilot-", "copilot"),
];

/// The packages of [`install_codex`]: where the program lies in them depends on the platform.
const CODEX_PACKAGES: [(&str, &str); 2] = [
    ("codex-0.169.0-", "package.json"),
    ("codex-0.171.0-", "package.json"),
];

/// A package of [`install_vscode`] without which it does not start.
const VSCODE_PACKAGES: [(&str, &str); 1] = [("node-pty", "package.json")];

/// Installs the pinned packages, a Node among them, into `npm/` in `target_dir`, unless they are
/// there already. The folder: what `PILLION_TEST_NPM` is set to for tests.
///
/// # Errors
/// If npm is not there or fails; its own messages have gone to stderr by then.
pub fn install(target_dir: &Path) -> Result<PathBuf> {
    install_locked(Path::new(SOURCE), target_dir, "npm", put_node_on_path)
}

/// Installs Claude Code, opencode and Copilot CLI into `npm-claude/` in `target_dir`, unless they are there already:
/// a download of about 380 MB. The folder: what `PILLION_TEST_CLAUDE` is set to for tests.
///
/// # Errors
/// As [`install`], and if there is no such program for this platform.
pub fn install_claude(target_dir: &Path) -> Result<PathBuf> {
    install_locked(
        Path::new(CLAUDE_SOURCE),
        target_dir,
        "npm-claude",
        |modules| ensure_native_programs(modules, &NATIVE_PROGRAMS),
    )
}

/// Installs both releases of Codex CLI into `npm-codex/` in `target_dir`, unless they are there already: a download of about
/// 250 MB. The folder: what `PILLION_TEST_CODEX` is set to for tests.
///
/// # Errors
/// As [`install_claude`].
pub fn install_codex(target_dir: &Path) -> Result<PathBuf> {
    install_locked(
        Path::new(CODEX_SOURCE),
        target_dir,
        "npm-codex",
        |modules| ensure_native_programs(modules, &CODEX_PACKAGES),
    )
}

/// Installs what drives Debian's browser, and the checker of types, into `npm-browser/` in `target_dir`, unless they are
/// there already: 50 MB on the disk. The folder: what `PILLION_TEST_BROWSER` is set to for tests.
///
/// # Errors
/// As [`install`].
pub fn install_browser(target_dir: &Path) -> Result<PathBuf> {
    let source = Path::new(BROWSER_SOURCE);
    install_locked(source, target_dir, "npm-browser", |_| Ok(()))
}

/// Returns true if a test that is ignored for this reason needs [`install_browser`].
pub fn is_browser_needed(reason: &str) -> bool {
    reason.contains("the browser")
}

/// Installs VS Code as a server into `npm-vscode/` in `target_dir`, unless it is there already: 780 MB on the disk. The
/// folder: what `PILLION_TEST_VSCODE` is set to for tests.
///
/// # Errors
/// As [`install_claude`].
pub fn install_vscode(target_dir: &Path) -> Result<PathBuf> {
    install_locked(
        Path::new(VSCODE_SOURCE),
        target_dir,
        "npm-vscode",
        |modules| {
            put_node_on_path(modules)?;
            // It has a list of packages of its own, which its own installer reads.
            let server = modules.join("code-server/lib/vscode");
            install_packages(&server, &["--omit=dev"])?;
            ensure_native_programs(&server.join("node_modules"), &VSCODE_PACKAGES)
        },
    )
}

/// Returns true if a test that is ignored for this reason needs [`install_vscode`].
pub fn is_vscode_needed(reason: &str) -> bool {
    reason.contains("VS Code")
}

/// Returns true if a test that is ignored for this reason needs [`install_codex`].
pub fn is_codex_needed(reason: &str) -> bool {
    reason.contains("Codex CLI")
}

/// Returns true if a test that is ignored for this reason needs [`install_claude`].
pub fn is_claude_needed(reason: &str) -> bool {
    ["Claude Code", "opencode", "Copilot CLI"]
        .iter()
        .any(|agent| reason.contains(agent))
}

/// Installs what the manifest and the lock file in `source` say into the folder `name` in `target_dir`, unless it is there
/// already. `finish` does the rest. Returns the folder.
///
/// # Errors
/// As [`install`].
pub fn install_locked(
    source: &Path,
    target_dir: &Path,
    name: &str,
    finish: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let folder = std::path::absolute(target_dir.join(name))?;
    let lock = read(&source.join(LOCK))?;
    let stamp = folder.join(STAMP);
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(folder);
    }
    // All of it: what an interrupted installation left would be taken for installed.
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for name in [MANIFEST, LOCK] {
        let bytes = read(&source.join(name))?;
        let to = folder.join(name);
        fs::write(&to, bytes).with_context(|| format!("cannot write {}", to.display()))?;
    }
    install_packages(&folder, &[])?;
    finish(&folder.join("node_modules"))?;
    fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(folder)
}

/// Installs what the lock file in `folder` says.
fn install_packages(folder: &Path, options: &[&str]) -> Result<()> {
    // Not `npm ci`: it refuses a lock file that lacks an optional package for another platform,
    // and some of Qwen's are not in every registry. What is in the lock file is installed so.
    let status = Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--loglevel", "error"])
        .args(options)
        .current_dir(folder)
        .stdout(std::io::stderr())
        .status()
        .context("npm did not start (Debian: the package npm)")?;
    ensure!(
        status.success(),
        "npm install failed in {}: {status} (npm says why above; `npm ping` tells whether its registry responds)",
        folder.display()
    );
    Ok(())
}

/// Npm takes an optional package that it cannot download for one that this platform does not need.
fn ensure_native_programs(modules: &Path, programs: &[(&str, &str)]) -> Result<()> {
    for (packages, program) in programs {
        ensure!(
            find_in_packages(modules, packages, program)?.is_some(),
            "npm installed no package {packages}… with {program} in {}: \
             its registry does not respond, or has none for this platform",
            modules.display()
        );
    }
    Ok(())
}

/// Puts the pinned Node among the packages' commands. Npm 9 (Debian's) loses that link again: the
/// packages for other platforms, which it takes back, have a command of the same name.
fn put_node_on_path(modules: &Path) -> Result<()> {
    let link = modules.join(".bin/node");
    if link.exists() {
        return Ok(());
    }
    let node = find_in_packages(modules, "node-", "bin/node")?
        .context("there is no Node for this platform among the npm packages")?;
    fs::hard_link(&node, &link)
        .with_context(|| format!("cannot link {} to {}", link.display(), node.display()))
}

/// This file of a package whose name, with its scope, starts so.
fn find_in_packages(modules: &Path, name: &str, file: &str) -> Result<Option<PathBuf>> {
    let (scope, start) = name.rsplit_once('/').unwrap_or(("", name));
    let packages = fs::read_dir(modules.join(scope))
        .with_context(|| format!("npm has installed nothing in {}", modules.display()))?;
    Ok(packages
        .flatten()
        .filter(|package| {
            let name = package.file_name();
            name.as_encoded_bytes().starts_with(start.as_bytes())
        })
        .map(|package| package.path().join(file))
        .find(|path| path.is_file()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
