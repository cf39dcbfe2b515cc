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
mod turns;
mod watching;

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde_json::{Map, Value};

use self::servers::Programs;
use self::turns::Size;
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

/// The measurements.
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
    /// What recording costs at the start of a turn, and at a call of a tool
    Turns,
}

/// The amount of measuring.
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
    /// The number of times that git goes to another branch and back.
    checkouts: usize,
    /// The work trees in which turns begin, and how often.
    turns: (&'static [Size], usize),
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
    turns: (
        &[
            Size {
                files: 1_000,
                limit: 40.0,
            },
            Size {
                files: 20_000,
                limit: 150.0,
            },
            Size {
                files: 300_000,
                limit: 1_000.0,
            },
        ],
        5,
    ),
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
    turns: (
        &[Size {
            files: 1_000,
            limit: 40.0,
        }],
        2,
    ),
};

pub fn run(args: &Args) -> Result<ExitCode> {
    let effort = if args.quick { &QUICK } else { &FULL };
    if args.only != Some(Part::Turns) {
        build("pillion", &[])?;
    }
    let mut json = Map::new();
    let mut is_first = true;
    for part in Part::value_variants() {
        if !args.measures(*part) {
            continue;
        }
        progress(format_args!("measuring: {part:?}"));
        let (table, figures) = measure(*part, effort)?;
        // Each as soon as it is there: all of them take half an hour.
        let mut out = io::stdout().lock();
        let between = if is_first { "" } else { "\n" };
        write!(out, "{between}{table}").context("cannot print the table")?;
        out.flush().context("cannot print the table")?;
        json.extend(figures);
        is_first = false;
    }
    let _ = fs::remove_dir_all(scratch());
    if let Some(path) = &args.json {
        let json = Value::Object(json);
        fs::write(path, format!("{json:#}\n"))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures one part: its table, and its figures for programs.
fn measure(part: Part, effort: &Effort) -> Result<(String, Map<String, Value>)> {
    let pillion = || std::path::absolute(built("pillion"));
    Ok(match part {
        Part::Companion => {
            let figures = figures::measure(&programs()?, effort)?;
            let table = report::companion(&figures, effort.idle);
            (table, report::companion_json(&figures, effort.idle))
        }
        Part::Decisions => {
            let figures = decisions::measure(&programs()?, &effort.diffs)?;
            (
                report::decisions(&figures),
                report::decisions_json(&figures),
            )
        }
        Part::Commands => {
            let figures = commands::measure(&pillion()?, effort.commands)?;
            (report::commands(&figures), report::commands_json(&figures))
        }
        Part::Editors => {
            let figures = editors(effort)?;
            (report::editors(&figures), report::editors_json(&figures))
        }
        Part::Watching => {
            let figures = watching::measure(&pillion()?, effort.checkouts)?;
            (report::watching(&figures), report::watching_json(&figures))
        }
        Part::Turns => {
            build("pillion-changes", &["--example", "turn"])?;
            let turn = std::path::absolute(built("examples/turn"))?;
            let (sizes, rounds) = effort.turns;
            let figures = turns::measure(&turn, sizes, rounds)?;
            (report::turns(&figures), report::turns_json(&figures))
        }
    })
}

/// Says what is done at the moment, which may take minutes. The tables are on standard output.
#[expect(clippy::print_stderr, reason = "it is for whoever waits")]
fn progress(what: impl fmt::Display) {
    eprintln!("bench: {what}");
}

impl Args {
    fn measures(&self, part: Part) -> bool {
        self.only.is_none_or(|only| only == part)
    }
}

/// The servers, and the client's Node.
fn programs() -> Result<Programs> {
    let npm = npm::install(&target_dir())?;
    build("xtask", &[])?;
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

/// The folder in which servers write.
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
fn build(package: &str, more: &[&str]) -> Result<()> {
    progress(format_args!("building {package}"));
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
        .args(more)
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
