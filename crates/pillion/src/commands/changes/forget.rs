//! `pillion forget`.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use pillion_changes::Kept;

use super::{failure, store};
use crate::commands::control_client;
use crate::failure::{Failure, Kind};

/// Forget turns, with the texts that were kept of them
///
/// What nobody has seen of them cannot be shown or taken back any more. The files themselves stay as they are.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The turn
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    turn: Option<u64>,

    /// All turns, wherever they were, with all texts
    #[arg(long)]
    all: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let numbers = match args.turn {
        Some(turn) => vec![turn],
        None => store.numbers().map_err(failure)?,
    };
    for number in &numbers {
        let kept = Kept::read(&store, *number);
        if kept.as_ref().is_ok_and(|it| it.turn.goes_on()) {
            let message = format!("turn {number} goes on");
            return Err(Failure::new(Kind::Refused, message)
                .hint("Try again when it has ended.")
                .into());
        }
    }
    for number in &numbers {
        store.forget(*number).map_err(failure)?;
    }
    let is_watched = !control_client::are_none_running();
    if !is_watched {
        store
            .remove_texts(SystemTime::now(), Duration::ZERO, |_| false)
            .map_err(failure)?;
    }
    let turns = match numbers.len() {
        1 => "1 turn is".to_owned(),
        count => format!("{count} turns are"),
    };
    let texts = match is_watched {
        true => {
            "; the texts are removed later, because an editor or a review is open that may need them"
        }
        false => "",
    };
    Ok(writeln!(io::stdout(), "{turns} forgotten{texts}")?)
}
