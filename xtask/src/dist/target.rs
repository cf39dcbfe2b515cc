//! The targets that are built, and what package managers call them.

use std::env::consts::OS;
use std::process::Command;

use anyhow::{Result, ensure};

use super::output;

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    pub triple: &'static str,
    /// The system that builds it, as the standard library calls it.
    built_on: &'static str,
    /// The file name of the program.
    pub program: &'static str,
    /// The names of system and processor for npm.
    pub npm: (&'static str, &'static str),
    /// The name of the processor for Debian, where there is a package.
    pub debian: Option<&'static str>,
}

const TARGETS: [Target; 5] = [
    Target {
        debian: Some("amd64"),
        ..target("x86_64-unknown-linux-musl", "linux", ("linux", "x64"))
    },
    Target {
        debian: Some("arm64"),
        ..target("aarch64-unknown-linux-musl", "linux", ("linux", "arm64"))
    },
    target("x86_64-apple-darwin", "macos", ("darwin", "x64")),
    target("aarch64-apple-darwin", "macos", ("darwin", "arm64")),
    // Built with mingw, and only when it is asked for.
    Target {
        program: "pillion.exe",
        ..target("x86_64-pc-windows-gnu", "linux", ("win32", "x64"))
    },
];

const fn target(
    triple: &'static str,
    built_on: &'static str,
    npm: (&'static str, &'static str),
) -> Target {
    Target {
        triple,
        built_on,
        program: "pillion",
        npm,
        debian: None,
    }
}

impl Target {
    /// The name of its archive, and of the folder in it.
    pub fn archive(&self) -> String {
        format!("pillion-{}-{}", super::VERSION, self.triple)
    }

    /// The name of its package for npm.
    pub fn npm_name(&self) -> String {
        format!("pillion-{}-{}", self.npm.0, self.npm.1)
    }

    /// The names of its platforms for VS Code. A static program is for both kinds of Linux.
    pub fn vscode(&self) -> Vec<String> {
        let (system, processor) = self.npm;
        let systems = match system {
            "linux" => vec!["linux", "alpine"],
            other => vec![other],
        };
        let named = |system| format!("{system}-{processor}");
        systems.into_iter().map(named).collect()
    }

    /// Every one, for what is made of all parts.
    pub fn all() -> &'static [Target] {
        &TARGETS
    }
}

/// The target of this name.
pub fn named(triple: &str) -> Result<&'static Target, String> {
    let found = TARGETS.iter().find(|target| target.triple == triple);
    found.ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|target| target.triple).collect();
        format!("the targets are {}", known.join(", "))
    })
}

/// Those to build: the ones that were named, each of which has to be possible, or all that are.
pub fn chosen(named: &[&'static Target]) -> Result<Vec<&'static Target>> {
    for target in named {
        ensure_library(target.triple)?;
    }
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let mut chosen = Vec::new();
    let is_for_here =
        |target: &&Target| target.built_on == OS && !target.triple.contains("windows");
    for target in TARGETS.iter().filter(is_for_here) {
        match ensure_library(target.triple) {
            Ok(()) => chosen.push(target),
            Err(error) => super::say(&format!("left out: {}: {error:#}", target.triple))?,
        }
    }
    ensure!(!chosen.is_empty(), "no target can be built here");
    Ok(chosen)
}

/// Makes sure that its standard library is installed.
pub fn ensure_library(triple: &str) -> Result<()> {
    let mut rustc = Command::new("rustc");
    let folder = output(rustc.args(["--print", "target-libdir", "--target", triple]))?;
    let folder = String::from_utf8(folder)?;
    if std::fs::read_dir(folder.trim()).is_ok() {
        return Ok(());
    }
    output(Command::new("rustup").args(["target", "add", triple])).map(drop)
}
