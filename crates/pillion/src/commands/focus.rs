//! `pillion focus`.

use std::ffi::OsString;
use std::path::Path;

use pillion_protocol::File;
use pillion_view::OpenFile;
use pillion_view::ask::Focus;

use super::control_client;
use super::position::{self, Place};
use crate::args::Target;
use crate::failure::{Failure, Kind};
use crate::paths::unicode;
use pillion_system::now_ms;

/// Tell the companion which file has the focus
///
/// For scripts and key bindings of editors without a plugin. Agents see the file as the active one
/// until another file gets the focus. The command returns once the change has reached the agents;
/// an agent that starts later sees it too. A line past the end of the file means the last line, as
/// with `vi +LINE`, and a column past the end of its line means the end of that line. With FROM-TO these
/// lines are selected, with their text on disk unless --selection gives another. Otherwise the text of
/// --selection is looked for in the file, at the cursor and then nearest to it; a text that is not on
/// disk yet begins at the cursor.
///
/// The companion is the one whose workspace contains FILE, else the one of the current folder.
#[derive(Debug, clap::Args)]
#[command(mut_arg("workspace", |arg| arg.help(Target::WORKSPACE_OF_FILE)))]
pub struct Args {
    /// The file, optionally with the cursor's line and column or the selected lines, counted from 1
    #[arg(value_name = "FILE[:LINE[:COLUMN]|:FROM-TO]")]
    file: OsString,

    /// The selected text (`-` for standard input)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    selection: Option<String>,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let (path, place) = position::locate(&args.file)?;
    let place = place.map(|place| place.within(&path));
    let read = |selection: String| match &*selection {
        "-" => control_client::read_text(Path::new("-")),
        _ => Ok(selection),
    };
    let selected = args.selection.map(read).transpose()?;
    let selected = selected.filter(|text| !text.is_empty());
    let (selected_text, selection) = match &place {
        Some(Place::Lines(lines)) => {
            let text = selected.or_else(|| position::text_of(*lines, &path));
            (text, Some(position::range_of(*lines)))
        }
        _ => {
            let cursor = place.as_ref().map(Place::cursor);
            let found = |text: &String| position::find(&path, text, cursor);
            let selection = selected.as_ref().and_then(found);
            if selected.is_some() && selection.is_none() && cursor.is_none() {
                let message = format!("{} does not contain the selected text", path.display());
                let hint = "Save the file first, or say where the text is, as in `main.rs:12:5`.";
                return Err(Failure::new(Kind::Refused, message).hint(hint).into());
            }
            (selected, selection)
        }
    };
    let target = args.target.about(&path);
    let file = File {
        cursor: place.as_ref().map(Place::cursor),
        selected_text,
        ..File::focused(unicode(path)?, now_ms())
    };
    control_client::ask(&target, Focus(OpenFile { file, selection }))
}
