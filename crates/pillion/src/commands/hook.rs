//! `pillion hook`.
//!
//! Every agent goes on if its hook fails, so whatever goes wrong here is an answer, and never just an exit code.

mod agent;
mod approvals;
mod files;
mod input;
mod judge;

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use pillion_hooks::{Answer, HookProtocol};
use pillion_protocol::Dialect;
use pillion_text::stderr;

use self::judge::{Limits, Verdict};
use super::limit;
use crate::args::{self, Target};
use crate::failure::{Failure, Kind};

/// Answer an agent's hook: show what it is about to change, and tell it what was decided
///
/// Agents start this themselves, before they change a file, in every permission mode. It reads the
/// call from standard input, shows each file in the editor or review whose workspace holds it,
/// waits for the decision, and writes the agent's own answer to standard output.
///
/// If nobody decides in time, the change is denied. Without a companion, the agent goes on as if
/// there were no hook, and tells the person so.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent that calls
    #[arg(value_name = "AGENT", value_parser = args::agent(pillion_hooks::AGENTS))]
    agent: Dialect,

    /// Deny the change if nobody has decided after this time, such as `90`, `5m` or `1h` [default:
    /// a minute less than the agent waits]
    #[arg(long, value_name = "DURATION", value_parser = limit::parse)]
    limit: Option<Duration>,

    /// Without a companion, deny the change instead of leaving it to the agent
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    target: Target,
}

/// How much earlier than the agent this stops waiting.
const MARGIN: Duration = Duration::from_secs(60);

/// How long closing the views may take when the time is up.
const CLOSING: Duration = Duration::from_secs(10);

/// Why a change is denied about which nobody has decided.
const NOT_IN_TIME: &str = "nobody decided about this change in time, so it is not made";

pub fn run(args: Args) -> anyhow::Result<()> {
    let agent = args.agent;
    let protocol = pillion_hooks::of(agent)
        .ok_or_else(|| Failure::new(Kind::Usage, format!("{agent} has no hooks")))?;
    if io::stdin().is_terminal() {
        let message = format!("{agent} runs this command and writes the call to standard input");
        let hint = "`pillion diff` shows a change that you make yourself.";
        return Err(Failure::new(Kind::Usage, message).hint(hint).into());
    }
    let limit = args.limit.unwrap_or(protocol.timeout() - MARGIN);
    give_up_after(limit.saturating_add(CLOSING));
    let limits = Limits {
        deadline: Instant::now().checked_add(limit),
        is_strict: args.strict,
    };
    match answer(&args, protocol, limits) {
        Verdict::Answered(answer) => give(&answer),
        // Nobody reads an answer any more.
        Verdict::Interrupted(signal) => Err(Failure::reported(signal.into()).into()),
    }
}

/// What the agent is answered.
fn answer(args: &Args, protocol: &dyn HookProtocol, limits: Limits) -> Verdict {
    let call = match input::read(&mut io::stdin().lock()).and_then(|input| protocol.read(input)) {
        Ok(call) => call,
        Err(why) => {
            let why = format!("Pillion does not understand this call of its hook: {why}");
            return Verdict::Answered(Answer::block(why));
        }
    };
    judge::judge(args.agent, protocol, &call, &args.target, limits)
}

/// Denies the call whatever else still waits, such as for a disk or for standard input.
fn give_up_after(limit: Duration) {
    let give_up = move || {
        std::thread::sleep(limit);
        let _ = give(&Answer::block(NOT_IN_TIME));
        std::process::exit(Kind::Usage as i32);
    };
    // Without it, all that waits here without a limit waits until the agent ends it.
    let _ = pillion_system::spawn("limit", give_up);
}

/// Writes an answer.
fn give(answer: &Answer) -> anyhow::Result<()> {
    if let Some(output) = &answer.output {
        let mut out = io::stdout().lock();
        // If nobody reads it, the agent is gone.
        let _ = writeln!(out, "{output}").and_then(|()| out.flush());
    }
    if let Some(error) = &answer.error {
        stderr::print(error);
    }
    match answer.code {
        0 => Ok(()),
        // Agents know no other exit code that blocks a call.
        _ => Err(Failure::reported(Kind::Usage).into()),
    }
}
