//! The parts of one target: the folder that everything is packed from, and its packages.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::target::Target;
use super::{archive, build, copy, deb, licences, npm, output, remove, vsix, write};
use crate::{root, target_dir};

/// The parts of the packages, below the folder of the archive.
pub const MAN: &str = "man/man1";
pub const COMPLETIONS: &str = "completions";
pub const PLUGINS: &str = "plugins";
pub const OTHERS_LICENCES: &str = "THIRD-PARTY.md";
pub const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// The files with the completions of a shell, as the shells look for them.
pub const SHELLS: [(&str, &str); 4] = [
    ("bash", "pillion.bash"),
    ("fish", "pillion.fish"),
    ("zsh", "_pillion"),
    ("powershell", "pillion.ps1"),
];

/// Makes all of them in `out`.
pub fn make(target: &Target, out: &Path) -> Result<()> {
    let staging = target_dir().join("dist-staging").join(target.triple);
    remove(&staging)?;
    let folder = staging.join(target.archive());
    super::make(&folder)?;
    let program = build::program(target)?;
    copy(&program, &folder.join(target.program))?;
    let speaker = speaker(target, program)?;
    write_pages(&speaker, &folder)?;
    write_plugins(&folder.join(PLUGINS))?;
    for file in LICENCES.into_iter().chain(["README.md", "CHANGELOG.md"]) {
        copy(&root().join(file), &folder.join(file))?;
    }
    write(&folder.join(OTHERS_LICENCES), licences::of(target)?)?;
    let name = target.archive();
    archive::pack(&staging, &name, &out.join(format!("{name}.tar.gz")))?;
    npm::platform(target, &folder, out)?;
    vsix::platform(target, &folder, out)?;
    if let Some(architecture) = target.debian {
        deb::make(architecture, &folder, out)?;
    }
    Ok(())
}

/// A program that runs here, for what every target's says of itself: the one that was built, or one for this machine.
fn speaker(target: &Target, program: PathBuf) -> Result<PathBuf> {
    let runs_here = target.triple.starts_with(ARCH) && target.npm.0 == npm_os();
    if runs_here {
        return Ok(program);
    }
    let mut cargo = crate::test::cargo(&["build", "--locked", "--package", "pillion"]);
    output(&mut cargo)?;
    Ok(target_dir().join(format!("debug/pillion{}", std::env::consts::EXE_SUFFIX)))
}

fn npm_os() -> &'static str {
    match OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

fn write_pages(program: &Path, folder: &Path) -> Result<()> {
    output(
        Command::new(program)
            .args(["man", "--to"])
            .arg(folder.join(MAN)),
    )?;
    for (shell, file) in SHELLS {
        let script = output(Command::new(program).args(["completions", shell]))?;
        write(&folder.join(COMPLETIONS).join(file), script)?;
    }
    Ok(())
}

/// Writes those that git has, without what people read in the repository.
fn write_plugins(to: &Path) -> Result<()> {
    let mut git = Command::new("git");
    let listed = output(git.args(["ls-files", "-z", "editors"]).current_dir(root()))?;
    let listed = String::from_utf8(listed).context("a name that is no text")?;
    for name in listed.split_terminator('\0') {
        let inner = name.strip_prefix("editors/").unwrap_or(name);
        if !inner.ends_with("README.md") {
            copy(&root().join(name), &to.join(inner))?;
        }
    }
    Ok(())
}

/// A page as Debian wants it, compressed and without the time.
pub fn compressed(page: &Path) -> Result<Vec<u8>> {
    fs::metadata(page).with_context(|| format!("{} is missing", page.display()))?;
    output(Command::new("gzip").args(["-n", "-9", "-c"]).arg(page))
}
