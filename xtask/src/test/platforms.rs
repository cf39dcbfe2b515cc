//! Other platforms, as far as they can be checked from Linux: the program for Windows is built with mingw, and its module
//! tests and the conformance suite run in Wine; for macOS, the types are checked. A check that cannot be done here is skipped
//! by name.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::plan::Skipped;
use super::pool::{Job, Lane};
use super::run::{Run, cargo};
use crate::dist::target;
use crate::{prerequisites, target_dir};

const MACOS: &str = "aarch64-apple-darwin";
const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// What is run there.
const PROGRAMS: [&str; 4] = ["--package", "pillion", "--package", "companion-conformance"];

/// The crates whose module tests run on Windows: others need a terminal, or tests of theirs a Unix.
const CRATES: [&str; 7] = [
    "protocol",
    "text",
    "hooks",
    "http",
    "system",
    "discovery",
    "companion",
];

/// The part that an old Wine lacks, and what builds it.
const LIBRARY: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/test/platforms/process_prng.c"
);
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// Starts a companion, waits until agents can find it, and checks it; a first start makes Wine's own folder.
const CONFORMANCE: &str = r#"
    set -e
    folder=$(mktemp -d)
    trap 'kill $companion 2>/dev/null; rm -rf "$folder"' EXIT
    "$WINE" "$PROGRAM" serve --workspace "Z:$folder" > "$folder/ready" 2> "$folder/said" &
    companion=$!
    for round in $(seq 600); do
      [ -s "$folder/ready" ] && break
      kill -0 $companion || { cat "$folder/said"; exit 1; }
      sleep 0.1
    done
    cat "$folder/ready"
    timeout 600 "$WINE" "$SUITE" --workspace "Z:$folder" < /dev/null
"#;

/// Runs what can be.
pub fn jobs(run: &mut Run) -> Result<(Vec<Lane>, Skipped)> {
    let missing = run.step("what the platforms need", || {
        (prerequisites::ensure_for_platforms(), true)
    })?;
    let mut skipped = Skipped::default();
    let mut jobs = Vec::new();
    match target::ensure_library(MACOS) {
        Ok(()) => jobs.push(job(&["check", "--target", MACOS, "--package", "pillion"])),
        Err(error) => skipped.named.push(format!("{MACOS}: {error:#}")),
    }
    let windows = target::ensure_library(WINDOWS).map_err(|error| format!("{error:#}"));
    match windows.and(missing) {
        Ok(()) => jobs.extend(windows_jobs()?),
        Err(error) => skipped.named.push(format!("{WINDOWS}: {error}")),
    }
    Ok((vec![Lane::of_one_at_a_time(jobs)], skipped))
}

fn job(arguments: &[&str]) -> Job {
    Job {
        title: super::run::title(arguments),
        command: cargo(arguments),
        may_be_flaky: false,
    }
}

fn windows_jobs() -> Result<Vec<Job>> {
    let target = std::path::absolute(target_dir())?;
    let libraries = libraries(&target);
    std::fs::create_dir_all(&libraries)?;
    let mut compile = Command::new(COMPILER);
    compile
        .args(["-shared", "-o"])
        .arg(libraries.join("bcryptprimitives.dll"))
        .args([LIBRARY, "-ladvapi32"]);
    let mut jobs = vec![
        Job {
            title: "what an old Wine lacks".to_owned(),
            command: compile,
            may_be_flaky: false,
        },
        job(&[&["build", "--target", WINDOWS], &PROGRAMS[..]].concat()),
    ];
    for name in CRATES {
        let package = format!("pillion-{name}");
        let options = ["test", "--lib", "--target", WINDOWS, "--package", &package];
        let mut job = job(&options);
        in_wine(&mut job.command, &target);
        jobs.push(job);
    }
    let programs = target.join(WINDOWS).join("debug");
    let mut conformance = Command::new("sh");
    in_wine(&mut conformance, &target);
    conformance
        .args(["-c", CONFORMANCE])
        .env("WINE", prerequisites::WINE)
        .env("PROGRAM", programs.join("pillion.exe"))
        .env("SUITE", programs.join("companion-conformance.exe"));
    jobs.push(Job {
        title: "the conformance suite in Wine".to_owned(),
        command: conformance,
        may_be_flaky: true,
    });
    Ok(jobs)
}

fn libraries(target: &Path) -> PathBuf {
    target.join("wine-libraries")
}

/// Its own Windows, of which nobody sees a window.
fn in_wine(command: &mut Command, target: &Path) {
    let libraries = libraries(target);
    command
        .env("WINEPATH", format!("Z:{}", libraries.display()))
        .env(
            "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER",
            prerequisites::WINE,
        )
        .env("WINEPREFIX", target.join("wine"))
        .env("WINEDEBUG", "-all")
        .env("WINEDLLOVERRIDES", "mscoree,mshtml=")
        .env_remove("DISPLAY");
}
