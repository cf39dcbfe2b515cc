//! `pillion diffs`.

use std::io::{self, IsTerminal, Write};

use pillion_text::stderr;
use pillion_text::visible;
use pillion_view::SetPlace;
use pillion_view::ask::{DiffRef, Diffs, GetDiff, PendingDiff};
use serde_json::{Value, json};

use super::control_client;
use super::output::{print_json, printable};
use crate::args::Target;

/// List pending diffs, or print the text of one
///
/// `1.3` is the agent's third proposal for diff 1: `pillion accept 1.3` accepts that proposal and
/// no other. If a path leads elsewhere through links, ` -> ` shows the real file. `(2 of 3)` is the
/// place of a file among several that belong together. A diff that is being accepted at that moment is
/// listed only if that turns out not to count: the list waits for it, two seconds at most.
///
/// The printed text is what `pillion accept` would accept: what stands in the view, edits included.
/// If the editor does not tell that, the agent's text is printed, with a note.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the text of this diff (`1`, or `1.3` for that proposal only): byte for byte,
    /// unless standard output is a terminal
    #[arg(value_name = "DIFF")]
    diff: Option<DiffRef>,

    /// Print the text as the agent proposed it, without the edits made in the view
    #[arg(long, requires = "diff")]
    as_proposed: bool,

    /// Print a JSON array of `{diff, id, revision, agent, path, leadsTo, set}`; `set` is the place among
    /// files that belong together, `{id, place, of}` or null; with DIFF, only that object, with the
    /// agent's text as `proposed`, and as `text` what would be accepted, if that is known
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if let Some(diff) = args.diff {
        let get = GetDiff {
            diff,
            is_printed: !args.as_proposed,
        };
        let diff = control_client::ask(&args.target, get)?;
        return print_one(&mut out, &diff, args.json, args.as_proposed);
    }
    let diffs = control_client::ask(&args.target, Diffs)?;
    if args.json {
        let printed: Vec<_> = diffs.iter().map(printed).collect();
        print_json(&printed)
    } else {
        Ok(write_table(&mut out, &diffs)?)
    }
}

fn print_one(
    out: &mut io::StdoutLock,
    diff: &PendingDiff,
    is_json: bool,
    as_proposed: bool,
) -> anyhow::Result<()> {
    if is_json {
        let mut printed = printed(diff);
        printed["proposed"] = json!(diff.proposed);
        printed["text"] = json!(diff.standing);
        return print_json(&printed);
    }
    let proposed = diff.proposed.as_deref().unwrap_or_default();
    let standing = diff.standing.as_deref();
    let is_edited = standing.is_some_and(|text| text != proposed);
    if io::stderr().is_terminal() {
        let place = place(diff);
        stderr::print(format_args!("Diff {}, {}: {place}", diff.key, diff.agent));
    }
    if standing.is_none() {
        stderr::print(
            "note: the editor did not tell what stands in the view; this is the agent's text.",
        );
    } else if is_edited && as_proposed {
        stderr::print("note: this text was edited in the view; `accept` accepts the edited one.");
    } else if is_edited {
        stderr::print(
            "note: the text in the view, which was edited; --as-proposed prints the agent's.",
        );
    }
    let shown = standing.filter(|_| !as_proposed);
    write_text(out, shown.unwrap_or(proposed))
}

pub fn print_text(text: &str) -> anyhow::Result<()> {
    write_text(&mut io::stdout().lock(), text)
}

fn write_text(out: &mut io::StdoutLock, text: &str) -> anyhow::Result<()> {
    let text = printable(text, out.is_terminal());
    Ok(out.write_all(text.as_bytes())?)
}

fn write_table(out: &mut impl Write, diffs: &[PendingDiff]) -> io::Result<()> {
    if diffs.is_empty() {
        return writeln!(out, "no diffs are pending");
    }
    let names: Vec<_> = diffs.iter().map(|diff| diff.key.to_string()).collect();
    let width = names.iter().map(String::len).max().unwrap_or_default();
    let width = width.max("DIFF".len());
    writeln!(out, "{:>width$}  {:<8}  PATH", "DIFF", "AGENT")?;
    for (name, diff) in names.iter().zip(diffs) {
        // The path is the agent's text: no control character of it may reach the terminal.
        let place = visible::one_line(&place(diff));
        writeln!(out, "{name:>width$}  {:<8}  {place}", diff.agent)?;
    }
    Ok(())
}

/// The path, where it leads if that is elsewhere, and its place in its set.
fn place(diff: &PendingDiff) -> String {
    let path = match &diff.leads_to {
        Some(leads_to) => format!("{} -> {leads_to}", diff.path),
        None => diff.path.clone(),
    };
    path + &SetPlace::after_name(diff.set)
}

/// A diff with `--json`, without its text. What is not known is null.
fn printed(diff: &PendingDiff) -> Value {
    json!({
        // As `pillion accept` takes it.
        "diff": diff.key.to_string(),
        "id": diff.key.id,
        "revision": diff.key.revision,
        "agent": diff.agent,
        "path": diff.path,
        "leadsTo": diff.leads_to,
        "set": diff.set,
    })
}

#[cfg(test)]
mod tests {
    use pillion_view::{DiffId, ProposalKey};

    use super::*;

    #[test]
    fn the_table_has_room_for_long_numbers_and_shows_where_a_path_leads() {
        let diff = |id, revision, leads_to: Option<&str>| PendingDiff {
            key: ProposalKey {
                id: DiffId(id),
                revision,
            },
            agent: "gemini".to_owned(),
            path: "/w/a".to_owned(),
            leads_to: leads_to.map(str::to_owned),
            set: (id == 1).then_some(SetPlace {
                id: 1,
                place: 2,
                of: 3,
            }),
            proposed: None,
            standing: None,
        };
        let mut out = Vec::new();
        let diffs = [diff(1, 1, None), diff(1234, 10, Some("/etc/b\u{1b}"))];
        write_table(&mut out, &diffs).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "   DIFF  AGENT     PATH\n    1.1  gemini    /w/a (2 of 3)\n1234.10  gemini    /w/a -> /etc/b␛\n"
        );
    }
}
