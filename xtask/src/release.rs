//! `cargo xtask release`: the part of a release that is done before anything is public: the version in all its places,
//! the changelog, a commit and a tag. Pushing the tag is what publishes (`.github/workflows/release.yml`).

mod changelog;
mod places;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::dist::output;
use crate::root;

/// The file with the changes.
const CHANGELOG: &str = "CHANGELOG.md";

/// Set the version everywhere, date the changelog, commit and tag; nothing is pushed
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The new version, such as 1.2.3
    version: String,

    /// Only print what the changelog says about this version
    #[arg(long)]
    notes: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let version = args.version.trim_start_matches('v');
    let said = if args.notes {
        changelog::notes(&read(&root(), CHANGELOG)?, version)?
    } else {
        let today = output(Command::new("date").args(["-u", "+%F"]))?;
        release(&root(), version, String::from_utf8(today)?.trim())?;
        format!("v{version} is tagged. `git push origin HEAD v{version}` publishes it.\n")
    };
    let mut out = std::io::stdout();
    out.write_all(said.as_bytes())
        .context("nobody reads the output")?;
    Ok(ExitCode::SUCCESS)
}

/// Does it in the repository at `root`: all of it, or nothing that `git reset --hard` does not undo.
fn release(root: &Path, version: &str, date: &str) -> Result<()> {
    let manifest = read(root, places::MANIFEST)?;
    let current = places::current(&manifest)?;
    let address = places::address(&manifest)?;
    ensure!(
        number(version).is_some_and(|new| Some(new) >= number(current)),
        "{version:?} is not a version after {current}, such as 1.2.3"
    );
    ensure!(
        address.starts_with("https://"),
        "the project has no address: set `repository` in {}, to an https address without .git",
        places::MANIFEST
    );
    let changed = git(root, &["status", "--porcelain"])?;
    ensure!(changed.is_empty(), "commit or stash first: {changed}");
    let tag = format!("v{version}");
    let tags = git(root, &["tag", "--list", &tag])?;
    ensure!(tags.is_empty(), "{tag} is there already");
    let changes = changelog::released(&read(root, CHANGELOG)?, version, date)?;
    write(root, CHANGELOG, &changes)?;
    for (path, text) in places::changed(|path| read(root, path), current, version, address)? {
        write(root, path, &text)?;
    }
    // The crates of this workspace alone.
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    output(
        cargo
            .args(["update", "--workspace", "--offline"])
            .current_dir(root),
    )?;
    git(
        root,
        &[
            "commit",
            "--quiet",
            "--all",
            "--message",
            &format!("release: {version}"),
        ],
    )?;
    git(
        root,
        &[
            "tag",
            "--annotate",
            "--message",
            &format!("Pillion {version}"),
            &tag,
        ],
    )?;
    Ok(())
}

/// Returns the three numbers of a version; none for a pre-release, which has no version of its own.
fn number(version: &str) -> Option<[u64; 3]> {
    let parts: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

fn git(root: &Path, words: &[&str]) -> Result<String> {
    let printed = output(Command::new("git").args(words).current_dir(root))?;
    Ok(String::from_utf8(printed)?.trim().to_owned())
}

fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

fn write(root: &Path, path: &str, text: &str) -> Result<()> {
    fs::write(root.join(path), text).with_context(|| format!("cannot write {path}"))
}
