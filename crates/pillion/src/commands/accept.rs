//! `pillion accept`.

use std::path::PathBuf;

use pillion_companion::control::Settle;

use super::remote::{self, Remote};
use crate::cli::Target;
use crate::failure;

/// Accept a pending diff
///
/// The agent then writes the text that stands in the view: the one that it proposed, unless
/// somebody edited it there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The diff's number, as `pillion diffs` shows it
    #[arg(value_name = "DIFF")]
    id: u64,

    /// Accept this file's text instead (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    content_file: Option<PathBuf>,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let content = args.content_file.as_deref().map(remote::read_text);
    let content = content.transpose()?;
    if content.as_deref() == Some("") {
        failure::warn(
            "Gemini CLI and Qwen Code take an empty text for none, and write the one that they proposed",
        );
    }
    let settle = Settle {
        id: args.id,
        accept: true,
        content,
    };
    Remote::find(&args.target)?.settle(&settle)
}
