//! `cargo xtask dist`: what is given to people, in `target/dist-out`.
//!
//! Two halves, because a release builds on several machines: the parts of each target ([`parts`]), and what is made of
//! all parts that are there ([`whole`]).

mod archive;
mod build;
mod deb;
mod licences;
mod npm;
mod parts;
pub mod target;
mod vsix;
mod whole;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use self::target::Target;
use crate::target_dir;

/// The one home of both is `[workspace.package]` in the repository's `Cargo.toml`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
const ADDRESS: &str = env!("CARGO_PKG_REPOSITORY");

/// Build what is distributed, into `target/dist-out`
///
/// For each target a tarball, for Linux a Debian package, a package for npm, and the extension for VS Code's marketplaces
/// with the program in it; then what is made of all of them:
/// checksums, the npm package that chooses among the others, the installer and the recipes of other package
/// managers.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Build for this target [default: every one that this system can build]
    #[arg(long, value_name = "TRIPLE", value_parser = target::named)]
    target: Vec<&'static Target>,

    /// Only the parts of the targets: another machine gathers them
    #[arg(long)]
    parts: bool,

    /// Only gather the parts that are in `target/dist-out`
    #[arg(long, conflicts_with_all = ["parts", "target"])]
    gather: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    make_all(args).map(|_| ExitCode::SUCCESS)
}

/// Makes it, in the folder that this gives.
pub fn make_all(args: &Args) -> Result<PathBuf> {
    let out = std::path::absolute(target_dir().join("dist-out"))?;
    if !args.gather {
        if !args.parts {
            remove(&out)?;
        }
        make(&out)?;
        for target in target::chosen(&args.target)? {
            say(&format!("==> {}", target.triple))?;
            parts::make(target, &out)?;
        }
    }
    if !args.parts {
        whole::make(&out)?;
    }
    for file in files(&out)? {
        say(&format!("    {}", file.display()))?;
    }
    Ok(out)
}

fn say(line: &str) -> Result<()> {
    writeln!(std::io::stderr(), "{line}").context("nobody reads the output")
}

/// Runs it. Returns what it printed.
pub fn output(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().display().to_string();
    let output = command.output();
    let output = output.with_context(|| format!("{name} did not start"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {}", said.trim());
    Ok(output.stdout)
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Writes a file, and makes the folders above it.
fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    make(path.parent().unwrap_or(Path::new("")))?;
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Copies a file, or all that is below a folder, and makes the folders above it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        make(to.parent().unwrap_or(Path::new("")))?;
        fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
        return Ok(());
    }
    for file in files(from)? {
        copy(&from.join(&file), &to.join(&file))?;
    }
    Ok(())
}

/// The files below a folder, by their paths in it, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next);
        let entries = entries.with_context(|| format!("cannot list {}", next.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
