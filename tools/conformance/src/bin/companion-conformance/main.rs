//! `companion-conformance`: checks a running companion, and prints the result.

mod chosen;
mod failure;
mod junit;
mod output;
mod progress;
mod reviewer;

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use companion_conformance::{
    Conformance, Level, Protocol, Report, Row, Rule, Target, Timeouts, Verdict, rules,
};
use pillion_discovery::Environment;
use pillion_system::Signals;
use tokio::runtime::Builder;

use crate::chosen::Chosen;
use crate::failure::{Failure, Kind};
use crate::output::{Table, print, print_json, terminal_width};
use crate::reviewer::{Commands, Reviewer};

/// Check a companion against the contract, rule by rule
///
/// For authors of companions, for any editor. Talks to a running companion as agents do, and as no agent
/// would, and reports for every rule that is visible from outside whether the companion follows it: the rules
/// of the companion contract of Gemini CLI and Qwen Code, or with --protocol claude or copilot those of the
/// protocols that Claude Code and Copilot CLI have for themselves. Opens views in its editor and closes them
/// again; writes nothing into the workspace. A companion may serve only one session, as VS Code's does: an
/// agent that is connected to it then stops getting answers until it is restarted.
///
/// For steps that need a person in the editor, you are prompted, or the commands you pass are run. They run
/// in your shell ($SHELL) and get the port in $PILLION_CONFORMANCE_PORT, the file in
/// $PILLION_CONFORMANCE_FILE and, to move the cursor, the line in $PILLION_CONFORMANCE_LINE; to mention
/// lines, the first and the last in $PILLION_CONFORMANCE_LINE and $PILLION_CONFORMANCE_LAST_LINE.
///
/// The exit code is 1 if a MUST is broken (with --strict, a SHOULD too), and 3 if there is no
/// companion.
#[derive(Debug, Parser)]
#[command(name = "companion-conformance", version, max_term_width = 100)]
struct Args {
    #[command(flatten)]
    chosen: Chosen,

    /// Which rules to check: the contract's, Claude Code's or Copilot CLI's
    #[arg(long, value_name = "NAME", default_value = COMPANION, value_parser = protocol())]
    protocol: Protocol,

    #[command(flatten)]
    commands: Commands,

    /// How long a person, or a command in place of one, may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = seconds)]
    timeout: u64,

    /// How many seconds to watch a silent event stream; agents give up after 300
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = seconds)]
    idle: u64,

    /// Check only these rules, by id (C3.3-post-none, K3-none), number (C3.3) or chapter (C3, K3, P3)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    only: Vec<String>,

    /// Also fail if a SHOULD is broken
    #[arg(long)]
    strict: bool,

    /// Print `{companion, rules: [{id, level, title, result, detail}], summary: {passed, failed,
    /// skipped}}`; with --list, an array of `{id, level, group, title}`. The rules of Claude Code and
    /// Copilot CLI have a `reason`, too
    #[arg(long)]
    json: bool,

    /// Also write the result to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// List the rules without checking anything
    #[arg(long, conflicts_with_all = ["file", "pid", "workspace", "port", "junit"])]
    list: bool,
}

const COMPANION: &str = "companion";

fn protocol() -> impl TypedValueParser<Value = Protocol> {
    let contract = "The published companion contract of Gemini CLI and Qwen Code";
    let names = [
        PossibleValue::new(COMPANION).help(contract),
        PossibleValue::new("claude").help("Claude Code's companion protocol"),
        PossibleValue::new("copilot").help("Copilot CLI's, on a Unix socket: not on Windows"),
    ];
    PossibleValuesParser::new(names).map(|name| match name.as_str() {
        COMPANION => Protocol::Companion,
        "copilot" => Protocol::Copilot,
        _ => Protocol::Claude,
    })
}

fn seconds(text: &str) -> Result<u64, &'static str> {
    text.parse()
        .map_err(|_| "expected a whole number of seconds, such as 60")
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    let protocol = args.protocol;
    check_patterns(&args.only, protocol)?;
    let is_wanted = |rule: &Rule| {
        args.only.is_empty() || args.only.iter().any(|pattern| rule.is_meant_by(pattern))
    };
    if args.list {
        let wanted: Vec<_> = rules(protocol).filter(|rule| is_wanted(rule)).collect();
        if args.json {
            return print_json(&output::list_json(&wanted));
        }
        return print(&output::list(&wanted, terminal_width()));
    }
    if protocol == Protocol::Copilot && cfg!(windows) {
        let message = "Copilot CLI's protocol cannot be checked on this system: its companions have a Unix socket";
        return Err(Failure::new(Kind::Refused, message).into());
    }
    let environment = Environment::current();
    let target = args.chosen.target(protocol, &environment)?;
    let report = if args.json {
        let report = check(args, &target, is_wanted, |_| {})?;
        print_json(&output::json(&target, &report))?;
        report
    } else {
        print(&format!("{}\n", output::companion(&target)))?;
        let mut table = Table::new(terminal_width());
        let printed = RefCell::new(Ok(()));
        // Nothing opens in the editor once the reader is gone.
        let is_wanted = |rule: &Rule| printed.borrow().is_ok() && is_wanted(rule);
        let report = check(args, &target, is_wanted, |row| {
            let row = print(&table.row(row));
            *printed.borrow_mut() = row;
        })?;
        printed.into_inner()?;
        print(&Table::end(&report))?;
        report
    };
    if let Some(path) = &args.junit {
        let shown = path.display();
        let written = std::fs::write(path, junit::xml(&target, &report)?);
        let cannot = || Failure::new(Kind::Refused, format!("cannot write {shown}"));
        written.with_context(cannot)?;
    }
    verdict(&report, args.strict)
}

fn check_patterns(patterns: &[String], protocol: Protocol) -> anyhow::Result<()> {
    for pattern in patterns {
        if !rules(protocol).any(|rule| rule.is_meant_by(pattern)) {
            let message = format!("no rule matches {pattern}");
            let failure = Failure::new(Kind::Usage, message);
            return Err(failure
                .hint("`companion-conformance --list` prints them, with `--protocol` those of another protocol.")
                .into());
        }
    }
    Ok(())
}

fn check(
    args: &Args,
    target: &Target,
    is_wanted: impl Fn(&Rule) -> bool,
    tell: impl FnMut(&Row),
) -> anyhow::Result<Report> {
    let help = Duration::from_secs(args.timeout);
    let reviewer = Reviewer {
        commands: args.commands.clone(),
        port: target.port(),
        limit: help,
        is_person_there: io::stdin().is_terminal() && io::stderr().is_terminal(),
    };
    let timeouts = Timeouts {
        idle: Duration::from_secs(args.idle),
        help,
        ..Timeouts::default()
    };
    let conformance = Conformance::new(target.clone(), timeouts, Box::new(reviewer));
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    let is_wanted = |rule: &Rule| {
        let is_wanted = is_wanted(rule);
        if is_wanted {
            progress::checking(rule.id);
        }
        is_wanted
    };
    let mut tell = tell;
    let tell = |row: &Row| {
        progress::clear();
        tell(row);
    };
    runtime.block_on(async {
        // Before any view opens: from here on a signal closes it.
        let mut signals = Signals::install().context("cannot catch signals")?;
        let kind = tokio::select! {
            report = conformance.run(is_wanted, tell) => return Ok(report),
            signal = signals.next() => Kind::Signal(signal.number()),
        };
        // A second Ctrl-C does not wait for a companion that may never answer.
        let is_clean = tokio::select! {
            is_clean = conformance.clean_up() => is_clean,
            _ = signals.next() => false,
        };
        Err(interrupted(kind, is_clean).into())
    })
}

fn interrupted(kind: Kind, is_clean: bool) -> Failure {
    if is_clean {
        return Failure::new(kind, "interrupted; no view is left open");
    }
    let message = "interrupted, and the companion does not respond: a view may still be open";
    Failure::new(kind, message).hint("Close the diff of pillion-conformance-….txt in the editor.")
}

/// Fails if the companion does not conform.
fn verdict(report: &Report, is_strict: bool) -> anyhow::Result<()> {
    for level in [Level::Must, Level::Should] {
        let is_broken = |row: &&Row| row.rule.level == level && row.verdict == Verdict::Fail;
        let broken: Vec<_> = report.rows.iter().filter(is_broken).collect();
        let counted = match broken[..] {
            [] => continue,
            [_] => format!("1 {level} is broken"),
            _ => format!("{} {level}s are broken", broken.len()),
        };
        if level == Level::Should && !is_strict {
            continue;
        }
        let message = format!("the companion does not conform: {counted}");
        let hint = format!(
            "`--only {}` checks the first of them again.",
            broken[0].rule.id
        );
        return Err(Failure::new(Kind::Refused, message).hint(hint).into());
    }
    Ok(())
}
