//! A front end that accepts each proposal as soon as it sees it, so that what is left of the time until the
//! decision is the companion's.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use pillion_companion::Companion;
use pillion_discovery::Environment;
use pillion_protocol::{IdeInfo, Verdict};
use pillion_view::{
    By, Compares, Decide, Diff, Editor, EditorEvent, Handle, Options, Proposed, Reply,
};
use serde_json::json;

/// The benchmark's companion that decides by itself, as a process of its own
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Serves until it is killed. Prints `{"port", "files"}` when agents can find it.
pub fn run(Args {}: &Args) -> Result<ExitCode> {
    let options = Options {
        environment: Environment::current(),
        editor_pid: std::process::id(),
        ide: IdeInfo::new("bench", "Benchmark"),
        roots: vec![std::env::current_dir().context("there is no current directory")?],
        shows: pillion_view::Shows::LastUsed,
    };
    let handle = Arc::new(OnceLock::new());
    let editor = Decider(Arc::clone(&handle));
    let companion = Companion::start(options, editor).context("cannot start the companion")?;
    // No agent proposes anything before it reports that it is ready.
    let _ = handle.set(companion.handle());
    let ready = json!({"port": companion.port(), "files": companion.files()});
    let mut out = io::stdout();
    writeln!(out, "{ready}")
        .and_then(|()| out.flush())
        .context("cannot say that the companion is ready")?;
    companion.wait();
    Ok(ExitCode::SUCCESS)
}

struct Decider(Arc<OnceLock<Handle>>);

impl Editor for Decider {
    fn compares(&self) -> Compares {
        Compares::Nothing
    }

    fn event(&mut self, event: EditorEvent) {
        match event {
            EditorEvent::Open(diff, shown) => self.accept(&diff, shown),
            EditorEvent::Close(_, _, closed) => closed.failed("every diff is decided"),
            _ => {}
        }
    }
}

impl Decider {
    fn accept(&self, diff: &Diff, shown: Reply<()>) {
        shown.done(());
        if let Some(handle) = self.0.get() {
            let decide = Decide {
                key: diff.key(),
                verdict: Verdict::accept(None),
                by: By::View,
                base: None,
            };
            handle.ask(decide, Reply::new(drop));
        }
    }
}
