//! `pillion env`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_doctor::setup::program;
use pillion_protocol::Dialect;
use pillion_system::process::Process;
use pillion_text::stderr;
use pillion_text::visible;
use serde_json::{Value, json};

use crate::args::Target;
use crate::choice::{Need, Running};
use crate::failure::{Failure, Kind};
use crate::silent_disk;
use crate::wiring::shell::Shell;
use crate::wiring::{Surroundings, Wiring};

/// Print what connects this shell's agents to this folder's editor
///
/// For a terminal outside the editor, where an agent finds no companion or the wrong one:
///
///   bash, zsh   eval "$(pillion env)"
///   fish        pillion env | source
///   PowerShell  pillion env | Invoke-Expression
///
/// If several companions serve this folder, it picks that of the editor that this terminal runs in,
/// else the one with the deepest workspace folder, else the most recently used. Where Pillion's own was
/// killed or does not answer, another program's takes its place only with --port. Each agent gets a
/// companion that serves it. The output contains a token: everything started from that terminal can
/// read it. Without a companion, the output only unsets stale variables, and the exit code is 3.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The shell that evaluates the output [default: the one that runs this command, else $SHELL]
    #[arg(long, value_enum)]
    shell: Option<Shell>,

    /// Print a JSON array of `{agent, companion, set, unset}`; tokens are shown as `…`
    #[arg(long, conflicts_with = "shell")]
    json: bool,

    #[command(flatten)]
    target: Target,
}

/// The wiring that one agent gets.
struct Wired {
    agent: Dialect,
    companion: Option<Companion>,
    wiring: Wiring,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let environment = Environment::current();
    let _watch = silent_disk::Watch::start(&environment);
    let here = Surroundings::here(&environment);
    let shell = args.shell.map_or_else(|| asking(&here), Ok);
    let (wired, mut failures) = wire(&args.target, &here);
    let is_without = failures.len() == wired.len();
    let text = match shell {
        _ if args.json && is_without => String::new(),
        _ if args.json => {
            let report: Value = wired.iter().map(report).collect();
            visible::json(&report.to_string()) + "\n"
        }
        Ok(shell) => lines(&wired, shell),
        Err(_) if is_without => String::new(),
        Err(error) => return Err(error),
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    if is_without {
        return Err(failures.swap_remove(0));
    }
    for error in failures {
        stderr::print(format_args!("note: {error}"));
    }
    if misleads_opencode(&wired, &environment) {
        stderr::print(
            "note: opencode does not connect while CLAUDE_CODE_SSE_PORT is set: start it with \
             `pillion run opencode`.",
        );
    }
    Ok(())
}

fn asking(here: &Surroundings<'_>) -> anyhow::Result<Shell> {
    let parent = here.chain.get(1).filter(|parent| parent.pid > 1);
    Shell::asking(parent.map(Process::name), here.environment).ok_or_else(|| {
        let known = Shell::value_variants().iter();
        let known: Vec<_> = known.filter_map(Shell::to_possible_value).collect();
        let known: Vec<_> = known.iter().map(PossibleValue::get_name).collect();
        Failure::new(Kind::Usage, "cannot tell which shell evaluates the output")
            .hint(format!(
                "Name it with --shell: {}; `sh` stands for every POSIX shell. In any other shell, start the agent with `pillion run`.",
                known.join(", ")
            ))
            .into()
    })
}

/// The agents that variables lead to a companion. opencode needs none of them, and Claude Code's to be
/// unset.
const WIRED: [Dialect; 3] = [Dialect::GeminiCli, Dialect::QwenCode, Dialect::ClaudeCode];

/// Returns the wiring that each agent gets, and why some have no companion.
fn wire(target: &Target, here: &Surroundings<'_>) -> (Vec<Wired>, Vec<anyhow::Error>) {
    let environment = here.environment;
    let running = Running::look(environment);
    let mut failures = Vec::new();
    let wired = WIRED.map(|agent| {
        let companion = running.choose(Need::Agent(agent), target);
        let companion = companion.map_err(|error| failures.push(error)).ok();
        let release = program::release(agent, Path::new(agent.name()), environment);
        let wiring = Wiring::of(companion.as_ref(), release, here);
        for note in wiring.notes(agent) {
            stderr::print(format_args!("note: {note}."));
        }
        Wired {
            agent,
            companion,
            wiring,
        }
    });
    (wired.into(), failures)
}

/// Returns true if what Claude Code gets keeps an opencode that is installed from its companion.
fn misleads_opencode(wired: &[Wired], environment: &Environment) -> bool {
    let is_set = |it: &Wired| it.agent == Dialect::ClaudeCode && it.companion.is_some();
    wired.iter().any(is_set) && program::is_installed(Dialect::OpenCode, environment)
}

fn lines(wired: &[Wired], shell: Shell) -> String {
    let changes = wired.iter().flat_map(|it| it.wiring.changes());
    let line = |change: &crate::wiring::Change| match &change.value {
        Some(value) => shell.assignment(change.name, value.expose()) + "\n",
        None => shell.removal(change.name) + "\n",
    };
    changes.map(line).collect()
}

/// The output of `--json` about one agent.
fn report(wired: &Wired) -> Value {
    let companion = wired.companion.as_ref().map(|companion| {
        json!({
            "displayName": companion.display_name(),
            "port": companion.port,
            "roots": companion.shown_roots(),
        })
    });
    let changes = wired.wiring.changes();
    let set = changes.iter().filter_map(|change| {
        let value = change.value.as_ref()?.shown();
        Some((change.name, value))
    });
    let unset = changes.iter().filter(|change| change.value.is_none());
    json!({
        "agent": wired.agent.name(),
        "companion": companion,
        "set": set.collect::<BTreeMap<_, _>>(),
        "unset": unset.map(|change| change.name).collect::<Vec<_>>(),
    })
}
