//! `cargo xtask`: the project's own tasks. One file per task; this one reads what was typed.

mod addons;
mod bare_root;
mod bench;
mod built;
mod dist;
mod docs;
mod editors;
mod javascript;
mod lua;
mod npm;
mod picture;
mod prerequisites;
mod release;
mod test;
mod vibe;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

/// The project's own chores
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    Test(test::Args),
    Format(lua::Args),
    Bench(bench::Args),
    #[command(hide = true)]
    BenchFloor(bench::floor::Args),
    #[command(hide = true)]
    BenchDecider(bench::decider::Args),
    Picture(picture::Args),
    Dist(dist::Args),
    Docs(docs::Args),
    Release(release::Args),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Test(args) => test::run(&args),
        Task::Format(args) => lua::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::BenchFloor(args) => bench::floor::run(&args),
        Task::BenchDecider(args) => bench::decider::run(&args),
        Task::Picture(args) => picture::run(&args),
        Task::Dist(args) => dist::run(&args),
        Task::Docs(args) => docs::run(&args),
        Task::Release(args) => release::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // Standard error may be closed; there is nowhere else to say so.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root folder.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// The folder where cargo builds, and where the npm packages and the editors go.
fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
