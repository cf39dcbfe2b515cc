//! `pillion turns`.

use std::io::{self, Write};

use pillion_changes::Kept;
use pillion_text::counted;
use serde::Serialize;

use super::{catch_up_or_warn, failure, here, store, turns_of, warn_unrecorded};
use crate::commands::output::print_json;

/// List agents' turns in this folder, and their unseen changes
///
/// A turn is what an agent does with one prompt. Turns in which nothing was changed or decided are not kept. Of the others, those
/// with something unseen are kept until it is judged, the rest for seven days.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON array of `{turn, agent, prompt, began, ended, changes, unseen, rejected}`; times are milliseconds since
    /// 1970, `ended` is null while a turn goes on, and `rejected` is the number of proposals that you rejected
    #[arg(long)]
    json: bool,
}

/// A turn with `--json`.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    turn: u64,
    agent: &'a str,
    prompt: &'a str,
    began: u64,
    ended: Option<u64>,
    changes: usize,
    unseen: usize,
    rejected: usize,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let store = store()?;
    let is_caught_up = catch_up_or_warn(&here()?);
    let mut turns = turns_of(&store, &here()?)?;
    let is_unrecorded = warn_unrecorded(&here()?);
    Kept::read_decisions(&mut turns, &store).map_err(failure)?;
    let files = |kept: &Kept| kept.turn.real_changes().count();
    if args.json {
        let printed: Vec<_> = turns
            .iter()
            .map(|kept| Printed {
                turn: kept.turn.number,
                agent: &kept.turn.agent,
                prompt: &kept.turn.prompt,
                began: kept.turn.began,
                ended: kept.turn.ended,
                changes: files(kept),
                unseen: kept.unseen(),
                rejected: kept.rejected(),
            })
            .collect();
        return print_json(&printed);
    }
    let mut out = io::stdout().lock();
    if turns.is_empty() && !is_unrecorded && is_caught_up {
        writeln!(out, "no turn of an agent is known here")?;
    }
    for kept in &turns {
        let count = counted(files(kept), "file");
        let unseen = match kept.unseen() {
            0 => String::new(),
            count => format!(", {count} unseen"),
        };
        let rejected = match kept.rejected() {
            0 => String::new(),
            count => format!(", {count} rejected"),
        };
        writeln!(out, "{}: {count}{unseen}{rejected}", kept.title())?;
    }
    Ok(())
}
