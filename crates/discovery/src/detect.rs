//! The IDE in which a process runs (C7.1): by the variables that are that IDE's own, and by the
//! processes above it.
//!
//! A variable says that an IDE was above at some time: it is inherited by everything below, by a
//! tmux server, too, which then outlives the IDE. An editor's process above is the nearer evidence,
//! so it wins: Neovim's terminal within VS Code's is Neovim. Without one, variables are tried in the
//! order of the table, those that are known to be dead left out, and Gemini CLI's rules name VS
//! Code's forks and JetBrains' products by the command of the IDE's process.

mod evidence;
mod table;

use std::fmt;

use crate::environment::Environment;
use pillion_system::process::{self, Process};

use self::table::{Kind, ROWS, Row};

/// An IDE, as it is named in a discovery file (C2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ide {
    /// A short lowercase identifier, such as `vscode`.
    pub name: &'static str,
    /// For people, such as `VS Code`.
    pub display_name: &'static str,
}

/// The IDE that was found, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The IDE.
    pub ide: Ide,
    /// Its process, if that is known.
    pub pid: Option<u32>,
    /// That process's command line.
    pub command: Option<String>,
    /// The evidence that decided.
    pub via: Via,
}

/// The evidence that decided which IDE it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// A process above, known by its program.
    Process {
        /// Its id.
        pid: u32,
    },
    /// A variable.
    Variable {
        /// Its name.
        name: &'static str,
        /// The process whose command narrowed it down: a fork of VS Code, a product of JetBrains.
        narrowed_by: Option<u32>,
        /// True if it came through a terminal multiplexer, and so may be of an earlier time.
        inherited: bool,
    },
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Via::Process { pid } => write!(f, "process {pid}"),
            Via::Variable {
                name,
                narrowed_by,
                inherited,
            } => {
                write!(f, "variable {name}")?;
                if let Some(pid) = narrowed_by {
                    write!(f, " and the command of process {pid}")?;
                }
                if *inherited {
                    write!(
                        f,
                        ", inherited through tmux or screen: it may be out of date"
                    )?;
                }
                Ok(())
            }
        }
    }
}

/// The IDE that the first process of `chain` runs in. `chain` is that process and its ancestors, as
/// [`chain`](pillion_system::process::chain) gives them.
pub fn detect(environment: &Environment, chain: &[Process]) -> Option<Detection> {
    let living = |pid| process::process(pid).filter(|_| process::is_alive(pid));
    detect_among(environment, chain, living)
}

/// Every IDE that can be detected, each once, in the order in which variables are tried.
pub fn known() -> impl Iterator<Item = Ide> {
    ROWS.iter().map(|row| row.ide)
}

fn detect_among(
    environment: &Environment,
    chain: &[Process],
    living: impl Fn(u32) -> Option<Process>,
) -> Option<Detection> {
    let above = chain.get(1..).unwrap_or_default();
    let nearest = evidence::nearest_editor(above);
    let indication = evidence::by_variable(environment, above, living);
    match (nearest, indication) {
        // A variable that names this very process knows it better than the name it was started by:
        // Neovim is `vim` or `vi` where a distribution's links say so.
        (Some((row, process)), Some(indication))
            if indication.row.is_shown_by(row) || indication.pid() == Some(process.pid) =>
        {
            Some(by_indication(
                &indication,
                Some(process),
                environment,
                above,
            ))
        }
        (Some((row, process)), _) => Some(by_process(row, process)),
        (None, Some(indication)) => Some(by_indication(&indication, None, environment, above)),
        (None, None) => None,
    }
}

fn by_process(row: &Row, process: &Process) -> Detection {
    Detection {
        ide: row.ide,
        pid: Some(process.pid),
        command: Some(process.command.clone()),
        via: Via::Process { pid: process.pid },
    }
}

/// The detection that a variable indicates, with the IDE's process if one is above.
fn by_indication(
    indication: &evidence::Indication,
    by_name: Option<&Process>,
    environment: &Environment,
    above: &[Process],
) -> Detection {
    let is_above = |pid| above.iter().find(|process| process.pid == pid);
    let certain = by_name.or_else(|| is_above(indication.pid()?));
    let is_multiplexed = evidence::is_multiplexed(environment, above);
    let is_guessed =
        indication.process.is_none() && indication.row.kind != Kind::Terminal && !is_multiplexed;
    let guessed = || evidence::ide_process(above).filter(|_| is_guessed);
    let process = certain.or(indication.process.as_ref()).or_else(guessed);
    let narrowed = process.and_then(|process| indication.row.narrow(&process.command));
    Detection {
        ide: narrowed.unwrap_or(indication.row).ide,
        pid: process.map(|process| process.pid),
        command: process.map(|process| process.command.clone()),
        via: Via::Variable {
            name: indication.variable,
            narrowed_by: narrowed.and(process).map(|process| process.pid),
            inherited: is_multiplexed && certain.is_none(),
        },
    }
}

#[cfg(test)]
mod tests;
