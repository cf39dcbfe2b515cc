//! `pillion review-mode`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use pillion_protocol::ReviewChoice;
use pillion_view::ask::{GetReview, SetReview};

use super::control_client;
use super::output::say;
use crate::args::Target;
use crate::failure::{Failure, Kind};

/// Choose when agents ask before they change files
///
/// `always` shows you every change before it is written, in each of the agent's permission modes; with `asked`, the
/// agent asks when its permission mode says so. With `after`, it changes files in the workspace without asking, and you look
/// at its changes afterwards. `commands` shows shell commands before they run, too, and `no-commands`
/// does not. `changes` shows what was written and nobody has seen, as `pillion look` does. Without CHOICE, the command prints
/// what is chosen. It starts as `pillion run --review` says, and holds until the agent ends, also when it loses the connection and comes back.
///
/// Claude Code 2.1.118 or later does as you choose if it was started with `pillion run claude`; other agents always ask
/// as their own modes and settings have it. A command that an agent itself has started is refused.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// When agents are to ask
    #[arg(value_parser = choice())]
    choice: Option<ReviewChoice>,

    /// Choose only for the agent with this number, as in `Claude Code 2`
    #[arg(long, value_name = "N")]
    session: Option<u64>,

    #[command(flatten)]
    target: Target,
}

fn choice() -> impl TypedValueParser<Value = ReviewChoice> {
    let words = PossibleValuesParser::new(ReviewChoice::ALL.map(ReviewChoice::name));
    words.try_map(|word| ReviewChoice::named(&word))
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let number = args.session;
    let chosen = match args.choice {
        Some(choice) => control_client::ask(&args.target, SetReview { choice, number }),
        None => control_client::ask(&args.target, GetReview { number }),
    }?;
    if !chosen.done {
        let failure = Failure::new(Kind::Refused, chosen.message);
        return Err(failure
            .hint("`pillion list` shows which agents are connected.")
            .into());
    }
    say(&chosen.message)
}
