//! The output about the files and their texts.

use pillion_protocol::Note;
use pillion_text::{stderr, visible};
use pillion_view::ask::End;
use serde_json::{Value, json};

use super::change::Change;
use super::text::{keep, print};
use crate::commands::ask::{Asked, Stop};
use crate::failure::{Failure, Kind};

/// Prints what the person had to say, with lines from 1. `file` is its name where there are several.
pub fn print_notes(change: &Change, file: &str) {
    let of = match file {
        "" => String::new(),
        file => format!("{file}: "),
    };
    for Note { lines, text, .. } in change.notes() {
        let on = lines.map(|it| (it.first + 1, it.last + 1));
        let on = match on {
            Some((first, last)) if last > first => format!(" on lines {first} to {last}"),
            Some((first, _)) => format!(" on line {first}"),
            None => String::new(),
        };
        stderr::print(format_args!("{of}note{on}: {text}"));
    }
}

/// Why the waiting ended before everything was decided.
pub fn stopped(stop: Option<Stop>, is_closed: bool) -> Failure {
    let (kind, what) = match stop {
        Some(Stop::Signal(signal)) => (Kind::Signal(signal.number()), "interrupted"),
        _ => (Kind::Refused, "nobody decided in time"),
    };
    if is_closed {
        return Failure::new(kind, what);
    }
    let message = format!("{what}, and the editor does not respond: it may still show the change");
    Failure::new(kind, message)
        .hint("Was it suspended with Ctrl-Z? `fg` in its terminal resumes it.")
}

/// Keeps what the person wrote into a view that was closed.
pub fn keep_edits(change: &Change, edited: Option<&str>) {
    if let Some(Ok(kept)) = edited.map(keep) {
        let (path, kept) = (&change.file.path, kept.display());
        stderr::print(format_args!("note: the edits of {path} are kept in {kept}"));
    }
}

/// Prints what became of the files: an object, or an array if `is_list` is set.
pub fn print_json(changes: &[Change], asked: &Asked, is_list: bool) -> anyhow::Result<()> {
    let mut objects = changes.iter().map(|change| object(change, asked));
    let json: Value = match is_list {
        true => objects.collect(),
        false => objects.next().unwrap_or_default(),
    };
    let accepted: Vec<_> = changes.iter().filter_map(Change::accepted).collect();
    print(
        &format!("{}\n", visible::json(&json.to_string())),
        &accepted,
    )
}

fn object(change: &Change, asked: &Asked) -> Value {
    let outcome = match (&change.end, asked.stop) {
        (None, _) => "unchanged",
        (Some(End::Accepted { .. }), _) => "accepted",
        (Some(End::Rejected { .. }), _) => "rejected",
        (Some(End::Withdrawn { .. }), Some(Stop::TimeUp)) => "timedOut",
        (Some(End::Withdrawn { .. }), Some(_)) => "interrupted",
        (Some(End::Withdrawn { .. }), None) => "failed",
    };
    let mut object = json!({"path": change.file.path, "outcome": outcome});
    if let Some(content) = change.accepted() {
        object["content"] = content.into();
    }
    if !change.notes().is_empty() {
        object["notes"] = json!(change.notes());
    }
    object
}
