//! `pillion detect`.

use std::io::{self, Write};

use pillion_discovery::{Detection, Environment, detect};
use pillion_system::process;
use pillion_text::visible;
use serde::Serialize;

use super::output::print_json;
use crate::failure::{Failure, Kind};

/// As much of a command line is shown to people: that of a Java program fills a screen.
const MAX_COMMAND: usize = 200;

/// Show which editor this terminal runs in
///
/// Recognises it by the parent processes, nearest first, and by the variables that editors set in
/// their terminals. The exit code is 1 if no editor is recognised.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON object: `{name, displayName, pid, command, via}`
    #[arg(long)]
    json: bool,
}

/// The output of `--json`. What is not known is null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed<'a> {
    name: &'a str,
    display_name: &'a str,
    pid: Option<u32>,
    command: Option<&'a str>,
    via: String,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let chain = process::chain(std::process::id());
    let detection = detect(&Environment::current(), &chain).ok_or_else(|| {
        Failure::new(Kind::Refused, "no editor was recognised among this terminal's parent processes").hint(
            "Run this in an editor's own terminal. Agents do not need a recognised editor: `pillion run` connects one from any terminal.",
        )
    })?;
    if args.json {
        return print_json(&Printed {
            name: detection.ide.name,
            display_name: detection.ide.display_name,
            pid: detection.pid,
            command: detection.command.as_deref(),
            via: detection.via.to_string(),
        });
    }
    Ok(write_text(&mut io::stdout().lock(), &detection)?)
}

fn write_text(out: &mut impl Write, detection: &Detection) -> io::Result<()> {
    let Detection { ide, via, .. } = detection;
    writeln!(out, "{} ({})", ide.display_name, ide.name)?;
    if let Some(pid) = detection.pid {
        let command = visible::one_line(detection.command.as_deref().unwrap_or_default());
        let line = format!("process {pid}  {}", visible::head(&command, MAX_COMMAND));
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out, "recognised by {via}")
}
