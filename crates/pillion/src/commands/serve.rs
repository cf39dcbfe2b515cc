//! `pillion serve`.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Context;
use pillion_companion::start_own;
use pillion_discovery::Environment;
use pillion_protocol::IdeInfo;
use pillion_text::stderr;
use pillion_view::{Compares, Editor, EditorEvent, Options, Shows, StartError, attach};
use serde_json::json;

use crate::args::Roots;
use crate::failure::{Failure, Kind};
use crate::logging::LineWriter;
use crate::workspace;

/// Run a headless companion, for scripts and containers
///
/// Prints one line of JSON, `{"port", "pid", "files"}`, once agents can find it, and runs until it
/// receives a signal. Its diffs wait for `pillion accept` or `pillion reject`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    roots: Roots,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let options = Options {
        environment: Environment::current(),
        editor_pid: std::process::id(),
        ide: IdeInfo::new("pillion", "Pillion"),
        roots: workspace::roots(&args.roots.roots)?,
        shows: Shows::Alone,
    };
    let editor = Warnings {
        warned: Vec::new(),
        at_quit: None,
        errors: LineWriter::start(io::stderr()).context("cannot start a thread")?,
    };
    let companion = match attach(options, editor, start_own) {
        // A signal is no failure, as at any later time.
        Err(StartError::Interrupted) => return Ok(()),
        started => started.context("cannot start the companion")?,
    };
    if companion.files().is_empty() {
        // Its warnings say why: they come before it has stopped.
        drop(companion);
        let message = "no agent can find this companion: no discovery file could be written";
        let hint = "Make one of the directories above writable, or set TMPDIR to a writable one, for the agents too.";
        return Err(Failure::new(Kind::Refused, message).hint(hint).into());
    }
    let ready = json!({
        "port": companion.port(),
        "pid": std::process::id(),
        "files": companion.files(),
    });
    let mut out = io::stdout().lock();
    writeln!(out, "{ready}")
        .and_then(|()| out.flush())
        .context("cannot report that the companion is ready")?;
    if let Some(mismatch) = companion.mismatch() {
        stderr::warn(mismatch);
    }
    companion.wait();
    Ok(())
}

/// A front end that shows nothing but warnings.
#[derive(Debug)]
struct Warnings {
    warned: Vec<String>,
    /// The last word, if there is one.
    at_quit: Option<String>,
    /// Standard error, which may be a pipe that nobody reads.
    errors: LineWriter,
}

impl Warnings {
    fn warn(&self, text: impl Display) {
        let mut line = Vec::new();
        // Writing to memory does not fail.
        let _ = stderr::write(&mut line, format_args!("warning: {text}"));
        self.errors.write(line);
    }

    fn warn_once(&mut self, warnings: Vec<String>) {
        for warning in warnings {
            if !self.warned.contains(&warning) {
                self.warn(&warning);
                self.warned.push(warning);
            }
        }
    }
}

impl Editor for Warnings {
    fn compares(&self) -> Compares {
        Compares::Nothing
    }

    fn event(&mut self, event: EditorEvent) {
        match event {
            EditorEvent::Lost(lost) => self.warn(lost),
            EditorEvent::Status(mut status) => {
                self.at_quit = status.at_quit();
                status.warnings.append(&mut status.unasked);
                self.warn_once(status.warnings);
            }
            EditorEvent::Stopped => {
                self.at_quit.take().inspect(|it| self.warn(it));
            }
            // The companion keeps the proposals of a view that shows nothing.
            _ => {}
        }
    }
}
