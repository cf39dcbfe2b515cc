//! `pillion log`.

use std::borrow::Cow;
use std::io::{self, Write};

use pillion_changes::WriteOutcome;
use pillion_changes::history::{self, Item, UNDONE, ago};
use pillion_text::visible;
use serde::Serialize;

use super::{failure, here, lines, store, warn_unrecorded};
use crate::commands::output::print_json;

/// List what you decided here, newest first
///
/// Lists the proposals that you accepted, edited or rejected in this folder, whichever agent they came from, with the first words
/// of your reason, and the changes that you kept, edited or took back after they were written. Text that you wrote in a proposal is
/// listed as `not decided` if the agent closed the proposal, or if you decided about it without that text. `pillion show d12`
/// prints an entry as a diff, and `pillion show d12 --text` your text itself.
///
/// What you accepted is listed as `accepted`, and then with what came of it: `written`, `written differently`, or in place of
/// `accepted` as `not written`, with the reason. What you kept, edited or took back and have undone since is listed with `undone`.
///
/// Decisions are kept for seven days, up to 1,000 of them; what is not decided, for 30 days.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many to list
    #[arg(value_name = "N", default_value_t = 20)]
    count: usize,

    /// Print a JSON array of `{id, at, agent, path, state, outcome, why, reason, turn, added, removed}`; `at` is in milliseconds
    /// since 1970, `state` is `accepted`, `edited`, `rejected`, `not decided`, `kept` or `taken back`, `outcome` is `written`,
    /// `written differently`, `not written`, `undone` or null, `why`, `reason` and `turn` may be null, and `added` and `removed` are lines,
    /// or null
    #[arg(long)]
    json: bool,
}

/// An entry with `--json`.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    id: String,
    at: u64,
    agent: &'a str,
    path: Cow<'a, str>,
    state: &'static str,
    outcome: Option<&'static str>,
    why: Option<&'a str>,
    reason: Option<String>,
    turn: Option<u64>,
    added: Option<usize>,
    removed: Option<usize>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let store = store()?;
    let here = here()?;
    let items = history::read(&store, &here, args.count).map_err(failure)?;
    let is_unrecorded = warn_unrecorded(&here);
    let count = |item: &Item| {
        let (before, after) = item.sides();
        history::count(&store, before, after)
    };
    if args.json {
        let printed: Vec<_> = items.iter().map(|it| describe(it, count(it))).collect();
        return print_json(&printed);
    }
    let mut out = io::stdout().lock();
    if items.is_empty() && !is_unrecorded {
        writeln!(out, "nothing has been decided here")?;
    }
    let agents = items.iter().map(|item| item.agent_name().len());
    let width = agents.max().unwrap_or_default();
    for item in &items {
        let agent = item.agent_name();
        let shown = visible::one_line(&item.shown().to_string_lossy());
        let remark = visible::one_line(&item.remark());
        writeln!(
            out,
            "{:<6} {:>11}  {agent:<width$}  {:<11} {:>9}  {shown}{remark}",
            item.id(),
            ago(item.at()),
            item.state(),
            lines(count(item)),
        )?;
    }
    Ok(())
}

fn describe(item: &Item, counted: Option<(usize, usize)>) -> Printed<'_> {
    let reason = item.reason();
    let outcome = match item {
        Item::Entry(entry) => entry.outcome.as_ref(),
        Item::Change(_) => None,
    };
    let undone = match item {
        Item::Entry(_) => None,
        Item::Change(it) => it.is_undone.then_some(UNDONE),
    };
    Printed {
        id: item.id(),
        at: item.at(),
        agent: item.agent(),
        path: item.path().to_string_lossy(),
        state: match item {
            Item::Entry(entry) => entry.state.name(),
            Item::Change(_) => item.state(),
        },
        outcome: outcome.map(WriteOutcome::name).or(undone),
        why: outcome.and_then(WriteOutcome::why),
        reason: (!reason.is_empty()).then_some(reason),
        turn: match item {
            Item::Entry(entry) => entry.turn,
            Item::Change(it) => Some(it.name.turn),
        },
        added: counted.map(|(added, _)| added),
        removed: counted.map(|(_, removed)| removed),
    }
}
