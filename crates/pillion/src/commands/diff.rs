//! `pillion diff`.

mod change;
mod report;
pub(super) mod text;

use std::future::pending;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_discovery::Environment;
use pillion_system::duration;
use pillion_view::ask::{End, MAX_FILES, Propose};

use self::change::Change;
use super::ask::{self, Asked, Stop};
use crate::args::Target;
use crate::choice;
use crate::commands::control_client;
use crate::failure::{self, Failure, Kind};

/// Show a text as a diff in the editor, and wait for the decision
///
/// Prints the accepted text, which the reviewer may have edited: byte for byte, unless standard
/// output is a terminal. The exit code is 1 if the change was rejected or not decided in time, and
/// 3 if the editor went away without an answer. Ctrl-C closes the view. If FILE already has this
/// text, it counts as accepted.
///
/// Several FILEs, each with a --content-file, are shown as one set and decided one by one; this
/// command waits for all. The exit code is 0 only if all were accepted.
///
/// The editor is the one whose workspace contains FILE, else the one of the current folder: one with
/// Pillion's plugin, or a review.
#[derive(Debug, clap::Args)]
#[command(mut_arg("workspace", |arg| arg.help(Target::WORKSPACE_OF_FILE)))]
pub struct Args {
    /// The files to change; they need not exist yet
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Propose this file's text (`-` for standard input, which is the default for one FILE)
    ///
    /// With several FILEs, name one for each, in the same order. Empty standard input is refused
    /// unless FILE is empty too: the command before the pipe probably failed. To propose an empty
    /// text, name an empty file.
    #[arg(long = "content-file", value_name = "FILE")]
    content_files: Vec<PathBuf>,

    /// Write the accepted text to FILE instead of printing it; with several FILEs, each that was accepted
    ///
    /// If FILE has changed in the meantime, nothing is written and the accepted text is kept
    /// elsewhere, unless the reviewer saw that change in `pillion review`.
    #[arg(long)]
    write: bool,

    /// Give up after this time, such as `90`, `90s`, `5m` or `1h`, even if the editor does not
    /// respond [default: wait forever]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,

    /// Print `{path, outcome, content}`; `outcome` is `accepted`, `unchanged`, `rejected` or
    /// `timedOut`; `content` is present for the first two; with several FILEs, an array of these,
    /// where `outcome` can also be `interrupted` (Ctrl-C) or `failed` (the editor went away)
    #[arg(long, conflicts_with = "write")]
    json: bool,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let pairs = pairs(&args)?;
    let mut changes = Change::all(pairs.iter().map(|(file, _)| *file), args.write)?;
    let target = args.target.clone().about(Path::new(&changes[0].file.path));
    let environment = Environment::current();
    let is_input = |(_, content_file): &(&Path, &Path)| *content_file == Path::new("-");
    if pairs.iter().any(is_input) {
        // Checked first, so that nobody types, and no command before the pipe works, in vain.
        match choice::of_pillion(&environment, &target) {
            Err(error) if change::is_input_typed() => return Err(error),
            // It may be started until the text is there.
            Ok(_) | Err(_) => {}
        }
    }
    for (change, (_, content_file)) in changes.iter_mut().zip(&pairs) {
        change.read(content_file)?;
    }
    let mut asked = Asked::default();
    let mut open: Vec<&mut Change> = changes.iter_mut().filter(|it| !it.is_unchanged()).collect();
    if !open.is_empty() {
        // Only now: whatever made the texts may take long enough for an editor to be started.
        let companion = choice::of_pillion(&environment, &target)?;
        let connection = control_client::connect(&environment, &companion)?;
        let proposed = Propose {
            files: open.iter_mut().map(|it| it.proposed()).collect(),
            ..Propose::default()
        };
        let editor = companion.display_name();
        asked = ask::ask(connection, editor, proposed, args.timeout, pending())?;
        for (change, end) in open.into_iter().zip(asked.ends.drain(..)) {
            change.end = Some(end);
        }
    }
    match &changes[..] {
        [change] => end_one(change, asked, args.json),
        changes => end_all(changes, asked, args.json),
    }
}

/// Each file with that of its text.
fn pairs(args: &Args) -> anyhow::Result<Vec<(&Path, &Path)>> {
    let (files, contents) = (args.files.len(), args.content_files.len());
    let usage = |message: String, hint: &str| {
        Err(Failure::new(Kind::Usage, message)
            .hint(hint.to_owned())
            .into())
    };
    if files == 1 && contents == 0 {
        return Ok(vec![(&args.files[0], Path::new("-"))]);
    }
    if files != contents {
        let message = format!(
            "the numbers of FILEs ({files}) and of --content-file options ({contents}) differ"
        );
        return usage(
            message,
            "Name one --content-file for each FILE, in the same order.",
        );
    }
    if files > MAX_FILES {
        let message = format!("{files} FILEs are more than a set can have, which is {MAX_FILES}");
        return usage(message, "Propose them in several sets.");
    }
    if files > 1 && !args.json && !args.write {
        let hint = "--write writes each that is accepted; --json prints all.";
        let message = "the texts of several files cannot be told apart on standard output";
        return usage(message.to_owned(), hint);
    }
    let content_files = args.content_files.iter();
    if content_files.filter(|it| *it == Path::new("-")).count() > 1 {
        let message = "standard input is the text of one FILE only";
        return usage(
            message.to_owned(),
            "Name a file with --content-file for each other FILE.",
        );
    }
    let content_files = args.content_files.iter().map(PathBuf::as_path);
    Ok(args
        .files
        .iter()
        .map(PathBuf::as_path)
        .zip(content_files)
        .collect())
}

/// Tells what became of the only file.
fn end_one(change: &Change, asked: Asked, is_json: bool) -> anyhow::Result<()> {
    if let Some(error) = asked.error {
        return Err(error);
    }
    let is_reported = is_json && !matches!(asked.stop, Some(Stop::Signal(_)));
    if is_reported {
        report::print_json(std::slice::from_ref(change), &asked, false)?;
    } else {
        report::print_notes(change, "");
    }
    if let Some(text) = change.accepted() {
        return match &change.original {
            _ if is_reported => Ok(()),
            Some(original) => change.write(original, text),
            None => text::print_text(text),
        };
    }
    match &change.end {
        Some(End::Withdrawn { edited, is_closed }) => {
            report::keep_edits(change, edited.as_deref());
            Err(report::stopped(asked.stop, *is_closed).into())
        }
        _ => Err(Failure::new(Kind::Refused, "the change was rejected").into()),
    }
}

/// Tells what became of several files, and writes those that were accepted.
fn end_all(changes: &[Change], asked: Asked, is_json: bool) -> anyhow::Result<()> {
    let mut is_any_lost = false;
    let mut lose = |result: anyhow::Result<()>| {
        if let Err(error) = result {
            is_any_lost = true;
            failure::report(&error);
        }
    };
    if is_json {
        lose(report::print_json(changes, &asked, true));
    }
    let (mut is_closed, mut refused) = (true, Vec::new());
    for change in changes {
        if !is_json {
            report::print_notes(change, &change.file.path);
        }
        if let Some(text) = change.accepted() {
            if let Some(original) = &change.original {
                lose(change.write(original, text));
            }
            continue;
        }
        let why = match &change.end {
            Some(End::Withdrawn {
                edited,
                is_closed: is_this_closed,
            }) => {
                report::keep_edits(change, edited.as_deref());
                is_closed &= is_this_closed;
                "nobody decided in time"
            }
            _ => "rejected",
        };
        refused.push(format!("{} ({why})", change.file.path));
    }
    if let Some(error) = asked.error {
        return Err(error);
    }
    if !is_closed || matches!(asked.stop, Some(Stop::Signal(_))) {
        return Err(report::stopped(asked.stop, is_closed).into());
    }
    match (refused.len(), is_any_lost) {
        (0, false) => Ok(()),
        (0, true) => Err(failure::reported(Kind::Refused).into()),
        (count, _) => {
            let all = changes.len();
            let message = format!(
                "{count} of {all} changes were not accepted: {}",
                refused.join(", ")
            );
            Err(Failure::new(Kind::Refused, message).into())
        }
    }
}
