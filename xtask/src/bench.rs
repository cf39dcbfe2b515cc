//! `cargo xtask bench`: how fast and how small pillion is, beside a floor and a reference that are
//! measured in the same run, in turn, so that what the machine does meanwhile hits all alike.
//!
//! It reports; it never fails because something is slow.

mod client;
mod commands;
pub mod decider;
mod decisions;
mod editors;
mod figures;
pub mod floor;
mod process;
mod report;
mod servers;
mod text;
mod watching;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use self::servers::Programs;
use crate::{npm, root, target_dir};

/// Measure pillion beside a bare server and the official SDK, its commands, and in editors
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Take a few rounds only: to see that the benchmark works, not how fast anything is
    #[arg(long)]
    quick: bool,

    /// Measure only this
    #[arg(long, value_enum, value_name = "PART")]
    only: Option<Part>,

    /// Write every figure to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The companion beside a bare server and the official SDK
    Companion,
    /// From a proposal to its decision, over HTTP and over a WebSocket
    Decisions,
    /// The commands that a person waits for
    Commands,
    /// What it costs in editors
    Editors,
    /// What the review spends on watching a large repository
    Watching,
}

/// How much is measured.
#[derive(Debug)]
struct Effort {
    starts: usize,
    /// For each of [`text::SIZES`].
    diffs: [usize; 4],
    contexts: usize,
    changes: usize,
    idle: Duration,
    commands: usize,
    editors: editors::Effort,
    /// How often git goes to another branch and back.
    checkouts: usize,
}

const FULL: Effort = Effort {
    starts: 30,
    diffs: [6000, 6000, 2000, 600],
    contexts: 40,
    changes: 10_000,
    idle: Duration::from_secs(60),
    commands: 300,
    editors: editors::Effort {
        starts: 30,
        moves: 200,
        diffs: [100, 30],
    },
    checkouts: 5,
};

const QUICK: Effort = Effort {
    starts: 3,
    diffs: [100, 100, 40, 10],
    contexts: 5,
    changes: 500,
    idle: Duration::from_secs(3),
    commands: 10,
    editors: editors::Effort {
        starts: 3,
        moves: 10,
        diffs: [5, 2],
    },
    checkouts: 1,
};

pub fn run(args: &Args) -> Result<ExitCode> {
    let effort = if args.quick { &QUICK } else { &FULL };
    build("pillion")?;
    let mut tables = Vec::new();
    let mut json = Map::new();
    if args.measures(Part::Companion) {
        let figures = figures::measure(&programs()?, effort)?;
        tables.push(report::companion(&figures, effort.idle));
        json.extend(report::companion_json(&figures, effort.idle));
    }
    if args.measures(Part::Decisions) {
        let figures = decisions::measure(&programs()?, &effort.diffs)?;
        tables.push(report::decisions(&figures));
        json.extend(report::decisions_json(&figures));
    }
    let _ = fs::remove_dir_all(scratch());
    if args.measures(Part::Commands) {
        let pillion = std::path::absolute(built("pillion"))?;
        let figures = commands::measure(&pillion, effort.commands)?;
        tables.push(report::commands(&figures));
        json.extend(report::commands_json(&figures));
    }
    if args.measures(Part::Editors) {
        let figures = editors(effort)?;
        tables.push(report::editors(&figures));
        json.extend(report::editors_json(&figures));
    }
    if args.measures(Part::Watching) {
        let pillion = std::path::absolute(built("pillion"))?;
        let figures = watching::measure(&pillion, effort.checkouts)?;
        tables.push(report::watching(&figures));
        json.extend(report::watching_json(&figures));
    }
    let mut out = io::stdout().lock();
    write!(out, "{}", tables.join("\n")).context("cannot print the table")?;
    if let Some(path) = &args.json {
        let json = Value::Object(json);
        fs::write(path, format!("{json:#}\n"))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn measures(&self, part: Part) -> bool {
        self.only.is_none_or(|only| only == part)
    }
}

/// The servers, and the client's Node.
fn programs() -> Result<Programs> {
    let npm = npm::install(&target_dir())?;
    build("xtask")?;
    // The reference finds its packages beside itself.
    let reference = npm.join("bench-reference.mjs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/reference.mjs");
    fs::copy(&source, &reference).with_context(|| format!("cannot copy {}", source.display()))?;
    Ok(Programs {
        pillion: built("pillion"),
        xtask: built("xtask"),
        node: executable(&npm.join("node_modules/.bin"), "node"),
        reference,
        scratch: std::path::absolute(scratch())?,
    })
}

/// Where servers write.
fn scratch() -> PathBuf {
    target_dir().join("bench")
}

fn editors(effort: &Effort) -> Result<Vec<editors::Figure>> {
    let folder = crate::editors::install(&target_dir())?;
    let pillion = std::path::absolute(built("pillion"))?;
    editors::measure(&pillion, &folder, &effort.editors)
}

/// A program that [`build`] has built.
fn built(name: &str) -> PathBuf {
    executable(&target_dir().join("dist"), name)
}

/// Builds one package as it is distributed. One at a time: built together, each would get the features that
/// the other asks of their dependencies.
fn build(package: &str) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--profile",
            "dist",
            "--package",
            package,
        ])
        .current_dir(root())
        .status()
        .context("cargo did not start")?;
    ensure!(
        status.success(),
        "cargo could not build {package}: {status}"
    );
    Ok(())
}

fn executable(folder: &Path, name: &str) -> PathBuf {
    folder
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION)
}
