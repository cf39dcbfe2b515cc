//! The cost of recording for an agent: the start of a turn, and what is looked at before and after a shell command, beside
//! `git status` in the same work trees. Every round runs both, so that what the machine does hits both alike.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use pillion_testkit::Home;
use serde_json::Value;

use super::figures::{milliseconds, quantile};

/// A folder has so many files.
const FILES: usize = 10;

/// The number of files that git does not have as they are, and of those that it does not have at all.
const DIRTY: usize = 30;
const UNTRACKED: usize = 5;

/// At most this is to be reached where nothing has happened, in milliseconds.
pub const QUIET: f64 = 5.0;

/// A file that was written within this time is read again by everybody.
const RACY: Duration = Duration::from_secs(3);

/// A work tree that is measured.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub files: usize,
    /// At most this is to be reached, in milliseconds.
    pub limit: f64,
}

/// One line of the table, in milliseconds: the middle of all rounds.
#[derive(Debug)]
pub struct Figure {
    pub size: Size,
    pub git_status: f64,
    /// The first look, which no turn waits for.
    pub first: f64,
    pub begin: f64,
    /// Before the first command of a turn and after it.
    pub call: f64,
    /// Before a later one and after it, where nothing has happened meanwhile.
    pub quiet: f64,
}

impl Figure {
    pub fn is_reached(&self) -> bool {
        self.begin <= self.size.limit && self.quiet <= QUIET
    }
}

/// Measures everything. `turn` is the example of that name.
pub fn measure(turn: &Path, sizes: &[Size], rounds: usize) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for size in sizes {
        super::progress(format_args!("a work tree of {} files", size.files));
        let home = Home::new();
        make(&home, size.files)?;
        thread::sleep(RACY);
        let mut spent = [const { Vec::new() }; 5];
        for round in 1..=rounds {
            super::progress(format_args!("round {round} of {rounds}"));
            spent[0].push(git_status(&home)?);
            let took = run(&home, turn)?;
            let steps = [&["first"][..], &["begin"], &["before", "after"], &["quiet"]];
            for (spent, names) in spent[1..].iter_mut().zip(steps) {
                let seconds = names
                    .iter()
                    .map(|name| took[name].as_f64())
                    .sum::<Option<f64>>();
                spent.push(seconds.context("it does not say how long it took")? * 1_000.0);
            }
        }
        let middle = spent.map(|spent| quantile(spent, 0.5).unwrap_or_default());
        let [git_status, first, begin, call, quiet] = middle;
        figures.push(Figure {
            size: *size,
            git_status,
            first,
            begin,
            call,
            quiet,
        });
    }
    Ok(figures)
}

/// The times that a turn with one command that changes nothing takes, by its steps, in seconds.
fn run(home: &Home, turn: &Path) -> Result<Value> {
    let output = command(home, turn)
        .arg(home.workspace())
        .arg("true")
        .stdout(Stdio::piped())
        .output()
        .context("the example did not start")?;
    ensure!(output.status.success(), "the example failed: {output:?}");
    serde_json::from_slice(&output.stdout).context("the example does not print JSON")
}

fn git_status(home: &Home) -> Result<f64> {
    let start = Instant::now();
    git(home, &["status", "--untracked-files=all", "--porcelain"])?;
    Ok(milliseconds(start.elapsed()))
}

/// A work tree with that many files, some of which git does not have as they are.
fn make(home: &Home, files: usize) -> Result<()> {
    let folder = home.workspace();
    git(home, &["init", "--quiet", "--initial-branch=none"])?;
    let stream = folder.join(".git/stream");
    fs::write(&stream, history(files)).context("cannot write the history")?;
    let status = command(home, Path::new("git"))
        .args(["fast-import", "--quiet"])
        .stdin(fs::File::open(&stream)?)
        .status()
        .context("git did not start")?;
    ensure!(status.success(), "git fast-import failed: {status}");
    git(home, &["checkout", "--quiet", "main"])?;
    for number in 0..DIRTY.min(files) {
        fs::write(
            folder.join(path(number * (files / DIRTY).max(1))),
            "dirty\n",
        )?;
    }
    for number in 0..UNTRACKED {
        fs::write(folder.join(format!("untracked{number}")), "untracked\n")?;
    }
    Ok(())
}

/// The input from which `git fast-import` makes the branch.
fn history(files: usize) -> String {
    let mut out = String::from("commit refs/heads/main\ncommitter A <a@b> 0 +0000\ndata 0\n");
    for number in 0..files {
        let path = path(number);
        let text = format!("// {}\n", path.display()).repeat(60);
        let _ = write!(
            out,
            "M 644 inline {}\ndata {}\n{text}\n",
            path.display(),
            text.len()
        );
    }
    out
}

fn path(number: usize) -> PathBuf {
    let folder = number / FILES;
    PathBuf::from(format!("group{}/part{folder}/file{number}.rs", folder / 50))
}

fn git(home: &Home, arguments: &[&str]) -> Result<()> {
    let status = command(home, Path::new("git"))
        .args(arguments)
        .status()
        .context("git did not start")?;
    ensure!(status.success(), "git {arguments:?} failed: {status}");
    Ok(())
}

fn command(home: &Home, program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(home.env().iter())
        .current_dir(home.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}
