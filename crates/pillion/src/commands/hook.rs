//! `pillion hook`.
//!
//! Every agent goes on if its hook fails, so whatever goes wrong here is an answer, and never just an exit code.

mod agent;
mod approvals;
mod find;
mod guard;
mod input;
mod install;
mod judge;
mod record;
mod uninstall;
mod wait;
mod work;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pillion_discovery::Environment;
use pillion_doctor::setup::hooks;
use pillion_hooks::settings::{self, CommandLine};
use pillion_hooks::{Answer, Call, Event, HookProtocol, Ruling, caller};
use pillion_protocol::claude::hooks::CommandsBeside;
use pillion_protocol::{Dialect, ReviewMode, remarks};
use pillion_system::stdio::{self, is_nowhere};
use pillion_system::{duration, spawn};
use pillion_text::stderr;
use serde_json::Value;

use self::find::Companions;
use self::input::Unread;
use self::judge::{Limits, Verdict};
use self::record::Watch;
use crate::args::{self, Target};
use crate::failure::{self, Failure, Kind};
use crate::install::Machine;
use crate::silent_disk;

/// Answer an agent's hook, or put it into the agent's settings
///
/// Agents start this themselves, before they change a file, in every permission mode. It reads the
/// call from standard input, shows each file in the editor or review whose workspace holds it,
/// waits for the decision, and writes the agent's own answer to standard output.
///
/// They also start it when a turn begins or ends, and around each edit and each shell command: then the
/// companion records what the agent changes.
///
/// If nobody decides in time, the change is denied, and so it is if the companion was killed and does
/// not come back within some seconds. Without a companion, the agent goes on as if there were no hook,
/// and tells the person so.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// The agent that calls
    #[arg(value_name = "AGENT", value_parser = args::agent(Dialect::ALL), required = true)]
    agent: Option<Dialect>,

    /// Deny the change if nobody has decided after this time, such as `90`, `5m` or `1h`, whatever
    /// the time was spent on [default: a minute less than the agent waits]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    limit: Option<Duration>,

    /// Without a companion, deny the change instead of leaving it to the agent
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    target: Target,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Install(install::Args),
    Uninstall(uninstall::Args),
    #[command(hide = true)]
    Guard(guard::Args),
    #[command(hide = true)]
    Wait(wait::Args),
}

/// The time by which this stops waiting earlier than the agent.
const MARGIN: Duration = Duration::from_secs(60);

/// The time limit for closing the views when the time is up.
const CLOSING: Duration = Duration::from_secs(10);

/// The time limit for telling the companion what the agent does.
const TOLD_WITHIN: Duration = Duration::from_secs(8);

/// The exit code that blocks a call: agents know no other.
const BLOCKS: Kind = Kind::Usage;

pub fn run(args: Args) -> anyhow::Result<()> {
    let agent = match (args.command, args.agent) {
        (Some(Command::Install(args)), _) => return install::run(args),
        (Some(Command::Uninstall(args)), _) => return uninstall::run(args),
        (Some(Command::Guard(args)), _) => {
            expect_call(Dialect::ClaudeCode)?;
            return guard::run(&args);
        }
        (Some(Command::Wait(args)), _) => {
            wait::run(&args);
            return Ok(());
        }
        (None, Some(agent)) => agent,
        (None, None) => return Err(Failure::new(Kind::Usage, "no agent is named").into()),
    };
    let protocol = pillion_hooks::of(agent);
    expect_call(agent)?;
    let limit = args.limit.unwrap_or(protocol.timeout() - MARGIN);
    end_after(limit, move || give_up(protocol));
    end_with_agent();
    silent_disk::end_as(BLOCKS);
    let limits = Limits {
        deadline: Instant::now().checked_add(limit),
        is_strict: args.strict,
    };
    match answer(agent, &args.target, protocol, limits) {
        Verdict::Answered(answer) => give(&answer),
        Verdict::Misled(why) => {
            let why = format!("Pillion's hook in the agent's settings is wrong: {why}");
            give(&of_caller(protocol).block(why))
        }
    }
}

/// Makes sure that an agent may have started this.
///
/// # Errors
/// At a terminal, where a person has.
fn expect_call(agent: Dialect) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Ok(());
    }
    let message = format!("{agent} runs this command and writes the call to standard input");
    let hint = "`pillion diff` shows a change that you make yourself.";
    Err(Failure::new(Kind::Usage, message).hint(hint))
}

/// Returns the answer to the agent.
fn answer(
    named: Dialect,
    target: &Target,
    protocol: &'static dyn HookProtocol,
    limits: Limits,
) -> Verdict {
    let (agent, protocol, call) = match read(named, protocol) {
        Ok(read) => read,
        Err(unasked) => return Verdict::Answered(unasked.answer()),
    };
    match call.event {
        Event::BeforeTool | Event::Question => {
            let watch = Watch::start(protocol, &call);
            judge::judge(agent, protocol, &call, target, limits, watch)
        }
        _ => {
            only_tells(protocol.answer(&call, &Ruling::Pass));
            Verdict::Answered(tell(agent, target, protocol, &call))
        }
    }
}

/// Why a call asks nothing.
enum Unasked {
    /// It is not understood, as this says.
    Unclear(&'static dyn HookProtocol, String),
    /// Another program runs the hooks in Claude Code's settings. What it changes is its own business: blocking it would stop it at
    /// each step.
    Foreign(String),
    /// The agent asks hooks of its own, too, and would ask twice.
    AskedElsewhere,
}

impl Unasked {
    fn answer(self) -> Answer {
        match self {
            Self::Unclear(protocol, why) => protocol.block(format!(
                "Pillion does not understand this call of its hook: {}",
                remarks::one_line(&why)
            )),
            Self::Foreign(why) => Answer {
                error: Some(format!(
                    "Pillion's hook for Claude Code was called by another program, whose changes it does not show: {why}."
                )),
                ..Answer::nothing()
            },
            Self::AskedElsewhere => Answer::nothing(),
        }
    }
}

/// Reads the call of a hook that is named after an agent, and finds out which agent it is that calls.
fn read(
    named: Dialect,
    protocol: &'static dyn HookProtocol,
) -> Result<(Dialect, &'static dyn HookProtocol, Call), Unasked> {
    let input = input::read(&mut io::stdin().lock()).map_err(|unread| match unread {
        // It writes nothing but calls.
        Unread::NoCall(why) if named == Dialect::ClaudeCode => Unasked::Foreign(why),
        unread => Unasked::Unclear(protocol, unread.why()),
    })?;
    let environment = Environment::current();
    let foreign = || Unasked::Foreign("the fields are not those of Claude Code".to_owned());
    let agent = caller::of(named, &input, &environment.commanding_agents()).ok_or_else(foreign)?;
    if agent != named && has_own_hooks(agent, &environment) {
        return Err(Unasked::AskedElsewhere);
    }
    let protocol = pillion_hooks::of(agent);
    let _ = CALLER.set(protocol);
    let call = protocol.read(input);
    let call = call.map_err(|why| Unasked::Unclear(protocol, why))?;
    Ok((agent, protocol, call))
}

/// Returns true if an agent asks hooks of its own, too, so that it would ask twice.
fn has_own_hooks(agent: Dialect, environment: &Environment) -> bool {
    !hooks::read(agent, environment).ours.is_empty()
}

/// The protocol of the agent that has called, once that is known.
static CALLER: OnceLock<&'static dyn HookProtocol> = OnceLock::new();

fn of_caller(named: &'static dyn HookProtocol) -> &'static dyn HookProtocol {
    CALLER.get().copied().unwrap_or(named)
}

/// Tells the companion what the agent has done, or that it begins. Its model is told what waits for it.
fn tell(agent: Dialect, target: &Target, protocol: &dyn HookProtocol, call: &Call) -> Answer {
    approvals::forget_answer(agent, protocol, call);
    if call.event == Event::BeforeTurn {
        approvals::turn_begins(agent, call);
    }
    let decided = match call.event {
        Event::AfterTool => approvals::take_told(agent, protocol, call),
        _ => None,
    };
    let environment = Environment::current();
    let mut companions = Companions::new(&environment);
    let waiting = work::tell(agent, protocol, call, target, &mut companions);
    let (waiting, unsaid) = (waiting.clone().ok().flatten(), waiting.err());
    let told: Vec<String> = decided.into_iter().chain(waiting).collect();
    let ruling = match told.is_empty() {
        true => Ruling::Pass,
        false => Ruling::Told(told.join("\n")),
    };
    work::said(
        protocol,
        protocol.answer(call, &ruling),
        &Vec::from_iter(unsaid),
    )
}

/// True once the change is shown, so that its views have to be closed when the time is up.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Gives an answer then, whatever still waits, such as for a disk or for standard input.
fn end_after(limit: Duration, answer: impl FnOnce() -> Answer + Send + 'static) {
    let end = move || {
        std::thread::sleep(limit);
        let given = give(&answer());
        std::process::exit(given.map_or(BLOCKS.code().into(), |()| 0));
    };
    // Without it, all that waits here without a limit waits until the agent ends it.
    let _ = spawn("limit", end);
}

/// Ends this as soon as nobody reads its answer any more: an agent that is killed sends no signal. The companion takes the views
/// away as it does for a hook that is killed itself.
fn end_with_agent() {
    let end = || {
        if let Ok(runtime) = pillion_agent::runtime() {
            runtime.block_on(stdio::closed());
            claim_end();
            std::process::exit(BLOCKS.code().into());
        }
    };
    let _ = spawn("reader", end);
}

/// Denies a call about which nobody has decided.
fn give_up(protocol: &'static dyn HookProtocol) -> Answer {
    if IS_SHOWN.load(Ordering::Relaxed) {
        std::thread::sleep(CLOSING);
    }
    of_caller(protocol).block(judge::undecided(remarks::NOT_IN_TIME, &[]))
}

/// Has this answer given in time: from now on the companion is only told something.
fn only_tells(answer: Answer) {
    silent_disk::wait_for_ever();
    end_after(TOLD_WITHIN, move || answer);
}

/// True once there is an answer: the program ends with that one.
static IS_GIVEN: AtomicBool = AtomicBool::new(false);

/// Returns for whoever ends the program first, and for nobody else.
fn claim_end() {
    while IS_GIVEN.swap(true, Ordering::Relaxed) {
        std::thread::park();
    }
}

/// Writes an answer. An agent that cannot read it would go on as it likes: such a call is blocked.
fn give(answer: &Answer) -> anyhow::Result<()> {
    claim_end();
    let is_written = answer.output.as_ref().is_none_or(write);
    if let Some(error) = &answer.error {
        stderr::print(error);
    }
    if !is_written {
        stderr::print("Pillion's answer could not be written to standard output");
    }
    match answer.code {
        0 if is_written => Ok(()),
        _ => Err(failure::reported(BLOCKS).into()),
    }
}

/// Returns false if nobody can read it.
fn write(output: &Value) -> bool {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{output}").and_then(|()| out.flush());
    written.is_ok() && !is_nowhere(io::stdout())
}

/// The command line of an agent's hook, with these options.
pub fn command_line(agent: Dialect, flags: &[&str]) -> Result<CommandLine, Failure> {
    Ok(CommandLine {
        program: program(&Machine::current())?,
        agent: agent.name().to_owned(),
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
    })
}

/// The commands that run beside the hooks of an agent that asks in these cases. No shell stays with them.
pub fn commands_beside(agent: Dialect, review: ReviewMode) -> Result<CommandsBeside, Failure> {
    let program = program(&Machine::current())?;
    let command = |name, flag| {
        let words = [program.as_str(), "hook", name, agent.name()];
        format!("exec {}", shell_words::join(words.into_iter().chain(flag)))
    };
    let asked = (review == ReviewMode::Asked).then_some("--asked");
    Ok(CommandsBeside {
        wait: command("wait", None),
        guard: command("guard", asked),
    })
}

/// The path of this program for an agent: the one on PATH if that is this program, because it stays where it is in an update.
fn program(machine: &Machine) -> Result<String, Failure> {
    let own = std::env::current_exe().ok();
    let own = own
        .as_deref()
        .and_then(|own| pillion_discovery::canonicalize(own).ok());
    let is_own = |path: &Path| pillion_discovery::canonicalize(path).ok() == own;
    let mut known = machine.programs(&["pillion"]).into_iter();
    let path: Option<PathBuf> = known.find(|path| is_own(path)).or(own.clone());
    let path = path.and_then(|path| path.into_os_string().into_string().ok());
    match path {
        Some(path) if settings::is_our_program(&path) => Ok(path),
        Some(path) => {
            let message = format!("{path} is not named `pillion`");
            let hint = "Hooks are known as Pillion's by that name: rename the program.";
            Err(Failure::new(Kind::Refused, message).hint(hint))
        }
        None => Err(Failure::new(
            Kind::Internal,
            "it is not known where this program is, or its path is not Unicode",
        )),
    }
}
