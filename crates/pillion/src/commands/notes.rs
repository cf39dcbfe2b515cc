//! `--because` and `--note`: what the agent is told with a decision by command.

use std::path::Path;

use pillion_changes::{Change, ChangeRef, Kept, Words};
use pillion_discovery::real_path;
use pillion_protocol::{Note, verdict};
use pillion_text::stderr;
use pillion_view::ask::{DiffRef, Refused, Settle, Settled};
use pillion_view::decision::Refusal;
use pillion_view::{ClientError, Connected};

use super::control_client;
use super::position::{self, Lines};
use crate::args::Target;
use crate::failure::{Failure, Kind};
use crate::paths::absolute;

#[derive(Debug, Default, clap::Args)]
pub struct Notes {
    /// Tell the agent why
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,

    /// Tell the agent something about lines of the text that you see: `main.rs:12` or `main.rs:3-7`
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
        let ask = |client: &mut Connected| {
            if !on_lines.is_empty() {
                let diff = DiffRef::exactly(settle.id, settle.revision);
                let summary = client.ask(diff)?.summary;
                for (path, lines, text) in on_lines {
                    if !is_of(path, &summary.path, summary.leads_to.as_deref()) {
                        let (id, of) = (summary.id, &summary.path);
                        let why =
                            format!("--note: {path} is not the file of diff {id}, which is {of}");
                        return Err(ClientError::Refused(Refused::because(why)));
                    }
                    let (lines, text) = (Some(lines), text.to_owned());
                    settle.verdict.notes.push(Note { lines, text });
                }
            }
            client.ask(settle)
        };
        let settled = control_client::ask_several(target, ask)?;
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

impl Notes {
    /// The words about changes that are written already, for each of these turns.
    ///
    /// # Errors
    /// When a note is about none of the changes, or there is too much of them.
    pub fn on_changes(self, turns: &[(Kept, Vec<ChangeRef>)]) -> anyhow::Result<Vec<Words>> {
        let mut on_all: Vec<Note> = self.because.map(Note::on_all).into_iter().collect();
        let on_lines = on_lines(&self.note)?;
        let mut all = on_all.clone();
        all.extend(on_lines.iter().map(|(_, _, text)| Note::on_all(*text)));
        if let Err(bytes) = verdict::tidy(&mut all) {
            return Err(Failure::new(Kind::Refused, Refusal::too_long(bytes).message).into());
        }
        let _ = verdict::tidy(&mut on_all);
        let mut words: Vec<_> = { turns.iter() }
            .map(|(_, names)| Words::on(names, on_all.clone()))
            .collect();
        for (path, lines, text) in on_lines {
            for (turn, change) in meant(path, turns)? {
                let (lines, text) = (Some(lines), text.to_owned());
                let notes = words[turn].on_lines.entry(change).or_default();
                notes.push(Note { lines, text });
            }
        }
        Ok(words)
    }
}

/// The changes of the file that a person means with this path: the places of their turns, and their numbers.
fn meant(path: &str, turns: &[(Kept, Vec<ChangeRef>)]) -> anyhow::Result<Vec<(usize, u64)>> {
    let refused = |message: String, hint: &str| {
        let failure = Failure::new(Kind::Refused, message);
        anyhow::Error::from(failure.hint(hint.to_owned()))
    };
    let mut found = Vec::new();
    for (at, (kept, names)) in turns.iter().enumerate() {
        let is_named = |change: &&Change| {
            let name = kept.name(change);
            names.iter().any(|it| it.change.is_none() || *it == name)
        };
        let changes = kept.turn.real_changes().filter(is_named);
        found.extend(changes.map(|change| (at, change)));
    }
    let real = absolute(Path::new(path)).map(|it| real_path(&it));
    let is_it = |change: &Change| real.as_ref().is_ok_and(|it| *it == change.path);
    match found.iter().any(|(_, change)| is_it(change)) {
        true => found.retain(|(_, change)| is_it(change)),
        false => found.retain(|(_, change)| change.path.ends_with(path)),
    }
    match &found[..] {
        [] => Err(refused(
            format!("--note: {path} is the file of none of these changes"),
            "`pillion changes 7` lists the files of turn 7.",
        )),
        [(_, first), rest @ ..] if rest.iter().any(|(_, it)| it.path != first.path) => {
            Err(refused(
                format!("--note: {path} may be several of these files"),
                "Give more of the path.",
            ))
        }
        found => Ok(found.iter().map(|(at, it)| (*at, it.number)).collect()),
    }
}

/// The notes on lines that say something, with their files as they were written.
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
        Ok((path, verdict::Lines { first, last }, text.trim()))
    });
    let mut read = read.collect::<anyhow::Result<Vec<_>>>()?;
    read.retain(|(_, _, text)| !text.is_empty());
    Ok(read)
}

/// Returns true if a person who writes this path means the file of a diff, which may not exist.
fn is_of(path: &str, proposed: &str, leads_to: Option<&str>) -> bool {
    let is_meant = |of: &str| {
        let absolute = absolute(Path::new(path));
        absolute.is_ok_and(|it| it == Path::new(of)) || Path::new(of).ends_with(path)
    };
    is_meant(proposed) || leads_to.is_some_and(is_meant)
}
