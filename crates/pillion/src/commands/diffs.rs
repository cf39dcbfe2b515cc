//! `pillion diffs`.

use std::io::{self, Write};

use pillion_companion::control::DiffSummary;

use super::remote::Remote;
use crate::cli::Target;
use crate::failure::{Failure, Kind};

/// List the diffs that wait for you, or print one's proposed text
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the proposed text of this diff, byte for byte
    #[arg(value_name = "DIFF")]
    id: Option<u64>,

    /// Print a JSON array of `{id, agent, path, proposed}`
    #[arg(long, conflicts_with = "id")]
    json: bool,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let diffs = Remote::find(&args.target)?.diffs()?;
    let mut out = io::stdout().lock();
    if let Some(id) = args.id {
        let diff = diffs.iter().find(|diff| diff.id == id).ok_or_else(|| {
            Failure::new(Kind::Refused, format!("no diff {id} is pending"))
                .hint("`pillion diffs` lists the pending ones.")
        })?;
        out.write_all(diff.proposed.as_bytes())?;
    } else if args.json {
        serde_json::to_writer(&mut out, &diffs)?;
        writeln!(out)?;
    } else {
        write_table(&mut out, &diffs)?;
    }
    Ok(())
}

fn write_table(out: &mut impl Write, diffs: &[DiffSummary]) -> io::Result<()> {
    if diffs.is_empty() {
        return writeln!(out, "no diffs are pending");
    }
    writeln!(out, "{:>4}  {:<8}  PATH", "DIFF", "AGENT")?;
    for DiffSummary {
        id, agent, path, ..
    } in diffs
    {
        // The path is the agent's text: no control character of it may reach the terminal.
        writeln!(out, "{id:>4}  {agent:<8}  {}", path.escape_debug())?;
    }
    Ok(())
}
