//! The time of the commands that a person or a shell's start file waits for, from before they are
//! started until they have ended. Every round runs each of them once, so that what the machine does
//! hits all alike.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use pillion_testkit::Home;
use serde_json::json;

use super::figures::{milliseconds, quantile};

/// One line of the table.
#[derive(Debug)]
pub struct Figure {
    pub name: &'static str,
    /// Milliseconds.
    pub p50: f64,
    pub p99: f64,
    /// At most this p50 is to be reached.
    pub limit: Option<f64>,
}

impl Figure {
    pub fn is_reached(&self) -> Option<bool> {
        Some(self.p50 <= self.limit?)
    }
}

/// The number of discovery files of others.
pub const FILES: usize = 100;

/// A command to measure, and its home.
struct Candidate<'a> {
    name: &'static str,
    program: &'a Path,
    arguments: &'static [&'static str],
    home: &'a Home,
    limit: Option<f64>,
}

/// Measures everything.
pub fn measure(pillion: &Path, rounds: usize) -> Result<Vec<Figure>> {
    let (quiet, busy) = (Home::new(), Home::new());
    let _serves = [serve(pillion, &quiet)?, serve(pillion, &busy)?];
    crowd(&busy)?;
    let of = |name, arguments, home, limit| Candidate {
        name,
        program: pillion,
        arguments,
        home,
        limit,
    };
    let nothing = Candidate {
        program: Path::new("true"),
        ..of("true", &[], &quiet, None)
    };
    let env = ["env", "--shell", "sh"].as_slice();
    let run = ["run", "--print", "gemini"].as_slice();
    let mut candidates = vec![
        nothing,
        of("pillion --version", &["--version"], &quiet, None),
        of("pillion env", env, &quiet, Some(10.0)),
        of("pillion run --print gemini", run, &quiet, None),
        of("pillion env, 100 others' files", env, &busy, None),
    ];
    let list = of(
        "pillion list, 100 others' files",
        &["list"],
        &busy,
        Some(30.0),
    );
    // Not every commit has it.
    if run_once(&list).is_ok() {
        candidates.push(list);
    }
    let mut took = vec![Vec::new(); candidates.len()];
    for _ in 0..rounds {
        for (candidate, took) in candidates.iter().zip(&mut took) {
            let start = Instant::now();
            run_once(candidate)?;
            took.push(milliseconds(start.elapsed()));
        }
    }
    let figure = |(candidate, took): (&Candidate<'_>, Vec<f64>)| {
        Some(Figure {
            name: candidate.name,
            p50: quantile(took.clone(), 0.5)?,
            p99: quantile(took, 0.99)?,
            limit: candidate.limit,
        })
    };
    let figures: Option<_> = candidates.iter().zip(took).map(figure).collect();
    figures.context("nothing was measured")
}

fn run_once(candidate: &Candidate<'_>) -> Result<()> {
    let name = candidate.name;
    let status = Command::new(candidate.program)
        .args(candidate.arguments)
        .env_clear()
        .envs(candidate.home.env().iter())
        .current_dir(candidate.home.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("{name} did not start"))?;
    ensure!(status.success(), "{name} failed: {status}");
    Ok(())
}

/// A companion for the home's workspace. Killed on drop.
struct Serve(Child);

fn serve(pillion: &Path, home: &Home) -> Result<Serve> {
    let child = Command::new(pillion)
        .arg("serve")
        .env_clear()
        .envs(home.env().iter())
        .current_dir(home.workspace())
        .stdout(Stdio::piped())
        .spawn()
        .context("pillion serve did not start")?;
    let mut serve = Serve(child);
    let out = serve.0.stdout.take().context("no pipe from it")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    ensure!(!line.is_empty(), "pillion serve did not get ready");
    Ok(serve)
}

impl Drop for Serve {
    fn drop(&mut self) {
        // Either fails only when it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Companions of others: each listens, has one file, and serves a folder of its own.
fn crowd(home: &Home) -> Result<()> {
    let folder = home.tmp().join("gemini/ide");
    for number in 0..FILES {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("no port is free")?;
        let port = listener.local_addr()?.port();
        let workspace = home.other_workspace(&format!("other-{number}"));
        let content = json!({
            "port": port, "workspacePath": workspace, "authToken": "t",
            "ideInfo": {"name": "vscode", "displayName": "VS Code"},
        });
        let name = format!("gemini-ide-server-{}-{port}.json", std::process::id());
        fs::write(folder.join(name), content.to_string()).context("cannot write a file")?;
        // Ends with the process. Connections that are not accepted would fill the queue.
        thread::spawn(move || listener.incoming().for_each(drop));
    }
    Ok(())
}
