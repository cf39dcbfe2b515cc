//! The time that the review spends on watching a large repository while git replaces all of it, beside what
//! git itself spends: on the repository that is watched, and on its twin that nobody watches, in turn.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use pillion_testkit::{Home, Pane, Size, Tmux};

use super::figures::{milliseconds, quantile};
use super::process;

/// Folders of a branch, and files in each.
pub const FOLDERS: usize = 2_000;
pub const FILES: usize = 10;

/// The folders of a branch lie in so many others, which have a `.gitignore` each.
const GROUPS: usize = 40;

/// The review has done its work when it spends next to nothing for so long.
const QUIET: Duration = Duration::from_secs(1);

/// The time limit for getting there.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(120);

/// One line of the table, in milliseconds of processor time.
#[derive(Debug)]
pub struct Figure {
    pub name: &'static str,
    /// git where nobody watches, and where the review does. `None` where git has no part.
    pub git: Option<[f64; 2]>,
    pub pillion: f64,
    /// At most this is to be reached.
    pub limit: f64,
}

impl Figure {
    pub fn is_reached(&self) -> bool {
        self.pillion <= self.limit
    }
}

/// The branches: the second has the files of the first with other texts, the third has none of them.
const BRANCHES: [&str; 3] = ["first", "rewritten", "moved"];

/// Measures everything.
pub fn measure(pillion: &Path, rounds: usize) -> Result<Vec<Figure>> {
    let home = Home::new();
    let (watched, alone) = (home.workspace(), home.other_workspace("alone"));
    for folder in [&watched, &alone] {
        make(&home, folder)?;
    }
    let tmux = Tmux::start();
    let command = [pillion.as_os_str(), "review".as_ref()];
    let pane = tmux.spawn(
        "review",
        Size::new(100, 30),
        &home.env(),
        &watched,
        &command,
    );
    await_watch(&pane, &watched)?;
    let review = pane.pid();
    let mut figures = Vec::new();
    for (name, branch) in [
        ("checkout: every file has another text", "rewritten"),
        ("checkout: every folder has another name", "moved"),
    ] {
        let mut spent = [const { Vec::new() }; 3];
        for _ in 0..rounds {
            for branch in [branch, "first"] {
                spent[0].push(milliseconds(checkout(&home, &alone, branch)?));
                let start = settled(review)?;
                spent[1].push(milliseconds(checkout(&home, &watched, branch)?));
                spent[2].push(milliseconds(settled(review)?.saturating_sub(start)));
            }
        }
        let [alone, beside, pillion] = spent.map(|spent| quantile(spent, 0.5));
        let alone = alone.context("nothing was measured")?;
        figures.push(Figure {
            name,
            git: Some([alone, beside.unwrap_or_default()]),
            pillion: pillion.unwrap_or_default(),
            limit: alone,
        });
    }
    figures.push(deletion(review, &watched)?);
    // Whatever happened, what a person saves then is noticed.
    await_watch(&pane, &watched)?;
    Ok(figures)
}

/// The time that it takes when every folder goes.
fn deletion(review: u32, watched: &Path) -> Result<Figure> {
    let start = settled(review)?;
    for group in 0..GROUPS {
        fs::remove_dir_all(watched.join(group_name("first", group)))?;
    }
    Ok(Figure {
        name: "deletion of every folder",
        git: None,
        pillion: milliseconds(settled(review)?.saturating_sub(start)),
        limit: 1_000.0,
    })
}

/// A repository with all branches; the first is checked out.
fn make(home: &Home, folder: &Path) -> Result<()> {
    git(home, folder, &["init", "--quiet", "--initial-branch=none"])?;
    let stream = folder.join(".git/stream");
    fs::write(&stream, history()).context("cannot write the history")?;
    let status = git_command(home, folder)
        .args(["fast-import", "--quiet"])
        .stdin(fs::File::open(&stream)?)
        .status()
        .context("git did not start")?;
    ensure!(status.success(), "git fast-import failed: {status}");
    git(home, folder, &["checkout", "--quiet", "first"])
}

/// The input from which `git fast-import` makes the branches.
fn history() -> String {
    let mut out = String::new();
    for branch in BRANCHES {
        let place = if branch == "moved" { branch } else { "first" };
        let _ = write!(
            out,
            "commit refs/heads/{branch}\ncommitter A <a@b> 0 +0000\ndata 0\n"
        );
        let mut file = |path: String, text: &str| {
            let _ = write!(out, "M 644 inline {path}\ndata {}\n{text}\n", text.len());
        };
        file(".gitignore".to_owned(), "target/\n*.log\n");
        for group in 0..GROUPS {
            let group_name = group_name(place, group);
            file(format!("{group_name}/.gitignore"), "out/\n!keep.log\n");
            for folder in 0..FOLDERS / GROUPS {
                for number in 0..FILES {
                    let path = format!("{group_name}/part{folder}/file{number}.rs");
                    let text = format!("// {branch} {path}\n").repeat(20);
                    file(path, &text);
                }
            }
        }
    }
    out
}

fn group_name(place: &str, group: usize) -> String {
    format!("{place}{group}")
}

/// The processor time that git took for it.
fn checkout(home: &Home, folder: &Path, branch: &str) -> Result<Duration> {
    let before = process::processor_time_of_children().context("the system does not say")?;
    git(home, folder, &["checkout", "--quiet", branch])?;
    let after = process::processor_time_of_children().context("the system does not say")?;
    Ok(after.saturating_sub(before))
}

fn git(home: &Home, folder: &Path, arguments: &[&str]) -> Result<()> {
    let status = git_command(home, folder)
        .args(arguments)
        .status()
        .context("git did not start")?;
    ensure!(status.success(), "git {arguments:?} failed: {status}");
    Ok(())
}

fn git_command(home: &Home, folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .env_clear()
        .envs(home.env().iter())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// Saves files until the review shares one.
fn await_watch(pane: &Pane, folder: &Path) -> Result<()> {
    let start = Instant::now();
    for number in 0.. {
        let name = format!("probe{number}-{}.txt", start.elapsed().as_nanos());
        let path: PathBuf = folder.join(&name);
        fs::write(&path, "saved\n")?;
        thread::sleep(Duration::from_millis(700));
        let is_shared = pane.screen().contains(&name);
        fs::remove_file(&path)?;
        if is_shared {
            return Ok(());
        }
        ensure!(
            start.elapsed() < SETTLE_TIMEOUT,
            "the review shares nothing"
        );
    }
    Ok(())
}

/// The time that a process has spent, once it is quiet.
fn settled(pid: u32) -> Result<Duration> {
    let spent = || process::processor_time(pid).context("the review has ended");
    let start = Instant::now();
    loop {
        let before = spent()?;
        thread::sleep(QUIET);
        let now = spent()?;
        if now.saturating_sub(before) < Duration::from_millis(2) {
            return Ok(now);
        }
        ensure!(start.elapsed() < SETTLE_TIMEOUT, "the review gets no rest");
    }
}
