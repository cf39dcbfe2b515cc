//! `--because` and `--note`: what the agent is told with a decision by command.

use std::path::Path;

use pillion_protocol::{Note, verdict};
use pillion_text::stderr;
use pillion_view::commands::{Client, ClientError, DiffRef, Settle, Settled};

use super::control_client;
use super::position::{self, Lines};
use crate::absolute::absolute;
use crate::args::Target;
use crate::failure::{Failure, Kind};

#[derive(Debug, clap::Args)]
pub struct Notes {
    /// Tell the agent why
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,

    /// Tell the agent something about lines of the proposed text: `main.rs:12` or `main.rs:3-7`
    #[arg(long, num_args = 2, value_names = ["FILE:LINES", "TEXT"])]
    note: Vec<String>,
}

impl Notes {
    /// Settles a diff, and prints what becomes of the notes.
    ///
    /// # Errors
    /// When a note is not about the diff's file, or what the companion answers.
    pub fn settle(self, target: &Target, mut settle: Settle) -> anyhow::Result<Settled> {
        let notes = &mut settle.verdict.notes;
        notes.extend(self.because.map(Note::on_all));
        let on_lines = on_lines(&self.note)?;
        let ask = |client: &Client| {
            if !on_lines.is_empty() {
                let diff = DiffRef::exactly(settle.id, settle.revision);
                let summary = client.diff(diff)?.summary;
                for (path, lines, text) in on_lines {
                    if !is_of(path, &summary.path, summary.leads_to.as_deref()) {
                        let (id, of) = (summary.id, &summary.path);
                        let why =
                            format!("--note: {path} is not the file of diff {id}, which is {of}");
                        return Err(ClientError::Refused(why));
                    }
                    let (lines, text) = (Some(lines), text.to_owned());
                    settle.verdict.notes.push(Note { lines, text });
                }
            }
            client.settle(settle)
        };
        let settled = control_client::ask(target, ask)?;
        if let Some(told) = &settled.told {
            match &told.clipboard {
                Some(notes) => {
                    let text = "note: the agent cannot be told this; paste it into its prompt:";
                    stderr::print(text);
                    stderr::print(notes);
                }
                None => stderr::print(format_args!("note: {}.", told.message)),
            }
        }
        Ok(settled)
    }
}

/// The notes on lines, with their files as they were written.
fn on_lines(arguments: &[String]) -> anyhow::Result<Vec<(&str, verdict::Lines, &str)>> {
    let pairs = arguments.chunks_exact(2);
    let read = pairs.map(|pair| {
        let [place, text] = [pair[0].as_str(), pair[1].as_str()];
        let Some((path, Lines { first, last })) = position::lines_of(place) else {
            let message = format!("--note: {place} is not a file with lines");
            let failure = Failure::new(Kind::Refused, message);
            return Err(failure
                .hint("Lines count from 1, as in `main.rs:12` or `main.rs:3-7`.")
                .into());
        };
        let (first, last) = (first - 1, last - 1);
        Ok((path, verdict::Lines { first, last }, text))
    });
    read.collect()
}

/// Returns true if a person who writes this path means the file of a diff, which may not exist.
fn is_of(path: &str, proposed: &str, leads_to: Option<&str>) -> bool {
    let is_meant = |of: &str| {
        let absolute = absolute(Path::new(path));
        absolute.is_ok_and(|it| it == Path::new(of)) || Path::new(of).ends_with(path)
    };
    is_meant(proposed) || leads_to.is_some_and(is_meant)
}
