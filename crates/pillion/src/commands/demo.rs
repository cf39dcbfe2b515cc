//! `pillion --demo`: an agent of our own that proposes a sample change as `pillion diff` does, so that a newcomer without an agent sees the whole way.

use std::path::Path;
use std::{fs, io};

use anyhow::Context;
use pillion_discovery::Environment;
use pillion_protocol::ProposedFile;
use pillion_view::ask::{Decisions, End, PassedOn, Propose};
use tempfile::TempDir;

use crate::args::Target;
use crate::choice;
use crate::commands::control_client;
use crate::paths::unicode;

const NAME: &str = "reading_list.py";
const BEFORE: &str = include_str!("demo/before.py");
/// The text that the agent proposes for it.
const AFTER: &str = include_str!("demo/after.py");

/// A folder with the sample file, to be a root of the review. Dropping it removes it.
pub fn folder() -> anyhow::Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("pillion-demo-")
        .tempdir()
        .context("cannot create a folder for the demo")?;
    fs::write(folder.path().join(NAME), BEFORE)?;
    Ok(folder)
}

/// Lets the agent go, in that folder, and reports to `notice` how it ended, in a sentence for people.
pub fn start(folder: &Path, notice: impl Fn(String) + Send + 'static) -> io::Result<()> {
    let path = folder.join(NAME);
    pillion_system::spawn("demo agent", move || {
        let told = propose(&path);
        notice(told.unwrap_or_else(|error| format!("the demo agent failed: {error:#}")));
    })?;
    Ok(())
}

fn propose(path: &Path) -> anyhow::Result<String> {
    let environment = Environment::current();
    let companion = choice::of_pillion(&environment, &Target::default().about(path))?;
    let mut connection = control_client::connect(&environment, &companion)?;
    let file = ProposedFile {
        path: unicode(path.to_owned())?,
        content: AFTER.to_owned(),
        ..ProposedFile::default()
    };
    connection.wait_for(Propose {
        files: vec![file],
        ..Propose::default()
    })?;
    let decided = connection.wait_for(Decisions)?;
    let told = match decided.ends.into_iter().next() {
        Some((_, End::Accepted { content, .. })) => {
            // The agent writes, never the companion (C5.9).
            fs::write(path, &content)?;
            let edited = if content == AFTER {
                ""
            } else {
                " as you left it"
            };
            format!("Accepted: the demo agent wrote the text{edited}.")
        }
        Some((_, End::Rejected { .. })) => "Rejected: the demo agent wrote nothing.".to_owned(),
        _ => "Nobody decided: the demo agent wrote nothing.".to_owned(),
    };
    connection.ask(PassedOn)?;
    Ok(told)
}
