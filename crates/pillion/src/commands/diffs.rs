//! `pillion diffs`.

use std::io::{self, IsTerminal, Write};

use pillion_companion::control::DiffSummary;

use super::remote::Remote;
use crate::cli::Target;
use crate::failure::{Failure, Kind};
use crate::visible;

/// List the diffs that wait for you, or print one's proposed text
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the proposed text of this diff: byte for byte, except to a terminal
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
        let is_terminal = out.is_terminal();
        write_text(&mut out, &diff.proposed, is_terminal)?;
    } else if args.json {
        // It may be read in a terminal, too.
        writeln!(out, "{}", visible::json(&serde_json::to_string(&diffs)?))?;
    } else {
        write_table(&mut out, &diffs)?;
    }
    Ok(())
}

/// Writes a text of the agent's. A terminal would do what control characters in it say.
fn write_text(out: &mut impl Write, text: &str, is_terminal: bool) -> io::Result<()> {
    if is_terminal {
        out.write_all(visible::lines(text).as_bytes())
    } else {
        out.write_all(text.as_bytes())
    }
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
        writeln!(out, "{id:>4}  {agent:<8}  {}", visible::one_line(path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters_and_a_pipe_gets_every_byte() {
        let text = "a\x1b]0;taken\x07\u{202e}\nb";
        let written = |is_terminal| {
            let mut out = Vec::new();
            write_text(&mut out, text, is_terminal).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(true), "a␛]0;taken␇⟨U+202E⟩\nb");
        assert_eq!(written(false), text);
    }
}
