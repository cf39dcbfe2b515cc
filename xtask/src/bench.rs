//! `cargo xtask bench`: how fast and how small pillion is, beside a floor and a reference that are
//! measured in the same run, in turn, so that what the machine does meanwhile hits all alike.
//!
//! It reports; it never fails because something is slow.

mod client;
mod figures;
pub mod floor;
mod process;
mod report;
mod servers;
mod text;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use self::servers::Programs;
use crate::{npm, root, target_dir};

/// Measure pillion beside a bare server and the official SDK, and print a table
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Take a few rounds only: to see that the benchmark works, not how fast anything is
    #[arg(long)]
    quick: bool,

    /// Write every figure to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
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
}

const FULL: Effort = Effort {
    starts: 30,
    diffs: [2000, 2000, 600, 200],
    contexts: 40,
    changes: 10_000,
    idle: Duration::from_secs(60),
};

const QUICK: Effort = Effort {
    starts: 3,
    diffs: [100, 100, 40, 10],
    contexts: 5,
    changes: 500,
    idle: Duration::from_secs(3),
};

pub fn run(args: &Args) -> Result<ExitCode> {
    let target = target_dir();
    let npm = npm::install(&target)?;
    let release = target.join("release");
    build("pillion")?;
    build("xtask")?;
    let scratch = target.join("bench");
    // The reference finds its packages beside itself.
    let reference = npm.join("bench-reference.mjs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/reference.mjs");
    fs::copy(&source, &reference).with_context(|| format!("cannot copy {}", source.display()))?;
    let programs = Programs {
        pillion: executable(&release, "pillion"),
        floor: executable(&release, "xtask"),
        node: executable(&npm.join("node_modules/.bin"), "node"),
        reference,
        scratch: std::path::absolute(&scratch)?,
    };
    let effort = if args.quick { &QUICK } else { &FULL };
    let figures = figures::measure(&programs, effort)?;
    let mut out = io::stdout().lock();
    write!(out, "{}", report::markdown(&figures, effort.idle)).context("cannot print the table")?;
    if let Some(path) = &args.json {
        let json = report::json(&figures, effort.idle);
        fs::write(path, format!("{json:#}\n"))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let _ = fs::remove_dir_all(&scratch);
    Ok(ExitCode::SUCCESS)
}

/// Builds one package for release. One at a time: built together, each would get the features that
/// the other asks of their dependencies.
fn build(package: &str) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--package", package])
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
