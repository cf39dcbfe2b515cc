//! The Lua of `editors/nvim`: formatted by StyLua, which npm has as WebAssembly, and checked by luacheck.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::test::Job;
use crate::{npm, root, target_dir};

/// The sources, below the repository's root.
const SOURCES: &str = "editors/nvim";

/// The folder with what runs StyLua, and what npm needs to install it.
const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/lua");

/// Format the sources, the Lua ones too
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> Result<ExitCode> {
    let target = target_dir();
    npm::install(&target)?;
    install(&target)?;
    let rust = Command::new("cargo").args(["fmt", "--all"]).status();
    let rust = rust.context("cargo did not start")?;
    let lua = formatter(&[])?.status().context("Node did not start")?;
    Ok(if rust.success() && lua.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Installs StyLua, unless it is there already. It runs in the Node of [`npm::install`]. Returns its folder.
///
/// # Errors
/// If npm is not there or fails.
pub fn install(target: &Path) -> Result<PathBuf> {
    npm::install_locked(Path::new(TOOLS), target, "lua", |_| Ok(()))
}

/// The checks: what is not formatted, and what luacheck says.
///
/// # Errors
/// If the sources cannot be listed.
pub fn checks() -> Result<[Job; 2]> {
    let mut luacheck = Command::new("luacheck");
    luacheck.args(["--quiet", "--no-color", SOURCES]);
    luacheck.current_dir(root());
    let check = |tool: &str, command| Job {
        title: format!("{tool} {SOURCES}"),
        command,
        may_be_flaky: false,
    };
    Ok([
        check("stylua --check", formatter(&["--check"])?),
        check("luacheck", luacheck),
    ])
}

fn formatter(options: &[&str]) -> Result<Command> {
    let target = target_dir();
    let mut files = Vec::new();
    collect(&root().join(SOURCES), &mut files).with_context(|| format!("cannot list {SOURCES}"))?;
    files.sort();
    let mut command = Command::new(target.join("npm/node_modules/.bin/node"));
    command
        .arg(Path::new(TOOLS).join("format.mjs"))
        .arg(folder(&target)?)
        .args(options)
        .args(files)
        .current_dir(root());
    Ok(command)
}

fn folder(target: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(target.join("lua"))?)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "lua") {
            files.push(path);
        }
    }
    Ok(())
}
