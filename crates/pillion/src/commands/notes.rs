//! `--because` and `--note`: what the agent is told with a decision by command.

use std::path::Path;

use pillion_changes::{Change, ChangeRef, Kept};
use pillion_discovery::real_path;
use pillion_protocol::{Note, verdict};
use pillion_text::stderr;
use pillion_view::ask::{DiffRef, Diffs, GetDiff, PendingDiff, Refused};
use pillion_view::decision::{FILE_CHANGED, TEXT_CHANGED};
use pillion_view::{ClientError, Connected, Decide, ProposalKey, Refusal, Ruling, Told};

use super::control_client;
use super::diffs;
use super::position;
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
    /// Decides about a proposal, and prints what becomes of the notes. Returns the diff as it was listed just before.
    pub fn decide(
        self,
        target: &Target,
        mut decide: Decide,
    ) -> anyhow::Result<Option<PendingDiff>> {
        let key = decide.key;
        let diff = DiffRef::exactly(key.id.0, key.revision);
        decide.verdict.notes.extend(self.because.map(Note::on_all));
        let on_lines = on_lines(&self.note)?;
        let ask = |client: &mut Connected| {
            let mut listed = client.ask(Diffs)?.into_iter();
            let before = listed.find(|it| it.key == key);
            for (path, lines, text) in on_lines {
                let summary = before.as_ref();
                let other = summary.filter(|it| !is_of(path, &it.path, it.leads_to.as_deref()));
                if let Some(PendingDiff { key, path: of, .. }) = other {
                    let why = format!(
                        "--note: {path} is not the file of diff {}, which is {of}",
                        key.id
                    );
                    return Err(ClientError::Refused(Refused::because(why)));
                }
                let (lines, text) = (Some(lines), text.to_owned());
                decide.verdict.notes.push(Note::at(lines, text));
            }
            Ok(match client.ask(decide)? {
                Ruling::Settled(told) => Ok((before, told)),
                Ruling::Refused(refusal) => {
                    let get = GetDiff {
                        diff,
                        is_printed: true,
                    };
                    let is_changed = refusal.code == TEXT_CHANGED;
                    let now = is_changed.then(|| client.ask(get)).transpose()?;
                    Err((refusal, now))
                }
            })
        };
        match control_client::ask_several(target, ask)? {
            Ok((before, told)) => {
                say_told(told.as_ref());
                Ok(before)
            }
            Err((refusal, now)) => {
                if let Some(now) = now {
                    diffs::print_text(&now.standing.or(now.proposed).unwrap_or_default())?;
                }
                Err(refused(key, &refusal).into())
            }
        }
    }
}

/// Says what becomes of the notes.
fn say_told(told: Option<&Told>) {
    let Some(told) = told else {
        return;
    };
    match &told.clipboard {
        Some(notes) => {
            let text = "note: the agent cannot be told this; paste it into its prompt:";
            stderr::print(text);
            stderr::print(notes);
        }
        None => stderr::print(format_args!("note: {}.", told.message)),
    }
}

/// The failure, with the user's next step.
fn refused(key: ProposalKey, refusal: &Refusal) -> Failure {
    let failure = Failure::new(Kind::Refused, refusal.message.clone());
    match &*refusal.code {
        FILE_CHANGED => failure.hint(format!(
            "Look at the file and at `pillion diffs {}` again; `pillion accept {key} --despite-change` accepts it.",
            key.id
        )),
        TEXT_CHANGED => {
            failure.hint("This is what stands there now; the same command again accepts that.")
        }
        _ if refusal.repeat => {
            failure.hint("Once you have read this, the same command again accepts it.")
        }
        _ => failure.hint("`pillion diffs` lists the pending diffs."),
    }
}

impl Notes {
    /// The words about all of these changes, which are written already.
    pub fn on_all(&self) -> Vec<Note> {
        self.because.iter().map(Note::on_all).collect()
    }

    /// Those on lines of some of them.
    pub fn on_lines(
        &self,
        turns: &[(Kept, Vec<ChangeRef>)],
    ) -> anyhow::Result<Vec<(ChangeRef, Note)>> {
        let mut notes = Vec::new();
        for (path, lines, text) in on_lines(&self.note)? {
            let (lines, text) = (Some(lines), text.to_owned());
            let note = Note::at(lines, text);
            notes.extend(meant(path, turns)?.into_iter().map(|it| (it, note.clone())));
        }
        Ok(notes)
    }
}

/// The changes of the file that a person means with this path.
fn meant(path: &str, turns: &[(Kept, Vec<ChangeRef>)]) -> anyhow::Result<Vec<ChangeRef>> {
    let refused = |message: String, hint: &str| {
        let failure = Failure::new(Kind::Refused, message);
        anyhow::Error::from(failure.hint(hint.to_owned()))
    };
    let mut found = Vec::new();
    for (kept, names) in turns {
        let is_named = |change: &&Change| {
            let name = kept.name(change);
            names.iter().any(|it| it.change.is_none() || *it == name)
        };
        let changes = kept.turn.real_changes().filter(is_named);
        found.extend(changes.map(|change| (kept.name(change), change)));
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
        found => Ok(found.iter().map(|(name, _)| *name).collect()),
    }
}

/// The notes on lines that say something, with their files as they were written.
fn on_lines(arguments: &[String]) -> anyhow::Result<Vec<(&str, verdict::Lines, &str)>> {
    let pairs = arguments.chunks_exact(2);
    let read = pairs.map(|pair| {
        let [place, text] = [pair[0].as_str(), pair[1].as_str()];
        let Some((path, lines)) = position::lines_of(place) else {
            let message = format!("--note: {place} is not a file with lines");
            let failure = Failure::new(Kind::Refused, message);
            return Err(failure
                .hint("Lines count from 1, as in `main.rs:12` or `main.rs:3-7`.")
                .into());
        };
        Ok((path, lines, text.trim()))
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
